// Runs the program as a user does, and gives tests a folder of their own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/opening.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"

namespace attn::app::testing {

struct ProgramResult {
  int exit_code = -1;
  std::string out;
  std::string err;
};

/// build/attnscope with these arguments, without a display, standard input empty.
ProgramResult run_program(const std::vector<std::string>& arguments);
/// Any command line for the shell.
ProgramResult run_shell(const std::string& command);

using test_support::TemporaryFolder;

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& text);

/// The bundled model, the scenario shown by default.
using tree::source_dir;
std::filesystem::path model_dir();
std::filesystem::path default_scenario();
/// The default scenario with settings such as "engine.num_blocks=8".
Subject scenario_subject(const std::vector<std::string>& sets = {});

/// One line of the form "attnscope: what is wrong (where); what to do"; the note that there is no GPU may
/// stand before it.
bool is_one_sentence(const std::string& text);

}  // namespace attn::app::testing
