// Tensor-core operations for g++, under the names of kernels/common/tensor_core.cuh: warp-collective, with
// the register layouts of PTX, so that a wrong fragment index is as wrong here as on a GPU.
#pragma once

#include <math.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/simt/async_copy.h"
#include "kernels/simt/collectives.h"
#include "kernels/simt/half_types.h"

namespace attn::simt {

/// One lane's part of c += a * b (m16n8k16).
struct MmaLane {
  const std::uint32_t* a;  // [4] pairs of 16-bit values
  const std::uint32_t* b;  // [2]
  float* c;                // [4]
};
void mma_all_lanes(bool bf16, MmaLane& mine, const Site& site);

/// One lane's part of ldmatrix.x4: it brings one row of 8 values and takes 4 pairs away.
struct LdmatrixLane {
  std::uint16_t row[8];
  std::uint32_t* out;  // [4]
};
void ldmatrix_all_lanes(bool transposed, LdmatrixLane& mine, const Site& site);

/// The lane reads its own row, so that ThreadSanitizer sees who read it.
inline void ldmatrix(bool transposed, std::uint32_t (&out)[4], const void* row, const Site& site) {
  LdmatrixLane mine{{}, out};
  std::memcpy(mine.row, row, sizeof mine.row);
  ldmatrix_all_lanes(transposed, mine, site);
}

}  // namespace attn::simt

namespace attn::on_simt {

template <class T>
void mma_m16n8k16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                  simt::Site site = simt::Site::current()) {
  simt::MmaLane mine{a, b, c};
  simt::mma_all_lanes(std::is_same_v<T, __nv_bfloat16>, mine, site);
}
inline void ldmatrix_x4(std::uint32_t (&out)[4], const void* row, simt::Site site = simt::Site::current()) {
  simt::ldmatrix(false, out, row, site);
}
inline void ldmatrix_x4_trans(std::uint32_t (&out)[4], const void* row,
                              simt::Site site = simt::Site::current()) {
  simt::ldmatrix(true, out, row, site);
}

inline void cp_async_16(void* shared, const void* global, bool valid) {
  simt::copy_async(shared, global, valid);
}
inline void cp_async_16_once(void* shared, const void* global, bool valid) {
  simt::copy_async(shared, global, valid);
}
inline void cp_async_commit_group() { simt::commit_async(); }
template <int kGroupsLeft>
void cp_async_wait_group() {
  simt::wait_async(kGroupsLeft);
}

inline void fence_gpu() { __threadfence(); }

inline float exp2_approx(float x) { return exp2f(x); }
inline float log2_approx(float x) { return log2f(x); }

}  // namespace attn::on_simt
