#include "app/scenario.h"

#include <fmt/format.h>

#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

#include "app/json_reader.h"
#include "core/trace/names.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int kScenarioVersion = 1;

/// Sets "engine.block_size=4" in the document; list entries by number ("requests.0.max_tokens=3").
void apply_override(json& document, const std::string& override) {
  const std::size_t equals = override.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw InputError(fmt::format("--set {} has no value; write --set key.subkey=value", override));
  }
  json value = json::parse(override.substr(equals + 1), nullptr, false);
  if (value.is_discarded()) value = override.substr(equals + 1);
  json* at = &document;
  std::stringstream keys(override.substr(0, equals));
  for (std::string key; std::getline(keys, key, '.');) {
    if (at->is_array()) {
      const bool digits =
          !key.empty() && key.size() < 6 && key.find_first_not_of("0123456789") == std::string::npos;
      if (!digits || std::stoul(key) >= at->size()) {
        throw InputError(
            fmt::format("--set {}: '{}' is no entry of a list of {}", override, key, at->size()));
      }
      at = &(*at)[std::stoul(key)];
    } else if (at->is_object() || at->is_null()) {
      at = &(*at)[key];
    } else {
      throw InputError(fmt::format("--set {}: '{}' lies inside a plain value", override, key));
    }
  }
  *at = std::move(value);
}

template <class E>
void read_enum(ObjectReader& reader, const char* key, E& out) {
  std::string name;
  reader.read(key, name);
  if (name.empty()) return;
  const std::optional<E> value = trace::from_name<E>(name);
  if (!value) reader.fail(key, fmt::format("is '{}'; it must be one of {}", name, trace::all_names<E>()));
  out = *value;
}

EngineConfig read_engine(const json& value, const JsonSource& source) {
  EngineConfig config;
  ObjectReader reader(value, "engine", source);
  reader.read("block_size", config.block_size);
  reader.read("num_blocks", config.num_blocks);
  reader.read("max_num_seqs", config.max_num_seqs);
  reader.read("max_num_batched_tokens", config.max_num_batched_tokens);
  reader.read("max_model_len", config.max_model_len);
  reader.read("prefix_caching", config.prefix_caching);
  read_enum(reader, "decode_path", config.decode_path);
  read_enum(reader, "prefill_path", config.prefill_path);
  reader.read("prefill_level", config.prefill_level);
  reader.read("decode_level", config.decode_level);
  reader.read("num_splits", config.num_splits);
  read_enum(reader, "mask_alignment", config.mask_alignment);
  read_enum(reader, "free_list", config.free_list);
  reader.read("free_list_seed", config.free_list_seed);
  read_enum(reader, "policy", config.policy);
  reader.read("warmup", config.warmup);
  reader.read("warmup_identity", config.warmup_identity);
  reader.read("record_layers", config.record_layers);
  reader.finish();
  return config;
}

std::vector<std::int32_t> read_token_ids(ObjectReader& reader, const json& value) {
  if (!value.is_array()) reader.fail("token_ids", "must be a list of whole numbers");
  std::vector<std::int32_t> ids;
  for (const json& id : value) {
    if (!id.is_number_integer() || id.get<std::int64_t>() < 0 ||
        id.get<std::int64_t>() > std::numeric_limits<std::int32_t>::max()) {
      reader.fail("token_ids", fmt::format("holds {}; token ids are whole numbers >= 0", id.dump()));
    }
    ids.push_back(id.get<std::int32_t>());
  }
  return ids;
}

