// Makes a film: the same for the command line and for the window, which writes a scenario and has it filmed.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/film_painter.h"
#include "kernels/device.h"

namespace attn::app {

struct FilmOptions {
  std::string source;  // scenario, trace or tensor case, may carry #layer=1&head=2
  std::string trace;   // recorded run of the scenario, in the place of running it; "" = none
  std::filesystem::path output;
  std::vector<std::string> overrides;  // of the scenario
  DeviceChoice device = DeviceChoice::automatic;
  // What is not given is the script's; without a script, 1920x1080 at 30 frames a second in mode present. A
  // GIF is 960x540 at 10 unless told otherwise.
  std::optional<std::pair<int, int>> size;
  std::optional<int> fps;
  std::optional<viz::ThemeId> theme;
  std::optional<viz::ScreenMode> mode;
  std::optional<std::pair<int, int>> frames;  // first and last that are filmed
  viz::PanelId panel = viz::PanelId::count_;  // alone; count_: the whole screen
  viz::StageView stage = viz::StageView::weights;
  viz::SideView side = viz::SideView::stages;
  bool caption = true;
  bool provenance = true;
  bool sections = false;  // a clip for each section too
  bool srt = false;       // subtitles beside the film
  bool vtt = false;
  bool transcript = false;
  bool keep_parts = false;
  bool check_only = false;       // expectations and places, no picture
  std::filesystem::path hashes;  // where the list of picture hashes goes; "" = nowhere
};

struct FilmReport {
  /// What is being done and how far it is; false cancels.
  std::function<bool(const char* what, int done, int total)> progress;
};

struct FilmResult {
  bool made = false;               // false: cancelled, or only checked
  std::vector<std::string> wrong;  // sentences: expectations that do not hold; nothing is drawn then
  std::string missing;             // a sentence: pictures were written because there is no ffmpeg, and what
                                   // makes the film of them
  int frames = 0;                  // of the film
  int reused = 0;                  // frames that an earlier run had finished
  double seconds = 0.0;            // of the film
  std::string renderer;
  std::vector<std::filesystem::path> files;  // written, the film first
};

/// Throws InputError or DeviceError for whatever is wrong before anything is drawn, where that can be known.
FilmResult make_film(const FilmOptions& options, const FilmReport& report);

}  // namespace attn::app
