// merge_states, and split-KV decode against the unsplit one.
#include <cmath>

#include "tests/kernels/extremes.h"
#include "tests/kernels/oracle.h"

namespace attn::test {
namespace {

struct Merged {
  std::vector<float> o, lse;
};

/// partial_o [S, B, H, D], partial_lse [S, H, B].
Merged merge(Device& device, int splits, int batch, int heads, int dim, const std::vector<float>& partial_o,
             const std::vector<float>& partial_lse) {
  const Buffer o_in = device_copy(device, partial_o, "partial_o"),
               lse_in = device_copy(device, partial_lse, "partial_lse");
  const Buffer o(device, sizeof(float) * batch * heads * dim, "o"),
      lse(device, sizeof(float) * batch * heads, "lse");
  device.kernels().merge_states({.num_splits = splits,
                                 .batch = batch,
                                 .num_heads = heads,
                                 .head_dim = dim,
                                 .partial_o = o_in.as<float>(),
                                 .partial_lse = lse_in.as<float>(),
                                 .o = o.as<>(),
                                 .lse = lse.as<float>()},
                                device.context());
  device.synchronize();
  return {o.download<float>(), lse.download<float>()};
}

// Two partials of equal weight average; one of log(3) weighs three times one of log(1).
ATTN_DEVICE_TEST(AttentionMerge, weighs_partials_by_exp_lse) {
  const std::vector<float> o = {1, 10, 2, 20};  // [2, 1, 1, 2]
  Merged got = merge(device, 2, 1, 1, 2, o, {0.5F, 0.5F});
  EXPECT_NEAR(got.o[0], 1.5, 1e-6);
  EXPECT_NEAR(got.o[1], 15.0, 1e-5);
  EXPECT_NEAR(got.lse[0], 0.5 + std::log(2.0), 1e-6);
  got = merge(device, 2, 1, 1, 2, o, {0.0F, std::log(3.0F)});
  EXPECT_NEAR(got.o[0], 1.75, 1e-6);
  EXPECT_NEAR(got.lse[0], std::log(4.0), 1e-6);
}

// FlashInfer #4051: merging empties must not give NaN. An empty partial's o is not even looked at.
ATTN_DEVICE_TEST(AttentionMerge, empties_are_neutral) {
  const std::vector<float> o = {NAN, NAN, 7, 8, NAN, NAN};  // [3, 1, 1, 2]
  Merged got = merge(device, 3, 1, 1, 2, o, {-kInf, 1.25F, -kInf});
  EXPECT_EQ(got.o, (std::vector<float>{7, 8}));
  EXPECT_EQ(got.lse[0], 1.25F);
  got = merge(device, 3, 1, 1, 2, o, {-kInf, -kInf, -kInf});
  EXPECT_EQ(got.o, (std::vector<float>{0, 0}));
  EXPECT_EQ(got.lse[0], -kInf);
}

ATTN_DEVICE_TEST(AttentionMerge, is_associative) {
  const int batch = 2, heads = 3, dim = 16, size = batch * heads * dim, states = batch * heads;
  std::vector<float> o = random_normal(3 * size, 4, DType::f32),
                     lse = random_normal(3 * states, 5, DType::f32);
  lse[1] = -kInf;
  for (int i = 0; i < 3; ++i) lse[i * states + 4] = -kInf;
  const Merged all = merge(device, 3, batch, heads, dim, o, lse);
  const auto pair = [&](const Merged& a, const Merged& b) {
    Merged both = a;
    both.o.insert(both.o.end(), b.o.begin(), b.o.end());
    both.lse.insert(both.lse.end(), b.lse.begin(), b.lse.end());
    return merge(device, 2, batch, heads, dim, both.o, both.lse);
  };
  const auto part = [&](int s) {
    return Merged{{o.begin() + s * size, o.begin() + (s + 1) * size},
                  {lse.begin() + s * states, lse.begin() + (s + 1) * states}};
  };
  for (const Merged& got : {pair(pair(part(0), part(1)), part(2)), pair(part(0), pair(part(1), part(2))),
                            pair(pair(part(2), part(0)), part(1))}) {
    for (int i = 0; i < size; ++i) EXPECT_NEAR(got.o[i], all.o[i], 1e-6);
    for (int i = 0; i < states; ++i) {
      if (all.lse[i] == -kInf)
        EXPECT_EQ(got.lse[i], -kInf);
      else
        EXPECT_NEAR(got.lse[i], all.lse[i], 1e-6);
    }
  }
}

// flash-attention #978: rows without a key leave lse = -inf, which merges away; FlashInfer #4484: empty
// splits.
ATTN_DEVICE_TEST(AttentionMerge, splits_without_keys_change_nothing) {
  AttentionCase c;
  c.decode = true;
  c.source = KeySource::paged;
  c.mask = MaskAlignment::none;
  c.k_lens = {70, 3, 0};
  const AttentionInputs inputs = random_inputs(c);
  const OracleResult expected = oracle_attention(c, inputs);
  for (const int splits : {1, 2, 4, 9}) {  // two tiles of 64: from 3 on some splits are empty
    c.num_splits = splits;
    const AttentionResult got = run_case(device, c, inputs);
    expect_matches_oracle(c, expected, got);
    EXPECT_EQ(got.lse[2], -kInf);
  }
}

// An empty prefill part (Lq > Lk, all keys masked) merged with a real one gives the real one.
ATTN_DEVICE_TEST(AttentionMerge, an_empty_prefill_row_merges_away) {
  AttentionCase c;
  c.num_heads = c.num_kv_heads = 1;
  c.head_dim = 8;
  c.q_lens = {5};
  c.k_lens = {2};
  const AttentionResult part = run_case(device, c, random_inputs(c));
  ASSERT_EQ(part.lse[0], -kInf);
  std::vector<float> both(part.o.begin(), part.o.begin() + 8);
  for (int d = 0; d < 8; ++d) both.push_back(static_cast<float>(d));
  const Merged got = merge(device, 2, 1, 1, 8, both, {part.lse[0], 0.75F});
  for (int d = 0; d < 8; ++d) EXPECT_EQ(got.o[d], static_cast<float>(d));
  EXPECT_EQ(got.lse[0], 0.75F);
}

}  // namespace
}  // namespace attn::test
