#include "core/trace/inspector.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <list>
#include <string>
#include <utility>

#include "core/trace/attention_launch.h"
#include "core/trace/launch_job.h"
#include "core/trace/level_costs.h"
#include "core/trace/pool_history.h"
#include "core/trace/record_check.h"
#include "core/trace/tensor_values.h"
#include "kernels/common/check.h"

namespace attn::trace {
namespace {

constexpr std::size_t kMostKept = 32;
constexpr double kMaxViewBytes = 32.0 * (1U << 20U);  // of one view; larger batches show a window of rows
// Of either side of a comparison on the emulator, where every variant tried costs a launch of its own: what
// it computes in a tenth of a second.
constexpr double kMaxEmulatedBytes = 3.0 * (1U << 20U);
constexpr std::size_t kKeptBytes = 96U << 20U;  // of views kept: the one at the cursor and its neighbours

double max_abs(const TensorRecord& tensor) {
  double largest = 0.0;
  for (const float value : to_floats(tensor))
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  return largest;
}

const LayerRecord& recorded_layer(const StepRecord& step, int layer) {
  std::vector<int> recorded;
  for (const LayerRecord& record : step.layers) {
    if (record.layer == layer) return record;
    recorded.push_back(record.layer);
  }
  if (recorded.empty()) {
    throw InputError(
        fmt::format("step {} has no recorded layers; record with engine.record_layers = -1", step.step));
  }
  throw InputError(fmt::format("layer {} of step {} is not recorded; choose one of {}", layer, step.step,
                               fmt::join(recorded, ", ")));
}

/// The guard of the gather variant: without a context attention returns q. There is nothing to launch.
AttentionView identity_view(const StepRecord& step, const ModelShape& model, const LayerRecord& layer) {
  AttentionView view;
  view.step = step.step;
  view.path = step.path;
  view.kernel = "none: no context, attention returned q";
  view.device = "none";
  view.num_heads = model.num_heads;
  view.num_q = step.cu_seqlens_q.empty() ? 0 : step.cu_seqlens_q.back();
  for (std::size_t b = 0; b + 1 < step.cu_seqlens_k.size(); ++b) view.k_lens.push_back(k_len(step, b));
  view.attended.assign(view.k_lens.size(), 0);
  view.max_abs_diff_o = max_abs_diff(layer.q, layer.o);
  return view;
}

/// Of one step's layer: what stays the same whatever is launched on it.
struct Place {
  int index = 0;
  int layer = 0;
  RowWindow window;
  bool operator==(const Place&) const = default;
};

/// Answers kept, most recent first, under a budget. Cost: bytes of one.
template <class Key, class Value>
class Kept {
 public:
  const Value* find(const Key& key) {
    const auto found = std::find_if(list_.begin(), list_.end(), [&](const auto& k) { return k.key == key; });
    if (found == list_.end()) return nullptr;
    list_.splice(list_.begin(), list_, found);
    return &list_.front().value;
  }
  const Value& keep(const Key& key, Value value, std::size_t bytes) {
    list_.push_front({key, std::move(value), bytes});
    std::size_t used = 0, count = 1;
    for (auto it = list_.begin(); it != list_.end();) {
      used += it->bytes;
      const bool keep = it == list_.begin() || (used <= kKeptBytes && ++count <= kMostKept);
      it = keep ? std::next(it) : list_.erase(it);
    }
    return list_.front().value;
  }

 private:
  struct Entry {
    Key key;
    Value value;
    std::size_t bytes;
  };
  std::list<Entry> list_;
};

std::size_t bytes_of(const AttentionView& view) {
  return sizeof(float) *
             (view.scores.size() + view.weights.size() + 4 * view.tile_m.size() + view.lse.size()) +
         sizeof(AttentionView);
}

/// Launches are timed by device events while it lives.
class Timing {
 public:
  explicit Timing(Device& device) : device_(device), before_(device.context().timing) {
    device.context().timing = true;
  }
  ~Timing() { device_.context().timing = before_; }
  Timing(const Timing&) = delete;
  Timing& operator=(const Timing&) = delete;

