// Levels 3 and 4 by small cases: few enough keys that compute-sanitizer's tools get through them too.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/kernels/oracle.h"

namespace attn::test {
namespace {

AttentionCase l3_case(bool decode, std::vector<int> k_lens) {
  AttentionCase c;
  c.decode = decode;
  c.level = 3;
  c.dtype = DType::bf16;
  c.source = KeySource::paged;
  c.block_size = 16;
  c.head_dim = 64;
  c.mask = decode ? MaskAlignment::none : MaskAlignment::bottom_right;
  c.k_lens = std::move(k_lens);
  return c;
}

void expect_right(Device& device, const AttentionCase& c) {
  const AttentionInputs inputs = random_inputs(c);
  expect_matches_oracle(c, oracle_attention(c, inputs), run_case(device, c, inputs));
}

// The ends of slices fall before, inside and behind sequences; sequences of no and of one key lie between.
ATTN_DEVICE_TEST(AttentionL3, slices_cut_a_ragged_batch_anywhere) {
  for (const int head_dim : {64, 128})
    for (const int splits : {1, 2, 3, 9})
      for (const bool own_tickets : {false, true}) {
        AttentionCase c = l3_case(true, {200, 0, 1, 64, 65, 500, 0});
        c.head_dim = head_dim;
        c.num_splits = splits;
        c.own_tickets = own_tickets;
        expect_right(device, c);
      }
}

// GPUs with less shared memory (A100: 163 KB a block, RTX 30 and 40: 99 KB) have room for fewer warps: every
// kernel that the plan can name, by the memory that makes it do so.
ATTN_DEVICE_TEST(AttentionL3, blocks_of_every_number_of_warps) {
  const std::size_t most = device.context().traits.shared_bytes;
  std::set<std::string> blocks;  // of head_dim, rows of heads and warps
  for (const std::size_t shared : {most, std::size_t{163} << 10U, std::size_t{99} << 10U})
    for (const int head_dim : {64, 128})
      for (const int group : {4, 8, 12}) {
        device.context().traits.shared_bytes = std::min(shared, most);
        AttentionCase c = l3_case(true, {700, 0, 3, 161});
        c.head_dim = head_dim;
        c.num_heads = 2 * group;
        c.num_kv_heads = 2;
        c.num_splits = 2;
        const AttentionInputs inputs = random_inputs(c);
        const AttentionResult got = run_case(device, c, inputs);
        expect_matches_oracle(c, oracle_attention(c, inputs), got);
        blocks.insert(
            fmt::format("D{} {} rows {} warps", head_dim, group > 8 ? 16 : 8, got.log.back().block.x / 32));
      }
  device.context().traits.shared_bytes = most;
  const std::set<std::string> all{"D64 8 rows 4 warps",   "D64 16 rows 4 warps", "D128 8 rows 10 warps",
                                  "D128 8 rows 8 warps",  "D128 8 rows 4 warps", "D128 16 rows 6 warps",
                                  "D128 16 rows 4 warps", "D128 16 rows 2 warps"};
  if (most >= std::size_t{227} << 10U) {
    EXPECT_EQ(blocks, all);
  }
}

// 17 heads on one KV head: a full mma tile of rows, and one with a single row.
ATTN_DEVICE_TEST(AttentionL3, groups_wider_than_a_tile_take_two) {
  AttentionCase c = l3_case(true, {130, 20});
  c.num_heads = 17;
  c.num_kv_heads = 1;
  c.num_splits = 2;
  expect_right(device, c);
}

ATTN_DEVICE_TEST(AttentionL3, dense_forms_share_the_kernel) {
  for (const KeySource source : {KeySource::dense_masked, KeySource::dense_padded}) {
    AttentionCase c = l3_case(true, {70, 3, 100});
    c.source = source;
    c.dtype = DType::f16;
    expect_right(device, c);
  }
}

// Rows without a key, a single token, a cached prefix, more than one tile of rows; keys at a tile's edge.
void prefill_rows_of_every_kind(Device& device, int level) {
  for (const KeySource source : {KeySource::packed, KeySource::paged})
    for (const int head_dim : {64, 128}) {
      AttentionCase c = l3_case(false, {64, 130, 1, 65, 0});
      c.q_lens = {64, 130, 1, 5, 3};
      c.source = source;
      c.level = level;
      c.head_dim = head_dim;
      c.num_heads = 2;
      c.num_kv_heads = 1;
      expect_right(device, c);
      c.mask = MaskAlignment::top_left;
      expect_right(device, c);
      c.q_lens = {1, 10, 40, 100, 33};  // longer than their keys
      c.mask = MaskAlignment::bottom_right;
      expect_right(device, c);
    }
}

ATTN_DEVICE_TEST(AttentionL3, prefill_rows_of_every_kind) { prefill_rows_of_every_kind(device, 3); }

TEST(GpuAttentionL4, prefill_rows_of_every_kind) {
  std::string why;
  const auto gpu = hopper_or_null(why);
  if (!gpu) GTEST_SKIP() << why;
  prefill_rows_of_every_kind(*gpu, 4);
}

// One box a tile, some, or one for each 16 keys; ends of sequences within a box, at its end and at a tile's;
// more sequences than a warp looks at in one go, most of them without rows.
TEST(GpuAttentionL4, block_sizes_and_long_batches) {
  std::string why;
  const auto gpu = hopper_or_null(why);
  if (!gpu) GTEST_SKIP() << why;
  for (const int block_size : {16, 32, 48, 64, 80, 128, 256})
    for (const int head_dim : {64, 128}) {
      AttentionCase c = l3_case(false, {512, 130, 16, 145, 384});
      c.q_lens = {3, 130, 16, 70, 200};
      c.level = 4;
      c.block_size = block_size;
      c.head_dim = head_dim;
      c.num_heads = 2;
      c.num_kv_heads = 1;
      c.own_tickets = block_size % 32 == 0;
      expect_right(*gpu, c);
    }
  AttentionCase c = l3_case(false, std::vector<int>(70, 1));
  c.level = 4;
  c.q_lens.assign(70, 0);
  c.q_lens[31] = c.q_lens[64] = c.q_lens[69] = 2;
  c.k_lens[64] = 300;
  expect_right(*gpu, c);
}

// A maximum that grows late: the rescale that level 3 skips while it can must not be skipped here.
ATTN_DEVICE_TEST(AttentionL3, late_large_scores_take_over) {
  for (const bool decode : {false, true}) {
    AttentionCase c = l3_case(decode, {192});
    if (!decode) c.q_lens = {192};
    AttentionInputs inputs = random_inputs(c);
    for (std::size_t i = inputs.k[0].size() / 2; i < inputs.k[0].size(); ++i)
      inputs.k[0][i] = to_floats(c.dtype, to_bytes(c.dtype, {inputs.k[0][i] * 40.0F}))[0];
    expect_matches_oracle(c, oracle_attention(c, inputs), run_case(device, c, inputs));
  }
}

// A block that holds several of a warp's 16 keys, a whole tile of 64, more than one; ends within a block, at
// its end and one key behind it.
ATTN_DEVICE_TEST(AttentionL3, larger_cache_blocks) {
  for (const bool decode : {false, true})
    for (const int block_size : {32, 64, 128})
      for (const int head_dim : {64, 128}) {
        AttentionCase c = l3_case(decode, {128, 70, 0, 129, 300});
        if (!decode) c.q_lens = {5, 70, 0, 129, 1};
        c.block_size = block_size;
        c.head_dim = head_dim;
        c.num_splits = decode ? 2 : 0;
        c.num_heads = 2;
        c.num_kv_heads = 1;
        const AttentionInputs inputs = random_inputs(c);
        const AttentionResult got = run_case(device, c, inputs);
        expect_matches_oracle(c, oracle_attention(c, inputs), got);
        EXPECT_NE(got.log.back().kernel.find("_l3_"), std::string::npos) << got.log.back().kernel;
      }
}

// What level 3 does not take, level 2 runs, and the record names it.
ATTN_DEVICE_TEST(AttentionL3, other_shapes_fall_back_and_say_so) {
  const auto kernel_of = [&](AttentionCase c) {
    if (!c.decode) c.q_lens = c.k_lens;
    const AttentionInputs inputs = random_inputs(c);
    const AttentionResult got = run_case(device, c, inputs);
    expect_matches_oracle(c, oracle_attention(c, inputs), got);
    return got.log[0].kernel;
  };
  for (const bool decode : {false, true}) {
    const AttentionCase good = l3_case(decode, {20});
    const std::string l2 = decode ? "decode_l2_tiled_kernel<" : "prefill_l2_tiled_kernel<";
    EXPECT_EQ(kernel_of(good),
              decode ? "decode_l3_stream_kernel<bfloat16>" : "prefill_l3_mma_kernel<bfloat16>");
    AttentionCase c = good;
    c.dtype = DType::f32;
    EXPECT_EQ(kernel_of(c), l2 + "float>");
    c = good;
    c.head_dim = 72;
    EXPECT_EQ(kernel_of(c), l2 + "bfloat16>");
    c = good;
    c.block_size = 8;
    EXPECT_EQ(kernel_of(c), l2 + "bfloat16>");
    c = good;
    c.k_tile = 32;
    EXPECT_EQ(kernel_of(c), l2 + "bfloat16>");
    c = good;
    c.probe = true;
    EXPECT_EQ(kernel_of(c), l2 + "bfloat16, StateProbe>");
  }
}

}  // namespace
}  // namespace attn::test
