// What every Device promises about memory and matrix products; run on the emulator and, where there is one,
// on the GPU.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "kernels/simt/half_types.h"
#include "simt_testing.h"

namespace attn {
namespace {

using simt_test::device_error;
using simt_test::expect_contains;

class DeviceTest : public testing::TestWithParam<DeviceChoice> {
 protected:
  void SetUp() override {
    try {
      device_ = make_device(GetParam()).device;
    } catch (const DeviceError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  Device& device() { return *device_; }

  std::unique_ptr<Device> device_;
};

TEST_P(DeviceTest, UploadCopyFillDownload) {
  const std::vector<int> host{1, 2, 3, 4, 5, 6, 7};
  Buffer a(device(), host.size() * sizeof(int), "a");
  const Buffer b(device(), a.bytes(), "b");
  a.upload(host);
  device().copy(b.as<>(), a.as<>(), a.bytes());
  device().fill(a.as<>(), 0, 2 * sizeof(int));
  device().synchronize();
  EXPECT_EQ(a.download<int>(), (std::vector<int>{0, 0, 3, 4, 5, 6, 7}));
  EXPECT_EQ(b.download<int>(), host);
}

TEST_P(DeviceTest, NewMemoryIsNaNInEveryType) {
  const Buffer buffer(device(), 1000 * sizeof(float), "fresh");
  for (const float value : buffer.download<float>()) ASSERT_TRUE(std::isnan(value));
  for (const std::uint16_t bits : buffer.download<std::uint16_t>()) {
    ASSERT_TRUE(std::isnan(simt::half_bits_to_float(bits)));
    ASSERT_TRUE(std::isnan(simt::bf16_bits_to_float(bits)));
  }
}

TEST_P(DeviceTest, NamesItself) {
  EXPECT_EQ(device().kind() == DeviceKind::cuda, GetParam() == DeviceChoice::cuda);
  EXPECT_FALSE(device().name().empty());
  EXPECT_GT(device().traits().num_sms, 0);
}

std::vector<std::byte> encode(DType dtype, const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * dtype_size(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::f32) {
      std::memcpy(bytes.data() + 4 * i, &values[i], 4);
    } else {
      const std::uint16_t bits =
          dtype == DType::f16 ? simt::float_to_half_bits(values[i]) : simt::float_to_bf16_bits(values[i]);
      std::memcpy(bytes.data() + 2 * i, &bits, 2);
    }
  }
  return bytes;
}

std::vector<double> decode(DType dtype, const std::vector<std::byte>& bytes) {
  std::vector<double> values(bytes.size() / dtype_size(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::f32) {
      float value;
      std::memcpy(&value, bytes.data() + 4 * i, 4);
      values[i] = value;
    } else {
      std::uint16_t bits;
      std::memcpy(&bits, bytes.data() + 2 * i, 2);
      values[i] = dtype == DType::f16 ? simt::half_bits_to_float(bits) : simt::bf16_bits_to_float(bits);
    }
  }
  return values;
}

struct Product {
  std::vector<double> measured, reference;
  LaunchRecord record;
};

Product multiply(Device& device, DType dtype, bool y_f32, int m, int n, int k) {
  std::mt19937 rng(static_cast<unsigned>(m * 10007 + n * 101 + k));
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  const auto random = [&](std::size_t count) {
    std::vector<float> values(count);
    for (float& value : values) value = uniform(rng);
    return encode(dtype, values);
  };
  const std::vector<std::byte> x = random(static_cast<std::size_t>(m) * k);
  const std::vector<std::byte> w = random(static_cast<std::size_t>(n) * k);
  Buffer x_device(device, x.size(), "x"), w_device(device, w.size(), "w");
  x_device.upload(x);
  w_device.upload(w);
  const DType y_dtype = y_f32 ? DType::f32 : dtype;
  const Buffer y(device, static_cast<std::size_t>(m) * n * dtype_size(y_dtype), "y");
  std::vector<LaunchRecord> log;
  device.context().log = &log;
  device.matmul({dtype, m, n, k, x_device.as<>(), w_device.as<>(), y.as<>(), y_f32});
  device.context().log = nullptr;
  device.synchronize();

  Product product{decode(y_dtype, y.download<std::byte>()), {}, log.at(0)};
  const std::vector<double> xs = decode(dtype, x), ws = decode(dtype, w);
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      double sum = 0;
      for (int i = 0; i < k; ++i) sum += xs[row * k + i] * ws[column * k + i];
      product.reference.push_back(sum);
    }
  }
  return product;
}

TEST_P(DeviceTest, MatmulAgreesWithDoubleInEveryDtype) {
  const int sizes[][3] = {{1, 1, 1},      {1, 7, 3},      {5, 1, 9},    {3, 257, 31},
                          {17, 300, 129}, {64, 512, 128}, {2, 1024, 16}};
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (const bool y_f32 : {false, true}) {
      for (const auto& [m, n, k] : sizes) {
        SCOPED_TRACE(fmt::format("{} y_f32 {} m {} n {} k {}", dtype_name(dtype), y_f32, m, n, k));
        const Product p = multiply(device(), dtype, y_f32, m, n, k);
        // One rounding of the result, plus k additions in float.
        const double step = y_f32 || dtype == DType::f32 ? 0 : dtype == DType::f16 ? 0x1p-11 : 0x1p-8;
        for (std::size_t i = 0; i < p.reference.size(); ++i) {
          ASSERT_NEAR(p.measured[i], p.reference[i], step * std::abs(p.reference[i]) + k * 0x1p-24);
        }
      }
    }
  }
}

