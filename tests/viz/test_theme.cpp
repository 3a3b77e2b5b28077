// Colours as numbers: every text and stroke that occurs is readable on what it is drawn on, and the magnitude
// palette rises evenly.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "tests/paths.h"
#include "viz/lookup.h"
#include "viz/palette.h"
#include "viz/screen.h"
#include "viz/theme.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

/// How a colour arrives: as it is, on a bad projector, in eyes that lack one cone.
struct Sight {
  std::string name;
  std::function<Rgb(Rgb)> see;
};

double to_linear(double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); }
double to_srgb(double l) { return l <= 0.0031308 ? 12.92 * l : 1.055 * std::pow(l, 1.0 / 2.4) - 0.055; }

Rgb from_channels(const std::array<double, 3>& c) {
  Rgb out = 0;
  for (const double v : c) out = out << 8 | static_cast<Rgb>(std::lround(std::clamp(v, 0.0, 1.0) * 255.0));
  return out;
}

std::array<double, 3> channels(Rgb color) {
  return {((color >> 16) & 255U) / 255.0, ((color >> 8) & 255U) / 255.0, (color & 255U) / 255.0};
}

/// Ambient light on the screen: black is lifted to a grey of 30 %, white stays, in sRGB values: c' = 0.3 +
/// 0.7 c.
Rgb washed(Rgb color) {
  std::array<double, 3> c = channels(color);
  for (double& v : c) v = 0.3 + 0.7 * v;
  return from_channels(c);
}

/// Machado, Oliveira, Fernandes 2009, severity 1.0, on linear RGB.
Rgb deficient(Rgb color, const std::array<std::array<double, 3>, 3>& matrix) {
  std::array<double, 3> linear = channels(color);
  for (double& v : linear) v = to_linear(v);
  std::array<double, 3> out{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) out[i] += matrix[i][j] * linear[j];
    out[i] = to_srgb(std::clamp(out[i], 0.0, 1.0));
  }
  return from_channels(out);
}

const std::vector<Sight>& sights() {
  static const std::vector<Sight> kSights = {{"plain", [](Rgb c) { return c; }},
                                             {"washed projector", washed},
                                             {"protan",
                                              [](Rgb c) {
                                                return deficient(c, {{{0.152286, 1.052583, -0.204868},
                                                                      {0.114503, 0.786281, 0.099216},
                                                                      {-0.003882, -0.048116, 1.051998}}});
                                              }},
                                             {"deutan",
                                              [](Rgb c) {
                                                return deficient(c, {{{0.367322, 0.860646, -0.227968},
                                                                      {0.280085, 0.672501, 0.047413},
                                                                      {-0.011820, 0.042940, 0.968881}}});
                                              }},
                                             {"tritan", [](Rgb c) {
                                                return deficient(c, {{{1.255528, -0.076749, -0.178779},
                                                                      {-0.078411, 0.930809, 0.147602},
                                                                      {0.004733, 0.691367, 0.303900}}});
                                              }}};
  return kSights;
}

class EveryTheme : public testing::TestWithParam<const Theme*> {
 protected:
  const Theme& theme = *GetParam();

  /// The contrast of two colours that occur on each other, however they are seen.
  void readable(Rgb ink, Rgb back, double least, const std::string& what) {
    for (const Sight& sight : sights())
      EXPECT_GE(contrast(sight.see(ink), sight.see(back)), least)
          << theme.name << ", " << sight.name << ": " << what;
  }
};

constexpr double kText = 4.5;
constexpr double kStroke = 3.0;

TEST_P(EveryTheme, TextIsReadable) {
  const Theme& t = theme;
  for (const Color ink :
       {Color::text, Color::muted, Color::accent, Color::warning, Color::error, Color::ok}) {
    for (const Color back : {Color::panel, Color::raised})
      readable(t[ink], t[back], kText,
               fmt::format("ink {} on {}", static_cast<int>(ink), static_cast<int>(back)));
  }
  for (const Color ink : {Color::text, Color::muted})  // tabs stand between the panels
    readable(t[ink], t[Color::window], kText, "tab");
  readable(t[Color::on_accent], t[Color::accent], kText, "chosen row, badge");
  readable(t[Color::on_alarm], t[Color::alarm], kText, "banner");
  readable(t[Color::panel], t[Color::text], kText, "reference-count badge");
  for (std::size_t i = 0; i < kNumHues; ++i) {
    readable(t[Color::text], theme.tint[i], kText, fmt::format("tint {}", i));
    readable(theme.on_hue[i], theme.hue[i], kText, fmt::format("letter on hue {}", i));
  }
}