 private:
  Device& device_;
  bool before_;
};

}  // namespace

struct Inspector::State {
  /// A launch with the probe: its view, and o as the engine would have made it.
  struct Seen {
    std::shared_ptr<const AttentionView> view;
    std::shared_ptr<const TensorRecord> o;
  };
  /// One side of a comparison with the output that the other is compared with.
  struct Side {
    CompareSide side;
    std::shared_ptr<const TensorRecord> o;
  };
  struct SideKey {
    Place place;
    Variant variant;
    bool operator==(const SideKey&) const = default;
  };
  struct PairKey {
    Place place;
    Variant a, b;
    bool operator==(const PairKey&) const = default;
  };

  State(Device& device_, std::shared_ptr<const Store> store_)
      : device(device_), store(std::move(store_)), pools(store) {}

  const ModelShape& model() const { return store->manifest().model; }

  /// The window must not depend on the variant, or two sides would not have the same rows.
  Place place_of(const StepRecord& step, int index, int layer, const Focus& focus, double max_bytes) const {
    return {index, layer, choose_window(step, model(), focus, max_bytes)};
  }

  std::shared_ptr<const Pool> pool_for(AttentionPath path, const Place& place) {
    return reads_cache(path) ? pools.at(place.index, place.layer) : nullptr;
  }

  Seen launch_view(const StepRecord& step, const Variant& variant, const Place& place) {
    const LayerRecord& record = recorded_layer(step, place.layer);
    auto view = std::make_shared<AttentionView>();
    auto o = std::make_shared<TensorRecord>();
    const StepRecord launched = launched_step(step, variant);
    const RowWindow& window = place.window;
    if (launched.path == AttentionPath::identity) {
      *view = identity_view(step, model(), record);
      *o = record.o;
    } else {
      const auto pool = pool_for(launched.path, place);
      const LaunchJob job(launched, model(), record, pool.get(), window, device.traits());
      AttentionOutputs out = launch_attention(device, job.inputs(), true);
      const int wanted =
          is_decode(launched.path) ? launched.config.decode_level : launched.config.prefill_level;
      // Where the level that was recorded knows no probe, its own output is what the record is held against.
      std::string o_kernel = out.view.kernel;
      if (out.level < wanted) {
        AttentionOutputs plain = launch_attention(device, job.inputs(), false);
        out.o = std::move(plain.o);
        o_kernel = std::move(plain.view.kernel);
      }
      *view = std::move(out.view);
      view->o_kernel = std::move(o_kernel);
      *o = std::move(out.o);
      view->first_row = window.first_row;
      view->pool = pool;
      view->max_abs_diff_o = max_abs_diff(*o, cut_rows(record.o, window.first_row, window.num_rows));
      view->levels = levels.of(place.index, variant, [&] {
        return level_costs(device, {&launched, &model(), &record.q, &record.k, &record.v, pool.get(), 0});
      });
      view->k_lens.clear();
      view->attended.clear();
      for (std::size_t b = 0; b < static_cast<std::size_t>(launched.num_scheduled); ++b) {
        view->k_lens.push_back(k_len(launched, b));
        view->attended.push_back(attended_columns(launched, b));
      }
    }
    view->layer = place.layer;
    view->max_abs_o = max_abs(record.o);
    return {std::move(view), std::move(o)};
  }

  Seen view_of(const StepRecord& step, const Place& place) {
    if (const Seen* known = views.find(place)) return *known;
    Seen seen = launch_view(step, {}, place);
    const std::size_t bytes = bytes_of(*seen.view) + seen.o->data.size();
    return views.keep(place, std::move(seen), bytes);
  }

  /// On a GPU what the variant costs and gives is taken from launches without the probe, as the engine would
  /// make them, with their times. The emulator's times mean nothing and a probe changes no bit of o: what the
  /// launchers note without running is enough there.
  std::vector<LaunchEntry> launch_plainly(Side& made, const StepRecord& launched, const LayerRecord& record,
                                          const Place& place) {
    const auto pool = pool_for(launched.path, place);
    std::vector<LaunchEntry> ran;
    if (device.kind() == DeviceKind::cuda) {
      const LaunchJob job(launched, model(), record, pool.get(), place.window, device.traits());
      launch_attention(device, job.inputs(), false);  // the first launch of a kernel pays for its loading
      const Timing timing(device);
      AttentionOutputs out = launch_attention(device, job.inputs(), false);
      made.o = std::make_shared<const TensorRecord>(std::move(out.o));
      ran = std::move(out.launches);
      for (const LaunchEntry& entry : ran) made.side.ms += entry.launch.ms;
      if (place.window == whole_batch(launched)) return ran;
    } else {
      made.side.ms = NAN;
    }
    return attention_records(device, {&launched, &model(), &record.q, &record.k, &record.v, pool.get()});
  }

