// Stills of one panel: exactly the panel with a margin, at every size, as pixels and as vectors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "app/headless.h"
#include "app/still_scene.h"
#include "tests/app/program.h"
#include "viz/theme.h"

namespace attn::app {
namespace {

constexpr int kMargin = 8;

StillOptions options_of(const std::string& panel, int scale_out) {
  StillOptions options;
  options.file = testing::default_scenario().string() + "#step=1";
  options.device = "simt";
  options.panel = panel;
  options.scale_out = scale_out;
  return options;
}

Image picture_of(const StillOptions& options) {
  Scene scene(options);
  Headless headless(scene.size.first, scene.size.second);
  return headless.picture(scene.session, scene.view);
}

const std::uint8_t* pixel(const Image& image, int x, int y) {
  return image.rgba.data() + (static_cast<std::size_t>(y) * image.width + x) * 4;
}

/// Whether all of the outermost pixels are of that colour and alpha.
bool framed_by(const Image& image, const std::uint8_t* rgba, int margin) {
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const bool inside = x >= margin && y >= margin && x < image.width - margin && y < image.height - margin;
      if (!inside && !std::equal(rgba, rgba + 4, pixel(image, x, y))) return false;
    }
  }
  return true;
}

/// Columns and rows from the margin to the first pixel that is drawn on.
int empty_rows_at_the_top(const Image& image) {
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      if (!std::equal(pixel(image, 0, 0), pixel(image, 0, 0) + 4, pixel(image, x, y))) return y;
    }
  }
  return image.height;
}

TEST(PanelPicture, IsThePanelAsTheWindowShowsItAtOneToFourTimes) {
  for (const char* panel : {"mask", "weights", "strip", "pool", "tables", "free_queue", "code", "timeline"}) {
    SCOPED_TRACE(panel);
    const Scene one(options_of(panel, 1));
    EXPECT_LT(one.size.first * one.size.second, 1600 * 900) << "not the whole window";
    EXPECT_GT(one.size.second, 2 * kMargin);
    for (const int times : {2, 4}) {
      const Scene more(options_of(panel, times));
      EXPECT_EQ(more.size.first, one.size.first * times);
      EXPECT_EQ(more.size.second, one.size.second * times);
    }
  }
  EXPECT_LT(Scene(options_of("tables", 1)).size.second, Scene(options_of("weights", 1)).size.second);
}

TEST(PanelPicture, HasAMarginAllAroundAndNothingElse) {
  for (const int times : {1, 3}) {
    const Image image = picture_of(options_of("mask", times));
    EXPECT_TRUE(framed_by(image, pixel(image, 0, 0), kMargin * times));
    const viz::Rgb panel = viz::theme_of(viz::ThemeId::dark)[viz::Color::panel];
    EXPECT_EQ(pixel(image, 0, 0)[0], panel >> 16U & 0xFFU) << "of the panel's own colour";
    EXPECT_EQ(pixel(image, 0, 0)[3], 255);
    EXPECT_LT(empty_rows_at_the_top(image), 24 * times) << "the title begins right below it";
  }
}

TEST(PanelPicture, IsSeeThroughWhereNothingIsDrawn) {
  StillOptions options = options_of("mask", 2);
  const Image solid = picture_of(options);
  options.transparent = true;
  const Image clear = picture_of(options);
  EXPECT_EQ(clear.width, solid.width);
  EXPECT_EQ(clear.height, solid.height);
  const std::uint8_t nothing[4] = {0, 0, 0, 0};
  EXPECT_TRUE(framed_by(clear, nothing, kMargin * 2));
}

/// Squares of the pool without room for a digit: the first two blocks, which A and C share, have a hole each
/// in the colour of A, whose third block has none.
TEST(PanelPicture, SharedBlocksHaveAHoleInTheSmallestSquares) {
  for (const char* blocks : {"1500", "3000", "8000"}) {
    SCOPED_TRACE(blocks);
    StillOptions options = options_of("pool", 1);
    options.file = testing::default_scenario().string() + "#step=6";
    options.overrides = {std::string("engine.num_blocks=") + blocks};
    const Image image = picture_of(options);
    const viz::Rgb hue = viz::theme_of(viz::ThemeId::dark).hue[0];
    const std::uint8_t of_a[4] = {static_cast<std::uint8_t>(hue >> 16U), static_cast<std::uint8_t>(hue >> 8U),
                                  static_cast<std::uint8_t>(hue), 255};
    int holes = 0;
    for (int y = 0; y < image.height && holes == 0; ++y) {
      int last = -1;
      for (int x = 0; x < image.width / 4; ++x) {
        if (!std::equal(of_a, of_a + 4, pixel(image, x, y))) continue;
        if (last >= 0 && x > last + 1 && x < last + 8) ++holes;
        last = x;
      }
    }
    EXPECT_EQ(holes, 2);
  }
}

TEST(PanelPicture, AnSvgHasTheSameSizeAndTheSamePanel) {
  const testing::TemporaryFolder folder;
  const Scene scene(options_of("tables", 1));
  const std::string path = folder.file("a.svg");
  const auto result = testing::run_program({"still", testing::default_scenario().string() + "#step=1", "-o",
                                            path, "--panel", "tables", "--device", "simt", "--transparent"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string svg = testing::read_file(path);
  EXPECT_NE(svg.find("width=\"" + std::to_string(scene.size.first) + "\""), std::string::npos)
      << svg.substr(0, 400);
  EXPECT_NE(svg.find("height=\"" + std::to_string(scene.size.second) + "\""), std::string::npos);
  EXPECT_NE(svg.find("Block tables"), std::string::npos);
  EXPECT_EQ(svg.find("Softmax weights"), std::string::npos);
}

}  // namespace
}  // namespace attn::app
