#include "app/footage.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <utility>

#include "app/engine_host.h"
#include "core/trace/record_fields.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace {

std::uint64_t hash_bytes(const trace::ByteWriter& writer, std::uint64_t seed) {
  return XXH3_64bits_withSeed(writer.bytes().data(), writer.bytes().size(), seed);
}

}  // namespace

std::uint64_t trace_hash(const trace::Store& store) {
  const trace::Manifest& manifest = store.manifest();
  const trace::ModelShape& model = manifest.model;
  trace::ByteWriter writer;
  writer(manifest.scenario_name, manifest.scenario_json, manifest.device, manifest.request_labels, model.name,
         model.architecture, model.num_layers, model.num_heads, model.num_kv_heads, model.head_dim,
         model.hidden_size, model.vocab_size, model.dtype, store.note());
  std::uint64_t hash = hash_bytes(writer, 1);
  for (int i = 0; i < store.num_steps(); ++i) {
    writer.clear();
    writer(*store.step(i));
    hash = hash_bytes(writer, hash);
  }
  return hash;
}

Footage::Footage(Subject subject, DeviceChoice choice, Advance advance)
    : subject_(std::move(subject)), choice_(choice), advance_(std::move(advance)) {}

std::shared_ptr<const trace::Store> Footage::record(const Scenario& scenario) const {
  if (!scenario.tensors.empty()) return open_store(scenario.tensors, choice_, scenario.engine);
  EngineHost host(scenario, choice_);
  for (int steps = 0; host.has_work() && steps < scenario.max_steps;) {
    host.step();
    if (!advance_(++steps, scenario.max_steps)) throw Cancelled{};
  }
  return host.recording();
}

Footage::Reel& Footage::reel(std::string_view run) {
  if (const auto found = reels_.find(run); found != reels_.end()) return found->second;
  Reel reel;
  if (run.empty() && subject_.store) {
    reel.store = subject_.store;
  } else {
    reel.store = record(scenario_of(subject_.scenario, run));
  }
  if (reel.store->num_steps() == 0) {
    throw InputError(
        fmt::format("there is no step to film ({}); run the scenario again", subject_.link.path.string()));
  }
  return reels_.emplace(std::string(run), std::move(reel)).first->second;
}

const std::shared_ptr<const trace::Store>& Footage::store(std::string_view run) { return reel(run).store; }

Session& Footage::session(std::string_view run) {
  Reel& wanted = reel(run);
  if (!wanted.session) {
    Subject recorded = subject_;
    recorded.store = wanted.store;
    recorded.kind = FileKind::trace;
    wanted.session = std::make_unique<Session>(std::move(recorded), choice_, [] {});
  }
  return *wanted.session;
}

std::uint64_t Footage::hash(std::string_view run) {
  Reel& wanted = reel(run);
  if (wanted.hash == 0) wanted.hash = trace_hash(*wanted.store);
  return wanted.hash;
}

}  // namespace attn::app
