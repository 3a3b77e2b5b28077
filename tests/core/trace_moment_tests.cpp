// The pool inside a step, against a replay of the step's own events over the pool of the step before.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "core/trace/step_diff.h"
#include "core/trace/step_moment.h"
#include "tests/core/trace_runs.h"

namespace attn::trace::test {
namespace {

class Replay {
 public:
  explicit Replay(const StepRecord& before)
      : pool_{before.blocks, before.free_blocks}, seqs_(before.seqs_after) {}

  /// What scheduling did: the events before the first that only commit has.
  void schedule(const StepRecord& step) {
    for (const Event& event : step.events) {
      if (event.kind == EventKind::hash || event.kind == EventKind::finish) return;
      if (event.kind == EventKind::allocate) {
        BlockState& block = at(event.block_id);
        EXPECT_EQ(pool_.free_blocks.front(), event.block_id);
        pool_.free_blocks.erase(pool_.free_blocks.begin());
        block = {.id = event.block_id, .ref_count = 1, .hash = {}, .token_ids = {}, .num_filled = 0};
      } else if (event.kind == EventKind::prefix_hit) {
        if (at(event.block_id).ref_count++ == 0) std::erase(pool_.free_blocks, event.block_id);
      } else if (event.kind == EventKind::preempt) {
        give_back(event.seq_id);
      }
    }
  }
  const PoolState& pool() const { return pool_; }

 private:
  BlockState& at(int id) { return pool_.blocks[static_cast<std::size_t>(id)]; }
  void give_back(int seq_id) {
    const auto seq = std::ranges::find(seqs_, seq_id, &SeqState::id);
    ASSERT_NE(seq, seqs_.end());
    for (auto id = seq->block_table.rbegin(); id != seq->block_table.rend(); ++id) {
      BlockState& block = at(*id);
      if (--block.ref_count > 0) continue;
      pool_.free_blocks.push_back(*id);
      if (!block.hash) block.num_filled = 0;
    }
  }

  PoolState pool_;
  std::vector<SeqState> seqs_;
};

TEST(StepMoment, ScheduledPoolIsTheOneBeforeWithTheStepsEventsPlayed) {
  const TightRun run(tight_config());
  const Recording& recording = *run.recording;
  int freed = 0, registered = 0, preempted = 0;
  for (int i = 1; i < recording.num_steps(); ++i) {
    const StepRecord& step = *recording.step(i);
    Replay replay(*recording.step(i - 1));
    replay.schedule(step);
    const PoolState pool = pool_at(step, after_stage(step, Stage::schedule));
    EXPECT_EQ(pool.free_blocks, replay.pool().free_blocks) << "step " << step.step;
    for (std::size_t b = 0; b < pool.blocks.size(); ++b)
      EXPECT_TRUE(pool.blocks[b] == replay.pool().blocks[b])
          << "step " << step.step << ", block " << b << ": ref " << pool.blocks[b].ref_count << " for "
          << replay.pool().blocks[b].ref_count << ", filled " << pool.blocks[b].num_filled << " for "
          << replay.pool().blocks[b].num_filled;
    freed += static_cast<int>(step.finished.size());
    preempted += static_cast<int>(step.preempted.size());
    for (const Event& event : step.events) registered += event.kind == EventKind::hash ? 1 : 0;
  }
  EXPECT_GT(freed, 0);  // the run has what the replay is about
  EXPECT_GT(registered, 0);
  EXPECT_GT(preempted, 0);
}

TEST(StepMoment, SlotsFillAtTheStoreAndTheRestHappensAtCommit) {
  const TightRun run(tight_config());
  for (int i = 0; i < run.recording->num_steps(); ++i) {
    const StepRecord& step = *run.recording->step(i);
    const auto filled = [&](Stage stage) {
      int sum = 0;
      for (const BlockState& block : pool_at(step, after_stage(step, stage)).blocks)
        if (block.ref_count > 0) sum += block.num_filled;
      return sum;
    };
    const auto stores = std::ranges::count_if(step.slot_mapping, [](int slot) { return slot >= 0; });
    EXPECT_EQ(filled(Stage::qkv_rope) + stores, filled(Stage::store_kvcache)) << "step " << step.step;
    const PoolState after = pool_at(step, after_stage(step, Stage::commit));
    EXPECT_EQ(after.free_blocks, step.free_blocks);
    EXPECT_EQ(after.blocks, step.blocks);
  }
  const Moment at_store = after_stage(*run.recording->step(0), Stage::store_kvcache);
  EXPECT_TRUE(at_store.stored && !at_store.read && !at_store.sampled && !at_store.committed);
}

TEST(StepMoment, ChangesHappenAtTheirStageAndAllAreThereAtCommit) {
  const TightRun run(tight_config());
  const auto count = [](const StepDiff& diff, std::string_view where) {
    return std::ranges::count_if(diff.entries,
                                 [where](const DiffEntry& entry) { return entry.where.starts_with(where); });
  };
  int sampled = 0, prepared = 0, finished = 0, registered = 0;
  for (int i = 1; i < run.recording->num_steps(); ++i) {
    const StepRecord& before = *run.recording->step(i - 1);
    const StepRecord& step = *run.recording->step(i);
    const StepDiff whole = diff_steps(before, step);
    const auto by = [&](Stage stage) { return diff_steps(before, bookkeeping_at(before, step, stage)); };
    const StepDiff committed = by(Stage::commit);
    ASSERT_EQ(committed.entries.size(), whole.entries.size()) << "step " << step.step;
    for (std::size_t e = 0; e < whole.entries.size(); ++e) {
      EXPECT_EQ(committed.entries[e].where, whole.entries[e].where);
      EXPECT_EQ(committed.entries[e].after, whole.entries[e].after);
    }
    const StepDiff scheduled = by(Stage::schedule), at_prepare = by(Stage::prepare),
                   at_sample = by(Stage::sample);
    EXPECT_EQ(count(scheduled, "positions") + count(scheduled, "slot_mapping"), 0);
    EXPECT_EQ(count(at_prepare, "slot_mapping"), count(whole, "slot_mapping"));
    EXPECT_EQ(count(at_prepare, "sampled"), 0);
    EXPECT_EQ(count(at_sample, "sampled"), count(whole, "sampled"));
    for (const int id : step.finished) {
      const std::string seq = "seq " + std::to_string(id);
      EXPECT_GT(count(whole, seq), count(at_sample, seq)) << seq;
      ++finished;
    }
    prepared += static_cast<int>(count(at_prepare, "slot_mapping"));
    sampled += static_cast<int>(count(at_sample, "sampled"));
    registered += static_cast<int>(count(whole, "hash_to_block") - count(at_sample, "hash_to_block"));
  }
  EXPECT_GT(prepared, 0);
  EXPECT_GT(sampled, 0);
  EXPECT_GT(finished, 0);
  EXPECT_GT(registered, 0);
}

}  // namespace
}  // namespace attn::trace::test
