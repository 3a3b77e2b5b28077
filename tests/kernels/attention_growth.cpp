// Scores that grow and fall over the keys as no random input does: what the fast levels put off until they
// must, raising a row's maximum and rescaling its output, they must not miss, and no weight may overflow on
// the way.
#include <array>
#include <cmath>

#include "tests/kernels/oracle.h"

namespace attn::test {
namespace {

struct Growth {
  const char* name;
  double (*score)(int key);
};
constexpr std::array<Growth, 8> kGrowths{{
    {"slow: the sum of a tile's weights passes a bound little by little", [](int j) { return 0.04 * j; }},
    {"steady", [](int j) { return 0.5 * j; }},
    {"fast: the next tile's weights are infinite by the last maximum", [](int j) { return 30.0 * j; }},
    {"falling", [](int j) { return 1000.0 - 7.0 * j; }},
    {"far below zero", [](int j) { return 3.0 * j - 9000.0; }},
    {"one late peak", [](int j) { return j == 391 ? 300.0 : 0.01 * (j % 7); }},
    {"steps from tile to tile, just before a rescale",
     [](int j) { return 1.2 * (j / 128) + 0.02 * (j % 5); }},
    {"high and low tiles in turn", [](int j) { return j / 64 % 2 ? -200.0 : 2.0 * (j / 64); }},
}};

/// Row i of q is a multiple of one vector, key j another one, so that their score is a factor of the row, of
/// either sign, times score(j).
AttentionInputs growing_inputs(const AttentionCase& c, const Growth& growth) {
  AttentionInputs inputs = random_inputs(c);  // V stays random
  const auto dim = static_cast<std::size_t>(c.head_dim);
  const auto direction = [](std::size_t d) { return d % 3 == 0 ? -1.0F : 1.0F; };
  constexpr std::array<float, 4> kRows{1.0F, 0.5F, -1.0F, -0.25F};
  for (std::size_t i = 0; i < inputs.q.size(); ++i)
    inputs.q[i] = direction(i % dim) * kRows[i / dim % kRows.size()];
  const std::size_t row = dim * static_cast<std::size_t>(c.num_kv_heads);
  for (auto& k : inputs.k) {
    for (std::size_t i = 0; i < k.size(); ++i)
      k[i] =
          direction(i % dim) * static_cast<float>(growth.score(static_cast<int>(i / row)) / std::sqrt(dim));
    k = to_floats(c.dtype, to_bytes(c.dtype, k));
  }
  return inputs;
}

void any_growth_of_scores(Device& device, bool decode, int level) {
  for (const Growth& growth : kGrowths)
    for (const DType dtype : {DType::f16, DType::bf16}) {
      SCOPED_TRACE(growth.name);
      AttentionCase c;
      c.decode = decode;
      c.level = level;
      c.dtype = dtype;
      c.source = dtype == DType::f16 || decode ? KeySource::paged : KeySource::packed;
      c.block_size = 16;
      c.head_dim = dtype == DType::f16 ? 64 : 128;
      c.num_heads = decode ? 4 : 3;
      c.num_kv_heads = 1;
      c.num_splits = decode ? 2 : 0;
      c.mask = decode ? MaskAlignment::none : MaskAlignment::bottom_right;
      c.k_lens = {400};
      if (!decode) c.q_lens = {level == 4 ? 150 : 40};
      const AttentionInputs inputs = growing_inputs(c, growth);
      expect_matches_oracle(c, oracle_attention(c, inputs), run_case(device, c, inputs));
    }
}

ATTN_DEVICE_TEST(AttentionGrowth, prefill_l3) { any_growth_of_scores(device, false, 3); }
ATTN_DEVICE_TEST(AttentionGrowth, decode_l3) { any_growth_of_scores(device, true, 3); }

TEST(GpuAttentionGrowth, prefill_l4) {
  std::string why;
  const auto gpu = hopper_or_null(why);
  if (!gpu) GTEST_SKIP() << why;
  any_growth_of_scores(*gpu, false, 4);
}

}  // namespace
}  // namespace attn::test
