#include "kernels/simt/simt_device.h"

#include <cblas.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "kernels/common/check.h"
#include "kernels/simt/half_types.h"

namespace attn::simt {
namespace {

/// Columns of the result that one sgemm call computes. Fixed, and each call single-threaded, so that the
/// bits of a product do not depend on the number of cores.
constexpr int kMatmulColumns = 256;
/// Rows that one call computes, the last ones filled up with zeros. BLAS adds up in another order for other
/// shapes, on some processors and not on others: with one shape for all, a row's bits do not depend on how
/// many rows are computed beside it (a graph of a larger batch, a prompt cut into chunks).
constexpr int kMatmulRows = 16;

/// Elements as float: in place for F32, else converted into `storage`.
const float* as_floats(DType dtype, const void* data, std::size_t count, std::vector<float>& storage) {
  if (dtype == DType::f32) return static_cast<const float*>(data);
  const auto* bits = static_cast<const std::uint16_t*>(data);
  storage.resize(count);
  if (dtype == DType::f16) {
    std::transform(bits, bits + count, storage.begin(), half_bits_to_float);
  } else {
    std::transform(bits, bits + count, storage.begin(), bf16_bits_to_float);
  }
  return storage.data();
}

/// y (kMatmulRows rows, `stride` floats apart) = x * w^T; w has `columns` rows of k.
void multiply_rows(const float* x, const float* w, int k, int columns, float* y, int stride) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, kMatmulRows, columns, k, 1.0F, x, k, w, k, 0.0F, y,
              stride);
}

/// y[:, begin .. begin+columns) = x * w[begin .. begin+columns, :]^T; y has n columns.
void multiply_columns(const LaunchContext& context, const MatmulParams& p, int begin, int columns,
                      const float* x, float* y) {
  const std::size_t row = static_cast<std::size_t>(p.k);
  std::vector<float> storage;
  const auto* w =
      static_cast<const std::byte*>(p.w) + static_cast<std::size_t>(begin) * row * dtype_size(p.dtype);
  const float* w_floats = as_floats(p.dtype, w, static_cast<std::size_t>(columns) * row, storage);
  std::vector<float> padded_x, padded_y;
  for (int top = 0; top < p.m; top += kMatmulRows) {
    context.throw_if_stopped();
    const int rows = std::min(kMatmulRows, p.m - top);
    const float* x_rows = x + static_cast<std::size_t>(top) * row;
    float* y_rows = y + static_cast<std::size_t>(top) * static_cast<std::size_t>(p.n) + begin;
    if (rows == kMatmulRows) {
      multiply_rows(x_rows, w_floats, p.k, columns, y_rows, p.n);
      continue;
    }
    padded_x.assign(kMatmulRows * row, 0.0F);
    std::copy_n(x_rows, static_cast<std::size_t>(rows) * row, padded_x.begin());
    padded_y.resize(static_cast<std::size_t>(kMatmulRows) * static_cast<std::size_t>(columns));
    multiply_rows(padded_x.data(), w_floats, p.k, columns, padded_y.data(), columns);
    for (int i = 0; i < rows; ++i)
      std::copy_n(padded_y.data() + i * columns, columns, y_rows + static_cast<std::ptrdiff_t>(i) * p.n);
  }
}

}  // namespace

SimtDevice::SimtDevice(const SimtOptions& options) : executor_(options, memory_) {
  openblas_set_num_threads(1);
  context_.executor = &executor_;
  // A constant, so that plans, and with them the bits of results, do not depend on the machine.
  context_.traits.num_sms = 4;
}

std::string SimtDevice::name() const {
  const int threads = executor_.num_workers();
  return fmt::format("SIMT emulator ({} thread{})", threads, threads == 1 ? "" : "s");
}

void* SimtDevice::allocate(std::size_t bytes, std::string_view label) {
  require_no_capture("an allocation");
  return memory_.allocate(bytes, label);
}
void SimtDevice::deallocate(void* pointer) noexcept { memory_.deallocate(pointer); }

