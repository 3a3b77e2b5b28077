// `view FILE`: the window on a scenario (live), a trace or a tensor case.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "app/commands.h"
#include "app/opening.h"
#include "app/output_file.h"
#include "app/settings.h"
#include "app/window.h"
#include "kernels/common/check.h"

namespace attn::app {

int view_file(const ViewOptions& options) {
  // Everything that can be wrong is read before a window opens: the message then stays in the terminal.
  const DeviceChoice choice = device_choice(options.device);
  const std::string file =
      options.file.empty() ? (assets_dir() / "lessons" / "three-prompts.json").string() : options.file;
  const Subject subject = open_subject(file, choice, options.overrides);
  if (!options.trace.empty()) {
    if (subject.store) throw InputError("--trace records a run, and this is none; leave it out");
    require_writable(options.trace);
  }
  if (!display_available()) {
    throw DeviceError(
        "there is no display (DISPLAY is not set); `attnscope still FILE -o picture.png` draws without one");
  }
  WindowOptions window;
  window.seconds = options.seconds;
  window.print_start = options.print_start;
  window.settings = settings_path();
  if (!options.theme.empty()) window.theme = *viz::theme_named(options.theme);
  show_window(window, [&](std::function<void()> changed) {
    auto session = std::make_unique<Session>(subject, choice, std::move(changed), options.trace);
    if (subject.link.has_place()) go_to_link(*session, subject.link);
    return session;
  });
  return 0;
}

void add_view_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("view", "open the window on a scenario, a trace or a tensor case");
  auto options = std::make_shared<ViewOptions>();
  command->add_option("file", options->file,
                      "FILE or FILE#step=12&layer=0&head=2; nothing = the default scenario");
  command->add_option("--trace", options->trace, "also record a live run into this .attn file");
  add_theme_option(*command, options->theme);
  command->add_option("--seconds", options->seconds, "close the window by itself after so long");
  command->add_flag("--print-start", options->print_start, "print the time from start to the first frame");
  add_set_option(*command, options->overrides);
  add_device_option(*command, options->device);
  command->callback([options, &action] { action = [options] { return view_file(*options); }; });
}

}  // namespace attn::app
