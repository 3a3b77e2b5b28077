// Every colour of the program, by role, for each theme. Nothing else in viz/ names a colour, so a theme
// can be swapped and a test can compute the contrast of every pair that occurs on screen.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace attn::viz {

/// 0xRRGGBB, opaque. Alpha is given where it is drawn.
using Rgb = std::uint32_t;

enum class Color : std::uint8_t {
  window,  // behind the panels
  panel,   // panel background
  raised,  // cards, buttons, chips
  border,  // quiet separators between surfaces (decoration, carries no meaning)
  stroke,  // outlines that carry meaning
  text,
  muted,      // captions, units, sources
  accent,     // current stage, playhead, links
  on_accent,  // text on accent
  selection,  // ring around what is selected
  warning,    // stolen mass, notes
  error,
  ok,
  pad,          // zero-padded columns: outline and cross-hatch
  masked,       // hatch of masked cells
  unwritten,    // dotted outline of slots nobody wrote
  allowed,      // fill of visible mask cells
  cached_band,  // fill of visible mask cells that come from the cache
  alarm,        // banner: something is broken on purpose
  on_alarm,     // text on it
  shade,        // over the panels while a dialog is open
  count_
};
inline constexpr int kNumColors = static_cast<int>(Color::count_);
inline constexpr int kNumHues = 6;
/// How much of the panel's colour lies over what the step has not done yet: it is faint, and can still be
/// read.
inline constexpr float kVeil = 0.5F;

enum class ThemeId : std::uint8_t { dark, light, contrast, print };
inline constexpr int kNumThemes = 4;

struct Theme {
  std::string_view name;
  std::array<Rgb, kNumColors> colors{};
  // Identity of a sequence: Okabe-Ito hues (the orange one is left to padding), darkened on white until the
  // letter on them can be read from a washed-out projector. Always drawn with the letter and a notch, never
  // alone.
  std::array<Rgb, kNumHues> hue{};
  std::array<Rgb, kNumHues> tint{};    // surface of the same hue that `text` is read on
  std::array<Rgb, kNumHues> on_hue{};  // text on `hue`

  Rgb operator[](Color color) const { return colors[static_cast<std::size_t>(color)]; }
};

const Theme& theme_of(ThemeId id);
inline ThemeId next_theme(ThemeId id) {
  return static_cast<ThemeId>((static_cast<int>(id) + 1) % kNumThemes);
}
std::optional<ThemeId> theme_named(std::string_view name);  // "dark", "light", "contrast", "print"

/// WCAG 2 relative luminance, 0 .. 1.
double luminance(Rgb color);
/// WCAG 2 contrast ratio, 1 .. 21.
double contrast(Rgb a, Rgb b);
/// Black or white, whichever is read better on `back`.
Rgb ink_on(Rgb back);
/// a + (b - a) * t per channel.
Rgb mix(Rgb a, Rgb b, double t);

}  // namespace attn::viz
