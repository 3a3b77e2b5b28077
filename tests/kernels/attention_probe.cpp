// What StateProbe says about tiles, checked against its definition.
#include <cmath>

#include "tests/kernels/oracle.h"

namespace attn::test {
namespace {

/// For every visited tile of every row: m is the largest score so far, l * exp(m) the sum of exp(s), alpha
/// what takes the old maximum to the new one, |o| the length of the unnormalised output.
void expect_tile_states(const AttentionCase& c, const AttentionInputs& inputs, const AttentionResult& got,
                        int keys_per_split) {
  SCOPED_TRACE(c.describe());
  const OracleResult expected = oracle_attention(c, inputs);
  const int rows = c.total_q();
  for (std::size_t line = 0; line < static_cast<std::size_t>(c.num_heads) * rows; ++line) {
    const int visible = expected.visible[line % rows];
    double sum = 0.0;
    float m_old = -INFINITY;
    for (int tile = 0; tile < got.num_tiles; ++tile) {
      const std::size_t at = line * got.num_tiles + tile;
      const int begin = tile * got.k_tile;
      if (begin >= visible) {
        EXPECT_TRUE(std::isnan(got.tile_m[at]) && std::isnan(got.tile_alpha[at]))
            << "tile past the row's last key";
        continue;
      }
      if (begin % keys_per_split == 0) {  // each split starts afresh
        sum = 0.0;
        m_old = -INFINITY;
      }
      float m = m_old;
      for (int j = begin; j < std::min(begin + got.k_tile, visible); ++j) {
        const float s = got.scores[line * got.max_k + j];
        m = std::max(m, s);
        sum += std::exp(static_cast<double>(s));
      }
      ASSERT_EQ(got.tile_m[at], m);
      ASSERT_NEAR(got.tile_l[at] * std::exp(static_cast<double>(m)) / sum, 1.0, 2e-6);
      ASSERT_NEAR(got.tile_alpha[at], m == m_old ? 1.0 : std::exp(static_cast<double>(m_old) - m), 1e-6);
      m_old = m;
    }
    if (visible == 0 || keys_per_split < visible) continue;
    // After the last tile |o| is the output's length times l.
    double squares = 0.0;
    const std::size_t row = line % rows, head = line / rows;
    for (int d = 0; d < c.head_dim; ++d) {
      const double o = expected.o[(row * c.num_heads + head) * c.head_dim + d];
      squares += o * o;
    }
    const std::size_t last = line * got.num_tiles + (visible - 1) / got.k_tile;
    ASSERT_NEAR(got.tile_o_norm[last] / (std::sqrt(squares) * got.tile_l[last]), 1.0, 1e-5);
  }
}

ATTN_DEVICE_TEST(AttentionProbe, tile_states_keep_their_invariant) {
  AttentionCase c;
  c.probe = true;
  c.num_heads = 6;
  c.num_kv_heads = 2;
  c.q_lens = {20, 3, 7};
  c.k_lens = {37, 3, 2};
  for (const KeySource source : {KeySource::packed, KeySource::paged})
    for (const int level : {1, 2})
      for (const int k_tile : {0, 1, 7}) {
        c.source = source;
        c.level = level;
        c.k_tile = k_tile;
        const AttentionInputs inputs = random_inputs(c);
        expect_tile_states(c, inputs, run_case(device, c, inputs), 1 << 30);
      }
}

ATTN_DEVICE_TEST(AttentionProbe, decode_tile_states_start_afresh_in_each_split) {
  AttentionCase c;
  c.decode = true;
  c.probe = true;
  c.mask = MaskAlignment::none;
  c.source = KeySource::paged;
  c.num_heads = 10;
  c.num_kv_heads = 1;
  c.head_dim = 24;
  c.k_lens = {41, 0, 9};
  c.k_tile = 4;
  for (const int splits : {1, 3, 20}) {
    c.num_splits = splits;
    const int tiles = (41 + 3) / 4, keys_per_split = (tiles + splits - 1) / splits * 4;
    const AttentionInputs inputs = random_inputs(c);
    expect_tile_states(c, inputs, run_case(device, c, inputs), keys_per_split);
  }
}

// The lesson "softmax in small bites" out of the real kernels: scores 1,3 | 2,5 | 0,4 and values 1..6.
ATTN_DEVICE_TEST(AttentionProbe, shows_the_lesson_of_three_tiles) {
  AttentionCase c;
  c.probe = true;
  c.num_heads = c.num_kv_heads = 1;
  c.head_dim = 16;
  c.mask = MaskAlignment::none;
  c.k_tile = 2;
  c.num_splits = 1;
  c.q_lens = {1};
  c.k_lens = {6};
  const float scores[] = {1, 3, 2, 5, 0, 4};
  for (const bool decode : {false, true}) {
    c.decode = decode;
    c.source = decode ? KeySource::paged : KeySource::packed;
    AttentionInputs inputs = random_inputs(c);
    std::fill(inputs.q.begin(), inputs.q.end(), 0.0F);
    inputs.q[0] = 4.0F;  // times the scale 1/4: the score is the key's component 0
    for (int j = 0; j < 6; ++j)
      for (int d = 0; d < 16; ++d) {
        inputs.k[0][j * 16 + d] = scores[j];
        inputs.v[0][j * 16 + d] = static_cast<float>(j + 1);
      }
    const AttentionResult got = run_case(device, c, inputs);
    ASSERT_EQ(got.num_tiles, 3);
    EXPECT_EQ(got.tile_m, (std::vector<float>{3, 5, 5}));
    EXPECT_EQ(got.tile_alpha[0], 0.0F);
    EXPECT_NEAR(got.tile_alpha[1], 0.1353, 5e-5);
    EXPECT_EQ(got.tile_alpha[2], 1.0F);
    EXPECT_NEAR(got.tile_l[0], 1.1353, 5e-5);
    EXPECT_NEAR(got.tile_l[1], 1.2034, 5e-5);
    EXPECT_NEAR(got.tile_l[2], 1.5781, 5e-5);
    EXPECT_NEAR(got.o[0], 4.2326, 5e-5);
    EXPECT_NEAR(got.tile_o_norm[2], 4.2326 * 1.5781 * 4.0, 1e-3);  // 16 equal columns: times sqrt(16)
  }
}

// Times and bytes of a launch are shown to the user: the counts are checked by hand.
ATTN_DEVICE_TEST(AttentionProbe, launch_records_name_the_probe_and_count_bytes) {
  AttentionCase c;
  c.num_heads = 8;
  c.num_kv_heads = 2;
  c.head_dim = 16;
  c.decode = true;
  c.source = KeySource::paged;
  c.mask = MaskAlignment::none;
  c.k_lens = {10, 10};
  const AttentionInputs inputs = random_inputs(c);
  const AttentionResult plain = run_case(device, c, inputs);
  ASSERT_EQ(plain.log.size(), 1U);
  EXPECT_EQ(plain.log[0].kernel, "decode_l2_tiled_kernel<float>");
  EXPECT_EQ(plain.log[0].grid.x, 2U);
  EXPECT_EQ(plain.log[0].grid.z, 2U);
  // q and o [2, 8, 16], lse [8, 2], K and V of 20 keys [2, 16], all of 4 bytes.
  EXPECT_EQ(plain.log[0].bytes, 4U * (2 * 2 * 8 * 16 + 2 * 8 + 2 * 20 * 2 * 16));
  EXPECT_EQ(plain.log[0].flop, 4U * 20 * 8 * 16);
  c.probe = true;
  c.num_splits = 2;
  c.dtype = DType::bf16;
  const AttentionResult probed = run_case(device, c, random_inputs(c));
  ASSERT_EQ(probed.log.size(), 3U);
  EXPECT_EQ(probed.log[0].kernel, "decode_l2_tiled_kernel<bfloat16, StateProbe>");
  EXPECT_EQ(probed.log[1].kernel, "merge_states_kernel<bfloat16>");
  EXPECT_EQ(probed.log[2].kernel, "probe_weights_kernel");
}

}  // namespace
}  // namespace attn::test
