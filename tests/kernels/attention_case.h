// One attention problem, described by a few numbers: made, solved by the oracle, and run on any device.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/common/plan.h"
#include "kernels/device.h"

namespace attn::test {

/// Where the kernel reads K and V.
enum class KeySource : std::uint8_t { packed, paged, dense_masked, dense_padded };

struct AttentionCase {
  bool decode = false;
  KeySource source = KeySource::packed;  // prefill: packed, paged; decode: paged, dense_*
  DType dtype = DType::f32;
  int level = 2;
  int num_heads = 4;
  int num_kv_heads = 2;
  int head_dim = 16;
  std::vector<int> q_lens;  // decode: left empty, every sequence has 1
  std::vector<int> k_lens;
  int max_len = 0;  // decode: columns beyond the longest sequence when larger
  int block_size = 4;
  MaskAlignment mask = MaskAlignment::bottom_right;
  HeadMap head_map = HeadMap::grouped;
  int k_tile = 0;
  int num_splits = 0;
  bool own_tickets = false;  // decode level 3, prefill level 4: the caller keeps the tickets
  int launches = 1;          // one behind the other on the same workspace and tickets; the last one's results
  bool probe = false;
  std::uint64_t seed = 1;

  int batch() const { return static_cast<int>(k_lens.size()); }
  int q_len(int b) const { return decode ? 1 : q_lens[b]; }
  int total_q() const;
  int longest_q() const;
  int longest_k() const;  // columns of scores and weights
  /// Keys that take part for sequence b: all columns when pads are attended.
  int attended(int b) const { return source == KeySource::dense_padded ? longest_k() : k_lens[b]; }
  std::string describe() const;
};

/// Values as the kernel sees them, already rounded to the case's dtype.
struct AttentionInputs {
  std::vector<float> q;                  // [Nq, H, D]
  std::vector<std::vector<float>> k, v;  // per sequence [len, Hkv, D]
};
AttentionInputs random_inputs(const AttentionCase& c);

struct AttentionResult {
  std::vector<std::byte> o_bytes;
  std::vector<float> o;                // [Nq, H, D]
  std::vector<float> lse;              // [H, Nq]
  std::vector<float> scores, weights;  // [H, Nq, max_k]; NaN where not visited; empty without probe
  std::vector<float> tile_m, tile_l, tile_alpha, tile_o_norm;  // [H, Nq, num_tiles]
  int max_k = 0;
  int num_tiles = 0;
  int k_tile = 0;
  std::vector<LaunchRecord> log;
};

/// Runs the case. Everything no one may read is NaN: outputs, workspace, unused slots of a scattered pool,
/// rows past the lengths. Table entries past a sequence's blocks are -1.
AttentionResult run_case(Device& device, const AttentionCase& c, const AttentionInputs& inputs);

std::vector<std::byte> to_bytes(DType dtype, const std::vector<float>& values);
std::vector<float> to_floats(DType dtype, const std::vector<std::byte>& bytes);
std::vector<float> random_normal(std::size_t count, std::uint64_t seed, DType dtype);

/// Uploads host values into a new buffer of exactly their size.
template <class T>
Buffer device_copy(Device& device, const std::vector<T>& host, std::string_view label) {
  Buffer buffer(device, host.size() * sizeof(T), label);
  if (!host.empty()) buffer.upload(host);
  return buffer;
}

/// Bound on max |o - reference| / max |reference|.
double tolerance(DType dtype);

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::equal(reinterpret_cast<const std::byte*>(a.data()),
                                            reinterpret_cast<const std::byte*>(a.data() + a.size()),
                                            reinterpret_cast<const std::byte*>(b.data()));
}

/// The GPU, or null with the reason there is none.
std::unique_ptr<Device> gpu_or_null(std::string& why);
/// The same for a GPU that runs level 4 itself.
std::unique_ptr<Device> hopper_or_null(std::string& why);

}  // namespace attn::test

/// A test body over `Device& device`, run twice: on the emulator, and as Gpu<suite> on a GPU (skipped
/// without).
#define ATTN_DEVICE_TEST(suite, name)                              \
  static void suite##_##name(attn::Device& device);                \
  TEST(suite, name) { suite##_##name(*attn::make_simt_device()); } \
  TEST(Gpu##suite, name) {                                         \
    std::string why;                                               \
    const auto gpu = attn::test::gpu_or_null(why);                 \
    if (!gpu) GTEST_SKIP() << why;                                 \
    suite##_##name(*gpu);                                          \
  }                                                                \
  static void suite##_##name([[maybe_unused]] attn::Device& device)