// Graphs compute rows of padding beside those of the batch, and must write the same bits as without.
TEST(SimtMatmul, BitsOfARowDoNotDependOnHowManyRowsThereAre) {
  const auto device = make_simt_device({});
  constexpr int kRows = 40;
  std::mt19937 rng(7);
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  for (const auto& [n, k] : {std::pair(128, 128), std::pair(300, 128), std::pair(256, 341)}) {
    std::vector<float> x(static_cast<std::size_t>(kRows) * k), w(static_cast<std::size_t>(n) * k);
    for (std::vector<float>* values : {&x, &w})
      for (float& value : *values) value = uniform(rng);
    Buffer x_device(*device, x.size() * sizeof(float), "x"), w_device(*device, w.size() * sizeof(float), "w");
    x_device.upload(x);
    w_device.upload(w);
    const auto rows = [&](int m) {
      const Buffer y(*device, static_cast<std::size_t>(m) * n * sizeof(float), "y");
      device->matmul({DType::f32, m, n, k, x_device.as<>(), w_device.as<>(), y.as<>(), true});
      return y.download<float>();
    };
    const std::vector<float> all = rows(kRows);
    for (int m = 1; m < kRows; ++m) {
      const std::vector<float> few = rows(m);
      ASSERT_TRUE(std::equal(few.begin(), few.end(), all.begin())) << m << " rows, n " << n << ", k " << k;
    }
  }
}

TEST_P(DeviceTest, MatmulLogsItsCost) {
  const LaunchRecord record = multiply(device(), DType::bf16, true, 3, 5, 8).record;
  EXPECT_EQ(record.kernel, "matmul");
  EXPECT_EQ(record.flop, 2U * 3 * 5 * 8);
  EXPECT_EQ(record.bytes, 2U * (3 * 8 + 5 * 8) + 4U * 3 * 5);
}

/// y = x * w^T; then y2 = y + y; then a copy of it: a product, a kernel and a copy in one graph.
class CaptureTest : public DeviceTest {
 protected:
  static constexpr int kWidth = 4;
  void work() {
    device().fill(sum_.as<>(), 0, sum_.bytes());
    device().matmul({.m = 1, .n = kWidth, .k = kWidth, .x = x_.as<>(), .w = w_.as<>(), .y = y_.as<>()});
    device().kernels().add({.count = kWidth, .a = y_.as<>(), .b = y_.as<>(), .out = sum_.as<>()},
                           device().context());
    device().copy(copy_.as<>(), sum_.as<>(), sum_.bytes());
  }
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    const auto buffer = [&](int count) { return Buffer(device(), count * sizeof(float), "b"); };
    x_ = buffer(kWidth);
    w_ = buffer(kWidth * kWidth);
    y_ = buffer(kWidth);
    sum_ = buffer(kWidth);
    copy_ = buffer(kWidth);
    std::vector<float> twice(kWidth * kWidth, 0.0F);
    for (std::size_t i = 0; i < kWidth; ++i) twice[i * kWidth + i] = 2.0F;
    w_.upload(twice);
    x_.upload(std::vector<float>{1, 2, 3, 4});
  }
  Buffer x_, w_, y_, sum_, copy_;
};

