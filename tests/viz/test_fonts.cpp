// Fonts: every symbol the panels write exists in every role, digits are of one width, and only a change of
// scale bakes a new atlas.
#include <gtest/gtest.h>

#include <filesystem>

#include "headless.h"
#include "sample_frame.h"
#include "viz/fonts.h"

namespace attn::viz {
namespace {

bool fonts_installed() {
  return std::filesystem::exists("/usr/share/fonts/opentype/inter/Inter-Regular.otf") &&
         std::filesystem::exists("/usr/share/fonts/truetype/jetbrains-mono/JetBrainsMono-Regular.ttf") &&
         std::filesystem::exists("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf");
}

#if IMGUI_VERSION_NUM < 19200  // later versions bake glyphs when they are first drawn
TEST(Fonts, EverySymbolExistsInEveryRole) {
  if (!fonts_installed())
    GTEST_SKIP() << "fonts-inter, fonts-jetbrains-mono or fonts-dejavu-core is not installed";
  Headless screen(800, 600);
  for (int role = 0; role < kNumFontRoles; ++role) {
    // ▷ ▶ △ ▼ ↻ × · ↵ ← → ↑ ↓ … ≤ − α ‖ Σ Δ • ◐ ◑ ‹ › ⇤
    for (const int symbol : {0x25B7, 0x25B6, 0x25B3, 0x25BC, 0x21BB, 0xD7,   0xB7,  0x21B5, 0x2190,
                             0x2192, 0x2191, 0x2193, 0x2026, 0x2264, 0x2212, 0x3B1, 0x2016, 0x3A3,
                             0x394,  0x2022, 0x25D0, 0x25D1, 0x2039, 0x203A, 0x21E4}) {
      EXPECT_NE(font(static_cast<FontRole>(role))->FindGlyphNoFallback(static_cast<ImWchar>(symbol)), nullptr)
          << std::hex << symbol << " in role " << role;
    }
  }
}

TEST(Fonts, DigitsOfTheMonoRolesAreOneWidth) {
  if (!fonts_installed()) GTEST_SKIP() << "fonts-jetbrains-mono is not installed";
  Headless screen(800, 600);
  for (const FontRole role : {FontRole::mono, FontRole::mono_small}) {
    const float width = font(role)->GetCharAdvance('0');
    for (char digit = '1'; digit <= '9'; ++digit)
      EXPECT_EQ(font(role)->GetCharAdvance(static_cast<ImWchar>(digit)), width);
  }
}
#endif

TEST(Fonts, SizesAreWholePixelsAtEveryScale) {
  for (float scale : {0.75F, 0.9F, 1.0F, 1.35F, 2.5F}) {
    for (int role = 0; role < kNumFontRoles; ++role) {
      const float size = font_size(static_cast<FontRole>(role), scale);
      EXPECT_EQ(size, static_cast<float>(static_cast<int>(size)));
    }
  }
  EXPECT_EQ(font_size(FontRole::text, 1.0F), 15.0F);
}

TEST(Fonts, OnlyANewScaleBakesTheAtlasAgain) {
  Headless screen(800, 600);
  const ImFont* before = font(FontRole::text);
  const ImVec4 dark = ImGui::GetStyle().Colors[ImGuiCol_WindowBg];
  screen.view.theme = ThemeId::light;
  apply_style(screen.view);
  EXPECT_EQ(font(FontRole::text), before);
  EXPECT_NE(ImGui::GetStyle().Colors[ImGuiCol_WindowBg].x, dark.x);
  const sample::Sample s = sample::prefill();
  screen.view.scale = 1.5F;
  apply_style(screen.view);
  screen.draw(s.frame);
  EXPECT_EQ(ImGui::GetIO().Fonts->Fonts.Size, kNumFontRoles);
}

}  // namespace
}  // namespace attn::viz
