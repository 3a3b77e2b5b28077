// mma, ldmatrix and cp.async of the emulator, checked against their definitions.
#include "kernels/common/tensor_core.cuh"
#include "simt_testing.h"

namespace attn::on_simt {
namespace {

using namespace simt_test;

/// c [16, 8] = a [16, 16] * b [16, 8], fragments filled by the table in tensor_core.cuh.
template <class T>
__global__ void mma_kernel(const T* a, const T* b, float* c) {
  const int r = threadIdx.x / 4, col = threadIdx.x % 4 * 2;
  std::uint32_t fa[4], fb[2];
  float fc[4] = {1.0F, 1.0F, 1.0F, 1.0F};  // adds to what is there
  for (int i = 0; i < 4; ++i) memcpy(&fa[i], a + (r + i % 2 * 8) * 16 + col + i / 2 * 8, 4);
  for (int i = 0; i < 2; ++i) {
    const T pair[2] = {b[(col + i * 8) * 8 + r], b[(col + i * 8 + 1) * 8 + r]};
    memcpy(&fb[i], pair, 4);
  }
  mma_m16n8k16<T>(fc, fa, fb);
  for (int i = 0; i < 4; ++i) c[(r + i / 2 * 8) * 8 + col + i % 2] = fc[i];
}

template <class T>
void expect_product(Emulator& emulator) {
  std::vector<T> a(256), b(128);
  std::vector<float> expected(128, 1.0F);
  for (int i = 0; i < 256; ++i) a[i] = from_float<T>(static_cast<float>(i * 7 % 11 - 5));
  for (int i = 0; i < 128; ++i) b[i] = from_float<T>(static_cast<float>(i * 5 % 13 - 6));
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j)
      for (int k = 0; k < 16; ++k) expected[i * 8 + j] += to_float(a[i * 16 + k]) * to_float(b[k * 8 + j]);
  const Buffer da = emulator.upload(a), db = emulator.upload(b), c = emulator.buffer(512);
  emulator.launch({}, {32, 1, 1}, 0, mma_kernel<T>, da.as<T>(), db.as<T>(), c.as<float>());
  EXPECT_EQ(c.download<float>(), expected);  // small integers: exact
}

TEST(SimtTensorCore, mma_is_the_matrix_product) {
  for (const SimtOptions& options : all_orders()) {
    Emulator emulator(options);
    expect_product<__half>(emulator);
    expect_product<__nv_bfloat16>(emulator);
  }
}

/// Each lane writes its four pairs; matrix i is rows 8 * i .. of `in` [32, 8].
__global__ void ldmatrix_kernel(const std::uint16_t* in, std::uint16_t* out, bool transposed) {
  ATTN_DYNAMIC_SHARED(std::uint16_t, rows);  // [32, 8]
  for (int i = 0; i < 8; ++i) rows[threadIdx.x * 8 + i] = in[threadIdx.x * 8 + i];
  __syncwarp();
  std::uint32_t pairs[4];
  if (transposed) {
    ldmatrix_x4_trans(pairs, rows + threadIdx.x * 8);
  } else {
    ldmatrix_x4(pairs, rows + threadIdx.x * 8);
  }
  memcpy(out + threadIdx.x * 8, pairs, sizeof pairs);
}

TEST(SimtTensorCore, ldmatrix_deals_out_rows_or_columns) {
  std::vector<std::uint16_t> in(256);
  for (int i = 0; i < 256; ++i) in[i] = static_cast<std::uint16_t>(i);
  for (const SimtOptions& options : all_orders())
    for (const bool transposed : {false, true}) {
      Emulator emulator(options);
      const Buffer from = emulator.upload(in), to = emulator.buffer(512);
      emulator.launch({}, {32, 1, 1}, 512, ldmatrix_kernel, from.as<std::uint16_t>(), to.as<std::uint16_t>(),
                      transposed);
      const std::vector<std::uint16_t> out = to.download<std::uint16_t>();
      for (int lane = 0; lane < 32; ++lane)
        for (int matrix = 0; matrix < 4; ++matrix)
          for (int half = 0; half < 2; ++half) {
            const int r = lane / 4, c = lane % 4 * 2 + half;
            ASSERT_EQ(out[lane * 8 + matrix * 2 + half], matrix * 64 + (transposed ? c * 8 + r : r * 8 + c));
          }
    }
}

/// Two groups of one copy each, waiting for all but `groups_left`; out [2] as seen then.
template <int kGroupsLeft>
__global__ void copy_kernel(const float* in, float* out, bool valid) {
  ATTN_DYNAMIC_SHARED(float, rows);  // [2, 4]
  for (int i = 0; i < 2; ++i) {
    cp_async_16(rows + 4 * i, in + 4 * i, valid);
    cp_async_commit_group();
  }
  cp_async_wait_group<kGroupsLeft>();
  for (int i = 0; i < 2; ++i) out[i] = rows[4 * i];
}

TEST(SimtTensorCore, a_copy_not_waited_for_has_not_happened) {
  Emulator emulator;
  const Buffer in = emulator.upload(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}), out = emulator.buffer(8);
  emulator.launch({}, {1, 1, 1}, 32, copy_kernel<1>, in.as<float>(), out.as<float>(), true);
  EXPECT_EQ(out.download<float>()[0], 1.0F);
  EXPECT_TRUE(std::isnan(out.download<float>()[1]));
  emulator.launch({}, {1, 1, 1}, 32, copy_kernel<0>, in.as<float>(), out.as<float>(), true);
  EXPECT_EQ(out.download<float>(), (std::vector<float>{1, 5}));
  // Not valid: zeros, and the address is not read.
  emulator.launch({}, {1, 1, 1}, 32, copy_kernel<0>, static_cast<float*>(nullptr), out.as<float>(), false);
  EXPECT_EQ(out.download<float>(), (std::vector<float>{0, 0}));
}

TEST(SimtTensorCore, misuse_is_named) {
  Emulator emulator;
  const Buffer in = emulator.upload(std::vector<std::uint16_t>(256)), out = emulator.buffer(512);
  expect_contains(device_error([&] {
                    emulator.launch({}, {31, 1, 1}, 512, ldmatrix_kernel, in.as<std::uint16_t>(),
                                    out.as<std::uint16_t>(), false);
                  }),
                  "ldmatrix_x4 in a warp of 31 threads; it needs 32");
  expect_contains(
      device_error([&] {
        emulator.launch({}, {1, 1, 1}, 32, copy_kernel<0>, in.as<float>() + 1, out.as<float>(), true);
      }),
      "16-byte boundary");
}

}  // namespace
}  // namespace attn::on_simt
