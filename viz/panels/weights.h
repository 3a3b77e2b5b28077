// Softmax weights out of the real kernel, for the selected sequence and head: a matrix in prefill, a strip of
// bars in decode. This file opens the panel and says what is missing; the two views have their own files and
// draw any AttentionView into any rectangle:
//
//   const WeightsInput in = weights_input(ui.frame, side.view, seq, head, mask, "compare/a");
//   if (const std::string note = weights_missing(ui.frame, in); !note.empty()) ...say it
//   else if (is_prefill(*ui.frame.step)) draw_weights_matrix(ui, in, state.matrix, rect);
//   else draw_decode_strip(ui, in, state.decode, rect);
//
// with a MatrixView and a DecodeView (viz/attention_views.h) of its own for every place.
#pragma once

#include <memory>
#include <string>

#include "viz/heat_map.h"
#include "viz/lookup.h"
#include "viz/widgets/ui.h"

namespace attn::viz {

/// What a drawing of weights reads.
struct WeightsInput {
  std::shared_ptr<const trace::AttentionView> view;
  BatchRows rows;  // of the sequence; attended as this view has it, at most view->max_k
  int head = 0;
  MaskAlignment mask = MaskAlignment::bottom_right;  // the view's kernel was launched with
  std::string prefix = "weights";                    // of the marks' names: "weights/cell/2,1"
  int row_from = 0;                                  // query rows of the sequence that the view holds
  int row_to = 0;                                    // (a window of a large prefill)

  /// All rows and keys the view holds.
  HeatPart part() const;
};
WeightsInput weights_input(const Frame& frame, std::shared_ptr<const trace::AttentionView> view, int seq,
                           int head, MaskAlignment mask, std::string prefix = "weights");
/// Why nothing can be drawn, or "".
std::string weights_missing(const Frame& frame, const WeightsInput& input);

/// Cividis, unless another is chosen; greys in the print theme.
Palette palette_of(const Ui& ui);
/// Legend of the colours: bar with ticks, and buttons for scale and palette. Marks "<prefix>/scale",
/// "<prefix>/palette".
void draw_scale_legend(Ui& ui, const std::string& prefix, const Rect& rect);

/// What to do when the linear colours of a map are all dark, "" when they are not: its largest weight is far
/// below 1, the end of the scale, which stays where it is so that steps and heads can be compared.
std::string dark_note(const Ui& ui, float largest);

void draw_weights(Ui& ui, const Rect& rect);

}  // namespace attn::viz
