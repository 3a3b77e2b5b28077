#include "app/footage.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <utility>

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
    : subject_(std::move(subject)),
      choice_(choice),
      runs_(
          subject_.scenario, choice,
          {.recorded = subject_.store, .after_step = [advance = std::move(advance)](int steps, int at_most) {
             if (!advance(steps, at_most)) throw Cancelled{};
           }}) {}

std::string Footage::title() const {
  const std::string& name = subject_.scenario.name;
  return name.empty() ? subject_.store->manifest().scenario_name : name;
}

std::shared_ptr<const trace::Store> Footage::store(std::string_view run) {
  auto store = runs_.store(run);
  if (store->num_steps() == 0) {
    throw InputError(
        fmt::format("there is no step to film ({}); run the scenario again", subject_.link.path.string()));
  }
  return store;
}

Session& Footage::session(std::string_view run) {
  auto found = sessions_.find(run);
  if (found == sessions_.end()) {
    Subject recorded = subject_;
    recorded.store = store(run);
    if (!subject_.store) recorded.kind = FileKind::trace;
    auto session = std::make_unique<Session>(std::move(recorded), choice_, [] {});
    found = sessions_.emplace(std::string(run), std::move(session)).first;
  }
  return *found->second;
}

std::uint64_t Footage::hash(std::string_view run) {
  auto found = hashes_.find(run);
  if (found == hashes_.end()) found = hashes_.emplace(std::string(run), trace_hash(*store(run))).first;
  return found->second;
}

}  // namespace attn::app
