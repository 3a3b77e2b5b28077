// A scenario: which model, which engine, which requests. JSON, read strictly: a misspelt key is an error that
// names the line and the nearest key. Its schema is assets/lessons/scenario.schema.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/script.h"
#include "core/engine/config.h"
#include "core/engine/sampling_params.h"

namespace attn::app {

/// Exactly one of prompt, token_ids and prompt_tokens is given in the file.
struct ScenarioRequest {
  int at_step = 0;
  std::string id;                       // label on screen, "" = the prompt's beginning
  std::string prompt;                   // text, tokenized by the model's tokenizer
  std::vector<std::int32_t> token_ids;  // as they are
  int prompt_tokens = 0;                // that many tokens drawn by the scenario's seed
  SamplingParams sampling;
};

struct Scenario {
  std::string name;
  std::filesystem::path model;     // directory; a bare name is looked up in assets/models
  std::filesystem::path recorded;  // instead of a model: a tensor case (one attention, no engine) or a trace
  EngineConfig engine;
  std::vector<ScenarioRequest> requests;  // by at_step, then as written
  int max_steps = 1000;
  std::string json;  // the text as run: --set applied, without the script
  std::string text;  // the same with the script; "" of a run of a script
  Script script;     // what is told along it; empty unless the file has stops
};

/// Throws InputError: file, line, key and what is allowed. `overrides` are "engine.block_size=4".
Scenario load_scenario(const std::filesystem::path& path, const std::vector<std::string>& overrides = {});
Scenario parse_scenario(const std::string& text, const std::filesystem::path& path,
                        const std::vector<std::string>& overrides = {});

/// The folder assets/ of the source tree, or beside the program when that has moved.
std::filesystem::path assets_dir();

}  // namespace attn::app
