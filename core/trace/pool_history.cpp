#include "core/trace/pool_history.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "core/trace/batch_rows.h"
#include "kernels/common/check.h"

namespace attn::trace {
namespace {

// Extents come from a file: beyond this, refuse instead of filling the machine's memory.
constexpr double kMaxPoolBytes = 4.0 * (1U << 30U);

bool has_snapshot(const StepRecord& step) {
  return std::any_of(step.layers.begin(), step.layers.end(),
                     [](const LayerRecord& layer) { return !layer.k_cache.shape.empty(); });
}

std::size_t num_slots(const StepRecord& step) {
  return static_cast<std::size_t>(step.config.num_blocks) * static_cast<std::size_t>(step.config.block_size);
}

std::size_t pool_bytes(const Pool& pool) { return pool.k.size() + pool.v.size(); }

}  // namespace

PoolHistory::PoolHistory(std::shared_ptr<const Store> store, std::size_t memory_budget)
    : store_(std::move(store)), budget_(memory_budget) {}

std::shared_ptr<const SlotWriters> PoolHistory::writers(int index) {
  auto writers = std::make_shared<SlotWriters>();
  int next = 0;
  const auto after = keyframes_.upper_bound(index);
  if (after == keyframes_.begin()) {
    const auto first = store_->step(0);
    const double bytes = static_cast<double>(num_slots(*first)) * sizeof(SlotWriter);
    if (bytes > kMaxPoolBytes)
      throw InputError(fmt::format("a pool of {} slots is too large", num_slots(*first)));
    const SlotWriter start = has_snapshot(*first) ? SlotWriter{0, SlotWriter::kSnapshot} : SlotWriter{};
    writers->assign(num_slots(*first), start);
  } else {
    const auto& [keyframe, known] = *std::prev(after);
    if (keyframe == index) return known;
    *writers = *known;
    next = keyframe + 1;
  }
  for (; next <= index; ++next) {
    const std::vector<std::int32_t> slots = store_->slot_mapping(next);
    for (std::size_t row = 0; row < slots.size(); ++row) {
      if (slots[row] == -1) continue;
      const auto slot = static_cast<std::size_t>(slots[row]);
      if (slots[row] < 0 || slot >= writers->size()) {
        throw InputError(fmt::format("step {} writes slot {} of {}", next, slots[row], writers->size()));
      }
      (*writers)[slot] = {next, static_cast<std::int32_t>(row)};
    }
    if (next % spacing_ == 0 && next != index) keep_writers(next, std::make_shared<SlotWriters>(*writers));
  }
  if (index % spacing_ == 0) keep_writers(index, writers);
  return writers;
}

/// An eighth of the budget; when it is full, every second keyframe goes and the spacing doubles.
void PoolHistory::keep_writers(int index, const std::shared_ptr<const SlotWriters>& writers) {
  if (index % spacing_ != 0) return;
  keyframes_[index] = writers;
  const std::size_t each = std::max<std::size_t>(1, writers->size() * sizeof(SlotWriter));
  while (keyframes_.size() > 1 && keyframes_.size() * each > budget_ / 8) {
    spacing_ *= 2;
    std::erase_if(keyframes_, [&](const auto& keyframe) { return keyframe.first % spacing_ != 0; });
  }
}

/// A copy of the pool of this layer that was built for the nearest step, or one that nobody wrote to.
std::shared_ptr<Pool> PoolHistory::start_pool(int index, int layer) {
  const Built* nearest = nullptr;
  for (const Built& built : built_) {
    if (built.layer != layer) continue;
    if (!nearest || std::abs(built.index - index) < std::abs(nearest->index - index)) nearest = &built;
  }
  if (nearest) return std::make_shared<Pool>(*nearest->pool);

  const auto step = store_->step(index);
  const ModelShape& model = store_->manifest().model;
  auto pool = std::make_shared<Pool>();
  pool->kv = {step->config.num_blocks, step->config.block_size, model.num_kv_heads, model.head_dim};
  pool->dtype = model.dtype;
  const double bytes = static_cast<double>(num_slots(*step)) * model.num_kv_heads * model.head_dim *
                       static_cast<double>(dtype_size(model.dtype));
  if (bytes > kMaxPoolBytes) {
    throw InputError(
        fmt::format("rebuilding the cache of layer {} would take {:.1f} GiB for K alone; record "
                    "with a smaller pool (num_blocks, block_size)",
                    layer, bytes / (1U << 30U)));
  }
  pool->k.assign(static_cast<std::size_t>(bytes), std::byte{0xFF});
  pool->v = pool->k;
  pool->writers = std::make_shared<SlotWriters>(num_slots(*step));
  return pool;
}

/// Copies the rows of every slot whose writer is not the one `before` names.
void PoolHistory::fill_rows(Pool& pool, const SlotWriters& before, int layer) const {
  const std::size_t row_bytes =
      static_cast<std::size_t>(pool.kv.num_kv_heads) * pool.kv.head_dim * dtype_size(pool.dtype);
  std::unordered_map<int, std::shared_ptr<const StepRecord>>
      steps;  // a prefill wrote many rows: fetch it once
  for (std::size_t slot = 0; slot < pool.writers->size(); ++slot) {
    const SlotWriter writer = (*pool.writers)[slot];
    if (writer == before[slot]) continue;
    std::byte* k_row = pool.k.data() + slot * row_bytes;
    std::byte* v_row = pool.v.data() + slot * row_bytes;
    if (writer.step == SlotWriter::kNobody) {
      std::memset(k_row, 0xFF, row_bytes);
      std::memset(v_row, 0xFF, row_bytes);
      continue;
    }
    auto& step = steps[writer.step];
    if (!step) step = store_->step(writer.step);
    const LayerRecord* record = find_layer(*step, layer);
    const bool snapshot = writer.row == SlotWriter::kSnapshot;
    const auto row = snapshot ? slot : static_cast<std::size_t>(writer.row);
    const TensorRecord* k = !record ? nullptr : snapshot ? &record->k_cache : &record->k;
    const TensorRecord* v = !record ? nullptr : snapshot ? &record->v_cache : &record->v;
    if (!k || (row + 1) * row_bytes > k->data.size() || (row + 1) * row_bytes > v->data.size()) {
      throw InputError(
          fmt::format("the cache of layer {} cannot be rebuilt: step {} wrote slot {} but did not "
                      "record that layer; record all layers (engine.record_layers = -1)",
                      layer, step->step, slot));
    }
    std::memcpy(k_row, k->data.data() + row * row_bytes, row_bytes);
    std::memcpy(v_row, v->data.data() + row * row_bytes, row_bytes);
  }
}

std::shared_ptr<const Pool> PoolHistory::at(int index, int layer) {
  for (auto built = built_.begin(); built != built_.end(); ++built) {
    if (built->index != index || built->layer != layer) continue;
    built_.splice(built_.begin(), built_, built);
    return built_.front().pool;
  }
  const auto wanted = writers(index);
  auto pool = start_pool(index, layer);
  const auto before = pool->writers;
  if (before->size() != wanted->size()) {
    throw InputError(fmt::format("the pool has {} slots at step {} of the trace but {} at its beginning",
                                 before->size(), index, wanted->size()));
  }
  pool->writers = wanted;
  fill_rows(*pool, *before, layer);
  keep_pool(index, layer, pool);
  return pool;
}

void PoolHistory::keep_pool(int index, int layer, const std::shared_ptr<const Pool>& pool) {
  built_.push_front({index, layer, pool});
  std::size_t used = 0;
  for (auto built = built_.begin(); built != built_.end();) {
    used += pool_bytes(*built->pool);
    const bool keep = used <= budget_ - budget_ / 8 || built == built_.begin();
    built = keep ? std::next(built) : built_.erase(built);
  }
}

}  // namespace attn::trace
