// Prefill level 4 with several times more tiles of queries than blocks: what a block carries from one tile to
// the next (its two buffers of q, the ring of K and V, the counter it takes tiles from) only then goes round.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/common/tiles.h"
#include "tests/kernels/oracle.h"

namespace attn::test {
namespace {

constexpr int kTilesPerBlock = 3;

/// Tiles that hold a row; the grid of the other levels counts those of the longest sequence for all.
int real_tiles(const AttentionCase& c) {
  int tiles = 0;
  for (const int q_len : c.q_lens) tiles += c.num_heads * ceil_div(q_len, l4_query_tile(c.head_dim));
  return tiles;
}

struct Lengths {
  int q, k;
};
/// Whole tiles and unfull last ones of queries and of keys, cached prefixes, single rows, rows before the
/// first key (a tile of nothing else among them), rows of a sequence without keys, and sequences without
/// rows.
std::vector<Lengths> kinds_of_sequences(int tile) {
  return {{3 * tile, 3 * tile},
          {0, 0},
          {tile + 1, tile + 1},
          {1, 500},
          {2 * tile - 1, 650},
          {0, 130},
          {tile + 70, 20},
          {5, 0},
          {65, 128},
          {tile, 129},
          {130, 40},
          {0, 0}};
}

/// Sequences of every kind behind each other, again and again until no block gets by with few tiles.
AttentionCase long_queue(int head_dim, DType dtype, KeySource source, int num_sms) {
  AttentionCase c;
  c.level = 4;
  c.dtype = dtype;
  c.source = source;
  c.head_dim = head_dim;
  c.block_size = 16;
  c.num_heads = 12;
  c.num_kv_heads = 3;
  while (real_tiles(c) < kTilesPerBlock * num_sms) {
    for (const Lengths& lengths : kinds_of_sequences(l4_query_tile(head_dim))) {
      c.q_lens.push_back(lengths.q);
      c.k_lens.push_back(lengths.k);
    }
  }
  return c;
}

/// Row by row against level 2 of the same device: a row of many keys is small beside the tensor's largest.
void expect_matches_level_2(const AttentionCase& c, const AttentionResult& expected,
                            const AttentionResult& got) {
  SCOPED_TRACE(c.describe());
  const auto dim = static_cast<std::size_t>(c.head_dim);
  const auto heads = static_cast<std::size_t>(c.num_heads), rows = static_cast<std::size_t>(c.total_q());
  ASSERT_EQ(expected.o.size(), rows * heads * dim);
  ASSERT_EQ(got.o.size(), expected.o.size());
  int wrong = 0;
  std::string first;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t h = 0; h < heads; ++h) {
      float largest = 0.0F, worst = 0.0F;
      bool finite = true;
      for (std::size_t i = (row * heads + h) * dim, end = i + dim; i < end; ++i) {
        largest = std::max(largest, std::abs(expected.o[i]));
        worst = std::max(worst, std::abs(expected.o[i] - got.o[i]));
        finite = finite && std::isfinite(expected.o[i]) && std::isfinite(got.o[i]);
      }
      const float lse = expected.lse[h * rows + row], got_lse = got.lse[h * rows + row];
      // Both are within 4e-6 of the oracle where they are right; without a key both are -inf.
      const bool lse_right = std::isfinite(lse)
                                 ? std::abs(lse - got_lse) <= 8e-6F * std::max(1.0F, std::abs(lse))
                                 : lse == got_lse;
      if (finite && worst <= tolerance(c.dtype) * largest && lse_right) continue;
      if (wrong++ == 0)
        first = testing::PrintToString(row) + " head " + testing::PrintToString(h) + ": o differs by " +
                testing::PrintToString(worst) + " of " + testing::PrintToString(largest) + ", lse " +
                testing::PrintToString(got_lse) + " for " + testing::PrintToString(lse);
    }
  }
  EXPECT_EQ(wrong, 0) << "rows; the first: row " << first;
}

