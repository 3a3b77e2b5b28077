// Whole engine steps of the bundled model: one decode step of 4 sequences at context 256 and one prefill of
// 4 x 64 tokens. `bench_engine [simt|cuda]`; prints the median of the steps in milliseconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <vector>

#include "core/engine/engine.h"
#include "core/model/transformer.h"
#include "kernels/device.h"

namespace {

using namespace attn;

double step_ms(Engine& engine) {
  const auto begin = std::chrono::steady_clock::now();
  engine.step();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

/// 4 sequences of `prompt` distinct tokens each; returns the prefill time, then `decodes` decode times.
std::vector<double> run(Device& device, Transformer& model, int prompt, int decodes, bool record) {
  EngineConfig config;
  config.block_size = 16;
  config.num_blocks = 128;
  config.max_num_batched_tokens = 4 * prompt;
  config.record_layers = record ? -1 : 0;
  Engine engine(device, &model, config);
  for (int s = 0; s < 4; ++s) {
    Request request;
    for (int i = 0; i < prompt; ++i) request.token_ids.push_back(1 + (i * 7 + s * 131) % 1000);
    request.sampling.max_tokens = decodes + 1;
    request.sampling.ignore_eos = true;
    engine.add_request(request);
  }
  std::vector<double> times;
  while (engine.has_work()) times.push_back(step_ms(engine));
  return times;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view choice = argc > 1 ? argv[1] : "auto";
  const DevicePick pick = make_device(choice == "simt"   ? DeviceChoice::simt
                                      : choice == "cuda" ? DeviceChoice::cuda
                                                         : DeviceChoice::automatic);
  const std::filesystem::path model_dir =
      std::filesystem::path(ATTN_SOURCE_DIR) / "assets/models/shakespeare-1m";
  Transformer model(*pick.device, model_dir);
  std::printf("device: %s\n", pick.device->name().c_str());
  for (const bool record : {false, true}) {
    std::vector<double> prefills;
    for (int i = 0; i < 5; ++i) prefills.push_back(run(*pick.device, model, 64, 0, record)[0]);
    std::vector<double> decode = run(*pick.device, model, 251, 11, record);
    decode.erase(decode.begin());
    std::printf("%s  prefill 4 x 64: %8.2f ms   decode 4 sequences at context 256: %8.2f ms\n",
                record ? "recording all layers" : "recording nothing   ", median(prefills), median(decode));
  }
  return 0;
}
