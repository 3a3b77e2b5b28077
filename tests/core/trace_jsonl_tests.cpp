// JSON lines against the example in the design, key by key and in order.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/trace/jsonl.h"
#include "tests/core/trace_random.h"

namespace attn::trace::test {
namespace {

using Json = nlohmann::ordered_json;

/// The second step of a prompt of 9 tokens whose first block of 4 was a prefix hit (FACTS, bs = 4).
StepRecord example() {
  StepRecord r;
  r.step = 1;
  r.kind = StepKind::prefill;
  r.path = AttentionPath::prefill_paged;
  r.seqs = {{.id = 0,
             .status = SeqStatus::running,
             .num_tokens = 9,
             .num_prompt_tokens = 9,
             .num_cached_tokens = 4,
             .num_scheduled_tokens = 5,
             .block_table = {0, 2, 3},
             .token_ids = {1, 2, 3, 4, 5, 6, 7, 8, 9}}};
  r.num_scheduled = 1;
  r.cu_seqlens_q = {0, 5};
  r.cu_seqlens_k = {0, 9};
  r.max_seqlen_q = 5;
  r.max_seqlen_k = 9;
  r.block_tables = {{0, 2, 3}};
  r.slot_mapping = {8, 9, 10, 11, 12};
  r.input_ids = {5, 6, 7, 8, 9};
  r.positions = {4, 5, 6, 7, 8};
  r.paged = true;
  r.free_blocks = {4, 5, 6, 7, 1};
  r.hash_to_block = {{0x73f859a04f669e6dU, 0}};
  r.blocks = {
      {.id = 0, .ref_count = 1, .hash = 0x73f859a04f669e6dU, .token_ids = {1, 2, 3, 4}, .num_filled = 4},
      {.id = 1, .ref_count = 0, .hash = {}, .token_ids = {}, .num_filled = 0}};
  r.rejected = {{2, "the prompt is \"empty\""}};
  r.sampled = {{.seq_id = 0, .token_id = 17, .text = " the", .discarded = false, .top_logits = {}},
               {.seq_id = 1, .token_id = 18, .text = "x", .discarded = true, .top_logits = {}}};
  return r;
}

TEST(TraceJsonl, EqualsTheExampleOfTheDesign) {
  const char* expected =
      R"({"step":1,"kind":"prefill","seqs":[{"id":0,"status":"running","num_tokens":9,)"
      R"("num_prompt_tokens":9,"num_cached_tokens":4,"num_scheduled_tokens":5,"block_table":[0,2,3]}],)"
      R"("cu_seqlens_q":[0,5],"cu_seqlens_k":[0,9],"max_seqlen_q":5,"max_seqlen_k":9,)"
      R"("context_lens":null,"block_tables":[[0,2,3]],"slot_mapping":[8,9,10,11,12],)"
      R"("input_ids":[5,6,7,8,9],"positions":[4,5,6,7,8],"paged":true,"free_blocks":[4,5,6,7,1],)"
      R"("hash_to_block":{"0x73f859a04f669e6d":0},)"
      R"("blocks":[{"id":0,"ref_count":1,"hash":"0x73f859a04f669e6d","num_filled":4},)"
      R"({"id":1,"ref_count":0,"hash":null,"num_filled":0}],"preempted":[],)"
      R"("rejected":[{"id":2,"reason":"the prompt is \"empty\""}],)"
      R"("sampled":[{"id":0,"token_id":17,"text":" the"}],"finished":[]})";
  EXPECT_EQ(to_json_line(example()), expected);
}

TEST(TraceJsonl, DecodeHasContextLensAndPaddedTables) {
  StepRecord r = example();
  r.kind = StepKind::decode;
  r.context_lens = {9, 3};
  r.block_tables = {{0, 2, 3}, {1, -1, -1}};
  const Json line = Json::parse(to_json_line(r));
  EXPECT_EQ(line["kind"], "decode");
  EXPECT_EQ(line["context_lens"], Json::parse("[9,3]"));
  EXPECT_EQ(line["block_tables"], Json::parse("[[0,2,3],[1,-1,-1]]"));
}

TEST(TraceJsonl, BlockTablesAreNullWhenNoneArePassed) {
  StepRecord r = example();
  r.block_tables.reset();
  EXPECT_TRUE(Json::parse(to_json_line(r))["block_tables"].is_null());
}

TEST(TraceJsonl, AGraphIsToldWithItsDeadRowsAndStaleColumns) {
  StepRecord r = example();
  GraphRecord& graph = r.graph.emplace();
  graph.buckets = {1, 2};
  graph.eager_reason = "3 sequences are more than the largest graph has rows";
  EXPECT_EQ(Json::parse(to_json_line(r))["graph"],
            Json::parse(R"({"bucket":0,"buckets":[1,2],)"
                        R"("eager_reason":"3 sequences are more than the largest graph has rows"})"));
  graph.bucket = 2;
  graph.fresh_rows = graph.fresh_columns = 1;
  graph.input_ids = {5, 9};
  graph.positions = {8, 3};
  graph.slot_mapping = {12, -1};
  graph.context_lens = {9, 0};
  graph.block_tables = {{3, 0}, {1, 2}};
  EXPECT_EQ(Json::parse(to_json_line(r))["graph"],
            Json::parse(R"({"bucket":2,"buckets":[1,2],"padding_rows":1,"fresh_columns":1,)"
                        R"("skips_cache_ops":false,"input_ids":[5,9],"positions":[8,3],)"
                        R"("slot_mapping":[12,-1],"context_lens":[9,0],"block_tables":[[3,0],[1,2]]})"));
}

TEST(TraceJsonl, HashesKeepTheirLeadingZeros) {
  StepRecord r = example();
  r.hash_to_block = {{0x087884241753df3eU, 1}};
  EXPECT_EQ(Json::parse(to_json_line(r))["hash_to_block"], Json::parse(R"({"0x087884241753df3e":1})"));
}

TEST(TraceJsonl, EveryRandomStepIsOneLineOfValidJsonWithTheSameKeys) {
  RandomSteps steps(24);
  const Json reference = Json::parse(to_json_line(example()));
  for (int i = 0; i < 100; ++i) {
    StepRecord step = steps.next();
    step.graph.reset();                           // its key is there only under cuda_graphs
    const std::string line = to_json_line(step);  // texts hold every byte value
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const Json json = Json::parse(line);
    ASSERT_EQ(json.size(), reference.size());
    auto expected = reference.begin();
    for (auto item = json.begin(); item != json.end(); ++item, ++expected)
      EXPECT_EQ(item.key(), expected.key());
  }
}

}  // namespace
}  // namespace attn::trace::test