/// The last repetition of the kinds, without its longest sequences: the end of the queue, as a problem of its
/// own that the oracle solves in little time.
void expect_end_matches_oracle(const AttentionCase& c, const AttentionInputs& inputs,
                               const AttentionResult& got) {
  const auto heads = static_cast<std::size_t>(c.num_heads), dim = static_cast<std::size_t>(c.head_dim);
  const auto all_rows = static_cast<std::size_t>(c.total_q());
  const int tile = l4_query_tile(c.head_dim);
  const int first_b = c.batch() - static_cast<int>(kinds_of_sequences(tile).size());
  AttentionCase part = c;
  part.q_lens.clear();
  part.k_lens.clear();
  AttentionInputs part_inputs;
  AttentionResult part_got;
  std::vector<std::size_t> rows;
  std::size_t first_row = 0;
  for (int b = 0; b < c.batch(); ++b) {
    const auto q_len = static_cast<std::size_t>(c.q_lens[b]), first = first_row;
    first_row += q_len;
    if (b < first_b || c.q_lens[b] > tile + 70) continue;
    part.q_lens.push_back(c.q_lens[b]);
    part.k_lens.push_back(c.k_lens[b]);
    part_inputs.k.push_back(inputs.k[b]);
    part_inputs.v.push_back(inputs.v[b]);
    for (std::size_t i = first * heads * dim; i < first_row * heads * dim; ++i) {
      part_inputs.q.push_back(inputs.q[i]);
      part_got.o.push_back(got.o[i]);
    }
    for (std::size_t i = first; i < first_row; ++i) rows.push_back(i);
  }
  for (std::size_t h = 0; h < heads; ++h)
    for (const std::size_t row : rows) part_got.lse.push_back(got.lse[h * all_rows + row]);
  ASSERT_GT(rows.size(), 400U);
  expect_matches_oracle(part, oracle_attention(part, part_inputs), part_got);
}

/// `num_sms`: blocks of the launch; 0: as many as the GPU has SMs.
void many_tiles_a_block(int head_dim, DType dtype, int num_sms = 0) {
  std::string why;
  const auto gpu = hopper_or_null(why);
  if (!gpu) GTEST_SKIP() << why;
  if (num_sms > 0) gpu->context().traits.num_sms = num_sms;
  for (const KeySource source : {KeySource::packed, KeySource::paged}) {
    AttentionCase c = long_queue(head_dim, dtype, source, gpu->traits().num_sms);
    ASSERT_GE(real_tiles(c), kTilesPerBlock * gpu->traits().num_sms);
    const AttentionInputs inputs = random_inputs(c);
    const AttentionResult once = run_case(*gpu, c, inputs);
    EXPECT_EQ(once.log.back().kernel.find("prefill_l4_hopper_kernel"), 0U) << once.log.back().kernel;
    EXPECT_EQ(once.log.back().grid.x, static_cast<unsigned>(gpu->traits().num_sms));
    AttentionCase level_2 = c;
    level_2.level = 2;
    expect_matches_level_2(c, run_case(*gpu, level_2, inputs), once);
    expect_end_matches_oracle(c, inputs, once);
    // Which block takes a tile changes no bit, and a launch finds the tickets as the one before did.
    for (const bool own_tickets : {false, true}) {
      c.own_tickets = own_tickets;
      c.launches = own_tickets ? 2 : 3;
      const AttentionResult again = run_case(*gpu, c, inputs);
      EXPECT_TRUE(same_bits(once.o_bytes, again.o_bytes)) << c.describe();
      EXPECT_TRUE(same_bits(once.lse, again.lse)) << c.describe();
    }
  }
}

TEST(GpuAttentionL4Persistent, many_tiles_a_block_d64_bf16) { many_tiles_a_block(64, DType::bf16); }
TEST(GpuAttentionL4Persistent, many_tiles_a_block_d64_f16) { many_tiles_a_block(64, DType::f16); }
TEST(GpuAttentionL4Persistent, many_tiles_a_block_d128_bf16) { many_tiles_a_block(128, DType::bf16); }
TEST(GpuAttentionL4Persistent, many_tiles_a_block_d128_f16) { many_tiles_a_block(128, DType::f16); }

// So few blocks that a short queue makes each of them take many tiles: for compute-sanitizer's tools.
TEST(GpuAttentionL4, few_blocks_take_many_tiles) {
  for (const int head_dim : {64, 128}) many_tiles_a_block(head_dim, DType::bf16, 6);
}

}  // namespace
}  // namespace attn::test
