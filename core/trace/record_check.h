// Does a record that came from a file hang together? After this check every index a reader or a kernel
// forms from it is in range; whether the engine did the right thing is not asked here.
#pragma once

#include "core/trace/step_record.h"

namespace attn::trace {

/// Throws InputError naming the field, its value and what it must agree with.
void check_record(const StepRecord& record, const ModelShape& model);

/// Number of keys of sequence `b` of the batch: cu_seqlens_k differences.
inline int k_len(const StepRecord& record, std::size_t b) {
  return record.cu_seqlens_k[b + 1] - record.cu_seqlens_k[b];
}

}  // namespace attn::trace
