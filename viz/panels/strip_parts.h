// The parts that the packed strip is made of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "viz/layout/strip_layout.h"
#include "viz/widgets/ui.h"

namespace attn::viz {

/// What the cells of the keys say of their tokens: one kind in all of a strip, so that no id is taken for a
/// text.
enum class CellText : unsigned char { none, texts, ids };

/// y of each band.
struct StripBands {
  float flags_k, k_top, k_bottom, q_top, q_bottom, flags_q;
};

/// What the drawing's parts share.
struct Strip {
  StripLayout layout;
  StripBands y;
  Rect area;  // of the rulers, without the names at the left
  bool memory = false;
  CellText cells = CellText::none;

  Rect k_bar(const StripSegment& s) const { return {s.k_x0, y.k_top, s.k_x1 - s.k_x0, y.k_bottom - y.k_top}; }
  Rect q_bar(const StripSegment& s) const { return {s.q_x0, y.q_top, s.q_x1 - s.q_x0, y.q_bottom - y.q_top}; }
  bool shows(const StripSegment& s) const {
    return std::max(s.k_x1, s.q_x1) >= area.x && std::min(s.k_x0, s.q_x0) <= area.right();
  }
};

/// Texts where all are whole or each keeps a few letters, else ids where the longest fits, else texts.
CellText cell_text_of(const Ui& ui, const Strip& strip);
/// Cell borders, tokens on the keys and positions on the queries, as far as there is room.
void draw_strip_cells(const Ui& ui, const Strip& strip, const StripSegment& s);
/// "token ·the, id 17": of a hover card, whatever the cells say.
std::string strip_token_text(const Frame& frame, std::int32_t id);

}  // namespace attn::viz
