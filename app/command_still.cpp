// `still` and `strip`: pictures without a display.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "app/commands.h"
#include "app/headless.h"
#include "app/opening.h"
#include "app/progress.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace {

namespace fs = std::filesystem;

struct StillOptions {
  std::string file;
  std::string output;
  std::string size = "1600x900";
  std::string theme = "dark";
  std::string device = "auto";
  float scale = 1.0F;
  int frames = 12;
};

void parse_size(const std::string& text, int& width, int& height) {
  int used = 0;
  if (std::sscanf(text.c_str(), "%dx%d%n", &width, &height, &used) != 2 ||
      used != static_cast<int>(text.size())) {
    throw InputError(fmt::format("'{}' is not a size; write --size 1920x1080", text));
  }
}

viz::ViewState view_of(const StillOptions& options) {
  viz::ViewState view;
  view.light_theme = options.theme == "light";
  view.scale = options.scale;
  if (!(view.scale >= 0.5F) || view.scale > 4.0F) {
    throw InputError(fmt::format("--scale {} is out of range; use 0.5 to 4", options.scale));
  }
  return view;
}

/// A session on a scenario (live), trace or tensor case.
std::unique_ptr<Session> open_session(const Link& link, DeviceChoice choice) {
  if (kind_of(link.path) == FileKind::model) {
    throw InputError(
        fmt::format("{} is a model; give a scenario, a trace or a tensor case", link.path.string()));
  }
  if (kind_of(link.path) == FileKind::scenario) {
    Scenario scenario = load_scenario(link.path);
    if (scenario.tensors.empty()) return std::make_unique<Session>(std::move(scenario), choice, [] {});
    return std::make_unique<Session>(open_store(scenario.tensors, choice), choice, [] {});
  }
  return std::make_unique<Session>(open_store(link.path, choice), choice, [] {});
}

/// Steps a session forward once and waits; false at the end.
bool advance(Session& session, viz::ViewState& view) {
  const int before = session.frame().index;
  session.apply({{viz::Command::Kind::step_forward, 0, 0.0F, {}, {}}}, view);
  session.wait_idle();
  return session.frame().index > before;
}

void require_no_error(Session& session) {
  const viz::Frame frame = session.frame();
  if (!frame.step) throw InputError(frame.status.empty() ? "there is no step to draw" : frame.status);
}

int still(const StillOptions& options) {
  require_writable(options.output);
  int width = 0, height = 0;
  parse_size(options.size, width, height);
  viz::ViewState view = view_of(options);
  const Link link = parse_link(options.file);
  const std::unique_ptr<Session> session = open_session(link, device_choice(options.device));
  Headless headless(width, height);
  session->wait_idle();
  require_no_error(*session);
  viz::Selection selection = session->selection();
  selection.layer = link.layer.value_or(selection.layer);
  selection.head = link.head.value_or(selection.head);
  selection.seq = link.seq.value_or(selection.seq);
  session->select(selection);
  // A live scenario runs up to the wanted step; a trace has it already.
  const int wanted = link.step.value_or(session->frame().step->step);
  while (session->frame().step->step < wanted && advance(*session, view)) {
  }
  if (session->frame().step->step != wanted) {
    throw InputError(fmt::format("there is no step {} ({}); the last one is {}", wanted, link.path.string(),
                                 session->frame().step->step));
  }
  session->wait_idle();
  write_png(headless.picture(*session, view), options.output);
  fmt::print("{} ({}x{}, drawn by {})\n", options.output, width, height, headless.renderer());
  return 0;
}

int strip(const StillOptions& options) {
  std::error_code error;
  fs::create_directories(options.output, error);
  const fs::path folder = options.output;
  require_writable(folder / "strip.png");
  int width = 0, height = 0;
  parse_size(options.size, width, height);
  viz::ViewState view = view_of(options);
  const std::unique_ptr<Session> session =
      open_session(parse_link(options.file), device_choice(options.device));
  Headless headless(width, height);
  session->wait_idle();
  require_no_error(*session);
  std::vector<Image> images;
  Progress progress("drawing", options.frames);
  do {
    images.push_back(headless.picture(*session, view));
    write_png(images.back(), folder / fmt::format("step-{:02d}.png", session->frame().step->step));
    progress.update(static_cast<int>(images.size()));
  } while (static_cast<int>(images.size()) < options.frames && advance(*session, view));
  progress.finish();
  constexpr int kColumns = 3, kShrink = 3;
  write_png(contact_sheet(images, kColumns, kShrink), folder / "strip.png");
  fmt::print("{} pictures of {} steps in {}\nfilm strip: {}\n", images.size(), images.size(), folder.string(),
             (folder / "strip.png").string());
  return 0;
}

void add_common(CLI::App& command, StillOptions& options) {
  command
      .add_option("file", options.file, "scenario, trace or tensor case; FILE#step=12&layer=0&head=2&seq=1")
      ->required();
  command.add_option("--size", options.size, "pixels")->capture_default_str();
  command.add_option("--theme", options.theme, "dark or light")
      ->check(CLI::IsMember({"dark", "light"}))
      ->capture_default_str();
  command.add_option("--scale", options.scale, "size of text and panels")->capture_default_str();
  add_device_option(command, options.device);
}

}  // namespace

void add_still_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("still", "draw one moment into a PNG file, without a display");
  auto options = std::make_shared<StillOptions>();
  add_common(*command, *options);
  command->add_option("-o,--output", options->output, "picture (.png)")->required();
  command->callback([options, &action] { action = [options] { return still(*options); }; });
}

void add_strip_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("strip", "draw the first steps into PNG files and one film strip");
  auto options = std::make_shared<StillOptions>();
  add_common(*command, *options);
  command->add_option("--frames", options->frames, "how many steps")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "folder for the pictures")->required();
  command->callback([options, &action] { action = [options] { return strip(*options); }; });
}

}  // namespace attn::app
