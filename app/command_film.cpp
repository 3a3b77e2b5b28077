// `film`: a film of a scenario or a trace, without a display.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "app/commands.h"
#include "app/film.h"
#include "app/picture_options.h"
#include "app/progress.h"
#include "kernels/common/check.h"
#include "viz/layout/panel_names.h"

namespace attn::app {
namespace {

struct FilmWords {  // as typed
  FilmOptions film;
  std::string size, theme, mode, panel, frames, stage, side, hashes, output;
  std::string device = "auto";
  int fps = 0;
  bool no_caption = false;
  bool no_provenance = false;
  bool machine_progress = false;
};

std::pair<int, int> parse_frames(const std::string& text) {
  int first = 0, last = 0, used = 0;
  if (std::sscanf(text.c_str(), "%d:%d%n", &first, &last, &used) != 2 ||
      used != static_cast<int>(text.size()))
    throw InputError(fmt::format("'{}' are no frames; write --frames 151:300", text));
  return {first, last};
}

FilmOptions options_of(const FilmWords& words) {
  FilmOptions film = words.film;
  film.device = device_choice(words.device);
  film.output = words.output;
  film.hashes = words.hashes;
  film.caption = !words.no_caption;
  film.provenance = !words.no_provenance;
  if (!words.size.empty()) film.size = parse_size(words.size);
  if (words.fps != 0) film.fps = words.fps;
  if (!words.theme.empty()) film.theme = viz::theme_named(words.theme);
  if (!words.mode.empty()) film.mode = view_named<viz::ScreenMode>(words.mode);
  if (!words.panel.empty()) film.panel = parse_panel(words.panel);
  if (!words.stage.empty()) film.stage = *view_named<viz::StageView>(words.stage);
  if (!words.side.empty()) film.side = *view_named<viz::SideView>(words.side);
  if (!words.frames.empty()) film.frames = parse_frames(words.frames);
  return film;
}

/// Bars on a terminal; lines "filming 12 of 300" for the program that asked for them.
FilmReport report_of(bool machine) {
  if (machine) {
    return {[](const char* what, int done, int total) {
      fmt::print("{} {} of {}\n", what, done, total);
      std::fflush(stdout);
      return true;
    }};
  }
  auto bar = std::make_shared<std::unique_ptr<Progress>>();
  auto shown = std::make_shared<std::string>();
  return {[bar, shown](const char* what, int done, int total) {
    if (*shown != what) {
      if (*bar) (*bar)->finish();
      const bool frames = std::string_view(what) == "filming";
      *bar =
          std::make_unique<Progress>(what, total, frames ? Progress::Total::exact : Progress::Total::at_most);
      *shown = what;
    }
    (*bar)->update(done);
    if (done >= total) (*bar)->finish();
    return true;
  }};
}

int film(const FilmWords& words) {
  const FilmOptions options = options_of(words);
  const FilmReport report = report_of(words.machine_progress);
  const auto begin = std::chrono::steady_clock::now();
  const FilmResult result = make_film(options, report);
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (const std::string& wrong : result.wrong) fmt::print(stderr, "attnscope: {}\n", wrong);
  if (!result.wrong.empty()) return 1;
  if (options.check_only) {
    fmt::print("{} frames, {:.1f} s: every number is as expected\n", result.frames, result.seconds);
    return 0;
  }
  if (!result.missing.empty()) throw InputError(result.missing);
  for (const auto& file : result.files) fmt::print("{}\n", file.string());
  fmt::print("{} frames, {:.1f} s of film in {:.1f} s", result.frames, result.seconds, took);
  if (result.reused > 0) fmt::print(", {} frames were there already", result.reused);
  fmt::print(" (drawn by {})\n", result.renderer);
  return 0;
}

void add_looks(CLI::App& command, FilmWords& words) {
  command.add_option(
      "--size", words.size,
      "720p, 1080p, 1440p, 4k, square, vertical, or pixels; default: the script's, 960x540 for a GIF");
  command.add_option("--fps", words.fps, "frames a second; default: the script's, 10 for a GIF")
      ->check(CLI::Range(1, 120));
  command.add_option("--theme", words.theme, "dark, light, contrast or print; default: the script's")
      ->check(CLI::IsMember({"dark", "light", "contrast", "print"}));
  command.add_option("--mode", words.mode, "explore or present; default: the script's, else present")
      ->check(CLI::IsMember(view_names<viz::ScreenMode>()));
  command.add_option("--panel", words.panel, "one panel alone: mask, weights, pool, tables, ...");
  command.add_option("--stage", words.stage, "what the middle shows where the script does not say")
      ->check(CLI::IsMember(view_names<viz::StageView>()));
  command.add_option("--side", words.side, "what the lower right shows where the script does not say")
      ->check(CLI::IsMember(view_names<viz::SideView>()));
  command.add_flag("--no-caption", words.no_caption, "no caption in the picture (mode present has one)");
  command.add_flag("--no-provenance", words.no_provenance, "no line that says where the numbers come from");
}

}  // namespace

void add_film_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("film", "film a scenario or a trace, without a display");
  auto words = std::make_shared<FilmWords>();
  FilmOptions& film_options = words->film;
  command
      ->add_option("file", film_options.source,
                   "scenario, model, trace or tensor case; FILE#layer=1&head=2, LESSON#stop=3")
      ->required();
  command->add_option("-o,--output", words->output,
                      "film: NAME.mp4, NAME.webm, NAME.gif, or a folder for pictures: NAME/");
  command->add_option("--trace", film_options.trace, "the scenario's run as recorded, instead of running it");
  command->add_option("--frames", words->frames, "only these frames: 151:300, both in it, from 0");
  add_looks(*command, *words);
  command->add_flag("--sections", film_options.sections, "a clip for each stop too");
  command->add_flag("--srt", film_options.srt, "subtitles beside the film (.srt)");
  command->add_flag("--vtt", film_options.vtt, "subtitles beside the film (.vtt)");
  command->add_flag("--transcript", film_options.transcript, "what is said, as text (.txt)");
  command->add_option("--hashes", words->hashes, "SHA-256 of every frame's pixels, into this file");
  command->add_flag("--keep-parts", film_options.keep_parts,
                    "keep the parts: the next film draws only what changed");
  command->add_flag("--check-only", film_options.check_only, "check places and numbers, draw nothing");
  command->add_flag("--progress-lines", words->machine_progress)->group("");  // for the window
  add_set_option(*command, film_options.overrides);
  add_device_option(*command, words->device);
  command->callback([words, &action] { action = [words] { return film(*words); }; });
}

}  // namespace attn::app
