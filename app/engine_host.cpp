#include "app/engine_host.h"

#include <fmt/format.h>

#include <random>

#include "kernels/common/check.h"

namespace attn::app {
namespace {

/// The first characters of a prompt, as a label.
std::string beginning_of(const std::string& prompt) {
  std::string label = prompt.substr(0, 18);
  for (char& c : label) {
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
  }
  while (!label.empty() && (static_cast<unsigned char>(label.back()) & 0xC0U) == 0x80U) label.pop_back();
  if (!label.empty() && static_cast<unsigned char>(label.back()) >= 0xC0U) label.pop_back();
  return label.size() < prompt.size() ? label + "..." : label;
}

std::string label_of(const ScenarioRequest& request, std::size_t index) {
  if (!request.id.empty()) return request.id;
  return request.prompt.empty() ? fmt::format("request {}", index) : beginning_of(request.prompt);
}

}  // namespace

std::string build_text() {
  return fmt::format("attnscope {}, g++ {}, {}", ATTN_VERSION, __VERSION__,
                     cuda_backend_built() ? "CUDA and SIMT backends" : "SIMT backend");
}

EngineHost::EngineHost(const Scenario& scenario, DeviceChoice device_choice, const std::stop_token& stop)
    : pick_(make_device(device_choice)), seed_(scenario.engine.seed) {
  pick_.device->context().stop = stop;
  ATTN_CHECK(scenario.recorded.empty(), "scenario '{}' has a recording, no model", scenario.name);
  transformer_ = std::make_unique<Transformer>(*pick_.device, scenario.model);
  const bool text_needed = std::any_of(scenario.requests.begin(), scenario.requests.end(),
                                       [](const ScenarioRequest& r) { return !r.prompt.empty(); });
  if (text_needed || std::filesystem::exists(scenario.model / "tokenizer.json")) {
    tokenizer_.emplace(Tokenizer::load(scenario.model));
  }
  engine_ = std::make_unique<Engine>(
      *pick_.device, transformer_.get(), scenario.engine,
      [this](std::int32_t id) { return tokenizer_ ? tokenizer_->token_text(id) : fmt::format("<{}>", id); });

  trace::Manifest manifest;
  manifest.scenario_name = scenario.name;
  manifest.scenario_json = scenario.json;
  manifest.config = engine_->config();
  manifest.model = engine_->model_shape();
  manifest.model.name = scenario.model.filename().string();
  manifest.device = pick_.device->name();
  manifest.build = build_text();
  for (std::size_t i = 0; i < scenario.requests.size(); ++i) {
    manifest.request_labels.push_back(label_of(scenario.requests[i], i));
  }
  recording_ = std::make_shared<trace::Recording>(std::move(manifest));
  for (std::size_t i = 0; i < scenario.requests.size(); ++i) {
    engine_->add_request(make_request(scenario.requests[i], i));
  }
}

Request EngineHost::make_request(const ScenarioRequest& wanted, std::size_t index) const {
  Request request{wanted.at_step, label_of(wanted, index), wanted.token_ids, wanted.sampling};
  if (wanted.prompt_tokens > 0) {
    // mt19937_64 has the same numbers everywhere; std::uniform_int_distribution does not.
    std::mt19937_64 rng(seed_ + 0x9E3779B97F4A7C15U * (index + 1));
    const auto vocab = static_cast<std::uint64_t>(transformer_->config().vocab_size);
    for (int i = 0; i < wanted.prompt_tokens; ++i)
      request.token_ids.push_back(static_cast<std::int32_t>(rng() % vocab));
  } else if (!wanted.prompt.empty()) {
    request.token_ids = tokenizer_->encode(wanted.prompt);
  }
  return request;
}

void EngineHost::record_to(const std::filesystem::path& path) {
  writer_ = std::make_unique<trace::Writer>(path, recording_->manifest());
}

std::string EngineHost::decode(const std::vector<std::int32_t>& ids) const {
  return tokenizer_ ? tokenizer_->decode(ids) : fmt::format("<{}>", fmt::join(ids, "><"));
}

bool EngineHost::has_work() const { return engine_->has_work(); }

std::shared_ptr<const trace::StepRecord> EngineHost::step() {
  std::shared_ptr<const trace::StepRecord> record = engine_->step();
  recording_->append(record);
  if (writer_) writer_->append(*record);
  return record;
}

void EngineHost::add_request(const ScenarioRequest& wanted) {
  if (!wanted.prompt.empty() && !tokenizer_) {
    throw InputError("this model has no tokenizer.json; prompts cannot be typed");
  }
  Request request = make_request(wanted, recording_->manifest().request_labels.size());
  recording_->add_request_label(request.label);
  if (writer_) writer_->append_request_label(request.label);
  engine_->add_request(std::move(request));
}

}  // namespace attn::app
