// What a film shows, and when: a pure function of a script and of what was recorded. Frame n shows time n /
// fps; nothing here or behind it reads a clock, so a slow machine makes the same film, only later.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/script.h"
#include "core/trace/store.h"
#include "viz/frame.h"

namespace attn::app {

/// Seconds, but for `words`.
struct Pace {
  double step = 0.8;    // at each place of a walk
  double least = 3.0;   // that a question stands before its answer, and a stop that says no hold; longer when
  double words = 3.0;   // ... it has more to read than that at so many words a second
  double tween = 0.25;  // one picture turns into the next within a section; 0 = cuts
  double ends = 1.5;    // the first and the last picture stand at least that long
};

/// No picture stands shorter: at most three changes a second.
inline constexpr double kShortestShot = 1.0 / 3.0;

/// One picture, and how long it stands.
struct Shot {
  int first = 0;   // frame
  int frames = 0;  // > 0
  int stop = -1;   // of Script::stops; -1: there is none
  std::string run = {};
  viz::Selection selection = {};
  std::string caption = {};
  bool question = false;                  // the caption asks; the answer is not to be seen yet
  std::vector<std::string> choices = {};  // of the question
};

/// One stop of the story: a clip of its own.
struct Section {
  std::string name;
  int first = 0;       // frame
  int frames = 0;      // > 0
  int first_shot = 0;  // of EditList::shots
  int num_shots = 0;
  int stop = -1;        // of Script::stops; -1: a film without stops
  std::string caption;  // what is said; of a film without stops ""
};

struct EditList {
  int fps = 30;
  int frames = 0;
  int tween = 0;  // frames
  std::vector<Shot> shots;
  std::vector<Section> sections;  // one after the other, without gaps
};

/// What an edit list is made of beside the script.
struct Material {
  /// The recording of a run of the script ("" = the scenario itself).
  std::function<const trace::Store&(std::string_view run)> store;
  /// A text of a stop with its {facts} filled in.
  std::function<std::string(const std::string& text, const Stop& stop)> fill;
};

/// A script's stops in order; without any, each step of the recording from `begin` on, for each step the
/// sentence of mode present. Throws InputError when a stop is at a place that there is not.
EditList edit_film(const Script& script, const Material& material, const Pace& pace, int fps,
                   const viz::Selection& begin = {});

}  // namespace attn::app
