#include "viz/theme.h"

#include <cmath>

namespace attn::viz {
namespace {

double linear(std::uint32_t channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

// Order: sky blue, bluish green, reddish purple, yellow, vermillion, blue (Okabe & Ito 2008).
constexpr Theme kDark = {
    .name = "dark",
    .colors = {0x0E1116, 0x161A20, 0x222831, 0x2C343F, 0x7C8897, 0xE9EDF2, 0xA9B4C1,
               0x6CB8FF, 0x06121D, 0xFFFFFF, 0xF0B030, 0xFF8A80, 0x5FD39A, 0xE69F00,
               0x697482, 0x8A96A5, 0x4C86BC, 0x2F4A64, 0xC62828, 0xFFFFFF, 0x000000},
    .hue = {0x56B4E9, 0x1FB58A, 0xD98BB6, 0xF0E442, 0xE8742A, 0x5B8DEF},
    .tint = {0x17374A, 0x123D31, 0x402939, 0x3D3A14, 0x46280F, 0x1E2F52},
    .on_hue = {0x06121D, 0x06120D, 0x1A0A12, 0x171600, 0x190A00, 0x030A18},
};

constexpr Theme kLight = {
    .name = "light",
    .colors = {0xE9EDF2, 0xFFFFFF, 0xF1F4F8, 0xD3DAE3, 0x6B7787, 0x12171D, 0x4A5664,
               0x0A5FB4, 0xFFFFFF, 0x000000, 0x8A5200, 0xB3261E, 0x0B6E40, 0xB06A00,
               0x848F9C, 0x6F7B89, 0x7FB2E2, 0xCFE0F0, 0xA61B1B, 0xFFFFFF, 0x000000},
    .hue = {0x0F79B8, 0x00795A, 0xA6467C, 0x807300, 0xBA4A00, 0x2F55B5},
    .tint = {0xD8ECF8, 0xD3EFE6, 0xF6E0EC, 0xF5F0C4, 0xFBE3D3, 0xDEE6FA},
    .on_hue = {0xFFFFFF, 0xFFFFFF, 0xFFFFFF, 0xFFFFFF, 0xFFFFFF, 0xFFFFFF},
};

// For bright rooms and weak eyes: pure black ground, white strokes, saturated hues.
constexpr Theme kContrast = {
    .name = "contrast",
    .colors = {0x000000, 0x000000, 0x141414, 0x5A5A5A, 0xE0E0E0, 0xFFFFFF, 0xE0E0E0,
               0x7FC8FF, 0x000000, 0xFFFFFF, 0xFFC740, 0xFF9C94, 0x7CEBB4, 0xFFB000,
               0xA8A8A8, 0xC8C8C8, 0x5FA6E6, 0x2C5680, 0xFF5A4F, 0x000000, 0x000000},
    .hue = {0x66C7FF, 0x2FD6A6, 0xF0A0CC, 0xFFF14A, 0xFF8A3D, 0x82A8FF},
    .tint = {0x0C2B3E, 0x08301F, 0x3A1F30, 0x333000, 0x3D1F05, 0x14244D},
    .on_hue = {0x000000, 0x000000, 0x000000, 0x000000, 0x000000, 0x000000},
};

// For paper: white ground, no tinted surfaces that would print as grey fog, dark strokes.
constexpr Theme kPrint = {
    .name = "print",
    .colors = {0xFFFFFF, 0xFFFFFF, 0xF7F7F7, 0xC4C4C4, 0x4A4A4A, 0x000000, 0x333333,
               0x0B4F94, 0xFFFFFF, 0x000000, 0x7A4800, 0x9E1B14, 0x0A5C36, 0x9A5C00,
               0x767676, 0x606060, 0x8DB4DC, 0xD9E4F0, 0x8E1616, 0xFFFFFF, 0x000000},
    .hue = {0x0D6CA6, 0x006B50, 0x94406F, 0x6E6300, 0xA34200, 0x2A4C9E},
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
