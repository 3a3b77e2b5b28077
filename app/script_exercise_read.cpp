#include "app/script_exercise_read.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/script_facts.h"
#include "app/script_place_read.h"
#include "core/engine/switches.h"

namespace attn::app {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kEngine = "engine.";

std::string switch_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// "engine.k_tile" without its first part; where it is none, an error of `key`.
std::string switch_name(ObjectReader& object, const char* key, const std::string& name) {
  if (name.starts_with(kEngine)) return name.substr(kEngine.size());
  object.fail(key, fmt::format("'{}' is no switch", name),
              "engine switches begin so: \"engine.mask_alignment\"");
}

void check_run(ObjectReader& object, const char* key, const std::string& run, const RunTable& runs) {
  if (!runs.has(run)) object.fail(key, fmt::format("there is no run '{}'", run), suggest(run, runs.names()));
}

std::vector<SentRequest> read_sent(ObjectReader& exercise) {
  std::vector<SentRequest> sent;
  auto object = exercise.object("sent");
  if (!object) return sent;
  for (const std::string& label : object->keys()) {
    int at_step = 0;
    object->read(label.c_str(), at_step);
    sent.emplace_back(label, at_step);
  }
  std::ranges::stable_sort(sent, {}, &SentRequest::second);
  if (sent.empty())
    exercise.fail("sent", "nothing is sent", "name requests, and after how many steps: {\"A\": 0}");
  return sent;
}

void read_way(ObjectReader& object, Exercise& exercise) {
  for (ObjectReader& entry : object.objects("through")) {
    Place place;
    read_moment(entry, place);
    entry.finish();
    exercise.way.push_back(place);
  }
}

/// The run in which it is checked: that of the stop or another, with its switches and its requests.
void read_exercise_run(ObjectReader& object, const std::string& name, RunTable& runs, Exercise& exercise) {
  if (object.read("run", exercise.run)) {
    check_run(object, "run", exercise.run, runs);
    if (exercise.run == kMainRun) exercise.run.clear();
    exercise.asks_run = true;
  }
  if (auto set = object.object("set")) {
    for (const std::string& key : set->keys())
      exercise.switches.emplace_back(switch_name(*set, key.c_str(), key),
                                     switch_text(*set->raw(key.c_str())));
    exercise.run = runs.change(exercise.run, name, *set);
  }
  exercise.sent = read_sent(object);
  if (!exercise.sent.empty()) exercise.run = runs.send(exercise.run, name + ", sent", exercise.sent, object);
}

Exercise read_one(ObjectReader& object, const Stop& stop, const std::string& name, RunTable& runs) {
  Exercise exercise;
  exercise.run = stop.run;
  read_exercise_run(object, name, runs, exercise);
  read_place(object, runs.scenario(exercise.run), exercise.place);
  read_way(object, exercise);
  read_shown(object, exercise.shown, exercise.annotate_where);
  bool gaps_closed = false;
  if (object.read("true_memory", gaps_closed)) exercise.true_memory = gaps_closed;
  exercise.text = read_fact_text(object, "do", runs);
  if (exercise.text.empty()) object.missing("do", "say what to do, in one or two sentences");
  exercise.expect = read_expect(object, runs);
  object.finish();
  return exercise;
}

/// Values of a switch. Each is tried on a default engine, so that a wrong one is an error of the file.
void read_switch_values(ObjectReader& object, Control& control) {
  const Json* values = object.raw("values");
  if (values == nullptr || !values->is_array())
    object.missing("values", "list what the switch can be set to: [false, true]");
  for (const Json& value : *values) {
    control.values.push_back(switch_text(value));
    EngineConfig trial;
    try {
      set_switch(trial, control.engine_switch, control.values.back());
    } catch (const InputError& error) {
      object.fail("values", error.what(), "a control sets one switch of the engine");
    }
  }
}

Control read_control(ObjectReader& object, const RunTable& runs) {
  Control control;
  control.name = object.need<std::string>("name", "say what is turned, in a word or two");
  object.raw("values");
  std::string name;
  if (object.read("switch", name)) {
    control.engine_switch = switch_name(object, "switch", name);
    read_switch_values(object, control);
  }
  if (object.read("runs", control.runs)) {
    for (std::string& run : control.runs) check_run(object, "runs", run, runs);
  }
  for (ObjectReader& sides : object.objects("compare")) control.compare.push_back(read_comparison(sides));
  const std::size_t count = control.values.size() + control.runs.size() + control.compare.size();
  const int kinds = static_cast<int>(!control.values.empty()) + static_cast<int>(!control.runs.empty()) +
                    static_cast<int>(!control.compare.empty());
  if (kinds != 1)
    object.fail(nullptr,
                fmt::format("the control '{}' turns {}", control.name,
                            kinds == 0 ? "nothing" : "more than one thing"),
                "give it one of switch, runs and compare");
  if (!object.read("labels", control.labels))
    control.labels = control.values.empty() ? control.runs : control.values;
  if (control.labels.size() != count)
    object.fail(nullptr,
                fmt::format("the control '{}' has {} values and {} labels", control.name, count,
                            control.labels.size()),
                "give each value a label");
  object.finish();
  return control;
}

}  // namespace

std::optional<Exercise> read_exercise(ObjectReader& object, const char* key, const Stop& stop,
                                      const char* what, RunTable& runs) {
  auto found = object.object(key);
  if (!found) return std::nullopt;
  return read_one(*found, stop, fmt::format("{}: {}", stop.name, what), runs);
}

void read_tasks(ObjectReader& object, Stop& stop, RunTable& runs) {
  const Json* task = object.raw("task");
  if (task == nullptr) return;
  if (!task->is_array()) {
    stop.tasks.push_back(*read_exercise(object, "task", stop, "task", runs));
    return;
  }
  for (ObjectReader& one : object.objects("task")) {
    const std::string name = fmt::format("{}: task {}", stop.name, stop.tasks.size() + 1);
    stop.tasks.push_back(read_one(one, stop, name, runs));
  }
}

void read_controls(ObjectReader& object, Stop& stop, const RunTable& runs) {
  object.read("send", stop.send);
  if (object.raw("controls") == nullptr) return;
  stop.controls.clear();
  for (ObjectReader& one : object.objects("controls")) stop.controls.push_back(read_control(one, runs));
}

}  // namespace attn::app
