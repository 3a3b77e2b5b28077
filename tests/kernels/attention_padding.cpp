// What attended zero pads do to a decode step: o' = o * Z / (Z + P), lse' = log(Z + P).
#include <cmath>

#include "tests/kernels/oracle.h"

namespace attn::test {
namespace {

AttentionCase padded_case(std::vector<int> lens) {
  AttentionCase c;
  c.decode = true;
  c.source = KeySource::dense_padded;
  c.mask = MaskAlignment::none;
  c.num_heads = 4;
  c.num_kv_heads = 4;
  c.head_dim = 64;
  c.k_lens = std::move(lens);
  return c;
}

ATTN_DEVICE_TEST(AttentionPadding, stolen_mass_follows_the_law) {
  for (const std::vector<int>& lens : {std::vector{1, 8}, {10, 100}, {100, 128}, {500, 512}}) {
    for (const int level : {1, 2, 3}) {
      AttentionCase padded = padded_case(lens);
      padded.level = level;
      if (level == 3) padded.dtype = DType::f16;
      const double slack = level == 3 ? 1e-3 : 1e-5;  // half has 11 bits
      SCOPED_TRACE(padded.describe());
      AttentionCase exact = padded;
      exact.source = KeySource::dense_masked;
      const AttentionInputs inputs = random_inputs(padded);
      const AttentionResult with = run_case(device, padded, inputs),
                            without = run_case(device, exact, inputs);
      const double pads = lens[1] - lens[0];
      for (int h = 0; h < padded.num_heads; ++h) {
        const std::size_t line = static_cast<std::size_t>(h) * 2;
        const double z = std::exp(static_cast<double>(without.lse[line])), law = z / (z + pads);
        EXPECT_NEAR(with.lse[line], std::log(z + pads), 1e-5);
        // The longest sequence has no pads; level 3 cuts it elsewhere when its neighbour is longer.
        EXPECT_NEAR(with.lse[line + 1], without.lse[line + 1], level == 3 ? 1e-5 : 0.0);
        double dot = 0.0, square = 0.0;
        for (int d = 0; d < 64; ++d) {
          const std::size_t at = static_cast<std::size_t>(h) * 64 + d;
          EXPECT_NEAR(with.o[at], law * without.o[at], slack * std::abs(without.o[at]) + slack / 10);
          dot += static_cast<double>(with.o[at]) * without.o[at];
          square += static_cast<double>(without.o[at]) * without.o[at];
        }
        EXPECT_NEAR(dot / square, law, slack) << "head " << h;
      }
    }
  }
}

// The numbers of the notes on the gather variant are of this size: 7 pads on one key leave about a tenth.
ATTN_DEVICE_TEST(AttentionPadding, zero_query_makes_the_law_a_fraction) {
  AttentionCase c = padded_case({1, 8});
  AttentionInputs inputs = random_inputs(c);
  std::fill(inputs.q.begin(), inputs.q.end(), 0.0F);  // Z = 1, P = 7
  const AttentionResult got = run_case(device, c, inputs);
  for (int i = 0; i < 256; ++i) EXPECT_NEAR(got.o[i], inputs.v[0][i] / 8.0F, 1e-6);
}

// Pads get their own columns of weights: together P / (Z + P).
ATTN_DEVICE_TEST(AttentionPadding, weights_cover_the_pads) {
  AttentionCase c = padded_case({3, 9});
  c.probe = true;
  for (const int splits : {1, 3}) {
    c.num_splits = splits;
    c.k_tile = 2;
    const AttentionInputs inputs = random_inputs(c);
    const OracleResult expected = oracle_attention(c, inputs);
    const AttentionResult got = run_case(device, c, inputs);
    for (int h = 0; h < c.num_heads; ++h) {
      double stolen = 0.0, all = 0.0;
      for (int j = 0; j < 9; ++j) {
        const float w = got.weights[static_cast<std::size_t>(h) * 2 * 9 + j];
        all += w;
        if (j >= 3) stolen += w;
      }
      double z = 0.0;
      for (int j = 0; j < 3; ++j) z += std::exp(expected.scores[static_cast<std::size_t>(h) * 2 * 9 + j]);
      EXPECT_NEAR(all, 1.0, 1e-6);
      EXPECT_NEAR(stolen, 6.0 / (z + 6.0), 1e-6);
    }
  }
}

// A sequence of length 0 among the padded: only pads, so o = 0 and lse = log P.
ATTN_DEVICE_TEST(AttentionPadding, only_pads_give_zero_and_log_p) {
  AttentionCase c = padded_case({0, 5});
  const AttentionResult got = run_case(device, c, random_inputs(c));
  EXPECT_EQ(got.o[0], 0.0F);
  EXPECT_NEAR(got.lse[0], std::log(5.0), 1e-6);
}

}  // namespace
}  // namespace attn::test
