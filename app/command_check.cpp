// `check MODEL_DIR|SCENARIO|TRACE|CASE`: is it whole, and what is it.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "app/commands.h"
#include "app/engine_host.h"
#include "app/opening.h"
#include "app/scenario.h"
#include "core/model/tokenizer.h"
#include "core/model/transformer.h"
#include "core/trace/describe.h"
#include "core/trace/state_hash.h"
#include "core/trace/tensor_case.h"
#include "core/trace/trace_file.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace {

namespace fs = std::filesystem;

void check_model(const fs::path& path) {
  const std::unique_ptr<Device> device = make_simt_device();
  const Transformer model(*device, path);
  const ModelConfig& c = model.config();
  fmt::print(
      "model {}: {}, {} layers, {} heads over {} KV heads, head_dim {}, hidden {}, vocabulary {}, {}\n",
      path.filename().string(), c.architecture, c.num_hidden_layers, c.num_attention_heads,
      c.num_key_value_heads, c.head_dim, c.hidden_size, c.vocab_size, dtype_name(c.dtype));
  if (!fs::exists(path / "tokenizer.json")) {
    fmt::print("no tokenizer.json: requests must give token_ids\n");
    return;
  }
  fmt::print("tokenizer: byte-level BPE, {} tokens\n", Tokenizer::load(path).vocab_size());
}

/// Runs every prompt up to its first token, which is when the engine accepts or rejects it.
int check_requests(Scenario scenario) {
  for (ScenarioRequest& request : scenario.requests) request.sampling.max_tokens = 1;
  scenario.engine.record_layers = 0;
  EngineHost host(scenario, DeviceChoice::simt);
  int rejected = 0;
  while (host.has_work()) {
    for (const trace::Rejected& request : host.step()->rejected) {
      const std::string& label =
          host.recording()->manifest().request_labels.at(static_cast<std::size_t>(request.id));
      fmt::print(stderr, "attnscope: request {} would be rejected: {}\n", label, request.reason);
      ++rejected;
    }
  }
  return rejected;
}

int check_scenario(const fs::path& path) {
  const Scenario scenario = load_scenario(path);
  if (!scenario.recorded.empty() && kind_of(scenario.recorded) == FileKind::trace) {
    const std::unique_ptr<trace::Store> store = trace::open_trace(scenario.recorded);
    fmt::print("scenario '{}': trace of {} steps, {} stops\n", scenario.name, store->num_steps(),
               scenario.script.stops.size());
    return 0;
  }
  if (!scenario.recorded.empty()) {
    const trace::TensorCase tensors = trace::load_tensor_case(scenario.recorded);
    fmt::print("scenario '{}': tensor case {}\n", scenario.name, tensors.name);
    return 0;
  }
  fmt::print("scenario '{}': {} requests, block_size {}, {} blocks\n", scenario.name,
             scenario.requests.size(), scenario.engine.block_size, scenario.engine.num_blocks);
  if (!scenario.script.empty()) fmt::print("{} stops\n", scenario.script.stops.size());
  check_model(scenario.model);
  return check_requests(scenario) == 0 ? 0 : 1;
}

int check_trace(const fs::path& path) {
  const std::unique_ptr<trace::Store> store = trace::open_trace(path);
  fmt::print("{}", trace::describe_manifest(*store));
  int diverged = 0;
  for (int i = 0; i < store->num_steps(); ++i) {
    const auto record = store->step(i);
    if (trace::state_hash(*record) != record->state_hash) {
      fmt::print("step {}: the state hash does not match what is recorded\n", record->step);
      ++diverged;
    }
  }
  if (diverged == 0) fmt::print("\n{} steps, every state hash matches\n", store->num_steps());
  return diverged == 0 && store->note().empty() ? 0 : 1;
}

int check_content(const fs::path& path, FileKind kind) {
  switch (kind) {
    case FileKind::model:
      check_model(path);
      return 0;
    case FileKind::scenario:
      return check_scenario(path);
    case FileKind::trace:
      return check_trace(path);
    case FileKind::tensor_case:
      break;
  }
  const trace::TensorCase tensors = trace::load_tensor_case(path);
  fmt::print("tensor case {}: q [{}] {}\n", tensors.name, fmt::join(tensors.q.shape, ", "),
             dtype_name(tensors.q.dtype));
  return 0;
}

/// 1 when the file is there but not as it should be; a path that leads nowhere is bad usage.
int check(const fs::path& path) {
  const FileKind kind = kind_of(path);
  try {
    return check_content(path, kind);
  } catch (const InputError& error) {
    fmt::print(stderr, "attnscope: {}\n", error.what());
    return 1;
  }
}

}  // namespace

void add_check_command(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("check", "is a model, scenario, trace or tensor case whole, and what is in it");
  auto path = std::make_shared<std::string>();
  command->add_option("path", *path, "model directory, scenario, trace or tensor case")->required();
  command->callback([path, &action] { action = [path] { return check(*path); }; });
}

}  // namespace attn::app