TEST_P(CaptureTest, NothingRunsUntilTheReplayWhichReadsWhatIsThereThen) {
  work();  // everything a capture must not do for the first time
  device().fill(copy_.as<>(), 0, copy_.bytes());
  Capture capture(device());
  work();
  const std::unique_ptr<Graph> graph = capture.finish();
  EXPECT_EQ(copy_.download<float>(), (std::vector<float>{0, 0, 0, 0}));
  graph->replay();
  EXPECT_EQ(copy_.download<float>(), (std::vector<float>{4, 8, 12, 16}));
  x_.upload(std::vector<float>{5, 6, 7, 8});
  graph->replay();
  EXPECT_EQ(copy_.download<float>(), (std::vector<float>{20, 24, 28, 32}));
}

TEST_P(CaptureTest, ReplaysLogTheirLaunchesAndCapturesNone) {
  work();
  std::vector<LaunchRecord> log;
  device().context().log = &log;
  device().context().timing = true;
  Capture capture(device());
  work();
  const std::unique_ptr<Graph> graph = capture.finish();
  EXPECT_TRUE(log.empty());
  EXPECT_TRUE(device().context().timing);
  graph->replay();
  graph->replay();
  ASSERT_EQ(log.size(), 4U);
  EXPECT_EQ(log[0].kernel, "matmul");
  EXPECT_EQ(log[1].kernel, "add");
  EXPECT_EQ(log[2].kernel, "matmul");
  device().context().log = nullptr;
  device().context().timing = false;
}

TEST_P(CaptureTest, ATransferInsideIsRefusedAndTheDeviceGoesOn) {
  work();
  std::vector<float> host(kWidth);
  EXPECT_THROW(
      {
        Capture capture(device());
        work();
        device().download(host.data(), y_.as<>(), y_.bytes());
        capture.finish();
      },
      DeviceError);
  work();
  EXPECT_EQ(copy_.download<float>(), (std::vector<float>{4, 8, 12, 16}));
}

INSTANTIATE_TEST_SUITE_P(Simt, CaptureTest, testing::Values(DeviceChoice::simt));
INSTANTIATE_TEST_SUITE_P(Gpu, CaptureTest, testing::Values(DeviceChoice::cuda));
INSTANTIATE_TEST_SUITE_P(Simt, DeviceTest, testing::Values(DeviceChoice::simt));
INSTANTIATE_TEST_SUITE_P(Gpu, DeviceTest, testing::Values(DeviceChoice::cuda));

TEST(SimtDevice, MatmulBitsDoNotDependOnTheNumberOfThreads) {
  const auto one = make_simt_device({.num_threads = 1}), three = make_simt_device({.num_threads = 3});
  EXPECT_EQ(multiply(*one, DType::f32, false, 33, 1300, 70).measured,
            multiply(*three, DType::f32, false, 33, 1300, 70).measured);
}

TEST(SimtDevice, AccessOutsideABufferIsRefusedByName) {
  const auto device = make_simt_device();
  const Buffer buffer(*device, 8, "slots");
  std::vector<std::byte> host(16);
  expect_contains(device_error([&] { device->upload(buffer.as<>(), host.data(), 12); }),
                  "upload: 12 bytes at byte 0 of 'slots' do not fit its 8 bytes");
  expect_contains(device_error([&] { device->download(host.data(), buffer.as<std::byte>() + 4, 8); }),
                  "download: 8 bytes at byte 4 of 'slots'");
  expect_contains(device_error([&] { device->fill(host.data(), 0, 4); }), "is not device memory");
  expect_contains(device_error([&] {
                    device->matmul({DType::f32, 2, 2, 1, buffer.as<>(), buffer.as<>(), buffer.as<>()});
                  }),
                  "matmul y: 16 bytes at byte 0 of 'slots'");
}

TEST(SimtDevice, OutOfMemoryIsASentence) {
  const auto device = make_simt_device();
  expect_contains(device_error([&] { device->allocate(SIZE_MAX / 4, "k_cache"); }), "out of memory");
}

TEST(SimtDevice, AutomaticChoiceSaysWhyItFellBack) {
  const DevicePick pick = make_device(DeviceChoice::automatic);
  EXPECT_EQ(pick.device->kind() == DeviceKind::simt, !pick.note.empty());
  if (!pick.note.empty()) expect_contains(pick.note, "running on the SIMT emulator");
  if (!cuda_backend_built()) expect_contains(device_error([] { make_cuda_device(); }), "built without it");
}

}  // namespace
}  // namespace attn
