// Magnitude as colour: cividis, made for readers with colour-vision deficiency, rising evenly in lightness
// (Nunez, Anderton, Renslow, PLOS ONE 2018); viridis second; greys for print. The first two are the 256 stops
// that matplotlib ships (CC0).
#pragma once

#include <string_view>

#include "viz/theme.h"

namespace attn::viz {

inline constexpr int kPaletteStops = 256;

enum class Palette : std::uint8_t { cividis, viridis, greys };
inline constexpr int kNumPalettes = 3;
std::string_view palette_text(Palette palette);

/// Stop 0 .. 255, clamped.
Rgb palette_stop(Palette palette, int stop);
/// t in [0, 1], clamped; NaN gives stop 0.
Rgb palette_color(Palette palette, float t);
inline Rgb cividis_stop(int stop) { return palette_stop(Palette::cividis, stop); }
inline Rgb cividis(float t) { return palette_color(Palette::cividis, t); }

/// Linear weights are their own position; the logarithmic scale maps 1e-6 .. 1 to 0 .. 1 and everything
/// smaller to the floor.
inline constexpr float kLogFloor = 1e-6F;
float weight_position(float weight, bool log_scale);

}  // namespace attn::viz
