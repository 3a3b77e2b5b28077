#include "app/rerun.h"

#include <fmt/format.h>

#include <optional>
#include <type_traits>

#include "core/engine/config_fields.h"
#include "core/engine/switches.h"
#include "core/trace/names.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace {

using Json = nlohmann::json;

template <class T>
Json json_of(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(trace::name_of(value));
  } else {
    return value;
  }
}

/// Every engine field as JSON, in one object.
Json fields_of(const EngineConfig& config) {
  Json fields = Json::object();
  visit_fields([&](const char* key, const auto& field) { fields[key] = json_of(field); }, config);
  return fields;
}

/// The scenario with another engine, its text along with it.
Scenario with_engine(const Scenario& scenario, const EngineConfig& engine) {
  Scenario changed = scenario;
  changed.engine = engine;
  Json document = Json::parse(scenario.json);
  const Json before = fields_of(scenario.engine), after = fields_of(engine);
  for (const auto& [key, value] : after.items()) {
    if (before[key] != value) document["engine"][key] = value;
  }
  changed.json = document.dump(2);
  return changed;
}

/// How a request that only the trace knows (typed in a window) went: its prompt, when it came, and how many
/// tokens it gave. Nothing when it never entered, because it was rejected.
std::optional<ScenarioRequest> request_in(const trace::Store& store, int id) {
  std::optional<ScenarioRequest> request;
  for (int i = 0; i < store.num_steps(); ++i) {
    const auto record = store.step(i);
    for (const trace::SeqState& seq : record->seqs_after) {
      if (seq.id != id) continue;
      if (!request) {
        request.emplace();
        request->at_step = std::max(0, record->step - 1);
        request->id = store.manifest().request_labels.at(static_cast<std::size_t>(id));
        request->token_ids.assign(seq.token_ids.begin(), seq.token_ids.begin() + seq.num_prompt_tokens);
      }
      request->sampling.max_tokens = std::max(1, seq.num_tokens - seq.num_prompt_tokens);
    }
  }
  return request;
}

bool breaks(const EngineSwitch& entry, const EngineConfig& config) {
  if (!entry.break_it) return false;
  const std::string value = switch_value(config, entry.name);
  return entry.number ? value != entry.default_value : value == entry.values.back();
}

}  // namespace

Recipe recipe_of(const trace::Store& store, const std::filesystem::path& path) {
  const trace::Manifest& manifest = store.manifest();
  if (manifest.scenario_json.empty()) {
    throw InputError("tensors have no engine whose switches could be changed; open a scenario");
  }
  Recipe recipe{parse_scenario(manifest.scenario_json, path), {}};
  const auto known = recipe.scenario.requests.size();
  for (std::size_t id = known; id < manifest.request_labels.size(); ++id) {
    if (auto request = request_in(store, static_cast<int>(id))) recipe.added.push_back(std::move(*request));
  }
  return recipe;
}

std::string text_with_added(const Recipe& recipe) {
  Json document = Json::parse(recipe.scenario.json);
  for (const ScenarioRequest& request : recipe.added) {
    Json entry = {{"at_step", request.at_step},
                  {"max_tokens", request.sampling.max_tokens},
                  {"temperature", request.sampling.temperature}};
    if (!request.id.empty()) entry["id"] = request.id;
    if (request.prompt.empty()) {
      entry["token_ids"] = request.token_ids;
    } else {
      entry["prompt"] = request.prompt;
    }
    document["requests"].push_back(std::move(entry));
  }
  return document.dump(2);
}

bool same_run(const Scenario& a, const Scenario& b) {
  const auto requests = [](const Scenario& scenario) {
    return Json::parse(scenario.json).value("requests", Json::array());
  };
  return a.model == b.model && a.recorded == b.recorded && a.max_steps == b.max_steps &&
         fields_of(a.engine) == fields_of(b.engine) && requests(a) == requests(b);
}

Scenario with_switch(const Scenario& scenario, std::string_view name, std::string_view value) {
  EngineConfig engine = scenario.engine;
  set_switch(engine, name, value);
  return with_engine(scenario, engine);
}

Scenario without_breaks(const Scenario& scenario) {
  EngineConfig engine = scenario.engine;
  for (const EngineSwitch& entry : engine_switches()) {
    if (breaks(entry, engine)) set_switch(engine, entry.name, entry.values.front());
  }
  return with_engine(scenario, engine);
}

Json engine_changes(const EngineConfig& from, const EngineConfig& to) {
  Json changes = Json::object();
  const Json before = fields_of(from), after = fields_of(to);
  for (const auto& [key, value] : after.items()) {
    if (before[key] != value) changes["engine." + key] = value;
  }
  return changes;
}

std::vector<viz::Switch> switch_menu(const EngineConfig& config) {
  std::vector<viz::Switch> menu;
  for (const EngineSwitch& entry : engine_switches()) {
    menu.push_back({.name = entry.name,
                    .values = entry.values,
                    .value = switch_value(config, entry.name),
                    .default_value = entry.default_value,
                    .title = entry.title,
                    .text = entry.text,
                    .break_it = entry.break_it});
  }
  return menu;
}

}  // namespace attn::app
