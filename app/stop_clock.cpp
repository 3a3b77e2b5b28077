#include "app/stop_clock.h"

#include <fmt/format.h>

#include <algorithm>

namespace attn::app {
namespace {

/// "0:58", "12:41", "1:02:03".
std::string lasted(double seconds) {
  const auto whole = static_cast<long>(std::max(0.0, seconds));
  return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

void StopClock::follow(const viz::LessonNow* lesson, int told, double now) {
  if (told != told_ || lesson == nullptr) stop_ = -1;
  told_ = told;
  if (lesson == nullptr || !lesson->ready || lesson->stop == stop_) return;
  if (stop_ < 0) begun_ = now;
  stop_ = lesson->stop;
  arrived_ = now;
}

std::string StopClock::text(const std::string& time_of_day, double now) const {
  if (stop_ < 0) return time_of_day;
  return fmt::format("{}    {} in all    {} at this stop", time_of_day, lasted(now - begun_),
                     lasted(now - arrived_));
}

}  // namespace attn::app
