// The subcommands. Each adds itself to the command line and returns an exit code when chosen:
// 0 good, 1 the check failed, 2 bad usage or input (main turns exceptions into that).
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "kernels/device.h"

namespace attn::app {

/// What the chosen subcommand does, set by its callback and called by main.
using Action = std::function<int()>;

void add_run_command(CLI::App& app, Action& action);
void add_record_command(CLI::App& app, Action& action);
void add_attend_command(CLI::App& app, Action& action);
void add_view_command(CLI::App& app, Action& action);
void add_check_command(CLI::App& app, Action& action);
void add_describe_command(CLI::App& app, Action& action);
void add_diff_command(CLI::App& app, Action& action);
void add_still_command(CLI::App& app, Action& action);
void add_strip_command(CLI::App& app, Action& action);
void add_film_command(CLI::App& app, Action& action);
void add_lessons_command(CLI::App& app, Action& action);
void add_bench_command(CLI::App& app, Action& action);

/// Adds --device auto|cuda|simt.
void add_device_option(CLI::App& command, std::string& name);
/// Adds --set key=value, which may be given several times.
void add_set_option(CLI::App& command, std::vector<std::string>& overrides);
/// Adds --theme dark|light|contrast|print.
void add_theme_option(CLI::App& command, std::string& theme);
/// Adds --bench FILE, the report that the roofline shows.
void add_report_option(CLI::App& command, std::string& file);
/// Parses what add_device_option read. PRECOND: it passed the option's own check.
DeviceChoice device_choice(const std::string& name);

struct ViewOptions {
  std::string file;  // scenario, trace or tensor case; "" = what was open last, at first the lessons
  std::string trace;
  std::string theme;  // "" = as it was the last time
  std::string bench;  // report for the roofline; "" = the one that the bench kept
  std::string device = "auto";
  std::vector<std::string> overrides;
  double seconds = 0.0;  // 0 = until the user closes it
  bool print_start = false;
};
int view_file(const ViewOptions& options);

}  // namespace attn::app
