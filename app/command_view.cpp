// `view FILE`: the window on a scenario (live), a trace or a tensor case.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "app/commands.h"
#include "app/files.h"
#include "app/lesson_list.h"
#include "app/opening.h"
#include "app/output_file.h"
#include "app/settings.h"
#include "app/window.h"
#include "kernels/common/check.h"

namespace attn::app {

namespace {

std::string default_scenario() { return (assets_dir() / "lessons" / "three-prompts.json").string(); }

/// What a start without a file shows: what was open last, and at the very first start the default scenario
/// behind the gallery.
Subject first_subject(DeviceChoice choice, const ViewOptions& options, WindowOptions& window) {
  const Settings settings = load_settings(window.settings).settings;
  const std::vector<std::string>& recent = settings.recent_files;
  window.gallery = recent.empty();
  if (!recent.empty() && options.overrides.empty()) {
    try {
      Subject last = open_subject(recent.front(), choice);
      const auto known = settings.lessons.find(lesson_key(recent.front()));
      const int stop = known == settings.lessons.end() ? 0 : resume_at(last.scenario.script, known->second);
      if (stop > 1) last.link.stop = stop;
      return last;
    } catch (const InputError& error) {
      window.note = fmt::format("what was open last cannot be opened: {}", error.what());
    }
  }
  return open_subject(default_scenario(), choice, options.overrides);
}

}  // namespace

int view_file(const ViewOptions& options) {
  // Everything that can be wrong is read before a window opens: the message then stays in the terminal.
  const DeviceChoice choice = device_choice(options.device);
  const Machine machine = read_machine(options.bench);
  WindowOptions window;
  window.settings = settings_path();
  const Subject subject = options.file.empty() ? first_subject(choice, options, window)
                                               : open_subject(options.file, choice, options.overrides);
  if (!options.trace.empty()) {
    if (subject.store) throw InputError("--trace records a run, and this is none; leave it out");
    require_writable(options.trace);
  }
  if (!display_available()) {
    throw DeviceError(
        "there is no display (DISPLAY is not set); `attnscope still FILE -o picture.png` draws without one");
  }
  window.seconds = options.seconds;
  window.print_start = options.print_start;
  if (!options.theme.empty()) window.theme = *viz::theme_named(options.theme);
  window.inside_step = subject.link.stage.has_value();
  show_window(window, [&](std::function<void()> changed) {
    auto session = std::make_unique<Session>(subject, choice, std::move(changed), options.trace);
    session->set_machine(machine);
    if (subject.link.has_place()) go_to_link(*session, subject.link);
    return session;
  });
  return 0;
}

void add_view_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("view", "open the window on a scenario, a trace or a tensor case");
  auto options = std::make_shared<ViewOptions>();
  command->add_option("file", options->file,
                      "FILE, FILE#step=12&layer=0&head=2 or LESSON#stop=3; nothing = what was open last, at "
                      "first the lessons");
  command->add_option("--trace", options->trace, "also record a live run into this .attn file");
  add_theme_option(*command, options->theme);
  add_report_option(*command, options->bench);
  command->add_option("--seconds", options->seconds, "close the window by itself after so long");
  command->add_flag("--print-start", options->print_start,
                    "print the time from start to the first frame, and from choosing a lesson to its words");
  add_set_option(*command, options->overrides);
  add_device_option(*command, options->device);
  command->callback([options, &action] { action = [options] { return view_file(*options); }; });
}

}  // namespace attn::app
