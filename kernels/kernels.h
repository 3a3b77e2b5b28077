// The table of launchers. cuda_backend.cu and simt_backend.cpp compile the same kernel text and each
// export one table, so the device is a value chosen at run time.
#pragma once

#include "kernels/common/launch.h"
#include "kernels/common/params.h"

namespace attn {

/// Every launcher validates its params (ATTN_CHECK with values), launches, and appends to ctx.log.
struct Kernels {
  void (*store_kvcache)(const StoreKvCacheParams&, LaunchContext&);
  void (*gather_kv)(const GatherKvParams&, LaunchContext&);
  void (*flatten_kv)(const FlattenKvParams&, LaunchContext&);
  void (*repeat_kv)(const RepeatKvParams&, LaunchContext&);
  void (*prefill_attention)(const PrefillParams&, LaunchContext&);
  void (*decode_attention)(const DecodeParams&, LaunchContext&);
  void (*merge_states)(const MergeStatesParams&, LaunchContext&);
  void (*embed)(const EmbedParams&, LaunchContext&);
  void (*rms_norm)(const RmsNormParams&, LaunchContext&);
  void (*rope)(const RopeParams&, LaunchContext&);
  void (*silu_mul)(const SiluMulParams&, LaunchContext&);
  void (*add)(const AddParams&, LaunchContext&);
  void (*take_rows)(const TakeRowsParams&, LaunchContext&);
  void (*sample)(const SampleParams&, LaunchContext&);
};

const Kernels& simt_kernels();
const Kernels& cuda_kernels();  // only linked when the CUDA backend is built

}  // namespace attn