ScenarioRequest read_request(const json& value, std::size_t index, const JsonSource& source) {
  ScenarioRequest request;
  ObjectReader reader(value, fmt::format("requests[{}]", index), source);
  reader.read("at_step", request.at_step);
  if (request.at_step < 0) reader.fail("at_step", fmt::format("is {}; it must be >= 0", request.at_step));
  reader.read("id", request.id);
  int given = 0;
  if (reader.has("prompt")) ++given;
  reader.read("prompt", request.prompt);
  if (const json* ids = reader.child("token_ids")) {
    ++given;
    request.token_ids = read_token_ids(reader, *ids);
  }
  if (reader.has("prompt_tokens")) ++given;
  reader.read("prompt_tokens", request.prompt_tokens);
  if (request.prompt_tokens < 0 || request.prompt_tokens > 1'000'000) {
    reader.fail("prompt_tokens", fmt::format("is {}; it must be 0 to 1000000", request.prompt_tokens));
  }
  SamplingParams& sampling = request.sampling;
  reader.read("max_tokens", sampling.max_tokens);
  if (sampling.max_tokens < 1)
    reader.fail("max_tokens", fmt::format("is {}; it must be >= 1", sampling.max_tokens));
  reader.read("temperature", sampling.temperature);
  if (!(sampling.temperature >= 0.0F) || sampling.temperature > 100.0F) {
    reader.fail("temperature", fmt::format("is {}; it must be 0 (greedy) to 100", sampling.temperature));
  }
  reader.read("top_k", sampling.top_k);
  if (sampling.top_k < 0)
    reader.fail("top_k", fmt::format("is {}; it must be >= 0 (0 = off)", sampling.top_k));
  reader.read("top_p", sampling.top_p);
  if (!(sampling.top_p > 0.0F) || sampling.top_p > 1.0F) {
    reader.fail("top_p", fmt::format("is {}; it must be above 0 and at most 1 (1 = off)", sampling.top_p));
  }
  reader.read("ignore_eos", sampling.ignore_eos);
  reader.finish();
  if (given != 1) {
    throw InputError(
        fmt::format("requests[{}] has {} of prompt, token_ids and prompt_tokens ({}); give exactly one",
                    index, given, source.file));
  }
  return request;
}

/// Relative paths count from the scenario's folder; a bare model name also from assets/models.
fs::path resolve(const fs::path& given, const fs::path& scenario, bool model) {
  if (given.empty() || given.is_absolute()) return given;
  const fs::path beside = scenario.parent_path() / given;
  if (fs::exists(beside) || !model) return beside;
  const fs::path bundled = assets_dir() / "models" / given;
  return fs::exists(bundled) ? bundled : beside;
}

void read_requests(const json& list, const JsonSource& source, Scenario& scenario) {
  if (!list.is_array()) throw InputError(fmt::format("requests is not a list ({})", source.at("requests")));
  for (std::size_t i = 0; i < list.size(); ++i) scenario.requests.push_back(read_request(list[i], i, source));
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
  const JsonSource source{path.filename().string(), &text};
  json document;
  try {
    document = json::parse(text);
  } catch (const json::parse_error& error) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    throw InputError(fmt::format("not valid JSON ({}, line {}); check commas, quotes and brackets there",
                                 source.file, 1 + std::count(text.begin(), end, '\n')));
  }
  for (const std::string& override : overrides) apply_override(document, override);

  Scenario scenario;
  ObjectReader reader(document, "", source);
  int version = kScenarioVersion;
  reader.read("version", version);
  if (version != kScenarioVersion) {
    reader.fail("version", fmt::format("is {}; this program reads version {}", version, kScenarioVersion));
  }
  scenario.name = path.stem().string();
  reader.read("name", scenario.name);
  std::string model = "shakespeare-1m";
  std::string tensors;
  const bool has_model = reader.has("model");
  reader.read("model", model);
  reader.read("tensors", tensors);
  if (has_model && !tensors.empty()) reader.fail("tensors", "cannot be given together with model; keep one");
  if (const json* engine = reader.child("engine")) scenario.engine = read_engine(*engine, source);
  reader.read("seed", scenario.engine.seed);
  scenario.engine.validate();
  if (const json* requests = reader.child("requests")) read_requests(*requests, source, scenario);
  reader.read("max_steps", scenario.max_steps);
  if (scenario.max_steps < 1)
    reader.fail("max_steps", fmt::format("is {}; it must be >= 1", scenario.max_steps));
  if (const json* film = reader.child("film")) {
    if (!film->is_array()) reader.fail("film", "must be a list of stops");
    scenario.film_stops = static_cast<int>(film->size());
  }
  reader.finish();
  if (!tensors.empty()) {
    scenario.tensors = resolve(tensors, path, false);
  } else {
    scenario.model = resolve(model, path, true);
    if (scenario.requests.empty()) {
      throw InputError(
          fmt::format("the scenario has no requests ({}); add at least one to requests", source.file));
    }
  }
  scenario.json = document.dump(2);
  return scenario;
}

Scenario load_scenario(const fs::path& path, const std::vector<std::string>& overrides) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(fmt::format("cannot read the scenario ({}); check the path", path.string()));
  std::stringstream text;
  text << file.rdbuf();
  return parse_scenario(text.str(), path, overrides);
}

}  // namespace attn::app
