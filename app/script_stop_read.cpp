// The stops of a script: every key of one stop, and how nested stops are flattened.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/script_exercise_read.h"
#include "app/script_facts.h"
#include "app/script_place_read.h"
#include "app/view_names.h"
#include "app/wav_file.h"

namespace attn::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr double kLongestHold = 600.0;  // seconds

void read_hold(ObjectReader& object, const fs::path& folder, Stop& stop) {
  const Json* hold = object.raw("hold");
  if (hold == nullptr) return;
  if (hold->is_string()) {
    stop.voice = folder / hold->get<std::string>();
    try {
      stop.hold = wav_seconds(stop.voice);
    } catch (const InputError& error) {
      object.fail("hold", "the voice cannot be used", error.what());
    }
    return;
  }
  double seconds = 0.0;
  object.read("hold", seconds);
  if (seconds < 0.0 || seconds > kLongestHold) {
    object.fail("hold", fmt::format("{} is {}", object.path("hold"), seconds),
                fmt::format("give 0 to {} seconds, or a .wav file", kLongestHold));
  }
  stop.hold = seconds;
}

void read_walk(ObjectReader& object, Stop& stop) {
  stop.from = stop.place;
  auto to = object.object("step_to");
  if (!to) return;
  Walk walk;
  read_moment(*to, stop.place);
  std::string grain;
  if (to->read("grain", grain)) {
    const auto named = view_named<trace::Grain>(grain);
    if (!named)
      to->fail("grain", fmt::format("grain is '{}'", grain), suggest(grain, view_names<trace::Grain>()));
    walk.grain = *named;
  }
  to->read("pace", walk.pace);
  if (walk.pace < 0.0 || walk.pace > kLongestHold) {
    to->fail("pace", fmt::format("pace is {}", walk.pace),
             "give seconds for each place, 0 for the film's own");
  }
  to->finish();
  stop.walk = walk;
}

class StopReader {
 public:
  StopReader(RunTable& runs, const fs::path& folder, std::vector<Stop>& stops)
      : runs_(runs), folder_(folder), stops_(stops) {}

  /// Reads a stop and those nested in it. `parent` gives what they do not say themselves.
  void read(ObjectReader& object, const Stop& parent) {
    Stop stop;
    stop.run = parent.run;
    stop.place = parent.place;
    stop.shown = parent.shown;
    stop.annotate_where = parent.annotate_where;
    stop.controls = parent.controls;
    stop.send = parent.send;
    stop.where = object.where("");
    read_name(object, parent, stop);
    if (object.read("run", stop.run) && !runs_.has(stop.run)) {
      object.fail("run", fmt::format("there is no run '{}'", stop.run), suggest(stop.run, runs_.names()));
    }
    if (stop.run == kMainRun) stop.run.clear();
    stop.caption = read_fact_text(object, "caption", runs_);
    stop.notes = read_fact_text(object, "notes", runs_);
    stop.predict = read_fact_text(object, "predict", runs_);
    if (read_marks(object, "hide", stop.hide, stop.hide_where) && stop.predict.empty())
      object.fail("hide", "the stop hides an answer and asks nothing", "give it predict, or leave hide out");
    read_choices(object, stop);
    read_place(object, runs_.scenario(stop.run), stop.place);
    read_walk(object, stop);
    read_shown(object, stop.shown, stop.annotate_where);
    read_hold(object, folder_, stop);
    read_controls(object, stop, runs_);
    stop.expect = read_expect(object, runs_);
    read_tasks(object, stop, runs_);
    stop.break_it = read_exercise(object, "break_it", stop, "break it", runs_);
    std::vector<ObjectReader> nested = object.objects("sub");
    object.finish();
    if (stop.caption.empty() && nested.empty()) {
      object.missing("caption", "say in a sentence or two what is seen here");
    }
    if (!stop.caption.empty()) stops_.push_back(stop);
    for (ObjectReader& sub : nested) read(sub, stop);
  }

 private:
  void read_choices(ObjectReader& object, Stop& stop) const {
    stop.right = read_fact_text(object, "right", runs_);
    if (!read_fact_texts(object, "choices", runs_, stop.choices)) return;
    if (stop.predict.empty())
      object.fail("choices", "the stop has answers and asks nothing",
                  "give it predict, or leave choices out");
    if (stop.right.empty())
      object.missing("right", "say which of the choices is right, by a fact: \"{slot_mapping[A]}\"");
  }

  void read_name(ObjectReader& object, const Stop& parent, Stop& stop) const {
    stop.name = object.need<std::string>("stop", "give every stop a name of its own");
    if (!parent.name.empty()) stop.name = parent.name + " > " + stop.name;
    if (std::ranges::find(stops_, stop.name, &Stop::name) != stops_.end()) {
      object.fail("stop", fmt::format("there are two stops '{}'", stop.name), "give each a name of its own");
    }
  }

  RunTable& runs_;
  const fs::path& folder_;
  std::vector<Stop>& stops_;
};

}  // namespace

void read_stops(ObjectReader& root, RunTable& runs, const fs::path& folder, std::vector<Stop>& stops) {
  StopReader reader(runs, folder, stops);
  for (ObjectReader& object : root.objects("film")) reader.read(object, Stop{});
}

void read_begin(ObjectReader& root, const Scenario& scenario, Script& script) {
  auto begin = root.object("begin");
  if (!begin) return;
  if (!script.empty()) {
    root.fail("begin", "the scenario has begin and stops",
              "keep one of them: a film with stops begins at the first");
  }
  read_place(*begin, scenario, script.begin);
  std::vector<std::string> lines;
  read_shown(*begin, script.shown, lines);
  begin->finish();
}

}  // namespace attn::app
