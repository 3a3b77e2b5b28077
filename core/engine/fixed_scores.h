// Scores that are set instead of computed: the inputs of attention are changed, never the kernels, so that
// what padding takes at a given score can be seen on the real path.
#pragma once

#include "core/engine/config.h"
#include "core/engine/stage_log.h"
#include "core/model/transformer.h"
#include "kernels/common/dtype.h"

namespace attn {

/// q and k of one layer: q [rows, heads, head_dim], k [rows, kv_heads, head_dim].
struct ScoreRows {
  QkvView qkv;
  int rows = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  DType dtype = DType::f32;
};

/// Overwrites q and k on the device: k is a unit vector, q the same times score / scale, so q.k * scale is
/// the score for every key that is stored, and 0 for a key of zeros. Does nothing where scores are computed.
void fix_scores(Device& device, Scores scores, const ScoreRows& at, StageLog& log);

}  // namespace attn
