// Model kernels against float64, in every dtype, thread order and on both devices.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernels/attention_case.h"
#include "tests/kernels/model_ops.h"

namespace attn::test {

namespace {

constexpr DType kDTypes[] = {DType::f32, DType::f16, DType::bf16};

/// max |got - expected| / max |expected|; NaN (nobody wrote it) counts as infinite.
double relative_error(const std::vector<float>& got, const std::vector<double>& expected) {
  if (got.size() != expected.size()) return INFINITY;
  double worst = 0.0, largest = 0.0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double error = std::abs(static_cast<double>(got[i]) - expected[i]);
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    largest = std::max(largest, std::abs(expected[i]));
  }
  return worst == 0.0 ? 0.0 : worst / largest;
}

EmbedParams embed_of_three(const Buffer& ids, const Buffer& table, const Buffer& out) {
  return {.num_tokens = 3,
          .hidden = 5,
          .vocab = 4,
          .input_ids = ids.as<std::int32_t>(),
          .table = table.as<void>(),
          .out = out.as<void>()};
}

}  // namespace

ATTN_DEVICE_TEST(ModelKernels, MatchFloat64OnRandomShapes) {
  for (const ModelOp& op : model_ops()) {
    for (const DType dtype : kDTypes) {
      for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const OpResult result = op.run(device, dtype, seed);
        const double error = relative_error(to_floats(dtype, result.bytes), result.expected);
        EXPECT_LE(error, tolerance(dtype))
            << op.name << " " << dtype_name(dtype) << " seed " << seed << ": " << result.shape;
      }
    }
  }
}

TEST(ModelKernels, EveryThreadOrderGivesTheSameBits) {
  const auto forward = make_simt_device();
  std::vector<std::unique_ptr<Device>> others;
  others.push_back(make_simt_device({.order = SimtOrder::reverse}));
  others.push_back(make_simt_device({.order = SimtOrder::shuffled, .seed = 1}));
  others.push_back(make_simt_device({.order = SimtOrder::shuffled, .seed = 2, .strict = true}));
  for (const ModelOp& op : model_ops()) {
    for (const DType dtype : kDTypes) {
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const std::vector<std::byte> expected = op.run(*forward, dtype, seed).bytes;
        for (const auto& device : others) {
          EXPECT_TRUE(same_bits(expected, op.run(*device, dtype, seed).bytes)) << op.name << " seed " << seed;
        }
      }
    }
  }
}

ATTN_DEVICE_TEST(ModelKernels, EmbedDoesNotFollowAnIdOutsideTheVocabulary) {
  const std::vector<float> values = random_normal(20, 1, DType::f32);
  const Buffer table = device_copy(device, values, "table");
  const Buffer ids = device_copy(device, std::vector<std::int32_t>{4, 1, -1}, "ids");
  const Buffer out(device, 15 * sizeof(float), "out");
  device.kernels().embed(embed_of_three(ids, table, out), device.context());
  device.synchronize();
  const std::vector<float> rows = out.download<float>();
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(std::isnan(rows[i]));
    EXPECT_EQ(rows[5 + i], values[5 + i]);
    EXPECT_TRUE(std::isnan(rows[10 + i]));
  }
}

ATTN_DEVICE_TEST(ModelKernels, SiluIsZeroAtTheFarLeftAndIdentityAtTheFarRight) {
  const Buffer in =
      device_copy(device, std::vector<float>{-1000.0F, -90.0F, 0.0F, 1000.0F, 2.0F, 2.0F, 2.0F, 2.0F}, "in");
  const Buffer out(device, 4 * sizeof(float), "out");
  device.kernels().silu_mul({.num_tokens = 1, .width = 4, .gate_up = in.as<void>(), .out = out.as<void>()},
                            device.context());
  const std::vector<float> values = out.download<float>();
  EXPECT_EQ(values[0], 0.0F);
  EXPECT_NEAR(values[1], 0.0F, 1e-36);
  EXPECT_EQ(values[2], 0.0F);
  EXPECT_EQ(values[3], 2000.0F);
}

