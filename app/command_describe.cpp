// `describe LESSON|TRACE[#..]`: the text twin of the window, and of a lesson.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "app/commands.h"
#include "app/lessons.h"
#include "app/opening.h"
#include "core/trace/describe.h"
#include "core/trace/inspector.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace {

/// False when the scenario tells nothing.
bool describe_scenario(const Link& link, DeviceChoice choice) {
  const Scenario scenario = load_scenario(link.path);
  check_stop(link, scenario.script);
  if (scenario.script.empty()) return false;
  fmt::print("{}", describe_lesson(scenario, choice, link.stop));
  return true;
}

int describe(const std::string& text, DeviceChoice choice) {
  const Link link = parse_link(text);
  const FileKind kind = kind_of(link.path);
  if (kind == FileKind::scenario && describe_scenario(link, choice)) return 0;
  if (kind != FileKind::scenario) check_stop(link, {});
  if (kind == FileKind::scenario || kind == FileKind::model) {
    throw InputError(
        fmt::format("describe reads a lesson, a trace or a tensor case, not this ({}); make a trace with "
                    "`attnscope run SCENARIO --trace FILE.attn`",
                    link.path.string()));
  }
  const std::shared_ptr<const trace::Store> store = open_store(link.path, choice);
  if (!link.step && link.has_place()) {
    throw InputError(
        fmt::format("'{}' does not say of which step; write {}#step=1&...", text, link.path.string()));
  }
  if (!link.step) {
    fmt::print("{}", trace::describe_trace(*store));
    return 0;
  }
  const viz::Selection at = selection_of(link, *store);
  fmt::print("{}", trace::describe_step(*store, at.step));
  if (link.layer || link.head) {
    const DevicePick pick = make_device(choice);
    trace::Inspector inspector(*pick.device, store);
    fmt::print("\n{}",
               trace::describe_attention(*store, at.step, *inspector.inspect(at.step, at.layer), at.head));
  }
  return 0;
}

}  // namespace

void add_describe_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("describe", "a lesson, a trace or one of its steps as text (Markdown)");
  struct Options {
    std::string file, device = "auto";
  };
  auto options = std::make_shared<Options>();
  command
      ->add_option(
          "trace", options->file,
          "lesson, LESSON#stop=3, or FILE, FILE#step=12&layer=0&head=2 (layer or head: with weights)")
      ->required();
  add_device_option(*command, options->device);
  command->callback([options, &action] {
    action = [options] { return describe(options->file, device_choice(options->device)); };
  });
}

}  // namespace attn::app
