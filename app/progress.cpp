#include "app/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace attn::app {

Progress::Progress(std::string what, int total)
    : what_(std::move(what)), total_(total), begin_(std::chrono::steady_clock::now()) {}

void Progress::update(int done) {
  if (!isatty(STDERR_FILENO)) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  if (seconds < 1.0) return;
  shown_ = true;
  fmt::print(stderr, "\r{} {} of at most {} ({:.0f} s)", what_, done, total_, seconds);
  std::fflush(stderr);
}

void Progress::finish() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace attn::app
