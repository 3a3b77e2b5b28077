// The whole engine on the bundled model against the greedy continuations of the transformers library
// (assets/models/goldens): prompts of 1 to 304 tokens in one batch, along every path to the keys.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/model/transformer.h"
#include "engine_support.h"
#include "tests/paths.h"

namespace attn::test {
namespace {

const std::filesystem::path kModels = tree::source_dir() / "assets/models";

void expect_the_library_s_text(const EngineConfig& config) {
  std::ifstream file(kModels / "goldens/shakespeare-1m.json");
  ASSERT_TRUE(file);
  const nlohmann::json prompts = nlohmann::json::parse(file).at("prompts");
  const auto device = make_simt_device();
  Transformer model(*device, kModels / "shakespeare-1m");
  Engine engine(*device, &model, config);
  for (const nlohmann::json& prompt : prompts) {
    Request r = request(prompt.at("token_ids").get<Ints>(), static_cast<int>(prompt.at("greedy").size()));
    r.sampling.ignore_eos = true;
    engine.add_request(r);
  }
  std::map<int, Ints> texts;
  for (const StepPtr& step : run_to_end(engine)) {
    for (const trace::Sampled& sampled : step->sampled) {
      if (!sampled.discarded) texts[sampled.seq_id].push_back(sampled.token_id);
    }
  }
  ASSERT_EQ(texts.size(), prompts.size());
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    EXPECT_EQ(texts.at(static_cast<int>(i)), prompts[i].at("greedy").get<Ints>()) << prompts[i].at("name");
  }
}

TEST(EngineBundled, PagedPathsWriteTheLibrarysText) { expect_the_library_s_text(pool(16, 48)); }

TEST(EngineBundled, GatherPathsAndChunksWriteTheLibrarysText) {
  EngineConfig config = pool(7, 100);
  config.prefill_path = PrefillPath::gather_flatten;
  config.decode_path = DecodePath::gather_masked;
  config.max_num_batched_tokens = 100;
  config.free_list = FreeListOrder::scrambled;
  expect_the_library_s_text(config);
}

TEST(EngineBundled, NaiveKernelsAndAPoolThatIsTooSmallForAllWriteTheLibrarysText) {
  EngineConfig config = pool(16, 28);
  config.prefill_level = config.decode_level = 1;
  expect_the_library_s_text(config);
}

}  // namespace
}  // namespace attn::test
