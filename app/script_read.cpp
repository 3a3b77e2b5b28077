#include "app/script_read.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "app/view_names.h"

namespace attn::app {
namespace {

using Json = nlohmann::json;

constexpr std::array kScriptKeys = {"runs", "film", "begin", "about", "size", "fps", "theme", "mode"};
constexpr int kSmallestSide = 64, kLargestSide = 7680;  // pixels
constexpr int kHighestRate = 120;                       // frames per second

/// Puts every setting of a "set" object into the document, each with the line it stands on.
void apply_set(LocatedJson& document, ObjectReader& set) {
  for (const std::string& key : set.keys()) {
    document.set(key, *set.raw(key.c_str()), set.where(key));
  }
}

/// Moves what a run brings of its own ("requests") to where the scenario has it, lines included.
void replace_member(LocatedJson& document, const LocatedJson& whole, const std::string& from,
                    const std::string& key, const Json& value) {
  document.value[key] = value;
  const std::string old_root = from + "/" + key, new_root = "/" + key;
  for (auto it = whole.places.lower_bound(old_root); it != whole.places.end(); ++it) {
    if (!it->first.starts_with(old_root)) break;
    document.places[new_root + it->first.substr(old_root.size())] = it->second;
  }
}

void read_size(ObjectReader& root, Script& script) {
  std::vector<std::int32_t> size;
  if (!root.read("size", size)) return;
  const auto good = [](std::int32_t side) {
    return side >= kSmallestSide && side <= kLargestSide && side % 2 == 0;
  };
  if (size.size() != 2 || !std::ranges::all_of(size, good)) {
    root.fail("size", fmt::format("size is [{}]", fmt::join(size, ", ")),
              fmt::format("give width and height, even numbers from {} to {}: [1920, 1080]", kSmallestSide,
                          kLargestSide));
  }
  script.size = {size[0], size[1]};
}

}  // namespace

LocatedJson without_script(const LocatedJson& document) {
  LocatedJson rest = document;
  for (const char* key : kScriptKeys) rest.value.erase(key);
  rest.value.erase("$schema");  // for editors: where the file lies is not part of what is run
  return rest;
}

void know_script_keys(ObjectReader& root) {
  for (const char* key : kScriptKeys) root.raw(key);
}

void RunTable::read(ObjectReader& object, const std::string& pointer) {
  const auto name = object.need<std::string>("name", "give the run a name, so that stops can show it");
  if (name.empty() || name == kMainRun || has(name)) {
    object.fail("name",
                name.empty() ? "a run's name is empty" : fmt::format("there is a run '{}' already", name),
                "give each run a name of its own");
  }
  LocatedJson changed = base_;
  if (const Json* tensors = object.raw("tensors")) {
    changed.value.erase("model");
    changed.value.erase("requests");
    replace_member(changed, base_, pointer, "tensors", *tensors);
  }
  for (const char* key : {"requests", "max_steps"}) {
    if (const Json* value = object.raw(key)) {
      if (*key == 'r') changed.value.erase("tensors");
      replace_member(changed, base_, pointer, key, *value);
    }
  }
  if (auto set = object.object("set")) apply_set(changed, *set);
  object.finish();
  add(name, std::move(changed));
}

std::string RunTable::change(const std::string& from, const std::string& name, ObjectReader& set) {
  LocatedJson changed = document(from);
  apply_set(changed, set);
  add(name, std::move(changed));
  return name;
}

std::string RunTable::send(const std::string& from, const std::string& name,
                           const std::vector<SentRequest>& sent, ObjectReader& object) {
  LocatedJson changed = document(from);
  Json kept = Json::array();
  std::vector<std::string> labels;
  for (Json request : changed.value.value("requests", Json::array())) {
    labels.push_back(request.value("id", ""));
    const auto found = std::ranges::find(sent, labels.back(), &SentRequest::first);
    if (found == sent.end()) continue;
    request["at_step"] = found->second;
    kept.push_back(std::move(request));
  }
  for (const auto& [label, at_step] : sent) {
    if (std::ranges::find(labels, label) == labels.end())
      object.fail("sent", fmt::format("there is no request '{}'", label), suggest(label, labels));
  }
  changed.value["requests"] = std::move(kept);
  add(name, std::move(changed));
  return name;
}

std::vector<std::string> RunTable::names() const {
  std::vector<std::string> names;
  for (const Run& run : runs_) names.push_back(run.name);
  return names;
}

const Scenario& RunTable::scenario(const std::string& name) const {
  if (name.empty()) return scenario_;
  if (name == kMainRun) return scenario_;
  return *std::ranges::find(runs_, name, &Run::name)->scenario;
}

const LocatedJson& RunTable::document(const std::string& name) const {
  return name.empty() ? base_ : documents_.at(name);
}

void RunTable::add(const std::string& name, LocatedJson document) {
  runs_.push_back({name, std::make_shared<const Scenario>(read_scenario_(document))});
  documents_.emplace(name, std::move(document));
}

Script read_script(ObjectReader& root, const LocatedJson& document, const Scenario& scenario,
                   const std::filesystem::path& folder, const ReadScenario& read_scenario) {
  Script script;
  root.read("about", script.about);
  read_size(root, script);
  root.read("fps", script.fps);
  if (script.fps < 1 || script.fps > kHighestRate) {
    root.fail("fps", fmt::format("fps is {}", script.fps), fmt::format("use 1 to {}", kHighestRate));
  }
  std::string name;
  if (root.read("theme", name)) {
    script.theme = viz::theme_named(name);
    if (!script.theme) {
      root.fail("theme", fmt::format("theme is '{}'", name),
                suggest(name, {"dark", "light", "contrast", "print"}));
    }
  }
  if (root.read("mode", name)) {
    const auto mode = view_named<viz::ScreenMode>(name);
    if (!mode)
      root.fail("mode", fmt::format("mode is '{}'", name), suggest(name, view_names<viz::ScreenMode>()));
    script.mode = *mode;
  }
  RunTable runs(document, scenario, read_scenario);
  std::vector<ObjectReader> list = root.objects("runs");
  for (std::size_t i = 0; i < list.size(); ++i) runs.read(list[i], fmt::format("/runs/{}", i));
  read_stops(root, runs, folder, script.stops);
  read_begin(root, scenario, script);
  script.runs = runs.take();
  return script;
}

const Scenario& scenario_of(const Scenario& scenario, std::string_view run) {
  if (run.empty() || run == kMainRun) return scenario;
  const auto found = std::ranges::find(scenario.script.runs, run, &Run::name);
  ATTN_CHECK(found != scenario.script.runs.end(), "there is no run '{}'", run);
  return *found->scenario;
}

}  // namespace attn::app
