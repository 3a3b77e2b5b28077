#include "app/part_file.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstring>
#include <mutex>
#include <system_error>
#include <utility>

#include "app/output_file.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace fs = std::filesystem;
namespace {

/// What a signal handler may touch: plain memory, and one flag for each entry that says when it is valid.
struct Unfinished {
  std::atomic<bool> valid = false;
  std::array<char, PATH_MAX> path{};
};
std::array<Unfinished, 8> unfinished;
std::mutex adding;  // a handler never takes it
static_assert(std::atomic<bool>::is_always_lock_free);

void remove_and_end(int signal) {
  for (const Unfinished& file : unfinished) {
    if (file.valid) unlink(file.path.data());
  }
  raise(signal);  // the handler is used once: now the signal ends the program as it always does
}

/// Interrupts that somebody else handles or ignores are left alone.
void watch_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old {};
    if (sigaction(signal, nullptr, &old) != 0 || old.sa_handler != SIG_DFL) continue;
    struct sigaction ours {};
    ours.sa_handler = remove_and_end;
    ours.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    sigaction(signal, &ours, nullptr);
  }
}

/// -1 when the list is full or the path too long: the part then stays behind if the program is interrupted.
int watch(const fs::path& path) {
  const std::string absolute = fs::absolute(path).string();
  const std::lock_guard lock(adding);
  static const bool watching = (watch_signals(), true);
  if (!watching || absolute.size() >= PATH_MAX) return -1;
  for (std::size_t i = 0; i < unfinished.size(); ++i) {
    if (unfinished[i].valid) continue;
    std::memcpy(unfinished[i].path.data(), absolute.c_str(), absolute.size() + 1);
    unfinished[i].valid = true;
    return static_cast<int>(i);
  }
  return -1;
}

void forget(int slot) {
  if (slot >= 0) unfinished[static_cast<std::size_t>(slot)].valid = false;
}

}  // namespace

PartFile::PartFile(fs::path path) : name_(std::move(path)), part_(name_.string() + ".part") {
  require_writable(name_);
  slot_ = watch(part_);
}

PartFile::~PartFile() {
  std::error_code ignored;
  if (!part_.empty()) fs::remove(part_, ignored);
  forget(slot_);
}

void PartFile::commit() {
  std::error_code error;
  fs::rename(part_, name_, error);
  if (error) throw InputError(fmt::format("cannot write {} ({})", name_.string(), error.message()));
  forget(std::exchange(slot_, -1));
  part_.clear();
}

}  // namespace attn::app
