// How long a lesson has been told, for its speaker.
#pragma once

#include <string>

#include "viz/lesson_view.h"

namespace attn::app {

class StopClock {
 public:
  /// What is told at that time (seconds of any clock that does not go back); null: nothing. `told`: how many
  /// lessons were opened, this one too. The first stop that is on screen begins its time, another stop the
  /// time of that stop; a lesson that is opened again begins anew.
  void follow(const viz::LessonNow* lesson, int told, double now);
  /// "14:03    12:41 in all    0:58 at this stop"; before the first stop is there the time of day alone.
  std::string text(const std::string& time_of_day, double now) const;

 private:
  int told_ = 0;          // the lesson
  int stop_ = -1;         // -1: none has been on screen yet
  double begun_ = 0.0;    // when its first stop was there
  double arrived_ = 0.0;  // when this one was
};

}  // namespace attn::app
