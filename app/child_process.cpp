#include "app/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>
#include <utility>

#include "kernels/common/check.h"

extern char** environ;

namespace attn::app {
namespace fs = std::filesystem;
namespace {

constexpr int kPipeBytes = 1 << 20;  // a wish: fewer switches between the two programs

/// SIGPIPE of this thread's writes becomes EPIPE, whatever the rest of the program does about it.
class NoBrokenPipe {
 public:
  NoBrokenPipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoBrokenPipe() {
    if (sigismember(&before_, SIGPIPE) == 0) {
      const timespec now{};
      while (sigtimedwait(&pipe_, nullptr, &now) == SIGPIPE) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoBrokenPipe(const NoBrokenPipe&) = delete;
  NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
};

}  // namespace

std::optional<fs::path> find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::stringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path file = fs::path(folder.empty() ? "." : folder) / name;
    std::error_code error;
    if (fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0) return file;
  }
  return std::nullopt;
}

std::string single_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string shell_text(const std::vector<std::string>& words) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,%@";
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      text += word;
      continue;
    }
    text += single_quoted(word);
  }
  return text;
}

ChildProcess::ChildProcess(const std::vector<std::string>& words, Pipe pipe) : name_(words.at(0)) {
  std::array<int, 2> ends{-1, -1};  // read, write
  if (pipe != Pipe::none && pipe2(ends.data(), O_CLOEXEC) != 0)
    throw InputError(fmt::format("{} cannot be started ({})", name_, std::strerror(errno)));
  errors_ = std::tmpfile();
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  const int errors = errors_ != nullptr ? fileno(errors_) : nothing;

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, pipe == Pipe::input ? ends[0] : nothing, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, pipe == Pipe::output ? ends[1] : nothing, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&how, 0);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int error = posix_spawnp(&pid_, words[0].c_str(), &files, &how, arguments.data(), environ);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  close(nothing);
  const bool reads = pipe == Pipe::output;
  if (pipe != Pipe::none) {
    close(ends[reads ? 1 : 0]);
    pipe_ = ends[reads ? 0 : 1];
    if (!reads) fcntl(pipe_, F_SETPIPE_SZ, kPipeBytes);
  }
  if (error != 0) {
    pid_ = -1;
    close_pipe();
    if (errors_ != nullptr) std::fclose(errors_);
    throw InputError(fmt::format("{} cannot be started ({})", name_, std::strerror(error)));
  }
  if (reads) reader_ = fdopen(pipe_, "r");
}

ChildProcess::~ChildProcess() {
  close_pipe();
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (errors_ != nullptr) std::fclose(errors_);
}

void ChildProcess::write(const void* bytes, std::size_t size) {
  const NoBrokenPipe quiet;
  const auto* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = ::write(pipe_, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      finish();  // throws with what it said
      fail();
    }
    at += written;
    size -= static_cast<std::size_t>(written);
  }
}

bool ChildProcess::read_line(std::string& line) {
  line.clear();
  if (reader_ == nullptr) return false;
  for (int c = std::fgetc(reader_); c != EOF; c = std::fgetc(reader_)) {
    if (c == '\n') return true;
    line += static_cast<char>(c);
  }
  return !line.empty();
}

void ChildProcess::stop() const {
  if (pid_ > 0) kill(pid_, SIGTERM);
}

void ChildProcess::close_pipe() {
  if (reader_ != nullptr) {
    std::fclose(std::exchange(reader_, nullptr));
  } else if (pipe_ >= 0) {
    close(pipe_);
  }
  pipe_ = -1;
}

int ChildProcess::wait() {
  close_pipe();
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void ChildProcess::finish() {
  if (wait() != 0) fail();
}

std::string ChildProcess::last_words() const {
  if (errors_ == nullptr) return {};
  std::rewind(errors_);
  std::string last, line;
  for (int c = std::fgetc(errors_);; c = std::fgetc(errors_)) {
    if (c != '\n' && c != EOF) {
      line += static_cast<char>(c);
      continue;
    }
    if (!line.empty()) last = std::exchange(line, {});
    if (c == EOF) return last;
  }
}

void ChildProcess::fail() const {
  const std::string words = last_words();
  throw InputError(
      fmt::format("{} failed{}{}", fs::path(name_).filename().string(), words.empty() ? "" : ": ", words));
}

}  // namespace attn::app
