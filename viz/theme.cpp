#include "viz/theme.h"

#include <cmath>

namespace attn::viz {
namespace {

double linear(std::uint32_t channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

// Order: sky blue, bluish green, reddish purple, yellow, vermillion, blue (Okabe & Ito 2008).
// Surfaces are nearly black and captions nearly white so that every pair holds on a washed-out projector too.
constexpr Theme kDark = {
    .name = "dark",
    .colors = {0x070A0D, 0x0E1217, 0x151A20, 0x2A323C, 0x8E99A6, 0xF2F5F9, 0xC9D0D8,
               0x7BD5FF, 0x000000, 0xFFFFFF, 0xF5CA74, 0xFFB8B2, 0x91E1B9, 0xE69F00,
               0x808995, 0x8E99A8, 0x396590, 0x22384E, 0x891C1C, 0xFFFFFF, 0x000000},
    .hue = {0x56B4E9, 0x2FBA92, 0xD98BB6, 0xF0E442, 0xEC8C4E, 0x79A2F2},
    .tint = {0x153345, 0x10372C, 0x402939, 0x343111, 0x46280F, 0x1E2F52},
    .on_hue = {0x000000, 0x000000, 0x000000, 0x000000, 0x000000, 0x000000},
};

// Mode present's default: every pair holds on a projector whose black is a grey of 30 %, which is why muted
// text and hues are so dark.
constexpr Theme kLight = {
    .name = "light",
    .colors = {0xE9EDF2, 0xFFFFFF, 0xF1F4F8, 0xD3DAE3, 0x535E6A, 0x12171D, 0x2B313A,
               0x003878, 0xFFFFFF, 0x000000, 0x542E00, 0x8F0E07, 0x004221, 0x8E5500,
               0x5F676F, 0x545E68, 0x7FB2E2, 0xCFE0F0, 0x921717, 0xFFFFFF, 0x000000},
    .hue = {0x004466, 0x004732, 0x87145D, 0x473C00, 0x7D2500, 0x1C30B8},
    .tint = {0xD8ECF8, 0xD3EFE6, 0xF6E0EC, 0xF5F0C4, 0xFBE3D3, 0xDEE6FA},
    .on_hue = {0xFFFFFF, 0xFFFFFF, 0xFFFFFF, 0xFFFFFF, 0xFFFFFF, 0xFFFFFF},
};

// For bright rooms and weak eyes: pure black ground, white strokes, saturated hues.
constexpr Theme kContrast = {
    .name = "contrast",
    .colors = {0x262626, 0x000000, 0x141414, 0x5A5A5A, 0xE0E0E0, 0xFFFFFF, 0xE0E0E0,
               0x7FC8FF, 0x000000, 0xFFFFFF, 0xFFC740, 0xFFABA3, 0x7CEBB4, 0xFFB000,
               0xA8A8A8, 0xC8C8C8, 0x3D6992, 0x2C5680, 0xFF8279, 0x000000, 0x000000},
    .hue = {0x66C7FF, 0x2FD6A6, 0xF0A0CC, 0xFFF14A, 0xFF8A3D, 0x82A8FF},
    .tint = {0x0C2B3E, 0x08301F, 0x3A1F30, 0x333000, 0x3D1F05, 0x14244D},
    .on_hue = {0x000000, 0x000000, 0x000000, 0x000000, 0x000000, 0x000000},
};

// For paper: white ground, no tinted surfaces that would print as grey fog, dark strokes.
constexpr Theme kPrint = {
    .name = "print",
    .colors = {0xE6E6E6, 0xFFFFFF, 0xF7F7F7, 0xC4C4C4, 0x4A4A4A, 0x000000, 0x262626,
               0x003A7D, 0xFFFFFF, 0x000000, 0x573000, 0x940E07, 0x004221, 0x915600,
               0x666666, 0x606060, 0x8DB4DC, 0xD9E4F0, 0x8E1616, 0xFFFFFF, 0x000000},
    .hue = {0x004466, 0x004732, 0x87145D, 0x473C00, 0x7D2500, 0x1C30B8},
    .tint = {0xE4F1FA, 0xE0F4EE, 0xF9EAF2, 0xF8F5DA, 0xFCEBE0, 0xE9EEFB},
    .on_hue = {0xFFFFFF, 0xFFFFFF, 0xFFFFFF, 0xFFFFFF, 0xFFFFFF, 0xFFFFFF},
};

}  // namespace

const Theme& theme_of(ThemeId id) {
  switch (id) {
    case ThemeId::light:
      return kLight;
    case ThemeId::contrast:
      return kContrast;
    case ThemeId::print:
      return kPrint;
    case ThemeId::dark:
      break;
  }
  return kDark;
}

std::optional<ThemeId> theme_named(std::string_view name) {
  for (int i = 0; i < kNumThemes; ++i) {
    if (theme_of(static_cast<ThemeId>(i)).name == name) return static_cast<ThemeId>(i);
  }
  return std::nullopt;
}

double luminance(Rgb color) {
  return 0.2126 * linear((color >> 16) & 255U) + 0.7152 * linear((color >> 8) & 255U) +
         0.0722 * linear(color & 255U);
}

double contrast(Rgb a, Rgb b) {
  const double la = luminance(a) + 0.05;
  const double lb = luminance(b) + 0.05;
  return la > lb ? la / lb : lb / la;
}

Rgb ink_on(Rgb back) { return contrast(back, 0xFFFFFF) >= contrast(back, 0x000000) ? 0xFFFFFF : 0x000000; }

Rgb mix(Rgb a, Rgb b, double t) {
  Rgb out = 0;
  for (unsigned shift = 0; shift <= 16; shift += 8) {
    const double ca = (a >> shift) & 255U;
    const double cb = (b >> shift) & 255U;
    out |= static_cast<Rgb>(std::lround(ca + (cb - ca) * t)) << shift;
  }
  return out;
}

}  // namespace attn::viz
