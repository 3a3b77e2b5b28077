// The price of padding, measured: per sequence one bar of 100 %, real mass and stolen mass, with the law
// P / (Z + P) beside it. Z + P is exp(lse) of the same kernel launch.
#pragma once

#include <string>

#include "viz/panels/weights.h"

namespace attn::viz {

/// Of query `row` of the input's sequence; pads only exist in decode. PRECOND: weights_missing is "".
Mass measure_mass(const WeightsInput& input, int row = 0);

/// A share as "0.12 %"; one that two decimals would round to nothing as "< 0.01 %".
std::string share_text(double share);
/// Real mass, never all of it beside pads that took some: "> 99.99 %" then.
std::string real_text(const Mass& mass);

/// Height they need.
float mass_bars_height(const Ui& ui);
/// Of every sequence of the batch, with the input's view and head: a row for each of a few; of many one strip
/// of columns, and the row of the input's sequence.
void draw_mass_bars(Ui& ui, const WeightsInput& input, const Rect& rect);

}  // namespace attn::viz