ATTN_DEVICE_TEST(ModelKernels, RmsNormOfZerosIsZero) {
  const Buffer x = device_copy(device, std::vector<float>(40, 0.0F), "x");
  const Buffer weight = device_copy(device, std::vector<float>(40, 3.0F), "weight");
  device.kernels().rms_norm(
      {.rows = 1, .width = 40, .in = x.as<void>(), .weight = weight.as<void>(), .out = x.as<void>()},
      device.context());
  EXPECT_EQ(x.download<float>(), std::vector<float>(40, 0.0F));
}

TEST(ModelKernels, LaunchesAreLoggedWithTheirCost) {
  const auto device = make_simt_device();
  std::vector<LaunchRecord> log;
  device->context().log = &log;
  const Buffer ids = device_copy(*device, std::vector<std::int32_t>{0, 1, 2}, "ids");
  const Buffer table = device_copy(*device, std::vector<float>(20), "table");
  const Buffer out(*device, 15 * sizeof(float), "out");
  device->kernels().embed(embed_of_three(ids, table, out), device->context());
  device->kernels().add(
      {.count = 15, .bias_width = 5, .a = out.as<void>(), .b = table.as<void>(), .out = out.as<void>()},
      device->context());
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0].kernel, "embed");
  EXPECT_EQ(log[0].bytes, 2U * 15 * 4 + 3 * 4);
  EXPECT_EQ(log[0].flop, 0U);
  EXPECT_EQ(log[1].kernel, "add");
  EXPECT_EQ(log[1].bytes, (15U + 15 + 5) * 4);
  EXPECT_EQ(log[1].flop, 15U);
}

TEST(ModelKernels, NothingToDoLaunchesNothing) {
  const auto device = make_simt_device();
  std::vector<LaunchRecord> log;
  device->context().log = &log;
  const Kernels& kernels = device->kernels();
  kernels.embed({.num_tokens = 0, .hidden = 4, .vocab = 4}, device->context());
  kernels.rms_norm({.rows = 0, .width = 4}, device->context());
  kernels.rope({.num_tokens = 0, .num_heads = 1, .head_dim = 4}, device->context());
  kernels.silu_mul({.num_tokens = 0, .width = 4}, device->context());
  kernels.add({.count = 0}, device->context());
  kernels.take_rows({.num_rows = 0, .width = 4}, device->context());
  kernels.sample({.batch = 0, .vocab = 4}, device->context());
  EXPECT_TRUE(log.empty());
}

TEST(ModelKernels, ImpossibleParamsAreRefused) {
  const auto device = make_simt_device();
  const Kernels& kernels = device->kernels();
  LaunchContext& context = device->context();
  float x[64] = {};
  std::int32_t n[4] = {};
  EXPECT_THROW(kernels.embed({.num_tokens = 1, .hidden = 0, .vocab = 4, .input_ids = n, .table = x, .out = x},
                             context),
               std::logic_error);
  EXPECT_THROW(kernels.embed({.num_tokens = 1, .hidden = 4, .vocab = 4}, context), std::logic_error);
  EXPECT_THROW(kernels.rms_norm({.rows = 1, .width = -1, .in = x, .weight = x, .out = x}, context),
               std::logic_error);
  EXPECT_THROW(
      kernels.rope({.num_tokens = 1, .num_heads = 1, .head_dim = 7, .positions = n, .inv_freq = x, .x = x},
                   context),
      std::logic_error);
  EXPECT_THROW(kernels.add({.count = 7, .bias_width = 2, .a = x, .b = x, .out = x}, context),
               std::logic_error);
  EXPECT_THROW(kernels.take_rows({.num_rows = 1, .width = 4}, context), std::logic_error);
  EXPECT_THROW(kernels.silu_mul({.num_tokens = 1, .width = 0, .gate_up = x, .out = x}, context),
               std::logic_error);
  EXPECT_THROW(kernels.sample({.batch = 1, .vocab = 0}, context), std::logic_error);
}

}  // namespace attn::test