void SimtDevice::upload(void* device, const void* host, std::size_t bytes) {
  require_no_capture("upload");
  memory_.require(device, bytes, "upload");
  if (bytes > 0) std::memcpy(device, host, bytes);
}

void SimtDevice::download(void* host, const void* device, std::size_t bytes) {
  require_no_capture("download");
  memory_.require(device, bytes, "download");
  if (bytes > 0) std::memcpy(host, device, bytes);
}

void SimtDevice::copy(void* device_to, const void* device_from, std::size_t bytes) {
  memory_.require(device_to, bytes, "copy to");
  memory_.require(device_from, bytes, "copy from");
  if (capture_) return capture_->add([=, this] { copy(device_to, device_from, bytes); });
  if (bytes > 0) std::memmove(device_to, device_from, bytes);
}

void SimtDevice::fill(void* device, unsigned char byte, std::size_t bytes) {
  memory_.require(device, bytes, "fill");
  if (capture_) return capture_->add([=, this] { fill(device, byte, bytes); });
  if (bytes > 0) std::memset(device, byte, bytes);
}

void SimtDevice::begin_capture() {
  require_no_capture("begin_capture");
  capture_ = std::make_unique<SimtGraph>(context());
  executor_.capture_into(capture_.get());
}

std::unique_ptr<Graph> SimtDevice::end_capture() {
  ATTN_CHECK(capture_ != nullptr, "end_capture() without begin_capture()");
  executor_.capture_into(nullptr);
  return std::move(capture_);
}

void SimtDevice::require_no_capture(const char* what) const {
  if (capture_) throw DeviceError(fmt::format("{} inside a graph capture; do it before or after", what));
}

void SimtDevice::matmul(const MatmulParams& p) {
  if (capture_) return capture_->add([=, this] { multiply(p); });
  multiply(p);
}

void SimtDevice::multiply(const MatmulParams& p) {
  ATTN_CHECK(p.m >= 0 && p.n >= 0 && p.k > 0, "matmul: m {}, n {}, k {}", p.m, p.n, p.k);
  const auto m = static_cast<std::size_t>(p.m), n = static_cast<std::size_t>(p.n),
             k = static_cast<std::size_t>(p.k);
  if (m == 0 || n == 0) return;
  const bool y_is_float = p.y_f32 || p.dtype == DType::f32;
  const std::size_t in_bytes = dtype_size(p.dtype), out_bytes = y_is_float ? sizeof(float) : in_bytes;
  memory_.require(p.x, m * k * in_bytes, "matmul x");
  memory_.require(p.w, n * k * in_bytes, "matmul w");
  memory_.require(p.y, m * n * out_bytes, "matmul y");
  const auto begin = std::chrono::steady_clock::now();
  std::vector<float> x_storage, y_storage;
  const float* x = as_floats(p.dtype, p.x, m * k, x_storage);
  if (!y_is_float) y_storage.resize(m * n);
  float* y = y_is_float ? static_cast<float*>(p.y) : y_storage.data();
  const auto chunks = static_cast<std::uint64_t>((p.n + kMatmulColumns - 1) / kMatmulColumns);
  executor_.pool().run(chunks, [&](int, std::uint64_t chunk) {
    const int first = static_cast<int>(chunk) * kMatmulColumns;
    multiply_columns(context_, p, first, std::min(kMatmulColumns, p.n - first), x, y);
  });
  if (!y_is_float) {
    std::transform(y_storage.begin(), y_storage.end(), static_cast<std::uint16_t*>(p.y),
                   p.dtype == DType::f16 ? float_to_half_bits : float_to_bf16_bits);
  }
  if (!context_.log) return;
  LaunchRecord record;
  record.kernel = "matmul";
  record.bytes = (m * k + n * k) * in_bytes + m * n * out_bytes;
  record.flop = 2 * m * n * k;
  if (context_.timing) {
    record.ms = std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }
  context_.log->push_back(std::move(record));
}

}  // namespace attn::simt

namespace attn {

std::unique_ptr<Device> make_simt_device(const SimtOptions& options) {
  return std::make_unique<simt::SimtDevice>(options);
}

}  // namespace attn