TEST_P(EveryTheme, StrokesAndGlyphsAreVisible) {
  const Theme& t = theme;
  for (const Color stroke : {Color::stroke, Color::selection, Color::accent, Color::pad, Color::masked,
                             Color::unwritten, Color::warning})
    readable(t[stroke], t[Color::panel], kStroke, fmt::format("stroke {}", static_cast<int>(stroke)));
  for (const Color stroke : {Color::stroke, Color::pad, Color::unwritten})  // outlines of cards and buttons
    readable(t[stroke], t[Color::raised], kStroke,
             fmt::format("stroke {} of a card", static_cast<int>(stroke)));
  for (const Rgb hue : theme.hue) {
    readable(hue, t[Color::panel], kStroke, "hue");
    readable(hue, t[Color::raised], kStroke, "hue on a card");
  }
  // The staircase and own-key rings on the cells of the mask.
  readable(t[Color::text], t[Color::allowed], kStroke, "ring on a visible cell");
  readable(t[Color::text], t[Color::cached_band], kStroke, "ring on a cached cell");
}

TEST_P(EveryTheme, WhatIsStillToComeIsFaintAndCanBeRead) {
  const Rgb panel = theme[Color::panel];
  const auto veiled = [&](Rgb ink) { return contrast(mix(ink, panel, kVeil), panel); };
  EXPECT_GE(veiled(theme[Color::text]), kStroke) << theme.name;
  for (const Rgb hue : theme.hue) {
    EXPECT_LE(veiled(hue), 0.6 * contrast(hue, panel)) << theme.name;
    EXPECT_GE(veiled(hue), 1.5) << theme.name;
  }
}

TEST_P(EveryTheme, SequencesDifferInHueAndAlwaysInLetterAndNotch) {
  for (std::size_t i = 0; i < kNumHues; ++i) {
    for (std::size_t j = i + 1; j < kNumHues; ++j) {
      EXPECT_NE(theme.hue[i], theme.hue[j]);
      EXPECT_NE(seq_letter(static_cast<int>(i)), seq_letter(static_cast<int>(j)));
      EXPECT_NE(notch_teeth(static_cast<int>(i)), notch_teeth(static_cast<int>(j)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Themes, EveryTheme,
                         testing::Values(&theme_of(ThemeId::dark), &theme_of(ThemeId::light),
                                         &theme_of(ThemeId::contrast), &theme_of(ThemeId::print)),
                         [](const auto& tested) { return std::string(tested.param->name); });

TEST(Theme, PresentStartsLight) {
  ViewState view;
  view.mode = ScreenMode::present;
  EXPECT_EQ(theme_of(theme_in_use(view)).name, "light");
}

/// Panels name roles; only theme and palette know colours.
TEST(Theme, NobodyElseNamesAColour) {
  namespace fs = std::filesystem;
  int files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(tree::source_dir() / "viz")) {
    const std::string stem = entry.path().stem().string();
    if (!entry.is_regular_file() || stem == "theme" || stem == "palette") continue;
    ++files;
    std::ifstream in(entry.path());
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
      const auto where = fmt::format("{}:{}: {}", entry.path().string(), number, line);
      for (std::size_t at = line.find("0x"); at != std::string::npos; at = line.find("0x", at + 1)) {
        std::size_t digits = 0;
        while (at + 2 + digits < line.size() &&
               std::isxdigit(static_cast<unsigned char>(line[at + 2 + digits])))
          ++digits;
        EXPECT_NE(digits, 6U) << where;
      }
      for (const char* word :
           {"ImColor", "IM_COL32(0", "IM_COL32(1", "IM_COL32(2", "IM_COL32_WHITE", "IM_COL32_BLACK"})
        EXPECT_EQ(line.find(word), std::string::npos) << where;
    }
  }
  EXPECT_GT(files, 50);
}

TEST(Contrast, KnownPairs) {
  EXPECT_NEAR(contrast(0x000000, 0xFFFFFF), 21.0, 1e-9);
  EXPECT_NEAR(contrast(0x777777, 0xFFFFFF), 4.48, 0.01);  // the classic grey that just misses
  EXPECT_DOUBLE_EQ(contrast(0x123456, 0x123456), 1.0);
}

TEST(Cividis, LightnessRisesFromEndToEnd) {
  for (int i = 1; i < kPaletteStops; ++i)
    EXPECT_GE(luminance(cividis_stop(i)) + 1e-3, luminance(cividis_stop(i - 1))) << i;
  EXPECT_EQ(cividis_stop(0), 0x00224EU);
  EXPECT_EQ(cividis_stop(255), 0xFEE838U);
  EXPECT_EQ(cividis(-1.0F), cividis_stop(0));
  EXPECT_EQ(cividis(2.0F), cividis_stop(255));
  EXPECT_EQ(cividis(NAN), cividis_stop(0));
}

TEST(Cividis, NumbersInCellsAreReadable) {
  for (int i = 0; i < kPaletteStops; ++i)
    EXPECT_GE(contrast(ink_on(cividis_stop(i)), cividis_stop(i)), 4.5) << i;
}

TEST(WeightScale, LogarithmicFloorAndCeiling) {
  EXPECT_FLOAT_EQ(weight_position(1.0F, true), 1.0F);
  EXPECT_NEAR(weight_position(1e-3F, true), 0.5F, 1e-5F);
  EXPECT_FLOAT_EQ(weight_position(1e-9F, true), 0.0F);
  EXPECT_FLOAT_EQ(weight_position(0.25F, false), 0.25F);
}

}  // namespace
}  // namespace attn::viz
