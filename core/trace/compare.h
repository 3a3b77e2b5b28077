// Two ways to compute the same attention, on the same recorded inputs: kernels, levels, paths, masks. Both
// are launched for real; nothing of the picture is computed by formula.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/trace/attention_view.h"
#include "kernels/common/launch.h"
#include "kernels/common/mask.h"

namespace attn::trace {

/// How to launch instead of how it ran; what is not set stays as recorded.
struct Variant {
  std::optional<AttentionPath> path = {};  // of the same kind (prefill or decode) as the step
  std::optional<int> level = {};
  std::optional<MaskAlignment> mask = {};
  std::optional<HeadMap> head_map = {};
  std::optional<int> k_tile = {};      // keys per tile, a multiple the plan allows
  std::optional<int> num_splits = {};  // decode
  bool operator==(const Variant&) const = default;
  bool as_recorded() const { return *this == Variant{}; }
};

/// "gather + zero padding, level 2", "as recorded: paged, level 1, one tile": what really runs, also where a
/// shape or `device` does not allow the level asked for.
std::string variant_text(const Variant& variant, const StepRecord& step, const ModelShape& model,
                         const DeviceTraits& device);
/// The variants that make sense for a step, for menus: every path of its kind (a prefill without cached keys
/// also packed), every level that `device` can run, every mask, both head maps.
std::vector<Variant> variants_of(const StepRecord& step, const ModelShape& model, const DeviceTraits& device);
/// What to begin with, A and B: a decode as it ran beside gather + zero padding (beside paged when that is
/// how it ran), a prefill as it ran beside level 1 (beside level 2 when that is how it ran).
std::pair<Variant, Variant> first_comparison(const StepRecord& step, const ModelShape& model,
                                             const DeviceTraits& device);

/// One side of a comparison.
struct CompareSide {
  Variant variant;
  std::string text;                           // variant_text
  std::shared_ptr<const AttentionView> view;  // weights, tiles, lse of this launch
  // Of the whole batch, as the engine would make them: gather, flatten, repeat, attention, merge. Their ms
  // are NaN where only a window of the rows was launched.
  std::vector<LaunchEntry> launches;
  std::uint64_t bytes = 0;  // sum over launches
  std::uint64_t flop = 0;
  std::uint64_t score_dots = 0;  // (query, key) pairs that this side's mask lets through, per head, pads too
  float ms = 0.0F;               // of the rows compared: sum of measured times; NaN when one was not measured
};

struct CompareView {
  int index = 0;
  int layer = 0;
  CompareSide a;
  CompareSide b;
  std::vector<float> max_abs_diff_o;  // [H, Nq] over head_dim; NaN where one side is NaN
  double worst = 0.0;                 // largest of them
  int worst_head = 0;
  int worst_row = 0;  // packed
  int rows = 0;       // query rows of the whole batch; the views hold a window of them when it is large
  bool whole() const { return a.view && a.view->num_q == rows; }
};

}  // namespace attn::trace
