// A user's own tensors (dumped from PyTorch, say) put through one attention kernel: what `attend` runs and
// what the window shows of it, as a trace of one step with one layer.
//
//   q [Nq, H, D]; packed k, v [Nk, Hkv, D] and/or k_cache, v_cache [blocks, bs, Hkv, D] with
//   block_tables i32 [B, W]; cu_seqlens_q, cu_seqlens_k i32 [B+1] (prefill) or context_lens i32 [B] (decode);
//   optional k_new, v_new [M, Hkv, D] with slot_mapping i32 [M], stored before attention reads the cache.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/safetensors.h"
#include "core/trace/step_record.h"
#include "core/trace/store.h"
#include "kernels/device.h"

namespace attn::trace {

enum class AttendOp : std::uint8_t { prefill, decode };

struct AttendOptions {
  AttendOp op = AttendOp::prefill;
  std::string path{};  // prefill: packed, paged, gather_flatten; decode: paged, gather_masked, gather_padded;
                       // "" = packed when the case has packed k, else paged
  std::string mask{};  // bottom_right, top_left, none; "" = bottom_right
  int level = 2;
  int k_tile = 0;        // keys per tile of the online softmax, 0 = the plan's own
  int num_splits = 0;    // of a decode row's keys, 0 = the plan's own
  std::string title{};   // of the scenario that shows the case; "" = the case's own name
  bool weights = false;  // also return the softmax weights
};

/// Validated: ranks, equal dtypes, heads, head_dim, and every value of the integer tensors that does not
/// depend on the op and path (attend checks those that do).
struct TensorCase {
  std::string name;
  TensorRecord q;
  std::optional<TensorRecord> k, v, k_cache, v_cache, k_new, v_new;
  std::optional<std::vector<std::int32_t>> cu_seqlens_q, cu_seqlens_k, context_lens, slot_mapping;
  std::optional<std::vector<std::vector<std::int32_t>>> block_tables;  // [B][W], -1 padded
  std::optional<float> scale;
};

/// Throws InputError naming the tensor, the index and the value that is wrong. Tensors of other names are
/// left alone: a dump often holds the expected output too.
TensorCase make_tensor_case(const std::string& name, const TensorMap& tensors, const MetadataMap& metadata);
/// The same from a safetensors file.
TensorCase load_tensor_case(const std::filesystem::path& path);

struct AttendResult {
  TensorRecord o;                       // T [Nq, H, D]
  TensorRecord lse;                     // F32 [H, Nq]
  std::optional<TensorRecord> weights;  // F32 [H, Nq, max_k], 0 where the mask hides the key
  std::shared_ptr<const Store> store;   // one step, one layer, cache contents included
};

/// Throws InputError for a case that does not fit op and path, DeviceError when the device fails.
AttendResult attend(Device& device, const TensorCase& tensors, const AttendOptions& options);

/// Writes o, lse and, if present, weights as safetensors.
void write_attend_result(const std::filesystem::path& path, const AttendResult& result);

/// How a case is opened when nobody said: decode when it has context_lens, else prefill.
AttendOptions default_options(const TensorCase& tensors);

}  // namespace attn::trace
