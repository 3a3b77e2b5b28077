// The speaker's clock.
#include <gtest/gtest.h>

#include "app/stop_clock.h"

namespace attn::app {
namespace {

TEST(StopClock, CountsFromTheFirstStopOnScreen) {
  StopClock clock;
  clock.follow(nullptr, 0, 1000.0);
  EXPECT_EQ(clock.text("14:03", 1000.0), "14:03") << "the window has been open for long, nothing is told";
  viz::LessonNow lesson;
  clock.follow(&lesson, 1, 1100.0);
  EXPECT_EQ(clock.text("14:03", 1105.0), "14:03") << "its run is not there yet";
  lesson.ready = true;
  clock.follow(&lesson, 1, 1110.0);
  EXPECT_EQ(clock.text("14:03", 1115.0), "14:03    0:05 in all    0:05 at this stop");
  lesson.stop = 1;
  lesson.ready = false;
  clock.follow(&lesson, 1, 1120.0);
  lesson.ready = true;
  clock.follow(&lesson, 1, 1121.0);
  EXPECT_EQ(clock.text("14:04", 1181.0), "14:04    1:11 in all    1:00 at this stop");
  EXPECT_EQ(clock.text("15:04", 1110.0 + 3723.0), "15:04    1:02:03 in all    1:01:52 at this stop");
  clock.follow(&lesson, 2, 2000.0);
  EXPECT_EQ(clock.text("15:05", 2003.0), "15:05    0:03 in all    0:03 at this stop") << "opened again";
  clock.follow(nullptr, 2, 2010.0);
  EXPECT_EQ(clock.text("15:06", 2020.0), "15:06") << "no lesson any more";
}

}  // namespace
}  // namespace attn::app
