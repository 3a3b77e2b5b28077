// Plans: how an attention launch cuts its work. Pure host functions of shapes, so they can be tested
// without a device and drawn by the viewer (idea: flashinfer scheduler.cuh).
#pragma once

#include <cstddef>

#include "kernels/common/launch.h"
#include "kernels/common/params.h"

namespace attn {

/// The level that a launch really runs at. Levels 3 and 4 are for half and bfloat16, head_dim 64 and 128,
/// their own tiles, a positive scale, cache blocks of a multiple of 16 slots, and no probe; anything else
/// that asks for them gets level 2. Level 4 needs Hopper's instructions, else level 3 runs; level 3 needs
/// sm_80, else level 2 runs.
int level_of(const PrefillParams& params, const DeviceTraits& device);
int level_of(const DecodeParams& params, const DeviceTraits& device);

struct PrefillPlan {
  int level = 0;                    // that runs, see level_of
  int q_tile = 0;                   // query rows of one block
  int k_tile = 0;                   // keys of one online-softmax tile
  int num_q_tiles = 0;              // per sequence and head, ceil(max_seqlen_q / q_tile)
  int num_k_tiles = 0;              // ceil(max_seqlen_k / k_tile): columns a probe needs
  std::size_t workspace_bytes = 0;  // l1 keeps its scores here, l4 its counters
};
PrefillPlan plan_prefill(const PrefillParams& params, const DeviceTraits& device);

/// Levels 1 and 2 cut each sequence's keys into num_splits ranges of equal length. Level 3 lays the keys of
/// all sequences end to end and cuts that line into num_slices equal slices, one block per KV head each: a
/// ragged batch is balanced without the host knowing its lengths. A sequence that a slice's end cuts is
/// merged. num_splits asked for then means that many slices per sequence on average; 0 fills the machine
/// once.
struct DecodePlan {
  int level = 0;  // that runs, see level_of
  int k_tile = 0;
  int num_splits = 1;      // level 3: as asked for
  int num_slices = 0;      // level 3
  int num_warps = 0;       // level 3: of a block
  int keys_per_split = 0;  // multiple of k_tile; level 3: of a slice, were all sequences max_len long
  int num_k_tiles = 0;     // columns a probe needs, tiles of all splits in key order
  std::size_t workspace_bytes = 0;  // scores (l1) or split partials (o, lse); l3 also tickets
};
DecodePlan plan_decode(const DecodeParams& params, const DeviceTraits& device);

}  // namespace attn