  const Side& side_of(const StepRecord& step, const Variant& variant, const Place& place) {
    const SideKey key{place, variant};
    if (const Side* known = sides.find(key)) return *known;
    const Seen seen = variant.as_recorded() ? view_of(step, place) : launch_view(step, variant, place);
    Side made;
    made.side.variant = variant;
    made.side.text = variant_text(variant, step, model(), device.traits());
    made.side.view = seen.view;
    made.o = seen.o;
    const StepRecord launched = launched_step(step, variant);
    if (launched.path != AttentionPath::identity) {
      made.side.score_dots = static_cast<std::uint64_t>(visible_pairs(launched));
      made.side.launches = launch_plainly(made, launched, recorded_layer(step, place.layer), place);
      for (LaunchEntry& entry : made.side.launches) {
        entry.layer = place.layer;
        made.side.bytes += entry.launch.bytes;
        made.side.flop += entry.launch.flop;
      }
    }
    const std::size_t bytes = bytes_of(*made.side.view) + made.o->data.size();
    return sides.keep(key, std::move(made), bytes);
  }

  Device& device;
  std::shared_ptr<const Store> store;
  PoolHistory pools;
  StepLevelCosts levels;
  Kept<Place, Seen> views;
  Kept<SideKey, Side> sides;
  Kept<PairKey, std::shared_ptr<const CompareView>> pairs;
};

Inspector::Inspector(Device& device, std::shared_ptr<const Store> store)
    : state_(std::make_unique<State>(device, std::move(store))) {}

Inspector::~Inspector() = default;

std::shared_ptr<const AttentionView> Inspector::inspect(int index, int layer, const Focus& focus) {
  const auto step = state_->store->step(index);
  recorded_layer(*step, layer);  // or say which are
  return state_->view_of(*step, state_->place_of(*step, index, layer, focus, kMaxViewBytes)).view;
}

std::shared_ptr<const CompareView> Inspector::compare(int index, int layer, const Variant& a,
                                                      const Variant& b, const Focus& focus) {
  const auto step = state_->store->step(index);
  recorded_layer(*step, layer);
  for (const Variant& variant : {a, b}) {
    if (const std::string reason = why_not(variant, *step, state_->model(), state_->device.traits());
        !reason.empty()) {
      throw InputError(fmt::format("step {} cannot be computed that way: {}", step->step, reason));
    }
  }
  const bool emulated = state_->device.kind() == DeviceKind::simt;
  const Place place =
      state_->place_of(*step, index, layer, focus, emulated ? kMaxEmulatedBytes : kMaxViewBytes);
  const State::PairKey key{place, a, b};
  if (const auto* known = state_->pairs.find(key)) return *known;
  const State::Side left = state_->side_of(*step, a, place);  // a copy: the other may push it out
  const State::Side& right = state_->side_of(*step, b, place);
  auto compared = std::make_shared<CompareView>(compare_sides(left.side, *left.o, right.side, *right.o));
  compared->index = index;
  compared->layer = layer;
  compared->rows = whole_batch(*step).num_rows;
  const std::size_t bytes = bytes_of(*left.side.view) + bytes_of(*right.side.view);
  return state_->pairs.keep(key, compared, bytes);
}

TensorRecord Inspector::gathered_keys(int index, int layer) {
  const auto step = state_->store->step(index);
  const LayerRecord& record = recorded_layer(*step, layer);
  const bool decode = step->kind == StepKind::decode;
  const AttentionPath path =
      decode ? AttentionPath::decode_gather_masked : AttentionPath::prefill_gather_flatten;
  if (const std::string reason = why_not({.path = path}, *step, state_->model(), state_->device.traits());
      !reason.empty()) {
    throw InputError(fmt::format("step {} cannot be gathered: {}", step->step, reason));
  }
  const StepRecord launched = launched_step(*step, {.path = path});
  const auto pool = state_->pools.at(index, layer);
  return trace::gathered_keys(
      state_->device, {.step = &launched, .model = &state_->model(), .q = &record.q, .pool = pool.get()});
}

}  // namespace attn::trace
