// The price of padding, measured: per sequence one bar of 100 %, real mass and stolen mass, with the law
// P / (Z + P) beside it. Z + P is exp(lse) of the same kernel launch.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

struct Mass {
  double real = 0.0;       // sum of the weights of real keys
  double stolen = 0.0;     // sum of the weights of zero pads
  double predicted = 0.0;  // P * exp(-lse): a zero key scores 0, so P pads take P of Z + P = exp(lse)
  int pads = 0;
};
/// Of packed row `row`; NaN weights (keys not looked at) count as nothing.
Mass measure_mass(const trace::AttentionView& view, int head, int row, int k_len, int attended);

float mass_bars_height(const Ui& ui);
void draw_mass_bars(Ui& ui, const Rect& rect);

}  // namespace attn::viz
