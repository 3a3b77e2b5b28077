#include "app/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>

#include "app/object_reader.h"
#include "app/script_read.h"
#include "core/engine/config_fields.h"
#include "core/model/json_fields.h"

namespace attn::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int kScenarioVersion = 1;
constexpr std::uintmax_t kLargestScenario = 64U << 20U;  // bytes
constexpr const char* kDefaultModel = "shakespeare-1m";

/// Whether the scenario has text at a dotted path: "engine.scores", "name", "requests.0.id".
bool holds_text(std::string_view path) {
  constexpr std::array kTexts = {"id", "prompt", "name", "model", "tensors", "trace"};
  const std::string_view key = path.substr(path.rfind('.') + 1);
  if (!path.starts_with("engine.")) return std::ranges::find(kTexts, key) != kTexts.end();
  bool text = false;
  const EngineConfig engine;
  visit_fields(
      [&]<class T>(const char* name, const T&) {
        text |= key == name && (std::is_enum_v<T> || std::is_same_v<T, std::string>);
      },
      engine);
  return text;
}

/// "engine.block_size=4": the value is JSON when it can be read as JSON, else text. Where text is held all
/// but quoted text is taken as it is given: "engine.scores=2" is what "engine.scores=\"2\"" is.
void apply_override(LocatedJson& document, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string place = "--set " + text;
  if (equals == std::string::npos || equals == 0) {
    throw InputError(
        fmt::format("a setting has no name or no value ({}); write --set engine.block_size=4", place));
  }
  const std::string given = text.substr(equals + 1);
  Json value = Json::parse(given, nullptr, /*allow_exceptions=*/false);
  const std::string_view path = std::string_view(text).substr(0, equals);
  if (value.is_discarded() || (!value.is_string() && holds_text(path))) value = given;
  document.set(path, std::move(value), place);
}

/// Refuses a value that is of the right type but out of range.
template <class T>
void require(const ObjectReader& object, const char* key, T value, bool good, const char* allowed) {
  if (!good) object.fail(key, fmt::format("{} is {}", key, value), fmt::format("use {}", allowed));
}

void read_sampling(ObjectReader& object, SamplingParams& sampling) {
  object.read("max_tokens", sampling.max_tokens);
  require(object, "max_tokens", sampling.max_tokens, sampling.max_tokens >= 1, "1 or more");
  object.read("temperature", sampling.temperature);
  require(object, "temperature", sampling.temperature,
          sampling.temperature >= 0.0F && sampling.temperature <= 100.0F, "0 (greedy) to 100");
  object.read("top_k", sampling.top_k);
  require(object, "top_k", sampling.top_k, sampling.top_k >= 0, "0 (off) or more");
  object.read("top_p", sampling.top_p);
  require(object, "top_p", sampling.top_p, sampling.top_p > 0.0F && sampling.top_p <= 1.0F,
          "more than 0 and at most 1 (off)");
  object.read("ignore_eos", sampling.ignore_eos);
}

ScenarioRequest read_request(ObjectReader& object) {
  ScenarioRequest request;
  object.read("at_step", request.at_step);
  require(object, "at_step", request.at_step, request.at_step >= 0, "0 or more");
  object.read("id", request.id);
  const std::array given = {object.read("prompt", request.prompt),
                            object.read("token_ids", request.token_ids),
                            object.read("prompt_tokens", request.prompt_tokens)};
  require(object, "prompt_tokens", request.prompt_tokens,
          request.prompt_tokens >= 0 && request.prompt_tokens <= 1'000'000, "0 to 1000000");
  read_sampling(object, request.sampling);
  object.finish();
  if (const auto count = std::ranges::count(given, true); count != 1) {
    object.fail(nullptr, fmt::format("a request has {} of prompt, token_ids and prompt_tokens", count),
                "give exactly one");
  }
  return request;
}

void read_engine(ObjectReader& object, EngineConfig& engine) {
  visit_fields([&](const char* key, auto& field) { object.read(key, field); }, engine);
  object.finish();
}

/// validate() says "engine.block_size is 0; use ...": the place goes before the advice.
void validate_engine(const EngineConfig& engine, const LocatedJson& document) {
  try {
    engine.validate();
  } catch (const InputError& error) {
    std::string text = error.what();
    const std::size_t dot = text.find('.');
    const std::string key = text.substr(dot + 1, text.find(' ') - dot - 1);
    text.insert(std::min(text.find("; "), text.size()),
                fmt::format(" ({})", document.where("/engine/" + key)));
    throw InputError(text);
  }
}

