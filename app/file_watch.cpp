#include "app/file_watch.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

namespace attn::app {
namespace fs = std::filesystem;
namespace {

using Stamp = std::pair<fs::file_time_type, std::uintmax_t>;

std::optional<Stamp> stamp_of(const fs::path& path) {
  std::error_code error;
  const auto time = fs::last_write_time(path, error);
  if (error) return std::nullopt;
  const std::uintmax_t size = fs::file_size(path, error);
  return error ? std::nullopt : std::optional(Stamp{time, size});
}

}  // namespace

FileWatch::FileWatch(fs::path path, std::chrono::milliseconds every, std::function<void()> changed)
    : path_(std::move(path)),
      thread_([this, every, changed = std::move(changed),
               known = stamp_of(path_)](const std::stop_token& stop) mutable {
        std::mutex mutex;
        std::condition_variable_any wakes;
        std::unique_lock lock(mutex);
        while (!stop.stop_requested()) {
          wakes.wait_for(lock, stop, every, [] { return false; });
          if (stop.stop_requested()) return;
          const auto now = stamp_of(path_);
          if (!now || now == known) continue;
          known = now;
          changed_ = true;
          changed();
        }
      }) {}

}  // namespace attn::app
