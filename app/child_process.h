// A program run beside us: fed through its standard input, or listened to on its standard output.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::app {

/// The program of that name in PATH, or nothing.
std::optional<std::filesystem::path> find_program(const std::string& name);

/// In single quotes, as shells and ffmpeg's lists read them.
std::string single_quoted(std::string_view text);
/// As a shell reads it: words quoted where they must be.
std::string shell_text(const std::vector<std::string>& words);

class ChildProcess {
 public:
  enum class Pipe : unsigned char { none, input, output };

  /// In a process group of its own: an interrupt from the keyboard is ours alone, and the child ends when its
  /// pipe does. Throws InputError when it cannot be started.
  ChildProcess(const std::vector<std::string>& words, Pipe pipe);
  ~ChildProcess();  // kills what finish() did not end
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// All of it. Throws InputError with the child's own last words when it is not there any more.
  void write(const void* bytes, std::size_t size);
  /// One line of its output without the newline; false at the end of it.
  bool read_line(std::string& line);
  /// Asks it to end (SIGTERM); finish() still waits for it.
  void stop() const;
  /// Closes the pipe and waits. Throws InputError with the child's last words when it did not end well.
  void finish();
  /// Like finish, and gives the exit code instead: 128 + the signal when one ended it.
  int wait();
  /// The last line it wrote to standard error, "" for none.
  std::string last_words() const;

 private:
  [[noreturn]] void fail() const;
  void close_pipe();

  std::string name_;
  pid_t pid_ = -1;
  int pipe_ = -1;
  std::FILE* reader_ = nullptr;  // around pipe_, when it is the output
  std::FILE* errors_ = nullptr;  // an unlinked file: it can never fill a pipe that nobody reads
};

}  // namespace attn::app
