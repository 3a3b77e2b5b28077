// Random odd shapes against the oracle: every dtype, level, mask, key source and head map, with poisoned
// memory.
#include <algorithm>
#include <cmath>
#include <random>

#include "tests/kernels/oracle.h"

namespace attn::test {
namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : rng_(seed) {}
  int in(int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng_); }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return *(values.begin() + in(0, static_cast<int>(values.size()) - 1));
  }

 private:
  std::mt19937_64 rng_;
};

/// Shapes that level 3 runs itself: long enough for several tiles and slices, groups beyond 16 heads; for
/// level 4, whose tiles are larger and which no emulator runs, longer still.
void as_level3_takes_it(AttentionCase& c, Random& r) {
  c.num_kv_heads = r.one_of({1, 2, 3});
  c.num_heads = c.num_kv_heads * (c.decode ? r.one_of({1, 1, 2, 4, 7, 17}) : r.one_of({1, 2, 4}));
  c.head_dim = r.one_of({64, 64, 128});
  c.block_size = r.one_of({16, 32, 48, 256});
  const int most = c.decode ? r.one_of({20, 70, 150, 300}) : r.one_of({20, 70, 140});
  const int more = c.level == 4 ? r.one_of({0, 300}) : 0;
  for (std::size_t b = 0; b < c.k_lens.size(); ++b) {
    if (c.k_lens[b] > 0) c.k_lens[b] = r.in(1, most + more);
    if (!c.decode) c.q_lens[b] = r.in(0, 3) == 0 ? r.in(0, most) : r.in(0, std::min(c.k_lens[b], most));
  }
  if (c.decode) c.num_splits = r.one_of({0, 0, 1, 2, 5});
  c.own_tickets = c.seed % 2 == 0;
  if (c.max_len > 0) c.max_len += most;
}

/// Anything the kernels accept: lengths 0 included, Lq > Lk included, MQA to MHA, tiles smaller than the
/// default.
AttentionCase random_case(bool decode, DType dtype, int level, std::uint64_t seed) {
  Random r(seed * 977 + static_cast<std::uint64_t>(dtype) * 31 + level * 7 + decode);
  AttentionCase c;
  c.decode = decode;
  c.dtype = dtype;
  c.level = level;
  c.seed = seed;
  c.num_kv_heads = r.one_of({1, 2, 3});
  c.num_heads = c.num_kv_heads * r.one_of({1, 2, 3, 4, 9});
  c.head_dim = r.one_of({8, 16, 24, 40, 64, 72, 128, 136, 256});
  c.block_size = r.one_of({1, 3, 4, 16});
  c.head_map = r.one_of({HeadMap::grouped, HeadMap::grouped, HeadMap::modulo});
  c.k_tile = level == 2 ? r.one_of({0, 0, 1, 5, 32}) : 0;
  const int longest = r.one_of({3, 20, 90});
  const int batch = r.in(1, 4);
  for (int b = 0; b < batch; ++b) {
    c.k_lens.push_back(r.in(0, longest));
    if (!decode) c.q_lens.push_back(r.in(0, 3) == 0 ? r.in(0, longest) : r.in(0, std::min(c.k_lens[b], 40)));
  }
  if (decode) {
    c.mask = r.one_of(
        {MaskAlignment::none, MaskAlignment::none, MaskAlignment::bottom_right, MaskAlignment::top_left});
    c.source = r.one_of({KeySource::paged, KeySource::dense_masked, KeySource::dense_padded});
    c.num_splits = level == 2 ? r.one_of({0, 1, 2, 3, 7}) : 0;
    if (c.source != KeySource::paged) c.max_len = r.in(0, 1) * (longest + r.in(1, 9));
  } else {
    c.mask = r.one_of({MaskAlignment::bottom_right, MaskAlignment::bottom_right, MaskAlignment::top_left,
                       MaskAlignment::none});
    c.source = r.one_of({KeySource::packed, KeySource::paged});
  }
  if (level >= 3) as_level3_takes_it(c, r);
  return c;
}

struct Sweep {
  bool decode;
  DType dtype;
  int level;
};

std::string sweep_name(const testing::TestParamInfo<Sweep>& info) {
  constexpr const char* kTypes[] = {"f32", "f16", "bf16"};
  return std::string(info.param.decode ? "decode_" : "prefill_") +
         kTypes[static_cast<int>(info.param.dtype)] + "_l" + std::to_string(info.param.level);
}

/// Level 4 differs from 3 on a GPU alone.
std::vector<Sweep> all_sweeps(bool gpu) {
  std::vector<Sweep> sweeps;
  if (gpu) sweeps = {{false, DType::f16, 4}, {false, DType::bf16, 4}};
  for (const bool decode : {false, true})
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
      for (const int level : {1, 2, 3})
        if (level < 3 || dtype != DType::f32) sweeps.push_back({decode, dtype, level});
  return sweeps;
}

class AttentionProperty : public testing::TestWithParam<Sweep> {};
class GpuAttentionProperty : public testing::TestWithParam<Sweep> {};

/// The emulator takes long for a mma: level 3 gets fewer cases there.
std::uint64_t cases_of(const Device& device, const Sweep& sweep) {
  return sweep.level < 3 || sweep.decode || device.kind() == DeviceKind::cuda ? 40 : 16;
}

/// The launch that a level stands for was among those made; without Hopper's products level 3 runs for 4.
bool ran_level(Device& device, const AttentionCase& c, const AttentionResult& result) {
  const int level = c.level == 4 && !device.traits().wgmma ? 3 : c.level;
  const std::string part = "_l" + std::to_string(level) + "_";
  return std::any_of(result.log.begin(), result.log.end(), [&](const LaunchRecord& record) {
    return record.kernel.find(part) != std::string::npos;
  });
}

