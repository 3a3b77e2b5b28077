#include "tests/app/program.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace attn::app::testing {
namespace fs = std::filesystem;

namespace {

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

ProgramResult run_shell(const std::string& command) {
  const TemporaryFolder folder;
  const std::string redirected =
      "( " + command + " ) </dev/null >" + quoted(folder.file("out")) + " 2>" + quoted(folder.file("err"));
  const int status = std::system(redirected.c_str());
  ProgramResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.out = read_file(folder.path() / "out");
  result.err = read_file(folder.path() / "err");
  return result;
}

ProgramResult run_program(const std::vector<std::string>& arguments) {
  std::string command =
      "env -u DISPLAY -u WAYLAND_DISPLAY " + quoted((tree::binary_dir() / "attnscope").string());
  for (const std::string& argument : arguments) command += " " + quoted(argument);
  return run_shell(command);
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
}

fs::path model_dir() { return source_dir() / "assets/models/shakespeare-1m"; }
fs::path default_scenario() { return source_dir() / "assets/lessons/three-prompts.json"; }
Subject scenario_subject(const std::vector<std::string>& sets) {
  return open_subject(default_scenario().string(), DeviceChoice::simt, sets);
}

bool is_one_sentence(const std::string& text) {
  const std::size_t line = text.find('\n') + 1;  // 0 when there is none
  const std::string err = text.find("running on the SIMT emulator") < line ? text.substr(line) : text;
  return err.starts_with("attnscope: ") && std::ranges::count(err, '\n') == 1 && err.ends_with("\n");
}

}  // namespace attn::app::testing
