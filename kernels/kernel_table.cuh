// The table of launchers, for simt_backend.cpp and cuda_backend.cu. Prefill and decode are handed in: they
// take longest to compile, so nvcc gets a file for each.
#pragma once

#include "kernels/attention/merge_states.cuh"
#include "kernels/cache/gather_kv.cuh"
#include "kernels/cache/repeat_kv.cuh"
#include "kernels/cache/store_kvcache.cuh"
#include "kernels/kernels.h"
#include "kernels/model/add.cuh"
#include "kernels/model/embed.cuh"
#include "kernels/model/rms_norm.cuh"
#include "kernels/model/rope.cuh"
#include "kernels/model/sample.cuh"
#include "kernels/model/silu_mul.cuh"
#include "kernels/model/take_rows.cuh"

namespace attn::ATTN_BACKEND {

constexpr Kernels kernel_table(void (*prefill_attention)(const PrefillParams&, LaunchContext&),
                               void (*decode_attention)(const DecodeParams&, LaunchContext&)) {
  return {.store_kvcache = launch_store_kvcache,
          .gather_kv = launch_gather_kv,
          .flatten_kv = launch_flatten_kv,
          .repeat_kv = launch_repeat_kv,
          .prefill_attention = prefill_attention,
          .decode_attention = decode_attention,
          .merge_states = launch_merge_states,
          .embed = launch_embed,
          .rms_norm = launch_rms_norm,
          .rope = launch_rope,
          .silu_mul = launch_silu_mul,
          .add = launch_add,
          .take_rows = launch_take_rows,
          .sample = launch_sample};
}

}  // namespace attn::ATTN_BACKEND
