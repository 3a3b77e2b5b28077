// The record of a step: order of sequences, events, clock of the requests, warmup, names of tokens.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine_support.h"

namespace attn::test {
namespace {

using trace::EventKind;
using trace::StepKind;

std::vector<int> ids(const std::vector<trace::SeqState>& seqs) {
  std::vector<int> all;
  for (const trace::SeqState& seq : seqs) all.push_back(seq.id);
  return all;
}

TEST(EngineRecord, ScheduledSequencesComeFirstThenTheOthersAlive) {
  EngineConfig config = pool(4, 8);
  config.max_num_seqs = 1;
  const auto steps = run(config, {request(range(1, 3), 2), request(range(1, 3), 2), request(range(1, 3), 2)});
  EXPECT_EQ(ids(steps[0]->seqs), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(steps[0]->num_scheduled, 1);
  EXPECT_EQ(ids(steps[1]->seqs), (std::vector<int>{1, 0, 2}));
  EXPECT_EQ(steps[1]->seqs[1].status, trace::SeqStatus::running);
  EXPECT_EQ(steps[1]->seqs[2].status, trace::SeqStatus::waiting);
  for (const StepPtr& step : steps) EXPECT_EQ(ids(step->seqs), ids(step->seqs_after));
}

TEST(EngineRecord, SeqsAreAsTheStepRanAndSeqsAfterAsItLeftThem) {
  const auto steps = run(pool(4, 8), {request(range(1, 5), 2)});
  const trace::SeqState &before = steps[0]->seqs[0], &after = steps[0]->seqs_after[0];
  EXPECT_EQ(before.num_cached_tokens, 0);
  EXPECT_EQ(before.num_scheduled_tokens, 5);
  EXPECT_EQ(before.token_ids, range(1, 5));
  EXPECT_EQ(after.num_cached_tokens, 5);
  EXPECT_EQ(after.num_scheduled_tokens, 0);
  EXPECT_EQ(after.token_ids.back(), fake_token(0, 5));
  EXPECT_EQ(after.num_tokens, 6);
  EXPECT_EQ(steps[0]->blocks[0].num_filled, 4);
  EXPECT_EQ(steps[0]->blocks[1].num_filled, 1);
  EXPECT_EQ(steps[1]->seqs_after[0].status, trace::SeqStatus::finished);
  EXPECT_TRUE(steps[1]->seqs_after[0].block_table.empty());
}

TEST(EngineRecord, EventsTellTheStepInOrder) {
  const auto steps =
      run(pool(4, 2), {request(range(1, 5), 1), request({1, 2, 3, 4, 9}, 1, 1), request(range(7, 9), 1, 2)});
  const auto kinds = [](const trace::StepRecord& r) {
    std::vector<EventKind> all;
    for (const trace::Event& event : r.events) all.push_back(event.kind);
    return all;
  };
  using K = EventKind;
  EXPECT_EQ(kinds(*steps[0]),
            (std::vector<K>{K::admit, K::allocate, K::allocate, K::hash, K::finish, K::free, K::free}));
  EXPECT_EQ(kinds(*steps[1]),
            (std::vector<K>{K::admit, K::prefix_hit, K::allocate, K::finish, K::free, K::free}));
  EXPECT_EQ(steps[1]->events[1].block_id, 0);
  EXPECT_EQ(kinds(*steps[2]), (std::vector<K>{K::admit, K::allocate, K::finish, K::free}));
  for (const StepPtr& step : steps) {
    for (const trace::Event& event : step->events) EXPECT_TRUE(event.text.ends_with('.')) << event.text;
  }
}

TEST(EngineRecord, AtStepCountsEngineStepsAndAnIdleEngineDoesNotWait) {
  const auto steps =
      run(pool(4, 16), {request(range(1, 3), 6), request(range(11, 13), 1, 3), request(range(21, 23), 1, 100),
                        request(range(31, 33), 1, 100), request(range(41, 43), 1, 101)});
  const auto entered = [&](int id) {
    for (const StepPtr& step : steps) {
      for (const trace::Event& event : events_of(*step, EventKind::admit)) {
        if (event.seq_id == id) return step->step;
      }
    }
    return 0;
  };
  EXPECT_EQ(entered(0), 1);
  EXPECT_EQ(entered(1), 4) << "after 3 steps";
  EXPECT_EQ(entered(2), 8) << "the engine is idle after step 7";
  EXPECT_EQ(entered(3), 8) << "with the one that shares its time";
  EXPECT_EQ(entered(4), 9);
  EXPECT_EQ(steps.back()->step, 9);
}

TEST(EngineRecord, WarmupIsStepZeroWithoutSlots) {
  for (const bool identity : {false, true}) {
    EngineConfig config = pool(4, 8);
    config.warmup = true;
    config.warmup_identity = identity;
    config.max_num_batched_tokens = 25;
    config.max_model_len = 12;
    const auto steps = run(config, {request(range(1, 3), 1)});
    ASSERT_EQ(steps.size(), 2U);
    const trace::StepRecord& r = *steps[0];
    EXPECT_EQ(r.step, 0);
    EXPECT_EQ(r.kind, StepKind::warmup);
    EXPECT_EQ(r.path, identity ? trace::AttentionPath::identity : trace::AttentionPath::prefill_packed);
    EXPECT_EQ(r.cu_seqlens_q, (Ints{0, 12, 24})) << "25 / 12 sequences of 12 zeros";
    EXPECT_EQ(r.input_ids, Ints(24, 0));
    EXPECT_TRUE(r.slot_mapping.empty());
    EXPECT_FALSE(r.block_tables);
    EXPECT_EQ(r.free_blocks.size(), 8U);
    EXPECT_TRUE(r.sampled[0].discarded);
    EXPECT_EQ(ids(r.seqs), (std::vector<int>{-1, -2}));
    EXPECT_EQ(steps[1]->step, 1);
    EXPECT_EQ(ids(steps[1]->seqs), std::vector<int>{0});
  }
}

TEST(EngineRecord, EveryTokenIsNamedOnceWhenItIsFirstSeen) {
  NoDevice device;
  Engine engine(device, nullptr, pool(4, 8), [](std::int32_t id) { return fmt::format("<{}>", id); });
  engine.add_request(request({5, 6, 5}, 2));
  engine.add_request(request({6, 7}, 1, 1));
  std::map<std::int32_t, std::string> names;
  for (const StepPtr& step : run_to_end(engine)) {
    for (const auto& [id, text] : step->token_texts) EXPECT_TRUE(names.emplace(id, text).second) << id;
    for (const trace::Sampled& sampled : step->sampled) EXPECT_EQ(sampled.text, names.at(sampled.token_id));
  }
  EXPECT_EQ(names.at(5), "<5>");
  EXPECT_EQ(names.size(), 3U + 3U);
}

TEST(EngineRecord, TwoRunsGiveTheSameHashes) {
  EngineConfig config = pool(2, 9);
  config.free_list = FreeListOrder::scrambled;
  const std::vector<Request> requests = {request(range(1, 7), 9), request(range(1, 5), 9, 2)};
  const auto first = run(config, requests), second = run(config, requests);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i]->state_hash, second[i]->state_hash);
  config.free_list_seed = 1;
  EXPECT_NE(first[0]->state_hash, run(config, requests)[0]->state_hash);
}

}  // namespace
}  // namespace attn::test
