#include "tests/kernels/model_ops.h"

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "tests/kernels/attention_case.h"

namespace attn::test {

namespace {

/// Sizes of one problem.
class Sizes {
 public:
  explicit Sizes(std::uint64_t seed) : random_(seed) {}
  int operator()(int lowest, int highest) {
    return std::uniform_int_distribution<int>(lowest, highest)(random_);
  }

 private:
  std::mt19937_64 random_;
};

/// Rounded to the dtype, on the device and as the kernel will see it.
struct Tensor {
  Tensor(Device& device, DType dtype, std::size_t count, std::uint64_t seed, float scale = 1.0F)
      : values(random_normal(count, seed, dtype)) {
    for (float& value : values) value *= scale;
    const std::vector<std::byte> bytes = to_bytes(dtype, values);
    values = to_floats(dtype, bytes);
    buffer = device_copy(device, bytes, "input");
  }
  std::vector<float> values;
  Buffer buffer;
  double operator[](std::int64_t i) const { return static_cast<double>(values[static_cast<std::size_t>(i)]); }
};

std::vector<std::int32_t> random_indices(Sizes& sizes, int count, int limit) {
  std::vector<std::int32_t> indices(static_cast<std::size_t>(count));
  for (std::int32_t& index : indices) index = sizes(0, limit - 1);
  return indices;
}

Buffer output(Device& device, DType dtype, std::int64_t count) {
  return {device, static_cast<std::size_t>(count) * dtype_size(dtype), "output"};
}

OpResult run_embed(Device& device, DType dtype, std::uint64_t seed) {
  Sizes sizes(seed);
  const int tokens = sizes(1, 40), hidden = sizes(1, 99), vocab = sizes(1, 70);
  const Tensor table(device, dtype, static_cast<std::size_t>(vocab) * hidden, seed);
  const std::vector<std::int32_t> ids = random_indices(sizes, tokens, vocab);
  const Buffer device_ids = device_copy(device, ids, "ids");
  const Buffer out = output(device, dtype, static_cast<std::int64_t>(tokens) * hidden);
  device.kernels().embed({.dtype = dtype,
                          .num_tokens = tokens,
                          .hidden = hidden,
                          .vocab = vocab,
                          .input_ids = device_ids.as<std::int32_t>(),
                          .table = table.buffer.as<void>(),
                          .out = out.as<void>()},
                         device.context());
  OpResult result{
      out.download<std::byte>(), {}, fmt::format("tokens {} hidden {} vocab {}", tokens, hidden, vocab)};
  for (const std::int32_t id : ids) {
    for (int i = 0; i < hidden; ++i)
      result.expected.push_back(table[static_cast<std::int64_t>(id) * hidden + i]);
  }
  return result;
}

OpResult run_take_rows(Device& device, DType dtype, std::uint64_t seed) {
  Sizes sizes(seed);
  const int rows_in = sizes(1, 30), width = sizes(1, 130), rows_out = sizes(1, 40);
  const Tensor in(device, dtype, static_cast<std::size_t>(rows_in) * width, seed);
  const std::vector<std::int32_t> rows = random_indices(sizes, rows_out, rows_in);
  const Buffer device_rows = device_copy(device, rows, "rows");
  const Buffer out = output(device, dtype, static_cast<std::int64_t>(rows_out) * width);
  device.kernels().take_rows({.dtype = dtype,
                              .num_rows = rows_out,
                              .width = width,
                              .rows = device_rows.as<std::int32_t>(),
                              .in = in.buffer.as<void>(),
                              .out = out.as<void>()},
                             device.context());
  OpResult result{
      out.download<std::byte>(), {}, fmt::format("{} of {} rows, width {}", rows_out, rows_in, width)};
  for (const std::int32_t row : rows) {
    for (int i = 0; i < width; ++i) result.expected.push_back(in[static_cast<std::int64_t>(row) * width + i]);
  }
  return result;
}

OpResult run_rms_norm(Device& device, DType dtype, std::uint64_t seed) {
  Sizes sizes(seed);
  const int rows = sizes(1, 20);
  const int width =
      seed % 3 == 0 ? sizes(1000, 1500) : sizes(1, 300);  // one warp, several, more than one lap
  const double eps = 1e-5;
  const Tensor in(device, dtype, static_cast<std::size_t>(rows) * width, seed, seed % 2 == 0 ? 30.0F : 0.01F);
  const Tensor weight(device, dtype, static_cast<std::size_t>(width), seed + 1);
  const bool in_place = seed % 2 == 0;
  const Buffer out = output(device, dtype, static_cast<std::int64_t>(rows) * width);
  void* to = in_place ? in.buffer.as<void>() : out.as<void>();
  device.kernels().rms_norm({.dtype = dtype,
                             .rows = rows,
                             .width = width,
                             .eps = static_cast<float>(eps),
                             .in = in.buffer.as<void>(),
                             .weight = weight.buffer.as<void>(),
                             .out = to},
                            device.context());
  OpResult result{
      (in_place ? in.buffer : out).download<std::byte>(), {}, fmt::format("rows {} width {}", rows, width)};
  for (int row = 0; row < rows; ++row) {
    double sum = 0.0;
    for (int i = 0; i < width; ++i) sum += in[row * width + i] * in[row * width + i];
    const double scale = 1.0 / std::sqrt(sum / width + eps);
    for (int i = 0; i < width; ++i) result.expected.push_back(in[row * width + i] * scale * weight[i]);
  }
  return result;
}

OpResult run_rope(Device& device, DType dtype, std::uint64_t seed) {
  Sizes sizes(seed);
  const int tokens = sizes(1, 20), heads = sizes(1, 5), half = 4 * sizes(1, 32), dim = 2 * half;
  const Tensor x(device, dtype, static_cast<std::size_t>(tokens) * heads * dim, seed);
  const std::vector<std::int32_t> positions = random_indices(sizes, tokens, 5000);
  std::vector<float> inv_freq;
  for (int i = 0; i < half; ++i) inv_freq.push_back(static_cast<float>(std::pow(10000.0, -2.0 * i / dim)));
  const Buffer device_positions = device_copy(device, positions, "positions");
  const Buffer device_freq = device_copy(device, inv_freq, "inv_freq");
  device.kernels().rope({.dtype = dtype,
                         .num_tokens = tokens,
                         .num_heads = heads,
                         .head_dim = dim,
                         .positions = device_positions.as<std::int32_t>(),
                         .inv_freq = device_freq.as<float>(),
                         .x = x.buffer.as<void>()},
                        device.context());
  OpResult result{
      x.buffer.download<std::byte>(), {}, fmt::format("tokens {} heads {} dim {}", tokens, heads, dim)};
  result.expected.resize(x.values.size());
  for (int row = 0; row < tokens * heads; ++row) {
    for (int i = 0; i < half; ++i) {
      // The angle is a float by contract; from there on everything is exact here.
      const auto angle = static_cast<double>(static_cast<float>(positions[row / heads]) * inv_freq[i]);
      const std::int64_t at = static_cast<std::int64_t>(row) * dim + i;
      result.expected[at] = x[at] * std::cos(angle) - x[at + half] * std::sin(angle);
      result.expected[at + half] = x[at + half] * std::cos(angle) + x[at] * std::sin(angle);
    }
  }
  return result;
}

OpResult run_silu_mul(Device& device, DType dtype, std::uint64_t seed) {
  Sizes sizes(seed);
  const int tokens = sizes(1, 30), width = sizes(1, 150);
  const Tensor gate_up(device, dtype, static_cast<std::size_t>(tokens) * 2 * width, seed,
                       seed % 2 == 0 ? 40.0F : 1.0F);
  const Buffer out = output(device, dtype, static_cast<std::int64_t>(tokens) * width);
  device.kernels().silu_mul({.dtype = dtype,
                             .num_tokens = tokens,
                             .width = width,
                             .gate_up = gate_up.buffer.as<void>(),
                             .out = out.as<void>()},
                            device.context());
  OpResult result{out.download<std::byte>(), {}, fmt::format("tokens {} width {}", tokens, width)};
  for (int token = 0; token < tokens; ++token) {
    for (int i = 0; i < width; ++i) {
      const double gate = gate_up[token * 2 * width + i];
      result.expected.push_back(gate / (1.0 + std::exp(-gate)) * gate_up[token * 2 * width + width + i]);
    }
  }
  return result;
}

/// A residual, in place or not, or a bias row.
OpResult run_add(Device& device, DType dtype, std::uint64_t seed) {
  Sizes sizes(seed);
  const int rows = sizes(1, 30), width = sizes(1, 150);
  const bool bias = seed % 2 == 0, in_place = seed % 3 == 0;
  const std::int64_t count = static_cast<std::int64_t>(rows) * width;
  const Tensor a(device, dtype, static_cast<std::size_t>(count), seed);
  const Tensor b(device, dtype, static_cast<std::size_t>(bias ? width : count), seed + 1);
  const Buffer out = output(device, dtype, count);
  device.kernels().add({.dtype = dtype,
                        .count = count,
                        .bias_width = bias ? width : 0,
                        .a = a.buffer.as<void>(),
                        .b = b.buffer.as<void>(),
                        .out = in_place ? a.buffer.as<void>() : out.as<void>()},
                       device.context());
  OpResult result{
      (in_place ? a.buffer : out).download<std::byte>(), {}, fmt::format("rows {} width {}", rows, width)};
  for (std::int64_t i = 0; i < count; ++i) result.expected.push_back(a[i] + b[bias ? i % width : i]);
  return result;
}

}  // namespace

const std::vector<ModelOp>& model_ops() {
  static const std::vector<ModelOp> ops = {{"embed", run_embed},       {"take_rows", run_take_rows},
                                           {"rms_norm", run_rms_norm}, {"rope", run_rope},
                                           {"silu_mul", run_silu_mul}, {"add", run_add}};
  return ops;
}

}  // namespace attn::test