void sweep_against_oracle(Device& device, const Sweep& sweep) {
  for (std::uint64_t seed = 1; seed <= cases_of(device, sweep); ++seed) {
    const AttentionCase c = random_case(sweep.decode, sweep.dtype, sweep.level, seed);
    const AttentionInputs inputs = random_inputs(c);
    const AttentionResult got = run_case(device, c, inputs);
    EXPECT_TRUE(c.total_q() == 0 || ran_level(device, c, got)) << c.describe();
    expect_matches_oracle(c, oracle_attention(c, inputs), got);
    if (testing::Test::HasFailure()) return;
  }
}

/// The probe must not change the output by a bit, and what it notes must be right.
void sweep_probe(Device& device, const Sweep& sweep) {
  for (std::uint64_t seed = 1; seed <= cases_of(device, sweep); ++seed) {
    AttentionCase c = random_case(sweep.decode, sweep.dtype, sweep.level, seed);
    SCOPED_TRACE(c.describe());
    const AttentionInputs inputs = random_inputs(c);
    const AttentionResult plain = run_case(device, c, inputs);
    c.probe = true;
    const AttentionResult probed = run_case(device, c, inputs);
    if (sweep.level >= 3 && c.longest_k() > 0) {  // has no probe: level 2 runs, and the record says so
      for (const LaunchRecord& record : probed.log)
        ASSERT_EQ(record.kernel.find("_l" + std::to_string(sweep.level)), std::string::npos);
    } else {
      ASSERT_TRUE(same_bits(plain.o_bytes, probed.o_bytes));
      ASSERT_TRUE(same_bits(plain.lse, probed.lse));
    }
    const OracleResult expected = oracle_attention(c, inputs);
    for (std::size_t line = 0; line < expected.lse.size(); ++line) {
      if (expected.visible[line % c.total_q()] == 0) continue;
      const std::size_t first = line * probed.num_tiles;
      ASSERT_FALSE(std::isnan(probed.tile_m[first]) || std::isnan(probed.tile_l[first]) ||
                   std::isnan(probed.tile_alpha[first]) || std::isnan(probed.tile_o_norm[first]));
    }
    for (std::size_t i = 0; i < expected.weights.size(); ++i) {
      if (std::isnan(expected.scores[i])) {
        ASSERT_TRUE(std::isnan(probed.weights[i]) && std::isnan(probed.scores[i]))
            << "masked entry " << i << " was written";
      } else {
        ASSERT_NEAR(probed.scores[i], expected.scores[i], 5e-6) << i;
        ASSERT_NEAR(probed.weights[i], expected.weights[i], 3e-6) << i;
      }
    }
  }
}

TEST_P(AttentionProperty, agrees_with_the_oracle) { sweep_against_oracle(*make_simt_device(), GetParam()); }

TEST_P(AttentionProperty, probe_changes_no_bit_and_tells_the_weights) {
  sweep_probe(*make_simt_device(), GetParam());
}

TEST_P(AttentionProperty, thread_order_changes_no_bit) {
  const std::vector<SimtOptions> orders = {{.order = SimtOrder::reverse},
                                           {.order = SimtOrder::shuffled, .seed = 11},
                                           {.order = SimtOrder::shuffled, .seed = 12, .num_threads = 1},
                                           {.order = SimtOrder::shuffled, .seed = 13, .strict = true}};
  const auto forward = make_simt_device();
  std::vector<std::unique_ptr<Device>> devices;
  for (const SimtOptions& order : orders) devices.push_back(make_simt_device(order));
  const std::uint64_t seeds = GetParam().level == 3 ? 3 : 12;
  for (std::uint64_t seed = 100; seed < 100 + seeds; ++seed) {
    AttentionCase c = random_case(GetParam().decode, GetParam().dtype, GetParam().level, seed);
    SCOPED_TRACE(c.describe());
    c.probe = seed % 2 == 0;
    if (c.num_splits == 0) c.num_splits = 2;  // devices differ in their number of SMs, and so in their plan
    const AttentionInputs inputs = random_inputs(c);
    const AttentionResult expected = run_case(*forward, c, inputs);
    for (const auto& device : devices) {
      const AttentionResult got = run_case(*device, c, inputs);
      ASSERT_TRUE(same_bits(expected.o_bytes, got.o_bytes));
      ASSERT_TRUE(same_bits(expected.lse, got.lse));
      ASSERT_TRUE(same_bits(expected.weights, got.weights));
      ASSERT_TRUE(same_bits(expected.tile_o_norm, got.tile_o_norm));
    }
  }
}

TEST_P(GpuAttentionProperty, agrees_with_the_oracle) {
  std::string why;
  const auto gpu = gpu_or_null(why);
  if (!gpu) GTEST_SKIP() << why;
  sweep_against_oracle(*gpu, GetParam());
}

TEST_P(GpuAttentionProperty, probe_changes_no_bit_and_tells_the_weights) {
  std::string why;
  const auto gpu = gpu_or_null(why);
  if (!gpu) GTEST_SKIP() << why;
  sweep_probe(*gpu, GetParam());
}

INSTANTIATE_TEST_SUITE_P(, AttentionProperty, testing::ValuesIn(all_sweeps(false)), sweep_name);
INSTANTIATE_TEST_SUITE_P(, GpuAttentionProperty, testing::ValuesIn(all_sweeps(true)), sweep_name);

}  // namespace
}  // namespace attn::test
