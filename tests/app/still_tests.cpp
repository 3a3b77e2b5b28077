// Stills for papers and slides: vectors whose text is text, see-through pictures, single panels.
#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>
#include <string>
#include <vector>

#include "app/headless.h"
#include "app/svg_write.h"
#include "app/vector_painter.h"
#include "tests/app/program.h"

namespace attn::app {
namespace {

using testing::run_program;

/// "" or what is wrong: tags that do not match, or characters that must be escaped.
std::string why_not_well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < xml.size();) {
    if (xml[at] != '<') {
      const std::size_t end = std::min(xml.find('<', at), xml.size());
      const std::string text = xml.substr(at, end - at);
      if (text.find('>') != std::string::npos) return "'>' in " + text;
      for (std::size_t amp = text.find('&'); amp != std::string::npos; amp = text.find('&', amp + 1)) {
        if (text.find(';', amp) == std::string::npos) return "'&' in " + text;
      }
      at = end;
      continue;
    }
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return "a tag that does not end";
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (std::ranges::count(tag, '"') % 2 != 0) return "quotes in <" + tag;
    const std::string name = tag.substr(0, tag.find_first_of(" /\n", 1));
    if (tag[0] == '/') {
      if (open.empty() || "/" + open.back() != name) return "<" + tag + "> closes another tag";
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
    at = end + 1;
  }
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}

std::string still(const std::string& place, const std::string& panel) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("a.svg");
  const auto result = run_program({"still", testing::default_scenario().string() + place, "-o", path,
                                   "--panel", panel, "--size", "2560x1440", "--device", "simt"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return testing::read_file(path);
}

TEST(Still, SvgHasTheNumbersAsText) {
  const std::string mask = still("#step=1", "mask");
  EXPECT_EQ(why_not_well_formed(mask), "");
  EXPECT_NE(mask.find(">45 of 81 allowed<"), std::string::npos) << mask;
  EXPECT_NE(mask.find("<rect "), std::string::npos);
  EXPECT_NE(mask.find("<line "), std::string::npos) << "the hatch of masked cells";
  EXPECT_EQ(mask.find("<image"), std::string::npos) << "no bitmap";
  EXPECT_NE(mask.find("font-family: Inter"), std::string::npos);

  const std::string weights = still("#step=5", "weights");
  EXPECT_EQ(why_not_well_formed(weights), "");
  EXPECT_NE(weights.find(">block 0<"), std::string::npos) << "words of a line are one text";
  EXPECT_NE(weights.find(">&lt;|endoftext|&gt;<"), std::string::npos) << "turned labels too";
  EXPECT_NE(weights.find("rotate(-90)"), std::string::npos);

  const std::string tables = still("#step=5", "tables");
  EXPECT_NE(tables.find(">slot = table[pos / 4] "), std::string::npos) << tables;
  EXPECT_NE(still("#step=5", "strip").find(">cu_seqlens_k<"), std::string::npos);
}

TEST(Still, ShapesAreTakenApartAsTheyWereMade) {
  Session session(testing::scenario_subject(), DeviceChoice::simt, [] {});
  session.wait_idle();
  viz::ViewState view;
  VectorPainter painter;
  const std::vector<Shape> shapes = painter.picture(session, view, 1600, 900);
  const auto count = [&](Shape::Kind kind) { return std::ranges::count(shapes, kind, &Shape::kind); };
  EXPECT_GT(count(Shape::Kind::text), 100);
  EXPECT_GT(count(Shape::Kind::rect), 300);
  EXPECT_GT(count(Shape::Kind::stroke), 20);
  EXPECT_GT(count(Shape::Kind::circle), 0) << "the knob of the timeline";
  EXPECT_LT(count(Shape::Kind::polygon), std::ssize(shapes) / 10) << "few things are of no known shape";
  for (const Shape& shape : shapes) {
    EXPECT_TRUE(shape.box.x0 >= -50.0F && shape.box.x1 <= 1650.0F) << shape.text;
    EXPECT_EQ(shape.kind == Shape::Kind::text, !shape.text.empty());
  }
  const std::vector<Shape> again = painter.picture(session, view, 1600, 900);
  EXPECT_EQ(svg_text(again, {1600, 900, {}, "a & b", "<c>"}),
            svg_text(shapes, {1600, 900, {}, "a & b", "<c>"}));
}

TEST(Still, SvgCutsWhatItsClipCuts) {
  Shape rect;
  rect.kind = Shape::Kind::rect;
  rect.color = 0x80FF0000U;
  rect.box = {10, 10, 30, 30};
  rect.clip = {0, 0, 20, 100};
  Shape text;
  text.kind = Shape::Kind::text;
  text.color = 0xFF0000FFU;
  text.box = {10, 40, 60, 50};
  text.clip = rect.clip;
  text.points = {{10, 48}};
  text.text = "1 < 2";
  text.size = 12.1F;
  const std::string svg = svg_text({rect, text}, {100, 100, 0x102030U, "t", "d"});
  EXPECT_EQ(why_not_well_formed(svg), "");
  EXPECT_NE(
      svg.find("<rect x=\"10\" y=\"10\" width=\"10\" height=\"20\" fill=\"#0000ff\" fill-opacity=\"0.5\"/>"),
      std::string::npos)
      << svg;
  EXPECT_NE(
      svg.find("<g clip-path=\"url(#clip0)\">\n<text class=\"words\" x=\"10\" y=\"48\" font-size=\"10\" "
               "fill=\"#ff0000\">1 &lt; 2</text>\n</g>"),
      std::string::npos)
      << svg;
  EXPECT_NE(svg.find("fill=\"#102030\""), std::string::npos);
}

TEST(Still, SeeThroughPicturesHaveNothingBehindThePanels) {
  Session session(testing::scenario_subject(), DeviceChoice::simt, [] {});
  session.wait_idle();
  Headless headless(640, 360);
  viz::ViewState view;
  view.maximised = viz::PanelId::mask;
  view.picture.alone = view.picture.clear = true;
  const Image image = headless.picture(session, view);
  std::size_t clear = 0, solid = 0;
  for (std::size_t i = 3; i < image.rgba.size(); i += 4) {
    clear += image.rgba[i] == 0;
    solid += image.rgba[i] == 255;
  }
  const std::size_t pixels = image.rgba.size() / 4;
  EXPECT_GT(clear, pixels / 4);
  EXPECT_GT(solid, pixels / 20);
  view.picture.clear = false;
  const Image opaque = headless.picture(session, view);
  for (std::size_t i = 0; i < image.rgba.size(); i += 4) {
    if (image.rgba[i + 3] != 255) continue;
    EXPECT_EQ(image.rgba[i], opaque.rgba[i]) << "what is solid has the same colour";
    break;
  }
  EXPECT_TRUE(std::ranges::all_of(std::views::iota(std::size_t{0}, pixels),
                                  [&](std::size_t i) { return opaque.rgba[i * 4 + 3] == 255; }));
}

TEST(Still, BadRequestsAreOneSentence) {
  const testing::TemporaryFolder folder;
  const auto refused = [&](std::vector<std::string> more, const std::string& says) {
    std::vector<std::string> words = {
        "still", testing::default_scenario().string(), "--device", "simt", "-o", folder.file("a.svg")};
    words.insert(words.end(), more.begin(), more.end());
    const auto result = run_program(words);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(testing::is_one_sentence(result.err)) << result.err;
    EXPECT_NE(result.err.find(says), std::string::npos) << result.err;
  };
  refused({"--panel", "waits"}, "weights");
  refused({"--panel", "free_queue", "--size", "1600x90"},
          "a window of 1600x90 has no room for the panel 'free_queue'");
  refused({"--scale", "2", "--scale-out", "4"}, "0.5 to 4");
  refused({"--scale-out", "9"}, "--scale-out");
}

}  // namespace
}  // namespace attn::app
