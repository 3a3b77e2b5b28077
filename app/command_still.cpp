// `still` and `strip`: pictures without a display, as pixels or as vectors.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/commands.h"
#include "app/headless.h"
#include "app/image_write.h"
#include "app/output_file.h"
#include "app/progress.h"
#include "app/still_scene.h"
#include "app/svg_write.h"
#include "app/vector_painter.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace {

namespace fs = std::filesystem;

int still_svg(const StillOptions& options, Scene& scene) {
  VectorPainter painter;
  const viz::Theme& theme = viz::theme_of(viz::theme_in_use(scene.view));
  SvgPage page{scene.size.first, scene.size.second, theme[viz::Color::panel],
               scene.session.frame().manifest->scenario_name, scene.source};
  if (options.transparent) page.background.reset();
  const std::vector<Shape> shapes =
      painter.picture(scene.session, scene.view, scene.size.first, scene.size.second);
  write_text_file(options.output, svg_text(shapes, page));
  fmt::print("{} ({}x{}, {} shapes)\n", options.output, page.width, page.height, shapes.size());
  return 0;
}

/// The name says the format; another one would hold a PNG that no viewer opens by its name.
void require_picture_name(const std::string& path) {
  const fs::path extension = fs::path(path).extension();
  if (extension != ".png" && extension != ".svg")
    throw InputError(fmt::format(
        "still writes .png and .svg pictures ({} is none by its name); end it in one of them", path));
}

int still(const StillOptions& options) {
  require_picture_name(options.output);
  require_writable(options.output);
  const bool svg = fs::path(options.output).extension() == ".svg";
  Scene scene(options);
  if (svg) return still_svg(options, scene);
  Headless headless(scene.size.first, scene.size.second);
  write_png(headless.picture(scene.session, scene.view), options.output);
  fmt::print("{} ({}x{}, drawn by {})\n", options.output, scene.size.first, scene.size.second,
             headless.renderer());
  return 0;
}

/// Steps a session forward once and waits; false at the end.
bool advance(Session& session, viz::ViewState& view) {
  const int before = session.frame().index;
  viz::Command forward;
  forward.kind = viz::Command::Kind::step_forward;
  session.apply(viz::Commands{forward}, view);
  session.wait_idle();
  return session.frame().index > before;
}

int strip(const StillOptions& options) {
  const fs::path folder = options.output;
  std::error_code error;
  fs::create_directories(folder, error);
  require_writable(folder / "strip.png");
  Scene scene(options);
  Headless headless(scene.size.first, scene.size.second);
  constexpr int kColumns = 3, kShrink = 2;
  std::vector<Image> small;
  std::string first;
  Progress progress("drawing", options.frames);
  do {
    const Image image = headless.picture(scene.session, scene.view);
    const fs::path path = folder / fmt::format("step-{:03d}.png", scene.session.frame().step->step);
    write_png(image, path);
    if (first.empty()) first = path.string();
    small.push_back(shrink(image, kShrink));
    progress.update(static_cast<int>(small.size()));
  } while (static_cast<int>(small.size()) < options.frames && advance(scene.session, scene.view));
  progress.finish();
  write_png(contact_sheet(small, kColumns), folder / "strip.png");
  fmt::print("picture: {} (and {} more)\nfilm strip: {}\n", first, small.size() - 1,
             (folder / "strip.png").string());
  return 0;
}

/// A choice by name.
template <class E>
void add_choice(CLI::App& command, const char* option, E& value, const char* text) {
  command
      .add_option_function<std::string>(
          option, [&value](const std::string& name) { value = *view_named<E>(name); }, text)
      ->check(CLI::IsMember(view_names<E>()))
      ->default_str(std::string(view_name(value)));
}

void add_view(CLI::App& command, StillOptions& options) {
  add_choice(command, "--mode", options.mode, "explore: everything; present: large, for a projector");
  add_choice(command, "--stage", options.stage, "what the middle shows, where a stop does not say");
  add_choice(command, "--side", options.side, "what the lower right shows, where a stop does not say");
  add_choice(command, "--weights", options.weights, "scale of the softmax weights");
  command.add_flag("--compare", options.compare,
                   "launch the step's attention in two ways on the same inputs, as it ran and as it did not");
}

void add_common(CLI::App& command, StillOptions& options) {
  command
      .add_option("file", options.file,
                  "scenario, model, trace or tensor case; "
                  "FILE#step=12&stage=attention&layer=0&head=2&seq=1&row=3&col=2&tile=0, or LESSON#stop=3")
      ->required();
  command.add_option("--size", options.size, "pixels, or 720p, 1080p, 1440p, 4k, square, vertical")
      ->capture_default_str();
  add_theme_option(command, options.theme);
  command.add_option("--scale", options.scale, "size of text and panels")->capture_default_str();
  command
      .add_option("--page", options.page,
                  "group of panels where the picture has no room for all (key X); default: the one that the "
                  "stop points into, else 1")
      ->check(CLI::Range(1, 99));
  command.add_option(
      "--panel", options.panel,
      "one panel alone, cut out of a window of --size: mask, weights, strip, pool, tables, ...");
  command.add_flag("--ask", options.ask, "of LESSON#stop=3: before its question is answered");
  command.add_flag("--transparent", options.transparent, "nothing behind the panels");
  command.add_flag("--provenance", options.provenance, "a line that says where the numbers come from");
  add_view(command, options);
  add_report_option(command, options.bench);
  add_set_option(command, options.overrides);
  add_device_option(command, options.device);
}

}  // namespace

void add_still_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("still", "draw one moment into a PNG or SVG file, without a display");
  auto options = std::make_shared<StillOptions>();
  add_common(*command, *options);
  command->add_option("--scale-out", options->scale_out, "the same picture with so many times the pixels")
      ->check(CLI::Range(1, 4))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "picture: .png, or .svg for papers and slides")
      ->required();
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
