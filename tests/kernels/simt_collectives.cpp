// Barriers, shuffles, votes and reductions: every result is known in closed form.
#include <functional>

#include "simt_testing.h"

namespace attn::on_simt {
namespace {

using namespace simt_test;

constexpr unsigned kAll = 0xFFFFFFFFU;

enum class Exchange { index, up, down, exclusive_or };

__global__ void shuffle_kernel(Exchange exchange, int operand, int width, std::uint64_t* out) {  // [threads]
  const std::uint64_t mine = 1000ULL * 1000ULL * 1000ULL * 10ULL + threadIdx.x;  // more than 32 bits
  std::uint64_t got = 0;
  if (exchange == Exchange::index) got = __shfl_sync(kAll, mine, operand, width);
  if (exchange == Exchange::up) got = __shfl_up_sync(kAll, mine, static_cast<unsigned>(operand), width);
  if (exchange == Exchange::down) got = __shfl_down_sync(kAll, mine, static_cast<unsigned>(operand), width);
  if (exchange == Exchange::exclusive_or) got = __shfl_xor_sync(kAll, mine, operand, width);
  out[threadIdx.x] = got;
}

/// The lane that CUDA's guide says a lane reads from.
int expected_source(Exchange exchange, int lane, int operand, int width) {
  const int segment = lane / width * width;
  switch (exchange) {
    case Exchange::index:
      return segment + (operand % width + width) % width;
    case Exchange::up:
      return lane - operand < segment ? lane : lane - operand;
    case Exchange::down:
      return lane + operand >= segment + width ? lane : lane + operand;
    case Exchange::exclusive_or:
      return (lane ^ operand) >= segment + width ? lane : lane ^ operand;
  }
  return -1;
}

TEST(SimtCollectives, ShufflesOfEveryKindAndWidth) {
  for (const SimtOptions& options : all_orders()) {
    Emulator emulator(options);
    const Buffer out = emulator.buffer(64 * sizeof(std::uint64_t));
    for (const Exchange exchange : {Exchange::index, Exchange::up, Exchange::down, Exchange::exclusive_or}) {
      for (const int width : {1, 2, 4, 8, 16, 32}) {
        for (const int operand : {0, 1, 2, 3, 5, 8, 15, 16, 31}) {
          emulator.launch({1}, {64}, 0, shuffle_kernel, exchange, operand, width, out.as<std::uint64_t>());
          const auto got = out.download<std::uint64_t>();
          for (int t = 0; t < 64; ++t) {
            const int source = t / 32 * 32 + expected_source(exchange, t % 32, operand, width);
            ASSERT_EQ(got[t], 10000000000ULL + source)
                << "kind " << static_cast<int>(exchange) << " width " << width << " operand " << operand;
          }
        }
      }
    }
  }
}

/// Lanes below `half` and the others exchange under their own masks, a different number of times, and meet
/// in a full-warp sum: groups of lanes may run ahead of each other.
__global__ void partial_masks_kernel(int half, int* out) {  // [32]
  const int lane = static_cast<int>(threadIdx.x);
  const unsigned low = (1U << half) - 1U;
  int value = lane;
  value = __shfl_sync(kAll, value, (lane + 1) % 32);
  if (lane < half) {
    for (int i = 0; i < 5; ++i) value = __shfl_sync(low, value, (lane + 1) % half);
  } else {
    value = __shfl_sync(~low, value, half);
  }
  int sum = value;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(kAll, sum, step);
  out[lane] = 1000 * value + sum;
}

TEST(SimtCollectives, PartialMasksRunAheadOfEachOther) {
  for (const SimtOptions& options : all_orders()) {
    Emulator emulator(options);
    const Buffer out = emulator.buffer(32 * sizeof(int));
    for (const int half : {1, 7, 16, 31}) {
      emulator.launch({1}, {32}, 0, partial_masks_kernel, half, out.as<int>());
      std::vector<int> value(32);
      int sum = 0;
      for (int lane = 0; lane < 32; ++lane) {
        value[lane] = lane < half ? ((lane + 5) % half + 1) % 32 : (half + 1) % 32;
        sum += value[lane];
      }
      const std::vector<int> got = out.download<int>();
      for (int lane = 0; lane < 32; ++lane) ASSERT_EQ(got[lane], 1000 * value[lane] + sum) << "half " << half;
    }
  }
}

/// Masks that share their lowest lane: lane 2 may reach {0,2} before lane 0 has left {0,1}.
__global__ void overlapping_masks_kernel(int* out) {  // [4]
  const int lane = static_cast<int>(threadIdx.x);
  int value = 10 + lane;
  if (lane < 2) value = __shfl_sync(0x3U, value, 1 - lane);
  if (lane == 0 || lane == 2) value = __shfl_sync(0x5U, value, 2 - lane);
  if (lane == 0 || lane == 3) value = __shfl_sync(0x9U, value, 3 - lane);
  out[lane] = value;
}

TEST(SimtCollectives, OverlappingMasksTakeTurns) {
  for (const SimtOptions& options : all_orders()) {
    Emulator emulator(options);
    const Buffer out = emulator.buffer(4 * sizeof(int));
    emulator.launch({1}, {4}, 0, overlapping_masks_kernel, out.as<int>());
    EXPECT_EQ(out.download<int>(), (std::vector<int>{13, 10, 11, 12}));
  }
}

__global__ void outside_source_kernel(float* out) {
  if (threadIdx.x < 8) out[threadIdx.x] = __shfl_sync(0xFFU, 1.0F, static_cast<int>(threadIdx.x) + 4);
}

TEST(SimtCollectives, SourceOutsideTheMaskIsPoison) {
  Emulator emulator;
  const Buffer out = emulator.buffer(8 * sizeof(float));
  emulator.launch({1}, {32}, 0, outside_source_kernel, out.as<float>());
  const std::vector<float> got = out.download<float>();
  for (int i = 0; i < 8; ++i) EXPECT_EQ(std::isnan(got[i]), i >= 4);
}

struct Votes {
  unsigned ballot, active;
  int any_none, any_one, all_true, all_but_one;
  int reduce_add, reduce_min, reduce_max;
  unsigned reduce_and, reduce_or, reduce_max_unsigned;
};

__global__ void votes_kernel(Votes* out) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  Votes v{};
  v.ballot = __ballot_sync(kAll, lane % 3 == 0);
  v.any_none = __any_sync(kAll, lane > 40);
  v.any_one = __any_sync(kAll, lane == 17);
  v.all_true = __all_sync(kAll, lane < 32);
  v.all_but_one = __all_sync(kAll, lane != 5);
  v.reduce_add = __reduce_add_sync(kAll, lane - 16);
  v.reduce_min = __reduce_min_sync(kAll, lane - 16);
  v.reduce_max = __reduce_max_sync(kAll, -1 - lane);
  v.reduce_max_unsigned = __reduce_max_sync(kAll, static_cast<unsigned>(-1 - lane));
  v.reduce_and = __reduce_and_sync(kAll, 0xF0U | static_cast<unsigned>(lane));
  v.reduce_or = __reduce_or_sync(kAll, 1U << lane);
  v.active = __activemask();
  __syncwarp();
  out[threadIdx.x] = v;
}

TEST(SimtCollectives, VotesAndReductions) {
  unsigned thirds = 0;
  for (unsigned lane = 0; lane < 32; lane += 3) thirds |= 1U << lane;
  for (const SimtOptions& options : all_orders()) {
    Emulator emulator(options);
    const Buffer out = emulator.buffer(96 * sizeof(Votes));
    emulator.launch({1}, {96}, 0, votes_kernel, out.as<Votes>());
    for (const Votes& v : out.download<Votes>()) {
      EXPECT_EQ(v.ballot, thirds);
      EXPECT_EQ(v.any_none, 0);
      EXPECT_EQ(v.any_one, 1);
      EXPECT_EQ(v.all_true, 1);
      EXPECT_EQ(v.all_but_one, 0);
      EXPECT_EQ(v.reduce_add, -16);
      EXPECT_EQ(v.reduce_min, -16);
      EXPECT_EQ(v.reduce_max, -1);
      EXPECT_EQ(v.reduce_max_unsigned, 0xFFFFFFFFU);
      EXPECT_EQ(v.reduce_and, 0xF0U);
      EXPECT_EQ(v.reduce_or, kAll);
      EXPECT_EQ(v.active & ~kAll, 0U);
    }
  }
}

/// A block of 40 threads: the second warp has 8 lanes, and a full mask means those that exist.
__global__ void partial_warp_kernel(int* out) { out[threadIdx.x] = __reduce_add_sync(kAll, 1); }

TEST(SimtCollectives, FullMaskInAPartialWarp) {
  for (const SimtOptions& options : all_orders()) {
    Emulator emulator(options);
    const Buffer out = emulator.buffer(40 * sizeof(int));
    emulator.launch({1}, {40}, 0, partial_warp_kernel, out.as<int>());
    const std::vector<int> got = out.download<int>();
    for (int t = 0; t < 40; ++t) EXPECT_EQ(got[t], t < 32 ? 32 : 8);
  }
}

/// Prefix sums by doubling: two barriers a round, and the result of every round is needed.
__global__ void scan_kernel(int* data, int* votes) {
  ATTN_DYNAMIC_SHARED(int, tile);
  const int t = static_cast<int>(threadIdx.x), n = static_cast<int>(blockDim.x);
  tile[t] = data[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (int step = 1; step < n; step *= 2) {
    const int left = t >= step ? tile[t - step] : 0;
    __syncthreads();
    tile[t] += left;
    __syncthreads();
  }
  data[blockIdx.x * blockDim.x + threadIdx.x] = tile[t];
  const int count = __syncthreads_count(t % 5 == 0);
  const int none = __syncthreads_or(t > n), one = __syncthreads_or(t == n - 1);
  const int all = __syncthreads_and(t < n), not_all = __syncthreads_and(t != 0);
  votes[blockIdx.x * blockDim.x + threadIdx.x] = count * 10000 + none * 1000 + one * 100 + all * 10 + not_all;
}

TEST(SimtCollectives, BlockBarriersAndTheirVotes) {
  for (const SimtOptions& options : all_orders()) {
    Emulator emulator(options);
    for (const int n : {1, 31, 32, 33, 100, 256, 1024}) {
      const Buffer data = emulator.upload(std::vector<int>(3 * n, 1));
      const Buffer votes = emulator.buffer(3 * n * sizeof(int));
      emulator.launch({3}, {static_cast<unsigned>(n)}, n * sizeof(int), scan_kernel, data.as<int>(),
                      votes.as<int>());
      const std::vector<int> sums = data.download<int>(), voted = votes.download<int>();
      for (int i = 0; i < 3 * n; ++i) {
        ASSERT_EQ(sums[i], i % n + 1);
        ASSERT_EQ(voted[i], (n + 4) / 5 * 10000 + 110);
      }
    }
  }
}

}  // namespace
}  // namespace attn::on_simt
