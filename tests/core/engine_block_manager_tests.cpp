// Hash chain, hits, free list order and eviction of the block pool alone.
#include <gtest/gtest.h>

#include <set>

#include "core/engine/block_manager.h"
#include "engine_support.h"

namespace attn::test {
namespace {

using Hash = BlockManager::Hash;

Sequence sequence(Ints tokens, int block_size) { return Sequence(0, std::move(tokens), {}, block_size); }

/// Pretends the forward of all tokens ran.
void compute_all(BlockManager& blocks, Sequence& seq) {
  seq.num_scheduled_tokens = seq.num_tokens() - seq.num_cached_tokens;
  blocks.mark_filled(seq);
  blocks.hash_blocks(seq);
  seq.num_cached_tokens = seq.num_tokens();
  seq.num_scheduled_tokens = 0;
}

Ints free_list(const BlockManager& blocks) {
  return {blocks.free_block_ids().begin(), blocks.free_block_ids().end()};
}

TEST(EngineHash, ChainOfTheReferenceValues) {
  const auto h0 = BlockManager::compute_hash(Ints{1, 2, 3, 4}, {});
  const auto h1 = BlockManager::compute_hash(Ints{5, 6, 7, 8}, h0);
  const auto h2 = BlockManager::compute_hash(Ints{9, 10, 11, 12}, h1);
  EXPECT_EQ(h0, 8356527653647720045ULL);
  EXPECT_EQ(h1, 610383040053763902ULL);
  EXPECT_EQ(h2, 7686319586970571425ULL);
  EXPECT_EQ(BlockManager::compute_hash(Ints{5, 6, 7, 8}, {}), 15290973870868887534ULL);
  EXPECT_EQ(BlockManager::compute_hash(Ints(256, 0), {}), 658158394612923906ULL);
  EXPECT_EQ(BlockManager::compute_hash(range(0, 255), {}), 5218229187174952702ULL);
}

// vllm-mlx PR 444: hashing token & 0xFF made 65 and 321 collide.
TEST(EngineHash, WholeTokenIdsAreHashed) {
  EXPECT_NE(BlockManager::compute_hash(Ints(4, 65), {}), BlockManager::compute_hash(Ints(4, 321), {}));
}

TEST(EngineBlockManager, TheLastBlockIsNeverAHitFullOrNot) {
  StepLog log;
  BlockManager blocks(pool(4, 8), log);
  Sequence first = sequence(range(1, 8), 4);
  ASSERT_EQ(blocks.can_allocate(first), 0);
  blocks.allocate(first, 0);
  compute_all(blocks, first);
  EXPECT_EQ(blocks.can_allocate(sequence(range(1, 8), 4)), 1);
  EXPECT_EQ(blocks.can_allocate(sequence(range(1, 9), 4)), 2);
  EXPECT_EQ(blocks.can_allocate(sequence(range(1, 4), 4)), 0);
}

TEST(EngineBlockManager, FreedTailFirstAndTakenFromTheHead) {
  StepLog log;
  BlockManager blocks(pool(4, 5), log);
  Sequence seq = sequence(range(1, 10), 4);
  blocks.allocate(seq, 0);
  EXPECT_EQ(seq.block_table, (Ints{0, 1, 2}));
  compute_all(blocks, seq);
  blocks.deallocate(seq);
  EXPECT_EQ(free_list(blocks), (Ints{3, 4, 2, 1, 0}));
  EXPECT_EQ(blocks.blocks()[0].hash, BlockManager::compute_hash(range(1, 4), {}));
  EXPECT_EQ(blocks.blocks()[2].num_filled, 0) << "a partial block cannot be found again";
  // The hits are pulled out of the middle of the list before fresh blocks are taken.
  Sequence again = sequence(range(1, 13), 4);
  ASSERT_EQ(blocks.can_allocate(again), 2);
  blocks.allocate(again, 2);
  EXPECT_EQ(again.block_table, (Ints{0, 1, 3, 4}));
  EXPECT_EQ(free_list(blocks), (Ints{2}));
}

TEST(EngineBlockManager, HitsOnTheFreeListStillNeedTheirPlace) {
  StepLog log;
  BlockManager blocks(pool(4, 3), log);
  Sequence seq = sequence(range(1, 9), 4);
  blocks.allocate(seq, 0);
  compute_all(blocks, seq);
  // In use: two hits cost nothing, one new block is needed and none is free.
  EXPECT_EQ(blocks.can_allocate(sequence(range(1, 9), 4)), -1);
  blocks.deallocate(seq);
  EXPECT_EQ(blocks.can_allocate(sequence(range(1, 9), 4)), 2);
  EXPECT_EQ(blocks.can_allocate(sequence(range(1, 13), 4)), -1) << "4 blocks in a pool of 3";
}

TEST(EngineBlockManager, AMapEntryDiesWhenItsBlockIsTakenAgain) {
  StepLog log;
  BlockManager blocks(pool(4, 2), log);
  Sequence seq = sequence(range(1, 5), 4);
  blocks.allocate(seq, 0);
  compute_all(blocks, seq);
  blocks.deallocate(seq);
  Sequence other = sequence(range(21, 25), 4);
  blocks.allocate(other, 0);
  EXPECT_TRUE(blocks.hash_to_block_id().empty());
  EXPECT_EQ(blocks.can_allocate(sequence(range(1, 5), 4)), -1);
  blocks.deallocate(other);
  EXPECT_EQ(blocks.can_allocate(sequence(range(1, 5), 4)), 0) << "the old contents are gone";
}

// vLLM GHSA-rm76-4mrf-v9r8: with a forced collision the tokens themselves decide.
TEST(EngineBlockManager, ACollisionIsNotAHit) {
  StepLog log;
  BlockManager blocks(pool(4, 8), log, [](auto, Hash) { return std::uint64_t{7}; });
  Sequence seq = sequence(range(1, 5), 4);
  blocks.allocate(seq, 0);
  compute_all(blocks, seq);
  EXPECT_EQ(blocks.can_allocate(sequence(range(1, 6), 4)), 1);
  EXPECT_EQ(blocks.can_allocate(sequence({1, 2, 3, 5, 6}, 4)), 0);
}

// Equal tokens behind another beginning are another block: their keys carry another position and context.
TEST(EngineBlockManager, SameTokensBehindAnotherPrefixAreNotAHit) {
  StepLog log;
  BlockManager blocks(pool(4, 8), log);
  Sequence seq = sequence(range(1, 12), 4);
  blocks.allocate(seq, 0);
  compute_all(blocks, seq);
  EXPECT_EQ(blocks.can_allocate(sequence(range(5, 13), 4)), 0);
  Ints gap = range(1, 4);
  gap.insert(gap.end(), {99, 99, 99, 99, 5, 6, 7, 8, 9});
  EXPECT_EQ(blocks.can_allocate(sequence(gap, 4)), 1) << "only the prefix, not the suffix behind the gap";
}

// nano-vllm issues 30, 91, 150: `len % bs == 1` is right, for the token is already appended.
TEST(EngineBlockManager, ABlockIsAppendedForTheTokenThatOpensIt) {
  StepLog log;
  BlockManager blocks(pool(4, 2), log);
  Sequence seq = sequence(range(1, 4), 4);
  blocks.allocate(seq, 0);
  seq.append_token(5);
  EXPECT_TRUE(blocks.can_append(seq));
  blocks.may_append(seq);
  EXPECT_EQ(seq.block_table, (Ints{0, 1}));
  seq.append_token(6);
  EXPECT_TRUE(blocks.can_append(seq)) << "no block needed";
  blocks.may_append(seq);
  EXPECT_EQ(seq.block_table, (Ints{0, 1}));
  for (int token = 7; token <= 9; ++token) seq.append_token(token);
  EXPECT_FALSE(blocks.can_append(seq));
}

TEST(EngineBlockManager, WithoutPrefixCachingNothingIsRegistered) {
  EngineConfig config = pool(4, 8);
  config.prefix_caching = false;
  StepLog log;
  BlockManager blocks(config, log);
  Sequence seq = sequence(range(1, 9), 4);
  blocks.allocate(seq, 0);
  compute_all(blocks, seq);
  EXPECT_TRUE(blocks.hash_to_block_id().empty());
  EXPECT_EQ(blocks.can_allocate(sequence(range(1, 9), 4)), 0);
  EXPECT_EQ(blocks.blocks()[0].num_filled, 4);
}

TEST(EngineBlockManager, AScrambledFreeListIsAPermutationFixedByItsSeed) {
  EngineConfig config = pool(4, 20);
  config.free_list = FreeListOrder::scrambled;
  config.free_list_seed = 3;
  StepLog log;
  const Ints first = free_list(BlockManager(config, log));
  EXPECT_EQ(first, free_list(BlockManager(config, log)));
  EXPECT_NE(first, range(0, 19));
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 20U);
  config.free_list_seed = 4;
  EXPECT_NE(first, free_list(BlockManager(config, log)));
}

// nano-vllm issue 163: block 1 first holds X behind P, then X behind other text; the map of the old version
// still says "X behind P is block 1".
TEST(EngineBlockManager, AStaleMapEntryGivesAFalseHitUnderThePolicyOldOnly) {
  for (const HashPolicy policy : {HashPolicy::old, HashPolicy::head}) {
    EngineConfig config = pool(4, 5);
    config.policy = policy;
    StepLog log;
    BlockManager blocks(config, log);
    const Ints p = range(1, 4), x = range(11, 14);
    const auto text = [](std::initializer_list<Ints> parts) {
      Ints all;
      for (const Ints& part : parts) all.insert(all.end(), part.begin(), part.end());
      return all;
    };
    Sequence a = sequence(text({p, x, {50}}), 4);
    blocks.allocate(a, 0);
    compute_all(blocks, a);
    blocks.deallocate(a);  // free: 3 4 2 1 0
    Sequence b = sequence(text({range(21, 24), range(31, 34), range(41, 44), x}), 4);
    ASSERT_EQ(blocks.can_allocate(b), 0);
    blocks.allocate(b, 0);
    EXPECT_EQ(b.block_table, (Ints{3, 4, 2, 1}));
    compute_all(blocks, b);
    blocks.deallocate(b);
    const int hits = blocks.can_allocate(sequence(text({p, x, {50}}), 4));
    EXPECT_EQ(hits, policy == HashPolicy::old ? 2 : 1);
  }
}

TEST(EngineBlockManager, UnderThePolicyOldBlocksCanBeFoundBeforeTheyAreComputed) {
  EngineConfig config = pool(4, 8);
  config.policy = HashPolicy::old;
  StepLog log;
  BlockManager blocks(config, log);
  Sequence seq = sequence(range(1, 7), 4);
  blocks.allocate(seq, blocks.can_allocate(seq));
  EXPECT_EQ(blocks.can_allocate(sequence(range(1, 7), 4)), 1);
  EXPECT_EQ(blocks.blocks()[0].num_filled, 0);
  seq.append_token(8);  // fills the second block, registered at once
  blocks.may_append(seq);
  EXPECT_EQ(blocks.can_allocate(sequence(range(1, 9), 4)), 2);
}

}  // namespace
}  // namespace attn::test
