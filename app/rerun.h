// Running the same requests again with other switches: which scenario that is, for a live run and for a
// trace that remembers its own.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "app/opening.h"
#include "core/trace/store.h"
#include "viz/frame.h"

namespace attn::app {

/// What a run can be made from again.
struct Recipe {
  Scenario scenario;
  std::vector<ScenarioRequest> added;  // typed by hand, with the steps at which they came
};

/// From a recording's own scenario text. Throws InputError saying why it cannot be run again: a tensor case,
/// a model that is not there, requests that the scenario does not have.
Recipe recipe_of(const trace::Store& store, const std::filesystem::path& path);
/// Scenario text that has the typed requests too, so that a trace of the run can be run again.
std::string text_with_added(const Recipe& recipe);

/// Whether both run the same requests on the same model in the same engine, however they are written.
bool same_run(const Scenario& a, const Scenario& b);

/// The same with a switch set. Throws InputError for a name or value that the engine does not have.
Scenario with_switch(const Scenario& scenario, std::string_view name, std::string_view value);
/// The same with nothing broken.
Scenario without_breaks(const Scenario& scenario);

/// What changes one engine into another, as a "set" of a scenario: {"engine.k_tile": 8}.
nlohmann::json engine_changes(const EngineConfig& from, const EngineConfig& to);

/// The menu of switches at a configuration.
std::vector<viz::Switch> switch_menu(const EngineConfig& config);

}  // namespace attn::app
