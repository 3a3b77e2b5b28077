// Pictures without a display, and the window on a virtual one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include "app/headless.h"
#include "app/image_write.h"
#include "app/opening.h"
#include "kernels/common/check.h"
#include "tests/app/program.h"
#include "tests/paths.h"

namespace attn::app {
namespace {

namespace fs = std::filesystem;
using testing::run_program;
using testing::run_shell;

std::size_t count_colors(const Image& image) {
  std::set<std::uint32_t> colors;
  for (std::size_t i = 0; i < image.rgba.size(); i += 4) {
    colors.insert(image.rgba[i] | std::uint32_t{image.rgba[i + 1]} << 8U |
                  std::uint32_t{image.rgba[i + 2]} << 16U);
  }
  return colors.size();
}

/// Width and height that a PNG file says it has; 0, 0 when it is none.
std::pair<std::uint32_t, std::uint32_t> png_size(const std::string& path) {
  const std::string bytes = testing::read_file(path);
  if (bytes.size() < 24 || !bytes.starts_with("\x89PNG\r\n\x1a\n")) return {0, 0};
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8U | static_cast<std::uint8_t>(bytes[at + i]);
    return value;
  };
  return {number(16), number(20)};
}

TEST(Picture, ShowsTheScreenTheSameEveryTime) {
  const Subject subject = open_subject(testing::default_scenario().string() + "#step=3", DeviceChoice::simt);
  Session session(subject, DeviceChoice::simt, [] {});
  go_to_link(session, subject.link);
  Headless headless(1280, 720);
  viz::ViewState view;
  const Image dark = headless.picture(session, view);
  EXPECT_EQ(dark.width, 1280);
  EXPECT_EQ(dark.height, 720);
  EXPECT_EQ(dark.rgba.size(), 1280U * 720U * 4U);
  EXPECT_GT(count_colors(dark), 200U) << "text, panels and weights have many colours";
  EXPECT_EQ(headless.picture(session, view).rgba, dark.rgba);

  view.theme = viz::ThemeId::light;
  const Image light = headless.picture(session, view);
  EXPECT_NE(light.rgba, dark.rgba);
  EXPECT_GT(count_colors(light), 200U) << "text is there after the fonts were built anew";
  view.theme = viz::ThemeId::dark;
  EXPECT_EQ(headless.picture(session, view).rgba, dark.rgba) << "and back";
}

TEST(Picture, RefusesSizesThatMakeNoSense) {
  EXPECT_THROW(Headless(10, 10), InputError);
  EXPECT_THROW(Headless(100'000, 100), InputError);
}

TEST(Picture, SheetsPutPicturesSideBySide) {
  Image one{4, 2, std::vector<std::uint8_t>(4 * 2 * 4, 10)};
  const Image small = shrink(one, 2);
  EXPECT_EQ(small.width, 2);
  EXPECT_EQ(small.height, 1);
  EXPECT_EQ(small.rgba, std::vector<std::uint8_t>(8, 10));
  one.rgba[0] = 50;  // one of the four pixels that the first one stands for
  EXPECT_EQ(shrink(one, 2).rgba[0], 20);
  const Image sheet = contact_sheet({one, one, one}, 2);
  EXPECT_EQ(sheet.width, 2 * 4 + 3 * 8);
  EXPECT_EQ(sheet.height, 2 * 2 + 3 * 8);
  EXPECT_EQ(sheet.rgba[(8 * static_cast<std::size_t>(sheet.width) + 8) * 4], 50)
      << "the first picture's corner";
  EXPECT_EQ(sheet.rgba[0], 255) << "the gap is white";
  EXPECT_TRUE(contact_sheet({}, 3).rgba.empty());
}

TEST(Picture, StillWritesAPngOfTheSizeAskedFor) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("a.png");
  const auto result = run_program({"still", testing::default_scenario().string() + "#step=2", "-o", path,
                                   "--size", "1000x600", "--theme", "light"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(png_size(path), std::pair(1000U, 600U));
  EXPECT_GT(fs::file_size(path), 10'000U);
  EXPECT_FALSE(fs::exists(path + ".part"));
  const auto beyond = run_program({"still", testing::default_scenario().string() + "#step=500", "-o", path});
  EXPECT_EQ(beyond.exit_code, 2);
  EXPECT_NE(beyond.err.find("there is no step 500"), std::string::npos) << beyond.err;
  EXPECT_EQ(
      run_program({"still", testing::default_scenario().string(), "-o", path, "--size", "big"}).exit_code, 2);
}

TEST(Picture, StripDrawsSeveralStepsAndASheet) {
  const testing::TemporaryFolder folder;
  const auto result = run_program({"strip", testing::default_scenario().string(), "--frames", "4", "--size",
                                   "640x360", "-o", folder.file("film")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* name : {"step-001.png", "step-002.png", "step-003.png", "step-004.png"}) {
    EXPECT_EQ(png_size(folder.file("film/") + name), std::pair(640U, 360U)) << name;
  }
  EXPECT_NE(testing::read_file(folder.file("film/step-001.png")),
            testing::read_file(folder.file("film/step-002.png")));
  EXPECT_EQ(png_size(folder.file("film/strip.png")), std::pair(3U * 320 + 4 * 8, 2U * 180 + 3 * 8));
  EXPECT_NE(result.out.find("strip.png"), std::string::npos) << "says where: " << result.out;
}

TEST(Window, OpensDrawsAndCloses) {
  if (run_shell("command -v xvfb-run").exit_code != 0) GTEST_SKIP() << "xvfb-run is not installed";
  const testing::TemporaryFolder config;  // the user's own settings stay as they are
  const auto result = run_shell(
      "XDG_CONFIG_HOME=" + config.path().string() + " xvfb-run -a -s '-screen 0 1920x1080x24' " +
      (tree::binary_dir() / "attnscope").string() + " view --device simt --seconds 1 --print-start");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("first frame after"), std::string::npos) << result.err;
  const std::string settings = testing::read_file(config.path() / "attnscope/settings.json");
  EXPECT_NE(settings.find("three-prompts.json"), std::string::npos) << "recent files: " << settings;
}

}  // namespace
}  // namespace attn::app
