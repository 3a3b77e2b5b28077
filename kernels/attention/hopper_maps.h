// What a launch of level 4 prefill needs besides its params, made on the host for each launch: tensor maps
// for the copies, which hold addresses, and divisors.
#pragma once

#include <cudaTypedefs.h>

#include <algorithm>

#include "kernels/attention/hopper_copy.cuh"

namespace attn::on_cuda {

/// cuTensorMapEncodeTiled of the driver: asked for at run time, so that programs start without a driver too.
inline PFN_cuTensorMapEncodeTiled_v12000 tensor_map_encoder() {
  static const auto encoder = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                               cudaEnableDefault, &found);
#else
    const cudaError_t error =
        cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
#endif
    cuda_check(error, "cuTensorMapEncodeTiled");
    if (found != cudaDriverEntryPointSuccess)
      throw DeviceError("CUDA: this driver has no cuTensorMapEncodeTiled; update it");
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
  }();
  return encoder;
}

/// A map of kDims dimensions, the fastest first; strides in bytes, but for the first dimension, whose
/// elements follow each other. Boxes are laid down in the 128-byte swizzle of swizzled<64>().
template <int kDims>
CUtensorMap tensor_map(const void* base, DType dtype, const std::uint64_t (&dims)[kDims],
                       const std::uint64_t (&strides)[kDims - 1], const std::uint32_t (&box)[kDims]) {
  std::uint32_t steps[kDims];
  std::fill_n(steps, kDims, 1U);
  CUtensorMap map;
  const CUresult result = tensor_map_encoder()(
      &map, dtype == DType::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16, kDims,
      const_cast<void*>(base), dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  ATTN_CHECK(result == CUDA_SUCCESS,
             "prefill_attention: the driver makes no tensor map of {} dimensions (error {})", kDims,
             static_cast<int>(result));
  return map;
}

/// q [Nq, H, D] in boxes of 64 rows and 64 columns of one head.
inline CUtensorMap query_map(const PrefillParams& p) {
  const std::uint64_t dim = p.head_dim, heads = p.num_heads, rows = p.total_q;
  return tensor_map<3>(p.q, p.dtype, {dim, heads, rows}, {2 * dim, 2 * dim * heads}, {64, 1, 64});
}
/// K or V [rows, Hkv, D] in boxes of box_rows whole rows of one head, in the order of key_chunk(): 64 columns
/// of 8 rows, the next columns of these rows, the next 8 rows. Any row may be a box's first: rows and groups
/// of 8 rows are two dimensions that overlap.
inline CUtensorMap key_map(const PrefillParams& p, const void* base, std::uint64_t rows, int box_rows) {
  const std::uint64_t dim = p.head_dim, heads = p.num_kv_heads, row = 2 * dim * heads;
  const auto columns = static_cast<std::uint32_t>(dim / 64),
             groups = static_cast<std::uint32_t>(box_rows / 8);
  return tensor_map<5>(base, p.dtype, {64, rows, columns, groups, heads}, {row, 128, 8 * row, 2 * dim},
                       {64, 8, columns, groups, 1});
}

inline HopperExtras hopper_extras(const PrefillParams& p) {
  // Packed K and V: how many rows there are only the device knows; whole tiles of existing rows are asked
  // for.
  constexpr std::uint64_t kUnknownRows = std::uint64_t{1} << 31U;
  HopperExtras extras;
  extras.by_heads = FastDivide(p.num_heads);
  extras.by_kv_heads = FastDivide(p.num_kv_heads);
  extras.by_group = FastDivide(p.num_heads / p.num_kv_heads);
  extras.by_block_size = FastDivide(std::max(1, p.kv.block_size));
  extras.box_shift = 0;
  if (p.block_tables)
    while (p.kv.block_size % (kL4KeyTile >> extras.box_shift) != 0) ++extras.box_shift;
  extras.q = extras.k = extras.v = query_map(p);
  if (p.max_seqlen_k == 0) return extras;  // K and V may be null then, and nothing of them is asked for
  const std::uint64_t rows = p.block_tables ? static_cast<std::uint64_t>(p.kv.num_slots()) : kUnknownRows;
  const int box_rows = kL4KeyTile >> extras.box_shift;
  extras.k = key_map(p, p.k, rows, box_rows);
  extras.v = key_map(p, p.v, rows, box_rows);
  return extras;
}

}  // namespace attn::on_cuda
