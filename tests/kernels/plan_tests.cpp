#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/common/plan.h"
#include "kernels/common/tiles.h"

namespace attn {
namespace {

DecodeParams decode(int batch, int heads, int kv_heads, int max_len, int head_dim = 128) {
  DecodeParams p;
  p.batch = batch;
  p.num_heads = heads;
  p.num_kv_heads = kv_heads;
  p.head_dim = head_dim;
  p.max_len = max_len;
  return p;
}

TEST(Plan, prefill_tiles_cover_the_longest_sequence) {
  PrefillParams p;
  p.num_heads = 8;
  p.num_kv_heads = 2;
  p.head_dim = 16;
  p.total_q = 100;
  p.max_seqlen_q = 33;
  p.max_seqlen_k = 129;
  const PrefillPlan plan = plan_prefill(p, {});
  EXPECT_EQ(plan.q_tile, 16);
  EXPECT_EQ(plan.k_tile, 64);
  EXPECT_EQ(plan.num_q_tiles, 3);
  EXPECT_EQ(plan.num_k_tiles, 3);
  EXPECT_EQ(plan.workspace_bytes, 0U);
}

TEST(Plan, prefill_level_1_keeps_every_score) {
  PrefillParams p;
  p.level = 1;
  p.num_heads = 8;
  p.num_kv_heads = 2;
  p.head_dim = 16;
  p.total_q = 100;
  p.max_seqlen_q = 60;
  p.max_seqlen_k = 70;
  const PrefillPlan plan = plan_prefill(p, {});
  EXPECT_EQ(plan.workspace_bytes, 8U * 100 * 70 * 4);
  EXPECT_EQ(plan.num_q_tiles, 60);
  EXPECT_EQ(plan.num_k_tiles, 1);  // the whole row is one tile
}

TEST(Plan, wide_heads_get_narrower_tiles) {
  EXPECT_EQ(plan_decode(decode(1, 1, 1, 1000, 128), {.num_sms = 1}).k_tile, 64);
  EXPECT_EQ(plan_decode(decode(1, 1, 1, 1000, 136), {.num_sms = 1}).k_tile, 32);
}

TEST(Plan, a_tile_can_be_asked_for_up_to_what_shared_memory_holds) {
  DecodeParams p = decode(1, 1, 1, 6, 8);
  p.k_tile = 2;
  EXPECT_EQ(plan_decode(p, {.num_sms = 1}).num_k_tiles, 3);
  p.k_tile = 65;
  EXPECT_THROW(plan_decode(p, {.num_sms = 1}), std::logic_error);
}

// 8 blocks without a split on 132 SMs: 16 splits fit one wave, 17 would not.
TEST(Plan, one_long_sequence_is_split_to_fill_one_wave) {
  const DecodePlan plan = plan_decode(decode(1, 32, 8, 32768), {.num_sms = 132});
  EXPECT_EQ(plan.num_splits, 16);
  EXPECT_EQ(plan.keys_per_split, 32768 / 16);
  EXPECT_EQ(plan.workspace_bytes, 16U * 32 * (128 + 1) * 4);
}

TEST(Plan, a_full_machine_is_not_split) {
  const DecodePlan plan = plan_decode(decode(64, 32, 8, 8192), {.num_sms = 132});
  EXPECT_EQ(plan.num_splits, 1);
  EXPECT_EQ(plan.workspace_bytes, 0U);
}

TEST(Plan, no_split_is_shorter_than_a_tile) {
  const DecodePlan plan = plan_decode(decode(1, 4, 1, 100), {.num_sms = 132});
  EXPECT_EQ(plan.num_splits, 2);
  EXPECT_EQ(plan.keys_per_split, 64);
}

// More than 8 query heads per KV head take several blocks, which count for the wave.
TEST(Plan, wide_groups_count_as_several_blocks) {
  EXPECT_EQ(plan_decode(decode(1, 64, 1, 64 * 100), {.num_sms = 16}).num_splits, 2);
}

TEST(Plan, splits_asked_for_are_kept_even_if_some_stay_empty) {
  DecodeParams p = decode(2, 4, 2, 70);
  p.num_splits = 5;
  const DecodePlan plan = plan_decode(p, {.num_sms = 1});
  EXPECT_EQ(plan.num_splits, 5);
  EXPECT_EQ(plan.keys_per_split, 64);
}

TEST(Plan, every_auto_plan_covers_the_keys_in_one_wave) {
  for (const int sms : {1, 2, 46, 132})
    for (const int batch : {1, 3, 20})
      for (const int len : {0, 1, 63, 64, 65, 1000, 4097}) {
        const DecodePlan plan = plan_decode(decode(batch, 8, 2, len), {.num_sms = sms});
        ASSERT_GE(static_cast<long>(plan.num_splits) * plan.keys_per_split, len);
        ASSERT_LT(static_cast<long>(plan.num_splits - 1) * plan.keys_per_split, std::max(len, 1))
            << "an empty split";
        ASSERT_EQ(plan.keys_per_split % plan.k_tile, 0);
        ASSERT_TRUE(plan.num_splits == 1 || plan.num_splits * batch * 2 <= sms);
      }
}

DecodeParams level_3(int batch, int heads, int kv_heads, int max_len, int head_dim = 128) {
  DecodeParams p = decode(batch, heads, kv_heads, max_len, head_dim);
  p.level = 3;
  p.dtype = DType::bf16;
  p.scale = 1.0F;
  return p;
}

// A block of 10 warps on each of 132 SMs, 8 KV heads: 16 slices; a slice leaves two partials.
TEST(Plan, level_3_cuts_the_batch_into_one_wave_of_slices) {
  DecodeParams p = level_3(1, 32, 8, 32768);
  const DecodePlan plan = plan_decode(p, {.num_sms = 132});
  EXPECT_EQ(plan.level, 3);
  EXPECT_EQ(plan.num_warps, 10);
  EXPECT_EQ(plan.num_slices, 16);
  EXPECT_EQ(plan.keys_per_split, 13 * 160);  // 205 tiles of 10 x 16 keys
  EXPECT_GE(plan.workspace_bytes, 2U * 16 * 32 * (128 + 1) * 4 + 8 * 4);
  p.max_len = 160;
  EXPECT_EQ(plan_decode(p, {.num_sms = 132}).num_slices, 1);  // one tile cannot be cut
  p.batch = 20;
  p.num_splits = 3;
  p.max_len = 160 * 3;
  EXPECT_EQ(plan_decode(p, {.num_sms = 132}).num_slices, 60);
}

// A block's warps are as many as its shared memory holds, of those that there are kernels for.
TEST(Plan, level_3_blocks_fit_the_shared_memory_of_the_device) {
  constexpr std::size_t kAda = 99 << 10U, kAmpere = 163 << 10U, kHopper = 227 << 10U;
  const auto warps = [](int heads, int head_dim, std::size_t shared_bytes) {
    const DecodePlan plan =
        plan_decode(level_3(1, heads, 1, 4096, head_dim), {.num_sms = 8, .shared_bytes = shared_bytes});
    EXPECT_LE(l3_decode_shared_bytes(head_dim, std::min(heads, 16), plan.num_warps), shared_bytes);
    return plan.num_warps;
  };
  EXPECT_EQ(warps(4, 128, kHopper), 10);
  EXPECT_EQ(warps(8, 128, kHopper), 8);
  EXPECT_EQ(warps(16, 128, kHopper), 6);
  EXPECT_EQ(warps(4, 128, kAmpere), 8);
  EXPECT_EQ(warps(4, 128, kAda), 4);
  EXPECT_EQ(warps(16, 128, kAda), 2);
  EXPECT_EQ(warps(4, 64, kHopper), 4);
  EXPECT_EQ(warps(16, 64, kAda), 4);
}

// What cannot run on a device is not planned for it: level 4 is Hopper's, level 3 needs sm_80.
TEST(Plan, levels_that_the_device_lacks_fall_back) {
  PrefillParams p;
  p.dtype = DType::f16;
  p.num_heads = 8;
  p.num_kv_heads = 2;
  p.head_dim = 128;
  p.total_q = p.max_seqlen_q = p.max_seqlen_k = 300;
  p.scale = 1.0F;
  p.level = 4;
  const DeviceTraits hopper{.wgmma = true}, ampere{}, turing{.tensor_cores = false};
  EXPECT_EQ(plan_prefill(p, hopper).level, 4);
  EXPECT_EQ(plan_prefill(p, ampere).level, 3);
  EXPECT_EQ(plan_prefill(p, ampere).q_tile, kL3QueryTile);
  EXPECT_EQ(plan_prefill(p, turing).level, 2);
  p.level = 3;
  EXPECT_EQ(plan_prefill(p, hopper).level, 3);
  EXPECT_EQ(plan_prefill(p, turing).level, 2);
  EXPECT_EQ(plan_prefill(p, turing).q_tile, kPrefillQTile);
  p.dtype = DType::f32;
  p.level = 4;
  EXPECT_EQ(plan_prefill(p, hopper).level, 2);
  EXPECT_EQ(plan_decode(level_3(1, 8, 2, 300), turing).level, 2);
  EXPECT_EQ(plan_decode(level_3(1, 8, 2, 300), ampere).level, 3);
}

// A probe is set after planning, and a launcher may find a GPU without tensor cores: level 2 must fit in.
TEST(Plan, level_3_leaves_room_for_level_2) {
  for (const int splits : {0, 7}) {
    DecodeParams p = level_3(3, 8, 2, 5000);
    p.num_splits = splits;
    const DecodePlan l3 = plan_decode(p, {.num_sms = 132});
    p.num_splits = l3.num_splits;  // as callers hand it on
    p.level = 2;
    const DecodePlan l2 = plan_decode(p, {.num_sms = 132});
    EXPECT_GE(l3.workspace_bytes, l2.workspace_bytes);
    EXPECT_EQ(l3.k_tile, l2.k_tile);  // columns of a probe
    EXPECT_EQ(l3.num_k_tiles, l2.num_k_tiles);
  }
}

}  // namespace
}  // namespace attn
