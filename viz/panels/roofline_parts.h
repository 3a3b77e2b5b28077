// Parts of the roofline panel.
#pragma once

#include "viz/roofline_facts.h"
#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_roofline_chart(Ui& ui, const Roofline& roofline, const Rect& plot);

/// Of a level at a place: a diamond (filled: the step ran at it), or a disc for what the bench measured.
void draw_roofline_marker(Ui& ui, float x, float y, bool bench, bool ran);

/// "566", "9.70", "0.0042": three figures.
std::string figures(double value);
/// Of a level, for tooltips: what it is, its work and what bounds it.
std::string level_tip(const Roofline& roofline, const RooflineLevel& level);

}  // namespace attn::viz
