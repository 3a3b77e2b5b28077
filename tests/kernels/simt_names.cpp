// Index names, block shapes, memory kinds and atomics of the emulator.
#include <numeric>

#include "simt_testing.h"

namespace attn::on_simt {
namespace {

using namespace simt_test;

/// out[global linear thread number] = what the thread believes to be.
__global__ void indices_kernel(int* out) {  // [blocks * threads, 6]
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  int* row = out + 6 * (block * blockDim.x * blockDim.y * blockDim.z + thread);
  row[0] = static_cast<int>(threadIdx.x);
  row[1] = static_cast<int>(threadIdx.y);
  row[2] = static_cast<int>(threadIdx.z);
  row[3] = static_cast<int>(blockIdx.x);
  row[4] = static_cast<int>(blockIdx.y);
  row[5] = static_cast<int>(blockIdx.z);
}

TEST(SimtNames, IndicesCoverTheGrid) {
  for (const SimtOptions& options : all_orders()) {
    Emulator emulator(options);
    const Dim3 grid{3, 2, 2}, block{5, 3, 4};
    const Buffer out = emulator.buffer(12 * 60 * 6 * sizeof(int));
    emulator.launch(grid, block, 0, indices_kernel, out.as<int>());
    const std::vector<int> rows = out.download<int>();
    for (int b = 0; b < 12; ++b) {
      for (int t = 0; t < 60; ++t) {
        const int* row = rows.data() + 6 * (b * 60 + t);
        EXPECT_EQ(row[0] + 5 * (row[1] + 3 * row[2]), t);
        EXPECT_EQ(row[3] + 3 * (row[4] + 2 * row[5]), b);
      }
    }
  }
}

template <int kThreads>
__global__ void __launch_bounds__(kThreads) reverse_static_kernel(const float* __restrict__ in, float* out) {
  __shared__ __align__(16) float tile[kThreads];
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  tile[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = tile[kThreads - 1 - threadIdx.x];
}

__global__ void reverse_dynamic_kernel(const float* in, float* out) {
  ATTN_DYNAMIC_SHARED(float4, tile);
  const unsigned last = blockDim.x - 1;
  const auto* rows = reinterpret_cast<const float4*>(in) + blockIdx.x * blockDim.x;
  tile[threadIdx.x] = rows[threadIdx.x];
  __syncthreads();
  const float4 row = tile[last - threadIdx.x];
  reinterpret_cast<float4*>(out)[blockIdx.x * blockDim.x + threadIdx.x] =
      make_float4(row.w, row.z, row.y, row.x);
}

TEST(SimtNames, StaticAndDynamicSharedMemory) {
  std::vector<float> in(4 * 96 * 4);
  std::iota(in.begin(), in.end(), 0.0F);
  for (const SimtOptions& options : all_orders()) {
    Emulator emulator(options);
    const Buffer x = emulator.upload(in);
    const Buffer y = emulator.buffer(x.bytes());
    emulator.launch({16}, {96}, 0, reverse_static_kernel<96>, x.as<float>(), y.as<float>());
    const std::vector<float> by_static = y.download<float>();
    for (unsigned i = 0; i < in.size(); ++i) ASSERT_EQ(by_static[i], in[i / 96 * 96 + 95 - i % 96]);
    emulator.launch({4}, {96}, 96 * sizeof(float4), reverse_dynamic_kernel, x.as<float>(), y.as<float>());
    const std::vector<float> by_dynamic = y.download<float>();
    for (unsigned i = 0; i < in.size(); ++i) ASSERT_EQ(by_dynamic[i], in[i / 384 * 384 + 383 - i % 384]);
  }
}

struct Counters {
  int sum_int;
  unsigned sum_unsigned;
  unsigned long long sum_u64;
  float sum_float;
  int largest;
  int smallest;
  unsigned tickets;
  int winner;
};

__global__ void atomics_kernel(Counters* c, int* seen) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  atomicAdd(&c->sum_int, i);
  atomicAdd(&c->sum_unsigned, 2U);
  atomicAdd(&c->sum_u64, 1ULL << 32U);
  atomicAdd(&c->sum_float, 0.5F);
  atomicMax(&c->largest, i);
  atomicMin(&c->smallest, -i);
  const unsigned ticket = atomicAdd(&c->tickets, 1U);
  atomicExch(&seen[ticket], 1);
  if (atomicCAS(&c->winner, -1, i) == -1) __threadfence();
}

TEST(SimtNames, AtomicsAcrossBlocks) {
  constexpr int kThreads = 64 * 40;
  for (SimtOptions options : all_orders()) {
    options.num_threads = 2;
    Emulator emulator(options);
    const Buffer counters = emulator.upload(std::vector<Counters>{{0, 0, 0, 0.0F, 0, 0, 0, -1}});
    const Buffer seen = emulator.upload(std::vector<int>(kThreads, 0));
    emulator.launch({40}, {64}, 0, atomics_kernel, counters.as<Counters>(), seen.as<int>());
    const Counters c = counters.download<Counters>()[0];
    EXPECT_EQ(c.sum_int, kThreads * (kThreads - 1) / 2);
    EXPECT_EQ(c.sum_unsigned, 2U * kThreads);
    EXPECT_EQ(c.sum_u64, static_cast<unsigned long long>(kThreads) << 32U);
    EXPECT_EQ(c.sum_float, 0.5F * kThreads);
    EXPECT_EQ(c.largest, kThreads - 1);
    EXPECT_EQ(c.smallest, 1 - kThreads);
    EXPECT_EQ(seen.download<int>(), std::vector<int>(kThreads, 1));
    EXPECT_GE(c.winner, 0);
    EXPECT_LT(c.winner, kThreads);
  }
}

TEST(SimtNames, HostSideIntrinsics) {
  EXPECT_EQ(min(3, 5U), 3U);
  EXPECT_EQ(max(2.0F, NAN), 2.0F);
  EXPECT_EQ(min(NAN, 2.0F), 2.0F);
  EXPECT_EQ(__float_as_int(1.0F), 0x3F800000);
  EXPECT_EQ(__int_as_float(0x40000000), 2.0F);
  EXPECT_EQ(__popc(0xF0F0U), 8);
  EXPECT_EQ(__clz(1), 31);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(8), 4);
  EXPECT_EQ(__umulhi(0x80000000U, 6U), 3U);
  EXPECT_EQ(rsqrtf(4.0F), 0.5F);
  EXPECT_EQ(sizeof(float4), 16U);
  EXPECT_EQ(alignof(float4), 16U);
}

}  // namespace
}  // namespace attn::on_simt
