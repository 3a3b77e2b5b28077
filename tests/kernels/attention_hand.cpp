// Attention cases that can be worked out by hand, and the public bug reports that became cases.
#include <cmath>
#include <cstring>

#include "kernels/common/check.h"
#include "tests/kernels/extremes.h"
#include "tests/kernels/oracle.h"

namespace attn::test {
namespace {

/// Runs `check` at every level that the device has, 3 and 4 with a type and a head_dim that they take: half,
/// which holds the values of these cases exactly.
template <class F>
void at_each_level(const Device& device, const AttentionCase& c, F check) {
  for (const int level : {1, 2, 3, 4}) {
    if (level == 4 && (c.decode || !device.traits().wgmma)) continue;
    AttentionCase at = c;
    at.level = level;
    if (level >= 3) {
      at.dtype = DType::f16;
      at.head_dim = 64;
      at.block_size = 16;
    }
    SCOPED_TRACE(at.describe());
    check(at);
  }
}

/// Levels 3 and 4 round weights to 11 bits before they meet the values.
double slack(const AttentionCase& c, double exact) { return c.level >= 3 ? 1e-3 : exact; }

/// One head, values v[j] = (j, j, ..., j): the output is the average key index.
AttentionInputs index_values(const AttentionCase& c) {
  AttentionInputs inputs = random_inputs(c);
  for (auto& v : inputs.v)
    for (std::size_t i = 0; i < v.size(); ++i)
      v[i] = static_cast<float>(i / (static_cast<std::size_t>(c.num_kv_heads) * c.head_dim));
  return inputs;
}

AttentionCase one_head() {
  AttentionCase c;
  c.num_heads = c.num_kv_heads = 1;
  c.head_dim = 8;
  return c;
}

ATTN_DEVICE_TEST(AttentionHand, one_key_gives_its_value) {
  AttentionCase c = one_head();
  c.q_lens = c.k_lens = {1};
  at_each_level(device, c, [&](const AttentionCase& at) {
    const AttentionInputs inputs = random_inputs(at);
    const AttentionResult got = run_case(device, at, inputs);
    for (std::size_t i = 0; i < got.o.size(); ++i)
      EXPECT_NEAR(got.o[i], inputs.v[0][i], slack(at, 0.0) * std::abs(inputs.v[0][i]));
  });
}

// q = 0 makes every visible key weigh the same: o is their mean, lse the log of their number.
ATTN_DEVICE_TEST(AttentionHand, zero_query_gives_the_mean_of_the_visible_values) {
  AttentionCase c = one_head();
  c.q_lens = {2};
  c.k_lens = {5};
  const auto means = [&](const AttentionCase& at) {
    AttentionInputs inputs = index_values(at);
    std::fill(inputs.q.begin(), inputs.q.end(), 0.0F);
    const AttentionResult got = run_case(device, at, inputs);
    return std::vector<float>{got.o[0], got.o[at.head_dim], std::exp(got.lse[0]), std::exp(got.lse[1])};
  };
  const auto expect = [](const std::vector<float>& got, std::initializer_list<double> want) {
    std::size_t i = 0;
    for (const double w : want) EXPECT_NEAR(got[i++], w, 2e-6);
  };
  at_each_level(device, c, [&](AttentionCase at) {
    at.mask = MaskAlignment::bottom_right;  // 1 1 1 1 0 / 1 1 1 1 1
    expect(means(at), {1.5, 2.0, 4.0, 5.0});
    at.mask = MaskAlignment::top_left;  // 1 0 0 0 0 / 1 1 0 0 0
    expect(means(at), {0.0, 0.5, 1.0, 2.0});
    at.mask = MaskAlignment::none;
    expect(means(at), {2.0, 2.0, 5.0, 5.0});
  });
}

ATTN_DEVICE_TEST(AttentionHand, a_strong_match_picks_one_value) {
  AttentionCase c = one_head();
  c.decode = true;
  c.source = KeySource::paged;
  c.mask = MaskAlignment::none;
  c.k_lens = {7};
  at_each_level(device, c, [&](const AttentionCase& at) {
    AttentionInputs inputs = index_values(at);
    std::fill(inputs.q.begin(), inputs.q.end(), 0.0F);
    std::fill(inputs.k[0].begin(), inputs.k[0].end(), 0.0F);
    inputs.q[3] = 1e4F;
    inputs.k[0][5 * at.head_dim + 3] = 1.0F;  // key 5 matches component 3
    EXPECT_NEAR(run_case(device, at, inputs).o[0], 5.0F, slack(at, 0.0));
  });
}

// 8 query heads on 2 KV heads: 0 0 0 0 1 1 1 1, not 0 1 0 1 0 1 0 1.
ATTN_DEVICE_TEST(AttentionHand, query_heads_map_to_kv_heads_in_groups) {
  AttentionCase c;
  c.num_heads = 8;
  c.num_kv_heads = 2;
  c.head_dim = 8;
  for (const bool decode : {false, true}) {
    c.decode = decode;
    c.source = decode ? KeySource::dense_masked : KeySource::packed;
    c.q_lens = {1};
    c.k_lens = {1};
    at_each_level(device, c, [&](AttentionCase at) {
      AttentionInputs inputs = random_inputs(at);
      for (int i = 0; i < 2 * at.head_dim; ++i) inputs.v[0][i] = i < at.head_dim ? 10.0F : 20.0F;
      for (const HeadMap map : {HeadMap::grouped, HeadMap::modulo}) {
        at.head_map = map;
        const AttentionResult got = run_case(device, at, inputs);
        for (int h = 0; h < 8; ++h)
          EXPECT_NEAR(got.o[h * at.head_dim], (map == HeadMap::grouped ? h < 4 : h % 2 == 0) ? 10.0F : 20.0F,
                      slack(at, 0.0))
              << "head " << h;
      }
    });
  }
}

// flash-attention #1778, #978; FlashInfer #4452: Lq > Lk, bottom-right. The first rows see nothing.
ATTN_DEVICE_TEST(AttentionHand, rows_without_a_visible_key_are_zero_with_lse_minus_infinity) {
  for (const auto& [q_len, k_len] : {std::pair{5, 2}, std::pair{3, 1}, std::pair{2, 0}}) {
    for (const KeySource source : {KeySource::packed, KeySource::paged}) {
      AttentionCase c = one_head();
      c.source = source;
      c.q_lens = {q_len};
      c.k_lens = {k_len};
      at_each_level(device, c, [&, k = k_len, q = q_len](const AttentionCase& at) {
        const AttentionInputs inputs = index_values(at);
        const AttentionResult got = run_case(device, at, inputs);
        for (int i = 0; i < q; ++i) {
          const bool empty = i < q - k;
          EXPECT_EQ(got.lse[i] == -kInf, empty) << "row " << i << " lse " << got.lse[i];
          if (empty) {
            EXPECT_EQ(got.o[i * at.head_dim], 0.0F) << "row " << i;
          }
          EXPECT_FALSE(std::isnan(got.o[i * at.head_dim])) << "row " << i;
        }
      });
    }
  }
}

// nano-vllm #115, vLLM #641: 5 tokens in blocks of 4. Slots 5..7 of the last block, and all other blocks, are
// NaN.
ATTN_DEVICE_TEST(AttentionHand, slots_past_the_length_are_never_read) {
  AttentionCase c = one_head();
  c.source = KeySource::paged;
  c.q_lens = c.k_lens = {5};
  for (const bool decode : {false, true}) {
    c.decode = decode;
    c.mask = decode ? MaskAlignment::none : MaskAlignment::bottom_right;
    at_each_level(device, c, [&](const AttentionCase& at) {
      const AttentionInputs inputs = random_inputs(at);
      expect_matches_oracle(at, oracle_attention(at, inputs), run_case(device, at, inputs));
    });
  }
}

// 0 * NaN: a key that a row may not see holds NaN, in the same tile as keys that it does see. Levels 3 and 4
// multiply whole tiles, so there the values of a sequence's keys must be finite, as their headers say.
ATTN_DEVICE_TEST(AttentionHand, a_masked_key_is_not_multiplied_by_zero) {
  AttentionCase c = one_head();
  c.q_lens = c.k_lens = {6};
  for (const int level : {1, 2}) {
    c.level = level;
    SCOPED_TRACE(c.describe());
    AttentionInputs inputs = random_inputs(c);
    const OracleResult expected = oracle_attention(c, inputs);
    for (int d = 0; d < 8; ++d) inputs.k[0][5 * 8 + d] = inputs.v[0][5 * 8 + d] = NAN;
    const AttentionResult got = run_case(device, c, inputs);
    for (int i = 0; i < 5 * 8; ++i) EXPECT_NEAR(got.o[i], expected.o[i], 5e-6);
    EXPECT_TRUE(std::isnan(got.o[5 * 8]));  // the row that sees it shows it
  }
}

// FlashInfer #3716: paged decode without a mask; tail lanes of the last page must not count.
ATTN_DEVICE_TEST(AttentionHand, paged_decode_with_zero_query_is_the_mean_of_the_real_values) {
  AttentionCase c = one_head();
  c.decode = true;
  c.source = KeySource::paged;
  c.mask = MaskAlignment::none;
  c.block_size = 16;
  c.k_lens = {3, 17, 1};
  at_each_level(device, c, [&](const AttentionCase& at) {
    AttentionInputs inputs = index_values(at);
    std::fill(inputs.q.begin(), inputs.q.end(), 0.0F);
    const AttentionResult got = run_case(device, at, inputs);
    EXPECT_NEAR(got.o[0], 1.0F, slack(at, 2e-6));
    EXPECT_NEAR(got.o[at.head_dim], 8.0F, slack(at, 1e-5));
    EXPECT_EQ(got.o[2 * at.head_dim], 0.0F);
    EXPECT_NEAR(got.lse[1], std::log(17.0), 1e-6);
  });
}

ATTN_DEVICE_TEST(AttentionHand, top_left_decode_sees_key_0_only) {
  AttentionCase c = one_head();
  c.decode = true;
  c.mask = MaskAlignment::top_left;
  c.k_lens = {9, 0};
  for (const KeySource source : {KeySource::paged, KeySource::dense_masked}) {
    c.source = source;
    at_each_level(device, c, [&](const AttentionCase& at) {
      const AttentionInputs inputs = index_values(at);
      const AttentionResult got = run_case(device, at, inputs);
      EXPECT_EQ(got.o[0], 0.0F);
      EXPECT_NE(got.lse[0], -kInf);
      EXPECT_EQ(got.lse[1], -kInf);  // no key at all
    });
  }
}

// q_len 0 in the middle of a batch: its neighbours' rows stay their own.
ATTN_DEVICE_TEST(AttentionHand, sequences_without_queries_or_keys_disturb_nobody) {
  AttentionCase c;
  c.q_lens = {3, 0, 2, 1};
  c.k_lens = {5, 4, 0, 6};
  for (const KeySource source : {KeySource::packed, KeySource::paged}) {
    c.source = source;
    at_each_level(device, c, [&](const AttentionCase& at) {
      const AttentionInputs inputs = random_inputs(at);
      expect_matches_oracle(at, oracle_attention(at, inputs), run_case(device, at, inputs));
    });
  }
}

ATTN_DEVICE_TEST(AttentionHand, an_empty_launch_does_nothing) {
  std::vector<LaunchRecord> log;
  LaunchContext& context = device.context();
  context.log = &log;
  device.kernels().prefill_attention(PrefillParams{}, context);
  device.kernels().decode_attention(DecodeParams{}, context);
  device.kernels().merge_states(MergeStatesParams{.num_heads = 1, .head_dim = 8}, context);
  context.log = nullptr;
  EXPECT_TRUE(log.empty());
}

}  // namespace
}  // namespace attn::test
