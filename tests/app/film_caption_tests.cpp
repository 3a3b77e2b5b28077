// What the films of the bundled lessons say stands whole in the picture, whatever its size.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "app/film_painter.h"
#include "app/footage.h"
#include "app/lessons.h"
#include "app/picture_options.h"
#include "tests/app/user.h"
#include "viz/widgets/text_log.h"

namespace attn::app {
namespace {

class FilmedLesson : public ::testing::TestWithParam<LessonFile> {};

TEST_P(FilmedLesson, ItsCaptionsAreWholeInPicturesOfEverySize) {
  const Subject subject = open_subject(GetParam().path.string(), DeviceChoice::simt);
  Footage footage(subject, DeviceChoice::simt, [](int, int) { return true; });
  const Material material{
      .store = [&](std::string_view run) -> const trace::Store& { return *footage.store(run); },
      .fill = [&](const std::string& text, const Stop& stop) { return footage.runs().fill_in(text, stop); }};
  const Script& script = footage.script();
  const EditList list = edit_film(script, material, {}, 1);
  for (const char* size : {"720p", "1080p", "square", "vertical"}) {
    SCOPED_TRACE(size);
    FilmLook look;
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
        if (entry.panel != "caption") continue;
        EXPECT_FALSE(entry.shortened || entry.left_out) << shot.stop + 1 << ": " << entry.text;
        written += entry.text + ' ';
      }
      EXPECT_EQ(written, shot.caption + ' ') << "stop " << shot.stop + 1;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bundled, FilmedLesson, ::testing::ValuesIn(lesson_files()),
                         [](const auto& of) { return fmt::format("{:02}", of.param.number); });

}  // namespace
}  // namespace attn::app
