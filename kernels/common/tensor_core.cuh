// Tensor cores and asynchronous copies (sm_80 and later), as functions: PTX under nvcc, warp-collective
// operations of the emulator under g++ (kernels/simt/tensor_core.h). Names are those of the instructions.
//
//   mma_m16n8k16<T>(c, a, b)      c[16, 8] += a[16, 16] * b[16, 8] in float; all 32 lanes of a warp
//   ldmatrix_x4(out, row)         four 8 x 8 matrices of 16-bit values; lane l brings the address of row l %
//   8
//                                 of matrix l / 8; _trans delivers each transposed
//   cp_async_16(to, from, valid)  16 bytes global -> shared, past the registers; zeros when not valid
//   cp_async_commit_group(), cp_async_wait_group<n>()   all but the last n groups have arrived, for this
//   thread
//
// Which element of a fragment a lane holds (lane = 4 * r + c):
//   a  pairs at rows r, r + 8, r, r + 8 and columns 2c, 2c, 2c + 8, 2c + 8
//   b  pairs at rows 2c, 2c + 8 of column r
//   c  row r, columns 2c and 2c + 1; then row r + 8
// So two c fragments side by side (16 columns), narrowed to 16 bits, are one a fragment without a move.
#pragma once

#include <cstring>

#include "kernels/common/device_text.h"

#ifdef __CUDACC__

namespace attn::on_cuda {

// Below sm_80 there is neither bf16 mma nor cp.async; launchers choose level 2 there, the text must compile.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define ATTN_SM80(...) __trap()
#else
#define ATTN_SM80(...) asm volatile(__VA_ARGS__)
#endif

__device__ inline unsigned shared_address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

template <class T>
__device__ inline void mma_m16n8k16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    ATTN_SM80(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    ATTN_SM80(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
}

__device__ inline void ldmatrix_x4(std::uint32_t (&out)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(shared_address(row))
               : "memory");
}
__device__ inline void ldmatrix_x4_trans(std::uint32_t (&out)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(shared_address(row))
               : "memory");
}

/// Through the L2 alone (.cg): a tile is read once, the L1 would keep it for nobody.
__device__ inline void cp_async_16(void* shared, const void* global, bool valid) {
  ATTN_SM80("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;"
            :
            : "r"(shared_address(shared)), "l"(global), "r"(valid ? 16 : 0)
            : "memory");
}
/// The same for what nobody reads again: it leaves the L2 before tables and partials do.
__device__ inline void cp_async_16_once(void* shared, const void* global, bool valid) {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
  ATTN_SM80("cp.async.cg.shared.global.L2::cache_hint.L2::128B [%0], [%1], 16, %2, %3;"
            :
            : "r"(shared_address(shared)), "l"(global), "r"(valid ? 16 : 0), "l"(policy)
            : "memory");
}
__device__ inline void cp_async_commit_group() { ATTN_SM80("cp.async.commit_group;" ::: "memory"); }
template <int kGroupsLeft>
__device__ inline void cp_async_wait_group() {
  ATTN_SM80("cp.async.wait_group %0;" ::"n"(kGroupsLeft) : "memory");
}

/// Orders this thread's accesses, and those it saw through a barrier, for the whole GPU: release before and
/// acquire after an atomic. Cheaper than __threadfence(), which orders all threads' views alike.
__device__ inline void fence_gpu() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

/// 2^x with the hardware's own accuracy (2 ulp); 2^-inf = 0.
__device__ inline float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// log2(x) with the hardware's own accuracy; x > 0.
__device__ inline float log2_approx(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

#undef ATTN_SM80

}  // namespace attn::on_cuda

#endif

namespace attn::ATTN_BACKEND {

/// Two floats rounded to T, `low` in the lower half.
template <class T>
__device__ inline std::uint32_t pack_pair(float low, float high) {
  std::uint32_t bits = 0;
  if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    memcpy(&bits, &pair, sizeof bits);
  } else {
    const __half2 pair = __floats2half2_rn(low, high);
    memcpy(&bits, &pair, sizeof bits);
  }
  return bits;
}

/// Position, in elements, of 16-byte chunk `chunk` of row `row` in a tile of rows of kDim 16-bit values. The
/// chunk number is swizzled by the row: the 8 rows that one 8 x 8 matrix of ldmatrix reads at the same chunk
/// lie in 8 different groups of 4 banks, without padding.
template <int kDim>
__device__ inline int swizzled(int row, int chunk) {
  static_assert(kDim % 64 == 0);
  return row * kDim + (chunk ^ (row & 7)) * 8;
}

constexpr float kLog2E = 1.44269504088896340736F;
constexpr float kLn2 = 0.69314718055994530942F;

}  // namespace attn::ATTN_BACKEND
