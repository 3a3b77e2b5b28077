// `view FILE`: the window on a scenario (live), a trace or a tensor case.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "app/commands.h"
#include "app/opening.h"
#include "app/window.h"
#include "kernels/common/check.h"

namespace attn::app {

int view_file(const std::string& link_text, DeviceChoice choice, double close_after_seconds,
              bool print_start) {
  const std::string chosen =
      link_text.empty() ? (assets_dir() / "lessons" / "three-prompts.json").string() : link_text;
  const Link link = parse_link(chosen);
  WindowOptions options;
  options.seconds = close_after_seconds;
  options.print_start = print_start;
  // Read everything that can be wrong before a window opens: the message then stays in the terminal.
  const FileKind kind = kind_of(link.path);
  if (kind == FileKind::model) {
    throw InputError(
        fmt::format("{} is a model, not something to view; name it in a scenario's \"model\", or check it "
                    "with `attnscope check`",
                    link.path.string()));
  }
  std::shared_ptr<const trace::Store> store;
  Scenario scenario;
  if (kind == FileKind::scenario) scenario = load_scenario(link.path);
  if (kind != FileKind::scenario || !scenario.tensors.empty()) {
    store = open_store(kind == FileKind::scenario ? scenario.tensors : link.path, choice);
  }
  if (!display_available()) {
    throw DeviceError(
        "there is no display (DISPLAY is not set); `attnscope still FILE -o picture.png` draws without one");
  }
  const viz::Selection start = store ? selection_of(link, *store) : viz::Selection{};
  const std::string title =
      fmt::format("attnscope - {}", store ? link.path.filename().string() : scenario.name);
  show_window(
      title, options,
      [&](std::function<void()> changed) {
        return store ? std::make_unique<Session>(store, choice, std::move(changed))
                     : std::make_unique<Session>(scenario, choice, std::move(changed));
      },
      start);
  return 0;
}

void add_view_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("view", "open the window on a scenario, a trace or a tensor case");
  struct Options {
    std::string file, device = "auto";
    double seconds = 0.0;
    bool print_start = false;
  };
  auto options = std::make_shared<Options>();
  command->add_option("file", options->file,
                      "FILE or FILE#step=12&layer=0&head=2; nothing = the default scenario");
  command->add_option("--seconds", options->seconds, "close the window by itself after so long");
  command->add_flag("--print-start", options->print_start, "print the time from start to the first frame");
  add_device_option(*command, options->device);
  command->callback([options, &action] {
    action = [options] {
      return view_file(options->file, device_choice(options->device), options->seconds, options->print_start);
    };
  });
}

}  // namespace attn::app
