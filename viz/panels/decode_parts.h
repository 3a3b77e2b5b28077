// The parts that a strip of decode weights is made of.
#pragma once

#include "viz/attention_views.h"
#include "viz/layout/bar_layout.h"
#include "viz/panels/decode_strip.h"
#include "viz/panels/weights.h"
#include "viz/widgets/zoom.h"

namespace attn::viz {

/// One strip while it is drawn.
struct DecodeStrip {
  const WeightsInput& in;
  DecodeView& view;
  const trace::SeqState& seq;
  Span keys;       // shown
  BarLayout bars;  // of the keys shown, counted from keys.from
  Rect plot;
  StripLook look;
  int block_size = 1;

  int first_key(int bar) const { return keys.from + bars.first_key(bar); }
  int end_key(int bar) const { return keys.from + bars.end_key(bar); }
};

/// The token's text, reading upwards towards its bar; `y`, `h`: the row of such labels.
void draw_decode_token(Ui& ui, const DecodeStrip& strip, int bar, float y, float h);
/// Height that the longest token label needs, up to `most`.
float decode_tokens_height(const Ui& ui, const DecodeStrip& strip, float most);
/// Bracket under the keys of one physical block (or under the pads).
void draw_decode_group(Ui& ui, const DecodeStrip& strip, const BarGroup& group, float y);
/// Ids below the brackets: the selected block's, the last one's, and the others' as far as they do not touch.
void draw_block_ids(Ui& ui, const DecodeStrip& strip, float y);
/// One line above the bars: what is shown, the scale, zoom.
void draw_decode_top(Ui& ui, const DecodeStrip& strip, const Rect& line_box);

}  // namespace attn::viz
