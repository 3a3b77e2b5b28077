// Plans: how an attention launch cuts its work. Pure host functions of shapes, so they can be tested
// without a device and drawn by the viewer (idea: flashinfer scheduler.cuh).
#pragma once

#include <cstddef>

#include "kernels/common/params.h"

namespace attn {

struct PrefillPlan {
  int q_tile = 0;                   // query rows of one block
  int k_tile = 0;                   // keys of one online-softmax tile
  int num_q_tiles = 0;              // per sequence and head, ceil(max_seqlen_q / q_tile)
  int num_k_tiles = 0;              // ceil(max_seqlen_k / k_tile): columns a probe needs
  std::size_t workspace_bytes = 0;  // l1 keeps its scores here; 0 for l2
};
PrefillPlan plan_prefill(const PrefillParams& params);

struct DecodePlan {
  int k_tile = 0;
  int num_splits = 1;
  int keys_per_split = 0;           // multiple of k_tile
  int num_k_tiles = 0;              // columns a probe needs, tiles of all splits in key order
  std::size_t workspace_bytes = 0;  // scores (l1) or split partials (o, lse)
};
DecodePlan plan_decode(const DecodeParams& params, int num_sms);

}  // namespace attn
