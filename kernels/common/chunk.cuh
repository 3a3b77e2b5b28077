// 16-byte chunks: the widest load a thread can make, and so the unit in which rows are moved. head_dim is a
// multiple of 8 and rows are dense, so every row of every tensor here starts on a 16-byte boundary when the
// tensor does (checked by the launchers).
#pragma once

#include "kernels/common/device_text.h"

namespace attn::ATTN_BACKEND {

/// 4 floats or 8 half / bfloat16 values, moved as one.
template <class T>
struct alignas(16) Chunk {
  static constexpr int kSize = 16 / static_cast<int>(sizeof(T));
  T values[kSize];
};

template <class T>
__device__ inline Chunk<T> load_chunk(const T* from) {
  return *reinterpret_cast<const Chunk<T>*>(from);
}

template <class T>
__device__ inline void store_chunk(T* to, const Chunk<T>& chunk) {
  *reinterpret_cast<Chunk<T>*>(to) = chunk;
}

template <class T>
__device__ inline Chunk<T> zero_chunk() {
  Chunk<T> chunk;
  for (int i = 0; i < Chunk<T>::kSize; ++i) chunk.values[i] = from_float<T>(0.0F);
  return chunk;
}

__device__ inline float4 load_float4(const float* from) { return *reinterpret_cast<const float4*>(from); }

/// Host: throws unless `pointer` may be read in chunks. Null passes (an empty tensor).
inline void check_aligned(const void* pointer, const char* name) {
  ATTN_CHECK(reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0, "{} = {} is not on a 16-byte boundary",
             name, pointer);
}

/// Kernel names of the launch log end in the element type as CUDA text spells it.
inline const char* element_name(DType dtype) {
  return dtype == DType::f32 ? "float" : dtype == DType::f16 ? "half" : "bfloat16";
}

}  // namespace attn::ATTN_BACKEND
