// Planted faults: each must be caught, with an error that says where.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "simt_testing.h"

namespace attn::on_simt {
namespace {

using namespace simt_test;

/// Block sum over a tree in shared memory; without `guarded` one barrier is missing.
__global__ void tree_sum_kernel(bool guarded, const float* in, float* out) {
  ATTN_DYNAMIC_SHARED(float, tile);
  const unsigned t = threadIdx.x;
  tile[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    if (guarded) __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = tile[0];
}

std::vector<float> tree_sums(const SimtOptions& options, bool guarded) {
  std::vector<float> in(8 * 128);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = 1.0F / static_cast<float>(i + 1);
  Emulator emulator(options);
  const Buffer x = emulator.upload(in);
  const Buffer y = emulator.buffer(8 * sizeof(float));
  emulator.launch({8}, {128}, 128 * sizeof(float), tree_sum_kernel, guarded, x.as<float>(), y.as<float>());
  return y.download<float>();
}

TEST(SimtFaults, ACorrectKernelIsBitEqualInEveryOrder) {
  const std::vector<float> forward = tree_sums({}, true);
  for (const SimtOptions& options : all_orders()) {
    const std::vector<float> other = tree_sums(options, true);
    EXPECT_EQ(std::memcmp(forward.data(), other.data(), forward.size() * sizeof(float)), 0);
  }
}

#if defined(__SANITIZE_THREAD__)
/// TSan knows each CUDA thread as a thread of its own, so it names the line that needed the barrier.
TEST(SimtFaultsDeathTest, ADroppedBarrierIsADataRace) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  constexpr int kExitCodeAfterReports = 66;
  EXPECT_EXIT(
      {
        tree_sums({}, false);
        std::exit(0);
      },
      testing::ExitedWithCode(kExitCodeAfterReports), "data race");
}
#else
TEST(SimtFaults, ADroppedBarrierChangesWithTheOrder) {
  const std::vector<float> right = tree_sums({}, true);
  const auto broken = [&](SimtOrder order) { return tree_sums({.order = order, .seed = 1}, false); };
  EXPECT_NE(broken(SimtOrder::forward), broken(SimtOrder::reverse));
  EXPECT_NE(broken(SimtOrder::forward), broken(SimtOrder::shuffled));
  EXPECT_NE(broken(SimtOrder::shuffled), right);
}
#endif

__global__ void stray_write_kernel(float* out, int n, int stray_thread, int offset) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = 1.0F;
  if (i == stray_thread) out[offset] = 2.0F;
}

TEST(SimtFaults, AWritePastTheEndNamesKernelBlockThreadAndBuffer) {
  Emulator emulator({.order = SimtOrder::shuffled, .seed = 9, .strict = true});
  const Buffer out = emulator.buffer(100 * sizeof(float), "scores");
  const auto launch = [&](int thread, int offset) {
    emulator.launch({4}, {32}, 0, stray_write_kernel, out.as<float>(), 100, thread, offset);
  };
  const std::string past = device_error([&] { launch(71, 100); });
  expect_contains(past, "kernel test_kernel, block (2,0,0), thread (7,0,0)");
  expect_contains(past, "wrote at byte 400 of buffer 'scores', which has 400 bytes");
  const std::string before = device_error([&] { launch(3, -1); });
  expect_contains(before, "block (0,0,0), thread (3,0,0)");
  expect_contains(before, "before the start of buffer 'scores'");
  launch(5, 99);  // the guards were repaired: a good launch passes
}

TEST(SimtFaults, WithoutStrictModeTheBlockIsNamed) {
  Emulator emulator({.num_threads = 1});
  const Buffer out = emulator.buffer(100 * sizeof(float), "scores");
  const std::string error =
      device_error([&] { emulator.launch({4}, {32}, 0, stray_write_kernel, out.as<float>(), 100, 40, 101); });
  expect_contains(error, "kernel test_kernel, block (1,0,0): wrote at byte 404 of buffer 'scores'");
}

__global__ void stray_shared_kernel(int offset) {
  ATTN_DYNAMIC_SHARED(int, tile);
  tile[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 9) tile[offset] = 2;
}

TEST(SimtFaults, AWritePastDynamicSharedMemoryIsFound) {
  Emulator emulator({.strict = true});
  emulator.launch({2}, {16}, 64, stray_shared_kernel, 15);
  const std::string error = device_error([&] { emulator.launch({2}, {16}, 64, stray_shared_kernel, 16); });
  expect_contains(error, "block (0,0,0), thread (9,0,0): wrote at byte 64 of dynamic shared memory");
}

/// Gets its target as an address shifted by a megabyte, so no word of the arguments points at a buffer.
constexpr std::uintptr_t kShift = 1U << 20U;
__global__ void hidden_write_kernel(std::uintptr_t shifted) {
  reinterpret_cast<float*>(shifted - kShift)[4] = 1.0F;
}

TEST(SimtFaults, AStrayWriteIntoABufferOutsideTheArgumentsNamesTheKernel) {
  Emulator emulator;
  const Buffer victim = emulator.buffer(16, "weights");
  const std::uintptr_t hidden = reinterpret_cast<std::uintptr_t>(victim.as<>()) + kShift;
  const std::string error = device_error([&] { emulator.launch({1}, {1}, 0, hidden_write_kernel, hidden); });
  expect_contains(error, "kernel test_kernel: wrote at byte 16 of buffer 'weights'");
}

__global__ void divergent_sites_kernel() {
  if (threadIdx.x < 40) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

__global__ void early_exit_kernel() {
  if (threadIdx.x == 5) return;
  __syncthreads();
}

__global__ void exited_lane_kernel(int* out) {
  if (threadIdx.x == 31) return;
  out[threadIdx.x] = __shfl_xor_sync(0xFFFFFFFFU, 1, 1);
}

__global__ void split_warp_kernel(int* out) {
  if (threadIdx.x < 16) {
    out[threadIdx.x] = __shfl_sync(0xFFFFFFFFU, 1, 0);
  } else {
    __syncthreads();
  }
}

TEST(SimtFaults, DivergenceIsAnErrorThatNamesTheSites) {
  for (const SimtOptions& options : all_orders()) {
    Emulator emulator(options);
    const Buffer out = emulator.buffer(64 * sizeof(int));
    const std::string sites = device_error([&] { emulator.launch({1}, {64}, 0, divergent_sites_kernel); });
    expect_contains(sites, "kernel test_kernel, block (0,0,0)");
    expect_contains(sites, "thread (0,0,0) and 39 more at __syncthreads");
    expect_contains(sites, "thread (40,0,0) and 23 more at __syncthreads");
    expect_contains(sites, "simt_faults.cpp:");

    const std::string exited = device_error([&] { emulator.launch({1}, {64}, 0, early_exit_kernel); });
    expect_contains(exited, "thread (0,0,0) and 62 more at __syncthreads");
    expect_contains(exited, "thread (5,0,0) exited");

    const std::string lane =
        device_error([&] { emulator.launch({1}, {32}, 0, exited_lane_kernel, out.as<int>()); });
    expect_contains(lane, "thread (0,0,0) and 30 more at __shfl_xor_sync with mask 0xffffffff");
    expect_contains(lane, "thread (31,0,0) exited");

    const std::string split =
        device_error([&] { emulator.launch({1}, {32}, 0, split_warp_kernel, out.as<int>()); });
    expect_contains(split, "thread (0,0,0) and 15 more at __shfl_sync with mask 0xffffffff");
    expect_contains(split, "thread (16,0,0) and 15 more at __syncthreads");
  }
}

__global__ void bad_mask_kernel() { __syncwarp(0xFFFEU); }
__global__ void bad_width_kernel(int* out) { *out = __shfl_sync(0xFFFFFFFFU, 1, 0, 12); }

TEST(SimtFaults, BadMasksAndWidthsAreRefused) {
  Emulator emulator;
  const Buffer out = emulator.buffer(sizeof(int));
  expect_contains(device_error([&] { emulator.launch({1}, {16}, 0, bad_mask_kernel); }),
                  "__syncwarp with mask 0x0000fffe, which leaves the caller out");
  expect_contains(device_error([&] { emulator.launch({1}, {32}, 0, bad_width_kernel, out.as<int>()); }),
                  "__shfl_sync with width 12");
}

__global__ void unwritten_kernel(const float* in, float* out) {
  ATTN_DYNAMIC_SHARED(float, tile);
  out[0] = in[0];    // nobody wrote this buffer
  out[1] = tile[3];  // nor this tile, though the block before did
  out[2] = in[4];    // one past its end
  out[3] = in[-1];   // one before its start
  tile[3] = 1.0F;
}

TEST(SimtFaults, ReadsOfWhatNobodyWroteAreNaN) {
  Emulator emulator({.num_threads = 1});
  const Buffer in = emulator.buffer(4 * sizeof(float)), out = emulator.buffer(4 * sizeof(float));
  emulator.launch({3}, {1}, 64, unwritten_kernel, in.as<float>(), out.as<float>());
  for (const float value : out.download<float>()) EXPECT_TRUE(std::isnan(value));
}

__global__ void throwing_kernel(int* out) {
  if (threadIdx.x == 3 && blockIdx.x == 1) throw std::out_of_range("planted");
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

TEST(SimtFaults, WhatAKernelThrowsComesOutAndTheNextLaunchWorks) {
  for (const SimtOptions& options : all_orders()) {
    Emulator emulator(options);
    const Buffer out = emulator.buffer(64 * 64 * sizeof(int));
    EXPECT_THROW(emulator.launch({64}, {64}, 0, throwing_kernel, out.as<int>()), std::out_of_range);
    emulator.launch({1}, {64}, 0, throwing_kernel, out.as<int>());
    const std::vector<int> got = out.download<int>();
    EXPECT_EQ(std::accumulate(got.begin(), got.begin() + 64, 0), 64);
  }
}

TEST(SimtFaults, IllegalLaunchesAreRefused) {
  Emulator emulator;
  const auto refused = [&](Dim3 grid, Dim3 block, std::size_t shared) {
    return device_error([&] { emulator.launch(grid, block, shared, bad_mask_kernel); });
  };
  expect_contains(refused({0}, {32}, 0), "grid (0,1,1)");
  expect_contains(refused({1, 70000}, {32}, 0), "grid (1,70000,1)");
  expect_contains(refused({1}, {1025}, 0), "block (1025,1,1)");
  expect_contains(refused({1}, {0}, 0), "block (0,1,1)");
  expect_contains(refused({1}, {32}, 1U << 20U), "1048576 bytes of dynamic shared memory");
  LaunchContext no_device;
  expect_contains(device_error([&] { launch_kernel(no_device, LaunchRecord{}, bad_mask_kernel); }),
                  "no SIMT device");
  EXPECT_THROW(__syncthreads(), DeviceError);
}

}  // namespace
}  // namespace attn::on_simt
