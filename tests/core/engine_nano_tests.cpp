// Forty random scenarios against the record of nano-vllm's own scheduler and block manager
// (goldens/engine_nano.txt, made by goldens/engine_nano.py): batches, tables, slots, preemptions, free list,
// hash map and reference counts of every step.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "engine_support.h"
#include "tests/paths.h"

namespace attn::test {
namespace {

std::string line_of(const trace::StepRecord& r) {
  std::string line = r.kind == trace::StepKind::prefill ? "P" : "D";
  for (int b = 0; b < r.num_scheduled; ++b) {
    const trace::SeqState& seq = r.seqs[b];
    const Ints slots(r.slot_mapping.begin() + r.cu_seqlens_q[b],
                     r.slot_mapping.begin() + r.cu_seqlens_q[b + 1]);
    line += fmt::format(" {}:{}:{}:[{}]:[{}]", seq.id, seq.num_cached_tokens, seq.num_scheduled_tokens,
                        fmt::join(seq.block_table, ","), fmt::join(slots, ","));
  }
  std::string map;
  for (const auto& [hash, block] : r.hash_to_block)
    map += fmt::format("{}{}={}", map.empty() ? "" : ",", hash, block);
  Ints refs;
  for (const trace::BlockState& block : r.blocks) refs.push_back(block.ref_count);
  return line + fmt::format(" pre[{}] free[{}] map{} refs[{}]", fmt::join(r.preempted, ","),
                            fmt::join(r.free_blocks, ","), map, fmt::join(refs, ","));
}

/// Reads the scenario whose first line is `header`.
std::pair<EngineConfig, std::vector<Request>> read_scenario(const std::string& header, std::istream& file) {
  EngineConfig config;
  int num_requests = 0;
  std::string mark;
  std::istringstream(header) >> mark >> config.block_size >> config.num_blocks >> config.max_num_seqs >>
      config.max_num_batched_tokens >> num_requests;
  std::vector<Request> requests;
  for (std::string line; num_requests > 0 && std::getline(file, line); --num_requests) {
    std::istringstream words(line);
    Request r;
    words >> r.at_step >> r.sampling.max_tokens;
    for (std::int32_t token = 0; words >> token;) r.token_ids.push_back(token);
    requests.push_back(r);
  }
  return {config, requests};
}

TEST(EngineNano, StepsAreThoseOfNanoVllm) {
  std::ifstream file(tree::source_dir() / "tests/core/goldens/engine_nano.txt");
  ASSERT_TRUE(file);
  int num_scenarios = 0;
  std::string line;
  std::getline(file, line);
  while (line.starts_with("S ")) {
    ++num_scenarios;
    SCOPED_TRACE(line);
    const auto [config, requests] = read_scenario(line, file);
    for (const StepPtr& step : run(config, requests)) {
      ASSERT_TRUE(std::getline(file, line));
      ASSERT_EQ(line_of(*step), line) << "step " << step->step;
    }
    line.clear();
    std::getline(file, line);
  }
  EXPECT_TRUE(file.eof()) << "the engine stopped early before: " << line;
  EXPECT_EQ(num_scenarios, 40);
}

}  // namespace
}  // namespace attn::test
