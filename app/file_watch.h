// Tells when a file was written again. Looks at its time and size every so often, on a thread of its own, so
// that a window that sleeps is woken by a change alone.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

namespace attn::app {

class FileWatch {
 public:
  /// `changed` is called from the watch's thread.
  FileWatch(std::filesystem::path path, std::chrono::milliseconds every, std::function<void()> changed);
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// True once after a change. A file that is not there has not changed: editors put another in its place.
  bool take_change() { return changed_.exchange(false); }

 private:
  const std::filesystem::path path_;
  std::atomic<bool> changed_ = false;
  std::jthread thread_;  // last: starts when everything above exists
};

}  // namespace attn::app