/// Relative paths count from the scenario's folder; a bare model name also from assets/models.
fs::path find_model(const std::string& name, const fs::path& folder) {
  const fs::path bundled = assets_dir() / "models" / name;
  return !fs::exists(folder / name) && fs::exists(bundled) ? bundled : folder / name;
}

/// What attention is run on: a model, tensors, or a trace that has run already.
void read_subject(ObjectReader& object, const fs::path& folder, Scenario& scenario) {
  std::string model = kDefaultModel, recorded;
  const bool has_model = object.read("model", model);
  const bool has_tensors = object.read("tensors", recorded);
  const bool has_trace = object.read("trace", recorded);
  const char* other = has_tensors ? "tensors" : "trace";
  if (has_tensors && has_trace)
    object.fail("trace", "the scenario has tensors and trace", "keep one of them");
  if (has_model && (has_tensors || has_trace))
    object.fail(other, fmt::format("the scenario has model and {}", other), "keep one of them");
  for (const char* key : {"engine", "runs", "seed"}) {
    if (has_trace && object.has(key))
      object.fail(key, fmt::format("a scenario with a trace has {}", key),
                  "leave it out: what was recorded stays as it is");
  }
  if (has_tensors || has_trace) {
    scenario.recorded = folder / recorded;
    return;
  }
  scenario.model = find_model(model, folder);
  if (!fs::is_directory(scenario.model)) {
    object.fail("model", fmt::format("there is no model directory '{}'", model),
                "give a path relative to the scenario, or the name of a bundled model");
  }
}

/// What is run: everything but the script, which the caller reads from the same `object`.
Scenario read_run(ObjectReader& object, const LocatedJson& document, const fs::path& path) {
  Scenario scenario;
  int version = kScenarioVersion;
  object.read("version", version);
  if (version != kScenarioVersion) {
    object.fail("version", fmt::format("version is {}", version),
                fmt::format("this program reads version {}", kScenarioVersion));
  }
  scenario.name = path.stem().string();
  object.read("name", scenario.name);
  object.read("seed", scenario.engine.seed);
  if (auto engine = object.object("engine")) read_engine(*engine, scenario.engine);
  for (ObjectReader& request : object.objects("requests")) {
    scenario.requests.push_back(read_request(request));
  }
  object.read("max_steps", scenario.max_steps);
  require(object, "max_steps", scenario.max_steps, scenario.max_steps >= 1, "1 or more");
  read_subject(object, path.parent_path(), scenario);
  object.raw("$schema");  // for editors
  know_script_keys(object);
  object.finish();

  validate_engine(scenario.engine, document);
  if (scenario.requests.empty() != !scenario.recorded.empty()) {
    const bool asks_nothing = scenario.requests.empty();
    object.fail(object.has("requests") ? "requests" : nullptr,
                asks_nothing ? "the scenario asks for nothing"
                             : fmt::format("a scenario with {} has requests",
                                           object.has("trace") ? "a trace" : "tensors"),
                asks_nothing ? "add at least one entry to requests" : "leave them out");
  }
  std::ranges::stable_sort(scenario.requests, {}, &ScenarioRequest::at_step);  // ids count in order of entry
  scenario.json = without_script(document).value.dump(2);
  return scenario;
}

}  // namespace

fs::path assets_dir() {
  if (fs::exists(ATTN_ASSETS_DIR)) return ATTN_ASSETS_DIR;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return program.parent_path().parent_path() / "assets";
}

Scenario parse_scenario(const std::string& text, const fs::path& path,
                        const std::vector<std::string>& overrides) {
  LocatedJson document = parse_located(text, path.filename().string());
  for (const std::string& override : overrides) apply_override(document, override);
  ObjectReader object(document);
  Scenario scenario = read_run(object, document, path);
  scenario.text = document.value.dump(2);
  scenario.script = read_script(object, document, scenario, path.parent_path(), [&](const LocatedJson& run) {
    ObjectReader root(run);
    return read_run(root, run, path);
  });
  return scenario;
}

Scenario load_scenario(const fs::path& path, const std::vector<std::string>& overrides) {
  return parse_scenario(read_text_file(path, kLargestScenario), path, overrides);
}

}  // namespace attn::app
