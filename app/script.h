// What is told along a scenario: the stops of a lesson or a film, and other ways to run the same scenario
// that the stops need beside it. Part of the scenario's file; read strictly, as the rest of it is.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/trace/compare.h"
#include "core/trace/cursor.h"
#include "core/trace/step_record.h"
#include "viz/layout/screen_layout.h"
#include "viz/theme.h"

namespace attn::app {

struct Scenario;

/// Another way to run the scenario ("cache off", "smaller pool"): the same file with some values changed.
struct Run {
  std::string name;
  std::shared_ptr<const Scenario> scenario;  // whole and checked; its own script is empty
};

/// Where one stands. What is not set is not said: a stop then shows the default, an exercise does not care.
struct Place {
  std::optional<int> step;  // the engine's number of it, as links and the window have it
  std::optional<trace::Stage> stage;
  std::optional<int> layer, head, tile;
  std::optional<int> seq;       // request id; the file may name it by its label
  std::optional<int> row, col;  // query row and key column within the sequence
  std::optional<int> block;     // physical block id
  bool operator==(const Place&) const = default;
};

/// What is on screen, and how.
struct Shown {
  std::optional<viz::StageView> stage;
  std::optional<viz::SideView> side;
  std::optional<viz::PanelId> panel;                                 // maximised; count_ = none
  std::optional<std::pair<trace::Variant, trace::Variant>> compare;  // A and B; stage is then "compare"
  std::vector<std::string> annotate;                                 // marks to ring: "pool/block/3"
  bool operator==(const Shown&) const = default;
};

/// A number that must come out: checked whenever a lesson is checked or a film is made.
struct Expectation {
  std::string fact;   // "cu_seqlens_q", "block_table[A]", "score_dots@no cache"
  std::string value;  // as written in the file, JSON: 12, 0.8269, [low, high], [0, 4, 9], "decode"
  std::string where;  // "01-two-jobs.json:42"
};

/// A request, by its label, and after how many engine steps it was sent.
using SentRequest = std::pair<std::string, int>;

/// Something the learner does with their own hands. Done when the window stands as `place`, `shown` and
/// `switches` say, in the run that is asked for, and one has come through `way`; `expect` then holds.
struct Exercise {
  std::string text;                                           // may have {fact} placeholders
  std::vector<std::pair<std::string, std::string>> switches;  // engine switches to set: {"k_tile", "4"}
  std::string run;                                            // the Run that these give; "" = the stop's own
  bool asks_run = false;                                      // that very run is to be open
  std::vector<SentRequest> sent;                              // by hand, and nothing else; empty: not asked
  std::vector<Place> way;                                     // to be come through before, in this order
  std::optional<bool> true_memory;                            // the packed strip without its gaps
  Place place;
  Shown shown;
  std::vector<std::string> annotate_where;  // the line of each
  std::vector<Expectation> expect;
};

/// How the film goes from Stop::from to Stop::place, through every place of that grain on the way.
struct Walk {
  trace::Grain grain = trace::Grain::step;
  double pace = 0.0;  // seconds at each place; 0 = the film's own
};

/// What a stop lets the learner turn with one click: one value of a switch, one run, or one comparison.
struct Control {
  std::string name;
  std::vector<std::string> labels;                                 // of its values
  std::string engine_switch;                                       // "k_tile"; "" = it is none ...
  std::vector<std::string> values;                                 // ... and what it is set to
  std::vector<std::string> runs;                                   // or: of Script::runs
  std::vector<std::pair<trace::Variant, trace::Variant>> compare;  // or: A and B
};

/// One place of the story. Stops stand for themselves: whatever a stop does not say is the default (or what
/// the stop it is nested in says), never what the stop before it did, so that one can go to any of them.
struct Stop {
  std::string name;     // unique; nested: "the thieves > pads"
  std::string run;      // name of a Run; "" = the scenario itself
  std::string caption;  // what is said; {fact} and {fact:.1%} are filled in (trace/facts.h)
  std::string notes;    // for the speaker alone; placeholders too
  std::string predict;  // a question; caption and numbers stay hidden until it is answered; "" = none
  std::vector<std::string> hide;        // marks and panels that would answer it: covered until then
  std::vector<std::string> hide_where;  // the line of each
  std::vector<std::string> choices;     // answers to pick from; {fact} is filled in
  std::string right;                    // the one of them that is right, as facts give it
  Place from;                           // where it begins; equals `place` unless there is a walk
  Place place;                          // where it ends, and where `caption` and `expect` are true
  std::optional<Walk> walk;
  Shown shown;
  std::vector<std::string> annotate_where;  // the line of each
  /// Seconds at `place`; the length of `voice` where there is one; nothing: as long as its words take to read
  /// (edit_list.h).
  std::optional<double> hold;
  std::filesystem::path voice;  // .wav; "" = none
  std::vector<Expectation> expect;
  std::vector<Exercise> tasks;  // one after the other
  std::optional<Exercise> break_it;
  std::vector<Control> controls;
  bool send = false;  // the run can be started over, and its requests sent by hand
  std::string where;  // "01-two-jobs.json:31"
};

struct Script {
  std::string about;                    // one sentence for the gallery: what one learns
  std::array<int, 2> size{1920, 1080};  // pixels, even
  int fps = 30;
  std::optional<viz::ThemeId> theme;  // nothing: that of the mode
  viz::ScreenMode mode = viz::ScreenMode::present;
  Place begin;              // of a film without stops: where it begins ...
  Shown shown;              // ... and what it shows all the way
  std::vector<Run> runs;    // named ones, then those of exercises ("stop: task", "stop: break it")
  std::vector<Stop> stops;  // in order, nested ones behind the stop that has them

  bool empty() const { return stops.empty(); }
};

/// What a fact of another run calls the scenario itself: "score_dots@main".
inline constexpr std::string_view kMainRun = "main";
/// The scenario that a name of Script::runs stands for, itself for "" and "main". PRECOND: there is such a
/// run.
const Scenario& scenario_of(const Scenario& scenario, std::string_view run);

}  // namespace attn::app
