#include "app/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "viz/film_view.h"

namespace attn::app {
std::string progress_bar(const std::string& what, int done, int total, double seconds) {
  constexpr int kWidth = 30;
  const double part = total > 0 ? std::clamp(static_cast<double>(done) / total, 0.0, 1.0) : 0.0;
  const auto full = static_cast<std::size_t>(part * kWidth);
  std::string text = fmt::format("{} [{}{}] {:3.0f} %", what, std::string(full, '#'),
                                 std::string(kWidth - full, '.'), std::floor(part * 100.0));
  if (part > 0.0) text += ", " + viz::time_left_text(seconds * (1.0 - part) / part);
  return text;
}

Progress::Progress(std::string what, int total, Total kind)
    : what_(std::move(what)), total_(total), kind_(kind), begin_(std::chrono::steady_clock::now()) {}

void Progress::update(int done) {
  if (!isatty(STDERR_FILENO)) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  if (seconds < 1.0) return;
  shown_ = true;
  if (kind_ == Total::exact) {
    fmt::print(stderr, "\r{}\033[K", progress_bar(what_, done, total_, seconds));
  } else {
    fmt::print(stderr, "\r{} {} of at most {} ({:.0f} s)", what_, done, total_, seconds);
  }
  std::fflush(stderr);
}

void Progress::finish() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace attn::app
