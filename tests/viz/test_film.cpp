// The film dialog: what it asks for, how far a film is, and what became of it; and the stops of recorded
// clicks.
#include <gtest/gtest.h>

#include <string>

#include "commands_sent.h"
#include "headless.h"
#include "sample_frame.h"
#include "viz/film_view.h"

namespace attn::viz {
namespace {

using sample::Sample;

TEST(FilmDialog, ShowsProgressThenWhatBecameOfIt) {
  Sample s = sample::prefill();
  s.frame.film.stem = "mine";
  s.frame.film.what = "this run";
  Headless screen(1600, 900);
  screen.chord(s.frame, {.key = 'R', .ctrl = true});
  ASSERT_EQ(screen.view.shell.overlay, Overlay::film);
  screen.draw(s.frame);
  EXPECT_EQ(screen.view.shell.text, "mine.mp4");
  screen.click(s.frame, "film/record");
  const Command* record = only_command(screen.commands, Command::Kind::record_film);
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(record->text, "mine.mp4");
  EXPECT_EQ(record->value, "1080p");

  s.frame.film.running = true;
  s.frame.film.text = "filming mine.mp4";
  s.frame.film.fraction = 0.25F;
  s.frame.film.seconds_left = 12.4F;
  screen.draw(s.frame);
  EXPECT_EQ(screen.marks.get("film/progress")->value, "filming mine.mp4   25 %, 12 s left");
  EXPECT_EQ(screen.marks.get("status/film")->value, "film 25 %, 12 s left");
  EXPECT_FALSE(screen.marks.get("film/record")) << "one film at a time";
  screen.click(s.frame, "film/cancel");
  EXPECT_NE(only_command(screen.commands, Command::Kind::cancel_film), nullptr);

  s.frame.film.running = false;
  s.frame.film.failed = true;
  s.frame.film.text =
      "ffmpeg is not installed, so mine.mp4 is not made: its pictures are in mine-frames; with "
      "ffmpeg this makes it: ffmpeg -framerate 30 -i mine-frames/%06d.png mine.mp4";
  screen.draw(s.frame);
  ASSERT_TRUE(screen.marks.get("film/outcome"));
  screen.click(s.frame, "film/copy");
  const Command* copy = only_command(screen.commands, Command::Kind::copy_text);
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->text, s.frame.film.text);
  screen.press(s.frame, ImGuiKey_Escape);
  screen.draw(s.frame);
  EXPECT_FALSE(screen.marks.get("status/film"));
}

TEST(FilmDialog, TimeLeftIsReadable) {
  EXPECT_EQ(time_left_text(12.4), "12 s left");
  EXPECT_EQ(time_left_text(125.0), "2:05 min left");
  EXPECT_EQ(time_left_text(-1.0), "0 s left");
}

TEST(RecordedClicks, AreCountedInTheStatusLine) {
  Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.draw(s.frame);
  EXPECT_FALSE(screen.marks.get("status/clicks"));
  s.frame.clicks = 3;
  screen.draw(s.frame);
  EXPECT_EQ(screen.marks.get("status/clicks")->value, "recording clicks: 3 stops");
}

}  // namespace
}  // namespace attn::viz
