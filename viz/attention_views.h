// What the attention panels (strip, mask, weights, heads) remember between frames: how weights are coloured,
// what is zoomed into, what was prepared for drawing. Never in the trace.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/trace/stolen_mass.h"
#include "kernels/common/mask.h"
#include "viz/heat_map.h"
#include "viz/palette.h"

namespace attn::viz {

/// Colour (and bar height) of a weight: by itself, by log10 with a floor of 1e-6, or by its rank among the
/// weights of the same head and sequence.
enum class WeightScale : std::uint8_t { linear, log10, rank };
inline constexpr int kNumWeightScales = 3;
inline WeightScale next_scale(WeightScale scale) {
  return static_cast<WeightScale>((static_cast<int>(scale) + 1) % kNumWeightScales);
}

/// The part of something long that is shown, as shares of the whole. The wheel zooms at the mouse, dragging
/// moves, a double click shows everything.
struct ZoomRange {
  double from = 0.0;
  double to = 1.0;
  bool whole() const { return from <= 0.0 && to >= 1.0; }
  bool operator==(const ZoomRange&) const = default;
};

/// One matrix of weights on screen: keep one per place where one is drawn.
struct MatrixView {
  ZoomRange rows;
  ZoomRange cols;
  HeatMap heat;                  // the rest is kept while nothing changes
  WeightRanks ranks;             // for the rank scale
  std::vector<float> ranked;     // heat.cells as ranks
  std::uint64_t ranked_key = 0;  // HeatMap::key they were made of
};

/// One strip of decode weights on screen.
struct DecodeView {
  ZoomRange keys;
  WeightRanks ranks;  // for the rank scale
};

/// Softmax mass of a decode row: of its real keys, and of zero pads.
struct Mass {
  double real = 0.0;  // sum of the weights of real keys; NaN when one of them is NaN
  trace::StolenMass pads;
};

/// Of every sequence of one launch and head.
struct MassView {
  std::shared_ptr<const trace::AttentionView> view;
  int head = -1;
  std::vector<Mass> masses;
};

struct AttentionViews {
  std::optional<Palette> palette;             // nothing: cividis, greys in the print theme
  std::optional<MaskAlignment> mask_preview;  // another alignment than the one in force, to look at
  std::optional<HeadMap> head_preview;        // another head map than the step's, to look at
  bool true_memory = false;                   // packed strip without its gaps
  ZoomRange strip;
  ZoomRange mask_rows;
  ZoomRange mask_cols;
  MatrixView matrix;
  DecodeView decode;
  MassView mass;
  std::vector<HeatMap> head_maps;  // the miniatures of all heads
};

}  // namespace attn::viz
