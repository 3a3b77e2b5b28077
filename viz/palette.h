// Magnitude as colour: cividis, made for readers with colour-vision deficiency, rising evenly in lightness
// (Nunez, Anderton, Renslow, PLOS ONE 2018; the 256 stops that matplotlib ships, CC0).
#pragma once

#include "viz/theme.h"

namespace attn::viz {

inline constexpr int kPaletteStops = 256;

/// Stop 0 .. 255 of cividis.
Rgb cividis_stop(int stop);
/// t in [0, 1], clamped; NaN gives stop 0.
Rgb cividis(float t);

/// Linear weights are their own position; the logarithmic scale maps 1e-6 .. 1 to 0 .. 1 and everything
/// smaller to the floor.
inline constexpr float kLogFloor = 1e-6F;
float weight_position(float weight, bool log_scale);

}  // namespace attn::viz
