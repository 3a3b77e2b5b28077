// attnscope's command line: without a subcommand it opens the window on the default scenario or on a file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <memory>

#include "app/commands.h"
#include "app/engine_host.h"

namespace {

using namespace attn::app;

int run_program(int argc, char** argv) {
  CLI::App app("See how LLM inference attention works, by running it.", "attnscope");
  app.set_version_flag("--version", build_text());
  app.require_subcommand(0, 1);
  app.footer(
      "Without a subcommand: the window, on what was open last; at first on the lessons.\n"
      "Exit codes: 0 good, 1 the check failed, 2 bad usage or input.");
  Action action;
  add_run_command(app, action);
  add_record_command(app, action);
  add_view_command(app, action);
  add_attend_command(app, action);
  add_describe_command(app, action);
  add_diff_command(app, action);
  add_still_command(app, action);
  add_strip_command(app, action);
  add_film_command(app, action);
  add_check_command(app, action);
  add_lessons_command(app, action);
  add_bench_command(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForAllHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return app.exit(version);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "attnscope: {}; see attnscope --help\n", error.what());
    return 2;
  }
  if (!action) return view_file({});
  return action();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_program(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "attnscope: {}\n", error.what());
    return 2;
  }
}
