// What the films of the bundled lessons say stands whole in the picture, whatever its size.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "app/film_painter.h"
#include "app/footage.h"
#include "app/lessons.h"
#include "app/picture_options.h"
#include "tests/app/user.h"
#include "viz/layout/panel_names.h"
#include "viz/widgets/text_log.h"

namespace attn::app {
namespace {

/// The whole screen, and a panel alone.
constexpr std::pair<const char*, viz::PanelId> kPictures[] = {{"720p", viz::PanelId::count_},
                                                              {"1080p", viz::PanelId::count_},
                                                              {"square", viz::PanelId::count_},
                                                              {"vertical", viz::PanelId::count_},
                                                              {"square", viz::PanelId::weights}};

class FilmedLesson : public ::testing::TestWithParam<LessonFile> {};

TEST_P(FilmedLesson, ItsCaptionsAreWholeInPicturesOfEverySize) {
  const Subject subject = open_subject(GetParam().path.string(), DeviceChoice::simt);
  Footage footage(subject, DeviceChoice::simt, [](int, int) { return true; });
  const Material material{
      .store = [&](std::string_view run) -> const trace::Store& { return *footage.store(run); },
      .fill = [&](const std::string& text, const Stop& stop) { return footage.runs().fill_in(text, stop); }};
  const Script& script = footage.script();
  EditList list = edit_film(script, material, {}, 1);
  std::ranges::stable_partition(list.shots, &Shot::question);  // letters of one size after the other
  for (const auto& [size, panel] : kPictures) {
    SCOPED_TRACE(fmt::format("{} {}", size, viz::panel_name(panel)));
    FilmLook look;
    look.panel = panel;
    std::tie(look.width, look.height) = parse_size(size);
    testing::User user(subject, static_cast<float>(look.width), static_cast<float>(look.height));
    user.settle();
    viz::TextLog log;
    for (const Shot& shot : list.shots) {
      user.view = view_of(look, shot, shown_of(script, shot));
      user.view.picture.provenance = "where the numbers come from";
      user.view.text_log = &log;
      user.draw();
      std::string written;
      for (const viz::TextLog::Entry& entry : log.entries) {
        if (entry.panel != "caption" && !shot.question) continue;
        EXPECT_LE(entry.rect.bottom(), static_cast<float>(look.height)) << entry.text;
        EXPECT_FALSE(entry.shortened || entry.left_out) << shot.stop + 1 << ": " << entry.text;
        written += entry.text + ' ';
      }
      if (shot.question) {
        EXPECT_NE(written.find(shot.caption), std::string::npos) << written;
      } else {
        EXPECT_EQ(written, shot.caption + ' ') << "stop " << shot.stop + 1;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bundled, FilmedLesson, ::testing::ValuesIn(lesson_files()),
                         [](const auto& of) { return fmt::format("{:02}", of.param.number); });

}  // namespace
}  // namespace attn::app
