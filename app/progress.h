// A progress bar on standard error: only on a terminal, only when it takes over a second.
#pragma once

#include <chrono>
#include <string>

namespace attn::app {

class Progress {
 public:
  Progress(std::string what, int total);
  void update(int done);
  /// Clears the line.
  void finish();

 private:
  std::string what_;
  int total_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace attn::app
