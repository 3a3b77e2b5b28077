#include "app/script_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/engine_host.h"
#include "app/mark_check.h"
#include "app/opening.h"
#include "app/place.h"
#include "core/trace/inspector.h"
#include "kernels/common/check.h"

namespace attn::app {

std::shared_ptr<const trace::Store> run_to_end(const Scenario& scenario, DeviceChoice choice,
                                               const AfterStep& after_step, const std::stop_token& stop) {
  if (!scenario.recorded.empty())
    return open_store(scenario.recorded, choice, scenario.engine, scenario.name, stop);
  EngineHost host(scenario, choice, stop);
  for (int steps = 0; host.has_work() && steps < scenario.max_steps;) {
    host.step();
    after_step(++steps, scenario.max_steps);
  }
  return host.recording();
}

struct ScriptRuns::Hosted {
  Hosted(Device& device, std::shared_ptr<const trace::Store> recorded)
      : store(std::move(recorded)), inspector(device, store) {}
  std::shared_ptr<const trace::Store> store;
  trace::Inspector inspector;
};

trace::FactPlace fact_place(const Place& place, const Shown& shown) {
  return {.step = place.step.value_or(1),
          .layer = place.layer.value_or(0),
          .head = place.head.value_or(0),
          .seq = place.seq.value_or(-1),
          .row = place.row.value_or(-1),
          .col = place.col.value_or(-1),
          .tile = place.tile.value_or(-1),
          .block = place.block.value_or(-1),
          .compare = shown.compare};
}

ScriptRuns::ScriptRuns(const Scenario& scenario, DeviceChoice choice, RunHooks hooks)
    : scenario_(scenario), choice_(choice), hooks_(std::move(hooks)), device_(make_device(choice)) {}

ScriptRuns::~ScriptRuns() = default;

trace::FactSource ScriptRuns::source(std::string_view run) {
  if (run == kMainRun) run = {};
  auto found = hosted_.find(run);
  if (found == hosted_.end()) {
    auto store = run.empty() && hooks_.recorded
                     ? hooks_.recorded
                     : run_to_end(scenario_of(scenario_, run), choice_, hooks_.after_step);
    auto hosted = std::make_unique<Hosted>(*device_.device, std::move(store));
    found = hosted_.emplace(std::string(run), std::move(hosted)).first;
  }
  return {found->second->store, &found->second->inspector};
}

trace::FactRuns ScriptRuns::runs_from(const std::string& run) {
  return [this, run](std::string_view name) { return source(name.empty() ? std::string_view(run) : name); };
}

ScriptRuns::Spot ScriptRuns::spot(const std::string& run, const Place& place, const Shown& shown) {
  return {fact_place(place, shown), run};
}

ScriptRuns::Spot ScriptRuns::spot_of(const Stop& stop) { return spot(stop.run, stop.place, stop.shown); }

ScriptRuns::Spot ScriptRuns::spot_of(const Stop& stop, const Exercise& exercise) {
  Shown shown = exercise.shown;
  if (!shown.compare) shown.compare = stop.shown.compare;
  return spot(exercise.run, over(stop.place, exercise.place), shown);
}

std::string ScriptRuns::fill_in(std::string_view text, const Stop& stop) {
  return trace::fill_in(text, spot_of(stop).place, runs_from(stop.run));
}

std::string ScriptRuns::fill_in(std::string_view text, const Stop& stop, const Exercise& exercise) {
  return trace::fill_in(text, spot_of(stop, exercise).place, runs_from(exercise.run));
}

std::string ScriptRuns::value_text(std::string_view fact, const Spot& spot) {
  try {
    return trace::text_of(trace::evaluate(trace::parse_fact(fact), spot.place, runs_from(spot.run)));
  } catch (const InputError& error) {
    return error.what();
  }
}

std::string ScriptRuns::value_text(std::string_view fact, const Stop& stop) {
  return value_text(fact, spot_of(stop));
}

std::string ScriptRuns::value_text(std::string_view fact, const Stop& stop, const Exercise& exercise) {
  return value_text(fact, spot_of(stop, exercise));
}

void ScriptRuns::check(const std::vector<Expectation>& expect, const Spot& spot,
                       std::vector<Failure>& failures) {
  for (const Expectation& one : expect) {
    try {
      const trace::FactValue value =
          trace::evaluate(trace::parse_fact(one.fact), spot.place, runs_from(spot.run));
      if (trace::meets(value, nlohmann::json::parse(one.value))) continue;
      failures.push_back(
          {one.where, fmt::format("{} is {}, expected {}", one.fact, trace::text_of(value), one.value)});
    } catch (const InputError& error) {
      failures.push_back({one.where, error.what()});
    }
  }
}

void ScriptRuns::check_text(const std::string& text, const std::string& where, const Spot& spot,
                            std::vector<Failure>& failures) {
  try {
    trace::fill_in(text, spot.place, runs_from(spot.run));
  } catch (const InputError& error) {
    failures.push_back({where, error.what()});
  }
}

std::vector<Failure> ScriptRuns::check_told(const Stop& stop) {
  std::vector<Failure> failures;
  const Spot here = spot_of(stop);
  check(stop.expect, here, failures);
  for (const std::string* text : {&stop.caption, &stop.notes, &stop.predict, &stop.right}) {
    check_text(*text, stop.where, here, failures);
  }
  for (const std::string& choice : stop.choices) check_text(choice, stop.where, here, failures);
  check_marks(stop.shown.annotate, stop.annotate_where, here, failures);
  check_marks(stop.hide, stop.hide_where, here, failures);
  if (failures.empty()) check_choices(stop, failures);
  return failures;
}

std::vector<Failure> ScriptRuns::check(const Stop& stop) {
  std::vector<Failure> failures = check_told(stop);
  for (const Exercise& task : stop.tasks) check(stop, task, failures);
  if (stop.break_it) check(stop, *stop.break_it, failures);
  return failures;
}

void ScriptRuns::check(const Stop& stop, const Exercise& exercise, std::vector<Failure>& failures) {
  const Spot there = spot_of(stop, exercise);
  check(exercise.expect, there, failures);
  check_text(exercise.text, stop.where, there, failures);
  check_marks(exercise.shown.annotate, exercise.annotate_where, there, failures);
}

void ScriptRuns::check_marks(const std::vector<std::string>& names, const std::vector<std::string>& where,
                             const Spot& spot, std::vector<Failure>& failures) {
  if (names.empty()) return;
  for (Failure& failure : missing_marks(names, where, *store(spot.run), spot.place))
    failures.push_back(std::move(failure));
}

/// One of the choices must be the right one, and only one.
void ScriptRuns::check_choices(const Stop& stop, std::vector<Failure>& failures) {
  if (stop.choices.empty()) return;
  const std::string right = fill_in(stop.right, stop);
  const auto count = std::ranges::count_if(
      stop.choices, [&](const std::string& choice) { return fill_in(choice, stop) == right; });
  if (count != 1)
    failures.push_back({stop.where, fmt::format("'{}' is right, and {} choices say so", right, count)});
}

}  // namespace attn::app
