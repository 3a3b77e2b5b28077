// A progress bar on standard error: only on a terminal, only when it takes over a second.
#pragma once

#include <chrono>
#include <string>

namespace attn::app {

class Progress {
 public:
  enum class Total : unsigned char {
    at_most,  // it may end earlier
    exact     // a bar, and the time left
  };
  Progress(std::string what, int total, Total kind = Total::at_most);
  void update(int done);
  /// Clears the line.
  void finish();

 private:
  std::string what_;
  int total_;
  Total kind_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point begin_;
};

/// "filming [#####.....]  50 %, 4 s left" after `seconds`, in at most 80 columns.
std::string progress_bar(const std::string& what, int done, int total, double seconds);

}  // namespace attn::app
