// The stops of a script: every key of one stop, and how nested stops are flattened.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/script_facts.h"
#include "app/view_names.h"
#include "app/wav_file.h"
#include "viz/layout/panel_names.h"

namespace attn::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr double kLongestHold = 600.0;  // seconds

/// A member that must be 0 or more.
void read_index(ObjectReader& object, const char* key, std::optional<int>& value) {
  int number = 0;
  if (!object.read(key, number)) return;
  if (number < 0) object.fail(key, fmt::format("{} is {}", object.path(key), number), "use 0 or more");
  value = number;
}

template <class E>
void read_view(ObjectReader& object, const char* key, std::optional<E>& value) {
  std::string name;
  if (!object.read(key, name)) return;
  value = view_named<E>(name);
  if (!value) {
    object.fail(key, fmt::format("{} is '{}'", object.path(key), name), suggest(name, view_names<E>()));
  }
}

/// A request by its label, or by its number.
int read_request_id(ObjectReader& object, const char* key, const Scenario& scenario) {
  if (!object.raw(key)->is_string()) {
    std::optional<int> id;
    read_index(object, key, id);
    return *id;
  }
  std::string label;
  object.read(key, label);
  const auto found = std::ranges::find(scenario.requests, label, &ScenarioRequest::id);
  if (found == scenario.requests.end()) {
    std::vector<std::string> labels;
    for (const ScenarioRequest& request : scenario.requests) labels.push_back(request.id);
    object.fail(key, fmt::format("there is no request '{}'", label), suggest(label, labels));
  }
  return static_cast<int>(found - scenario.requests.begin());
}

/// "goto" and "step_to": a place in the computation.
void read_moment(ObjectReader& object, Place& place) {
  read_index(object, "step", place.step);
  trace::Stage stage{};
  if (object.read("stage", stage)) place.stage = stage;
  read_index(object, "layer", place.layer);
  read_index(object, "head", place.head);
  read_index(object, "tile", place.tile);
}

void read_place(ObjectReader& object, const Scenario& scenario, Place& place) {
  if (auto moment = object.object("goto")) {
    read_moment(*moment, place);
    moment->finish();
  }
  if (auto select = object.object("select")) {
    if (select->raw("seq") != nullptr) place.seq = read_request_id(*select, "seq", scenario);
    read_index(*select, "row", place.row);
    read_index(*select, "col", place.col);
    read_index(*select, "block", place.block);
    select->finish();
  }
}

template <class T>
void read_optional(ObjectReader& object, const char* key, std::optional<T>& value) {
  T read{};
  if (object.read(key, read)) value = read;
}

trace::Variant read_variant(ObjectReader& compare, const char* side) {
  trace::Variant variant;
  auto object = compare.object(side);
  if (!object) return variant;  // as recorded
  read_optional(*object, "path", variant.path);
  read_optional(*object, "level", variant.level);
  read_optional(*object, "mask", variant.mask);
  read_optional(*object, "head_map", variant.head_map);
  read_optional(*object, "k_tile", variant.k_tile);
  read_optional(*object, "num_splits", variant.num_splits);
  object->finish();
  return variant;
}

void read_shown(ObjectReader& object, Shown& shown) {
  if (auto compare = object.object("compare")) {
    shown.compare = {read_variant(*compare, "a"), read_variant(*compare, "b")};
    shown.stage = viz::StageView::compare;
    compare->finish();
  }
  read_view(object, "view", shown.stage);
  read_view(object, "side", shown.side);
  std::string panel;
  if (object.read("panel", panel)) {
    shown.panel = viz::panel_named(panel);
    if (viz::panel_title(*shown.panel).empty()) {
      std::vector<std::string> names;
      for (int i = 0; i < viz::kNumPanels; ++i) {
        const auto id = static_cast<viz::PanelId>(i);
        if (!viz::panel_title(id).empty()) names.emplace_back(viz::panel_name(id));
      }
      object.fail("panel", fmt::format("{} is '{}'", object.path("panel"), panel), suggest(panel, names));
    }
  }
  object.read("annotate", shown.annotate);
}

/// "task" or "break_it" of a stop.
std::optional<Exercise> read_exercise(ObjectReader& object, const char* key, const Stop& stop,
                                      RunTable& runs) {
  auto found = object.object(key);
  if (!found) return std::nullopt;
  Exercise exercise;
  exercise.run = stop.run;
  if (auto set = found->object("set")) {
    constexpr std::string_view kEngine = "engine.";
    for (const std::string& name : set->keys()) {
      if (!name.starts_with(kEngine)) {
        set->fail(name.c_str(), fmt::format("'{}' is no switch", name),
                  "an exercise sets engine switches: \"engine.mask_alignment\"");
      }
      const Json& value = *set->raw(name.c_str());
      exercise.switches.emplace_back(name.substr(kEngine.size()),
                                     value.is_string() ? value.get<std::string>() : value.dump());
    }
    const char* what = std::string_view(key) == "task" ? "task" : "break it";
    exercise.run = runs.change(stop.run, fmt::format("{}: {}", stop.name, what), *set);
  }
  read_place(*found, runs.scenario(exercise.run), exercise.place);
  read_shown(*found, exercise.shown);
  exercise.text = read_fact_text(*found, "do", runs);
  if (exercise.text.empty()) found->missing("do", "say what to do, in one or two sentences");
  exercise.expect = read_expect(*found, runs);
  found->finish();
  return exercise;
}

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
  object.read("hold", stop.hold);
  if (stop.hold < 0.0 || stop.hold > kLongestHold) {
    object.fail("hold", fmt::format("{} is {}", object.path("hold"), stop.hold),
                fmt::format("give 0 to {} seconds, or a .wav file", kLongestHold));
  }
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
    stop.where = object.where("");
    read_name(object, parent, stop);
    if (object.read("run", stop.run) && !runs_.has(stop.run)) {
      object.fail("run", fmt::format("there is no run '{}'", stop.run), suggest(stop.run, runs_.names()));
    }
    if (stop.run == kMainRun) stop.run.clear();
    stop.caption = read_fact_text(object, "caption", runs_);
    stop.notes = read_fact_text(object, "notes", runs_);
    stop.predict = read_fact_text(object, "predict", runs_);
    if (object.read("hide", stop.hide) && stop.predict.empty())
      object.fail("hide", "the stop hides an answer and asks nothing", "give it predict, or leave hide out");
    read_place(object, runs_.scenario(stop.run), stop.place);
    read_walk(object, stop);
    read_shown(object, stop.shown);
    read_hold(object, folder_, stop);
    stop.expect = read_expect(object, runs_);
    stop.task = read_exercise(object, "task", stop, runs_);
    stop.break_it = read_exercise(object, "break_it", stop, runs_);
    std::vector<ObjectReader> nested = object.objects("sub");
    object.finish();
    if (stop.caption.empty() && nested.empty()) {
      object.missing("caption", "say in a sentence or two what is seen here");
    }
    if (!stop.caption.empty()) stops_.push_back(stop);
    for (ObjectReader& sub : nested) read(sub, stop);
  }

 private:
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
  read_shown(*begin, script.shown);
  begin->finish();
}

}  // namespace attn::app
