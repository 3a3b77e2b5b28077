// Walk-throughs with known numbers: nano-vllm's own scheduler and block manager produced them (block size 4,
// ordered free list).
#include <gtest/gtest.h>

#include <algorithm>

#include "engine_support.h"

namespace attn::test {
namespace {

using trace::EventKind;
using trace::StepKind;

constexpr std::uint64_t kHash0 = 8356527653647720045ULL;  // tokens 1..4
constexpr std::uint64_t kHash1 = 610383040053763902ULL;   // tokens 5..8 behind them

// T1; nano-vllm issue 144: a prompt that is cached whole still computes its last block.
TEST(EngineGolden, TheSamePromptTwice) {
  const auto steps = run(pool(4, 8), {request(range(1, 8), 1), request(range(1, 8), 1, 1)});
  ASSERT_EQ(steps.size(), 2U);
  const trace::StepRecord &first = *steps[0], &second = *steps[1];
  EXPECT_EQ(first.seqs[0].block_table, (Ints{0, 1}));
  EXPECT_EQ(first.slot_mapping, range(0, 7));
  EXPECT_FALSE(first.block_tables);
  EXPECT_EQ(first.free_blocks, (Ints{2, 3, 4, 5, 6, 7, 1, 0}));

  EXPECT_EQ(second.seqs[0].block_table, (Ints{0, 2}));
  EXPECT_EQ(second.seqs[0].num_cached_tokens, 4);
  EXPECT_EQ(second.seqs[0].num_scheduled_tokens, 4);
  EXPECT_EQ(second.slot_mapping, range(8, 11));
  EXPECT_EQ(second.input_ids, range(5, 8));
  EXPECT_EQ(second.positions, range(4, 7));
  EXPECT_EQ(second.cu_seqlens_q, (Ints{0, 4}));
  EXPECT_EQ(second.cu_seqlens_k, (Ints{0, 8}));
  EXPECT_TRUE(second.paged);
  EXPECT_EQ(second.path, trace::AttentionPath::prefill_paged);
  EXPECT_EQ(second.block_tables, (std::vector<Ints>{{0, 2}}));
  EXPECT_EQ(hash_map(second), (std::map<std::uint64_t, std::int32_t>{{kHash0, 0}, {kHash1, 2}}));
  EXPECT_EQ(second.blocks[1].hash, kHash1) << "orphaned, yet its contents are still right";
}

// T2; nano-vllm issue 219: equal blocks of one step are computed twice, the map keeps the later one.
TEST(EngineGolden, TwoPromptsWithOneBeginningInOneStep) {
  const auto steps = run(pool(4, 8), {request(range(1, 6), 1), request({1, 2, 3, 4, 7, 8, 9}, 1)});
  ASSERT_EQ(steps.size(), 1U);
  const trace::StepRecord& r = *steps[0];
  EXPECT_EQ(r.seqs[0].block_table, (Ints{0, 1}));
  EXPECT_EQ(r.seqs[1].block_table, (Ints{2, 3}));
  Ints slots = range(0, 5);
  for (const int slot : range(8, 14)) slots.push_back(slot);
  EXPECT_EQ(r.slot_mapping, slots);
  EXPECT_EQ(r.cu_seqlens_q, (Ints{0, 6, 13}));
  EXPECT_EQ(r.cu_seqlens_k, (Ints{0, 6, 13}));
  EXPECT_FALSE(r.paged);
  EXPECT_FALSE(r.block_tables);
  EXPECT_EQ(r.path, trace::AttentionPath::prefill_packed);
  EXPECT_EQ(hash_map(r), (std::map<std::uint64_t, std::int32_t>{{kHash0, 2}}));
  EXPECT_EQ(r.free_blocks.size(), 8U) << "no block leaks";
}

// T4; nano-vllm issue 212: a chunk sees keys up to its own end, not up to the prompt's.
TEST(EngineGolden, AChunkedPrompt) {
  EngineConfig config = pool(4, 8);
  config.max_num_batched_tokens = 6;
  const auto steps = run(config, {request(range(1, 14), 2), request(range(21, 23), 2)});
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_EQ(steps[0]->positions, range(0, 5));
  EXPECT_TRUE(steps[0]->sampled[0].discarded);
  EXPECT_EQ(steps[0]->seqs[0].block_table.size(), 4U) << "all blocks of the prompt up front";
  EXPECT_EQ(steps[0]->num_scheduled, 1);
  EXPECT_EQ(steps[0]->seqs.size(), 2U);
  EXPECT_EQ(steps[1]->cu_seqlens_q, (Ints{0, 6}));
  EXPECT_EQ(steps[1]->cu_seqlens_k, (Ints{0, 12}));
  EXPECT_EQ(steps[1]->max_seqlen_k, 12);
  EXPECT_EQ(steps[1]->slot_mapping, range(6, 11));
  EXPECT_EQ(steps[2]->cu_seqlens_q, (Ints{0, 2, 5}));
  EXPECT_EQ(steps[2]->cu_seqlens_k, (Ints{0, 14, 17}));
  EXPECT_EQ(steps[2]->slot_mapping, (Ints{12, 13, 16, 17, 18}));
  EXPECT_EQ(steps[2]->block_tables, (std::vector<Ints>{{0, 1, 2, 3}, {4, -1, -1, -1}}));
  EXPECT_FALSE(steps[2]->sampled[0].discarded);
  EXPECT_EQ(steps[3]->kind, StepKind::decode);
  EXPECT_EQ(steps[3]->slot_mapping, (Ints{14, 19}));
  EXPECT_EQ(steps[3]->context_lens, (Ints{15, 4}));
  EXPECT_EQ(steps[3]->cu_seqlens_q, (Ints{0, 1, 2}));
  EXPECT_EQ(steps[3]->cu_seqlens_k, (Ints{0, 15, 19}));
}

// T6, vLLM PR 1534: nano-vllm asserts; here that request is refused and a short one is served.
TEST(EngineGolden, APromptLargerThanThePoolIsRefusedAlone) {
  const auto steps = run(pool(4, 2), {request(range(1, 9), 1), request(range(1, 3), 2)});
  ASSERT_EQ(steps[0]->rejected.size(), 1U);
  EXPECT_EQ(steps[0]->rejected[0].id, 0);
  EXPECT_NE(steps[0]->rejected[0].reason.find("needs 3 blocks of 4 tokens but the pool has 2"),
            std::string::npos)
      << steps[0]->rejected[0].reason;
  EXPECT_EQ(events_of(*steps[0], EventKind::reject).size(), 1U);
  EXPECT_EQ(steps.back()->finished, std::vector<int>{1});
}

// T7, nano-vllm issue 274: nano-vllm preempts itself and asserts.
TEST(EngineGolden, ASequenceThatOutgrowsThePoolEndsWithAMessage) {
  const auto steps = run(pool(4, 2), {request(range(1, 8), 5), request(range(1, 3), 2, 1)});
  ASSERT_EQ(steps[0]->rejected.size(), 1U);
  EXPECT_NE(steps[0]->rejected[0].reason.find("stops after 1 new tokens"), std::string::npos);
  EXPECT_NE(steps[0]->rejected[0].reason.find("need 3 blocks of 4 tokens and the pool has 2"),
            std::string::npos);
  EXPECT_FALSE(steps[0]->sampled[0].discarded) << "the token it has is kept";
  EXPECT_EQ(steps[0]->seqs_after[0].status, trace::SeqStatus::finished);
  EXPECT_EQ(steps[0]->seqs_after[0].num_tokens, 9);
  EXPECT_EQ(steps[0]->free_blocks, (Ints{1, 0}));
  EXPECT_EQ(steps.back()->finished, std::vector<int>{1});
}

// T8: nano-vllm writes slot 1 twice and then fails; here every token opens its own block.
TEST(EngineGolden, BlockSizeOne) {
  const auto steps = run(pool(1, 8), {request(range(1, 2), 3), request(range(1, 3), 2, 1)});
  EXPECT_EQ(steps[0]->slot_mapping, (Ints{0, 1}));
  EXPECT_EQ(steps[1]->kind, StepKind::prefill);
  EXPECT_EQ(steps[1]->seqs[0].block_table, (Ints{0, 1, 2})) << "two shared blocks of one token";
  EXPECT_EQ(steps[1]->seqs[0].num_cached_tokens, 2);
  EXPECT_EQ(steps[2]->slot_mapping, (Ints{3, 4}));
  EXPECT_EQ(steps[2]->block_tables, (std::vector<Ints>{{0, 1, 3, -1}, {0, 1, 2, 4}}));
  EXPECT_EQ(steps[3]->slot_mapping, Ints{5});
}

// nano-vllm issues 211 and 233: after preemption the blocks found in the cache shorten what is scheduled.
TEST(EngineGolden, PreemptedAndPrefilledAgainWithAHit) {
  const std::vector<Request> requests = {request(range(1, 6), 7), request({1, 2, 3, 4, 17, 18}, 7)};
  const EngineConfig config = pool(4, 4);
  Auditor auditor(config);
  int resumed = 0;
  for (const StepPtr& step : run(config, requests)) {
    auditor.check(*step);
    for (int b = 0; step->kind == StepKind::prefill && step->step > 1 && b < step->num_scheduled; ++b) {
      const trace::SeqState& seq = step->seqs[b];
      EXPECT_EQ(seq.num_scheduled_tokens, seq.num_tokens - seq.num_cached_tokens);
      resumed += seq.num_cached_tokens > 0;
    }
  }
  EXPECT_GT(resumed, 0);
}

TEST(EngineLesson, SlotsBlocksTables) {
  const auto steps = run(pool(4, 8), {request(range(1, 4), 3), request(range(11, 15), 3)});
  const trace::StepRecord &prefill = *steps[0], &decode = *steps[1], &next = *steps[2];
  EXPECT_EQ(prefill.cu_seqlens_q, (Ints{0, 4, 9}));
  EXPECT_EQ(prefill.positions, (Ints{0, 1, 2, 3, 0, 1, 2, 3, 4})) << "row 6 is sequence 1, position 2";
  EXPECT_EQ(decode.seqs[0].block_table, (Ints{0, 3}));
  EXPECT_EQ(decode.seqs[1].block_table, (Ints{1, 2}));
  EXPECT_EQ(decode.context_lens, (Ints{5, 6}));
  EXPECT_EQ(decode.slot_mapping, (Ints{12, 9}));
  EXPECT_EQ(next.context_lens, (Ints{6, 7}));
}

TEST(EngineLesson, TheSlotFormulaHoldsOnAScrambledPool) {
  EngineConfig config = pool(4, 8);
  config.free_list = FreeListOrder::scrambled;
  config.free_list_seed = 1;
  const auto steps = run(config, {request(range(1, 4), 2), request(range(11, 15), 2)});
  const trace::SeqState& a = steps[1]->seqs[0];
  EXPECT_NE(a.block_table, (Ints{0, 3}));
  EXPECT_EQ(steps[1]->slot_mapping[0], a.block_table[4 / 4] * 4 + 4 % 4);
}

TEST(EngineLesson, SameBeginningSameBlocks) {
  Ints b_tokens = range(1, 8);
  b_tokens.insert(b_tokens.end(), {31, 32});
  const auto steps = run(pool(4, 8), {request(range(1, 10), 4), request(b_tokens, 4, 1)});
  const trace::StepRecord& r = *steps[1];
  EXPECT_EQ(r.kind, StepKind::prefill);
  EXPECT_EQ(r.seqs[0].id, 1);
  EXPECT_EQ(r.seqs[0].block_table, (Ints{0, 1, 3}));
  EXPECT_EQ(r.seqs[0].num_cached_tokens, 8);
  EXPECT_EQ(r.cu_seqlens_q, (Ints{0, 2}));
  EXPECT_EQ(r.cu_seqlens_k, (Ints{0, 10}));
  EXPECT_EQ(r.blocks[0].ref_count, 2);
  EXPECT_EQ(r.blocks[1].ref_count, 2);
  EXPECT_EQ(r.free_blocks.size(), 4U) << "4 blocks instead of 6";
  EXPECT_EQ(events_of(r, EventKind::prefix_hit).size(), 2U);
  EXPECT_EQ(events_of(r, EventKind::share).size(), 2U);

  const auto at_once = run(pool(4, 8), {request(range(1, 10), 4), request(b_tokens, 4)});
  EXPECT_EQ(at_once[0]->cu_seqlens_q, (Ints{0, 10, 20}))
      << "hashes are registered after the step: no sharing";
  EXPECT_EQ(at_once[0]->free_blocks.size(), 2U);
}

TEST(EngineLesson, ThreePromptsInFourPasses) {
  const auto steps =
      run(pool(4, 16), {request(range(1, 6), 4), request(range(11, 20), 4), request(range(31, 33), 4)});
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_EQ(steps[0]->cu_seqlens_q, (Ints{0, 6, 16, 19}));
  for (int i = 1; i < 4; ++i) EXPECT_EQ(steps[i]->num_scheduled, 3);
}

TEST(EngineLesson, PreemptionKeepsWarmBlocks) {
  const auto steps = run(pool(4, 6), {request(range(1, 8), 6), request(range(11, 21), 6)});
  EXPECT_EQ(steps[0]->seqs[1].block_table, (Ints{2, 3, 4}));
  EXPECT_EQ(steps[2]->preempted, std::vector<int>{1});
  EXPECT_EQ(steps[2]->seqs[1].status, trace::SeqStatus::waiting);
  EXPECT_EQ(steps[2]->free_blocks, (Ints{4, 3, 2}));
  const auto resumed = std::ranges::find_if(
      steps, [](const StepPtr& step) { return step->step > 1 && step->kind == StepKind::prefill; });
  ASSERT_NE(resumed, steps.end());
  const trace::SeqState& b = (*resumed)->seqs[0];
  EXPECT_EQ(b.id, 1);
  EXPECT_EQ(b.num_tokens, 13);
  EXPECT_EQ(b.num_cached_tokens, 8);
  EXPECT_EQ(b.num_scheduled_tokens, 5);
  EXPECT_EQ(b.block_table[0], 2);
  EXPECT_EQ(b.block_table[1], 3);
  const StepPtr& before = *(resumed - 1);
  EXPECT_EQ(before->seqs[0].block_table.back(), 4) << "sequence 0 took the cold end of the freed blocks";
  EXPECT_EQ(events_of(*before, EventKind::evict).size(), 1U);
}

// The figure in vLLM's prefix caching design document: 15, 14 and 29 tokens, 10 blocks.
TEST(EngineLesson, TheFigureOfVllm) {
  Ints second = range(1, 10), third = range(1, 12);
  for (const int token : range(101, 104)) second.push_back(token);
  for (const int token : range(201, 217)) third.push_back(token);
  const auto steps =
      run(pool(4, 10), {request(range(1, 15), 4), request(second, 2, 3), request(third, 1, 5)});
  EXPECT_EQ(steps[3]->seqs[0].block_table, (Ints{0, 1, 5, 6}));
  EXPECT_EQ(steps[4]->free_blocks, (Ints{7, 8, 9, 4, 3, 2, 6, 5, 1, 0}));
  EXPECT_EQ(steps[5]->seqs[0].block_table, (Ints{0, 1, 2, 7, 8, 9, 4, 3}));
  EXPECT_EQ(steps[5]->seqs[0].num_cached_tokens, 12);
}

}  // namespace
}  // namespace attn::test
