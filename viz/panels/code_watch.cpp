#include "viz/panels/code_watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "viz/panels/tiles_parts.h"

namespace attn::viz {
namespace {

using Ints = std::vector<std::int32_t>;

constexpr std::size_t kMostShown = 10;  // entries of an array

std::string list_text(const Ints& values) {
  if (values.size() <= kMostShown) return fmt::format("[{}]", fmt::join(values, ", "));
  return fmt::format("[{}, \xE2\x80\xA6, {}]",
                     fmt::join(values.begin(), values.begin() + (kMostShown - 1), ", "), values.back());
}

/// Rows of the sequence in a packed array.
Ints rows_of(const Ints& packed, const BatchRows& rows) {
  const auto from = std::min(packed.size(), static_cast<std::size_t>(rows.q0));
  const auto to = std::min(packed.size(), from + static_cast<std::size_t>(rows.q_len));
  return {packed.begin() + static_cast<std::ptrdiff_t>(from),
          packed.begin() + static_cast<std::ptrdiff_t>(to)};
}

struct Batch {
  const trace::StepRecord* step;
  BatchRows rows;
};

std::string array_text(const Batch& batch, std::string_view name) {
  if (batch.step == nullptr || batch.rows.batch < 0) return {};
  const trace::StepRecord& step = *batch.step;
  const auto b = static_cast<std::size_t>(batch.rows.batch);
  if (name == "context_lens" && step.context_lens && b < step.context_lens->size())
    return std::to_string((*step.context_lens)[b]);
  if (name == "block_tables" && step.block_tables && b < step.block_tables->size())
    return list_text((*step.block_tables)[b]);
  if (name == "slot_mapping") return list_text(rows_of(step.slot_mapping, batch.rows));
  if (name == "input_ids") return list_text(rows_of(step.input_ids, batch.rows));
  if (name == "positions") return list_text(rows_of(step.positions, batch.rows));
  if (name == "cu_seqlens_q") return list_text(step.cu_seqlens_q);
  if (name == "cu_seqlens_k") return list_text(step.cu_seqlens_k);
  return {};
}

std::string array_label(const Batch& batch, std::string_view name) {
  const BatchRows& rows = batch.rows;
  if (name == "context_lens" || name == "block_tables") return fmt::format("{}[{}]", name, rows.batch);
  if (name.starts_with("cu_")) return std::string(name);
  return rows.q_len == 1 ? fmt::format("{}[{}]", name, rows.q0)
                         : fmt::format("{}[{}:{}]", name, rows.q0, rows.q0 + rows.q_len);
}

std::optional<WatchValue> watch_array(const Frame& frame, int seq, std::string_view name) {
  const Batch now{frame.step.get(), batch_rows(frame, seq)};
  const std::string text = array_text(now, name);
  if (text.empty()) return std::nullopt;
  Frame earlier;
  earlier.step = frame.previous;
  const Batch before{frame.previous.get(), batch_rows(earlier, seq)};
  return WatchValue{array_label(now, name), text, array_text(before, name),
                    fmt::format("{} I32, step {}", name, frame.step->step)};
}

std::optional<WatchValue> watch_tensor(const Frame& frame, int layer, std::string_view name) {
  if (name != "q" && name != "k_cache" && name != "v_cache") return std::nullopt;
  for (const trace::ShapeNote& shape : frame.step->shapes) {
    if (shape.name != name || (shape.layer >= 0 && shape.layer != layer)) continue;
    return WatchValue{std::string(name), fmt::format("{} [{}]", shape.dtype, fmt::join(shape.shape, ", ")),
                      "", "shapes of the step"};
  }
  return std::nullopt;
}

}  // namespace

const TileRow* Watch::tiles() {
  if (!looked_ && tiles_missing(frame_, selection_).empty()) row_ = tile_row(frame_, selection_);
  looked_ = true;
  return row_ && row_->cursor >= 0 ? &*row_ : nullptr;
}

std::optional<WatchValue> Watch::tile_value(std::string_view name) {
  constexpr std::array<std::string_view, 6> kWatched = {"m", "l", "alpha", "o", "scores", "lse"};
  if (std::find(kWatched.begin(), kWatched.end(), name) == kWatched.end() || tiles() == nullptr)
    return std::nullopt;
  const TileRow& row = *row_;
  const TileState& tile = row.now();
  const auto n = tile_number;
  const auto at = [&](std::string_view array) {
    return fmt::format("{}[{}, {}, {}] F32, {}", array, row.head, row.row, tile.tile,
                       frame_.attention->kernel);
  };
  if (name == "m") return WatchValue{"m", n(tile.m_new), n(tile.m_old), at("tile_m")};
  if (name == "l") return WatchValue{"l", n(tile.l_new), n(tile.l_old), at("tile_l")};
  if (name == "alpha") return WatchValue{"alpha", n(tile.alpha), "", at("tile_alpha")};
  if (name == "o") return WatchValue{"|o|", n(tile.o_new), n(tile.o_old), at("tile_o_norm")};
  if (name == "scores") {
    return WatchValue{"max(scores)", n(tile.m_tile), "",
                      fmt::format("scores[{}, {}, {}..{}] F32, {}", row.head, row.row, tile.begin,
                                  tile.end - 1, frame_.attention->kernel)};
  }
  if (name == "lse")
    return WatchValue{"lse", n(row.lse), "",
                      fmt::format("lse[{}, {}] F32, {}", row.head, row.row, frame_.attention->kernel)};
  return std::nullopt;
}

std::optional<WatchValue> Watch::value(std::string_view name) {
  auto found = find(name);
  if (found) found->name = name;
  return found;
}

std::optional<WatchValue> Watch::find(std::string_view name) {
  if (!frame_.step) return std::nullopt;
  const bool plan = name == "k_tile" || name == "num_splits";
  if (plan && !frame_.attention) return std::nullopt;
  if (plan) {
    const int number = name == "k_tile" ? frame_.attention->k_tile : frame_.attention->num_splits;
    return WatchValue{std::string(name), std::to_string(number), "", "the attention kernel's plan"};
  }
  if (auto value = watch_array(frame_, focus_seq(frame_, selection_), name)) return value;
  if (auto value = watch_tensor(frame_, selection_.layer, name)) return value;
  return tile_value(name);
}

std::optional<WatchValue> watch_value(const Frame& frame, const Selection& selection, std::string_view name) {
  return Watch(frame, selection).value(name);
}

}  // namespace attn::viz
