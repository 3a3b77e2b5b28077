#include "tests/core/trace_runs.h"

#include <optional>

#include "tests/core/engine_support.h"

namespace attn::trace::test {

using attn::test::range;
using attn::test::request;

EngineConfig tight_config() {
  EngineConfig config = attn::test::pool(4, 7);
  config.max_num_batched_tokens = 10;
  config.max_num_seqs = 3;
  return config;
}

std::shared_ptr<Recording> tight_run(Device& device, const EngineConfig& config,
                                     const std::filesystem::path& path, const attn::test::TinyShape& shape) {
  const attn::test::TinyModel model(shape);
  Transformer transformer(device, model.dir());
  Engine engine(device, &transformer, config, [](std::int32_t id) { return "<" + std::to_string(id) + ">"; });
  engine.add_request(request(range(1, 8), 6));
  engine.add_request(request(range(1, 14), 5));
  engine.add_request(request({7, 7, 7}, 6, 1));
  engine.add_request(request({}, 3, 2));
  engine.add_request(request(range(1, 9), 4, 9));
  Manifest manifest;
  manifest.config = engine.config();
  manifest.model = engine.model_shape();
  manifest.device = device.name();
  auto recording = std::make_shared<Recording>(manifest);
  std::optional<Writer> writer;
  if (!path.empty()) writer.emplace(path, manifest);
  while (engine.has_work()) {
    const auto step = engine.step();
    recording->append(step);
    if (writer) writer->append(*step);
  }
  return recording;
}

}  // namespace attn::trace::test
