// Probes: how the viewer looks into a running attention kernel. A kernel takes the probe as a template
// argument and tells it every score and, after each tile, the online-softmax state. NoProbe vanishes at
// compile time; StateProbe writes to the side buffers of ProbeBuffers. The arithmetic is the same text, so o
// is bit-equal with and without it.
#pragma once

#include <cstdint>

#include "kernels/common/host_device.h"
#include "kernels/common/online_softmax.h"
#include "kernels/common/params.h"

namespace attn {

struct NoProbe {
  static constexpr bool kOn = false;
  ATTN_HD NoProbe(const ProbeBuffers&, std::int64_t) {}
  ATTN_HD void score(int, std::int64_t, int, float) const {}
  ATTN_HD void tile(int, std::int64_t, int, const OnlineSoftmax&, float, float) const {}
};

class StateProbe {
 public:
  static constexpr bool kOn = true;
  ATTN_HD StateProbe(const ProbeBuffers& out, std::int64_t num_rows) : out_(out), num_rows_(num_rows) {}

  /// Score of key `col` for query row `row` (packed). weights first holds the score as well:
  /// probe_weights_kernel turns it into exp(score - lse) once the row's lse is known.
  ATTN_HD void score(int head, std::int64_t row, int col, float s) const {
    const std::int64_t at = (head * num_rows_ + row) * out_.max_k + col;
    if (out_.scores) out_.scores[at] = s;
    if (out_.weights) out_.weights[at] = s;
  }

  /// State after tile number `tile`; alpha rescaled what came before it, o_norm is |o| before division by l.
  ATTN_HD void tile(int head, std::int64_t row, int tile, const OnlineSoftmax& state, float alpha,
                    float o_norm) const {
    const std::int64_t at = (head * num_rows_ + row) * out_.max_tiles + tile;
    if (out_.tile_m) out_.tile_m[at] = state.m;
    if (out_.tile_l) out_.tile_l[at] = state.l;
    if (out_.tile_alpha) out_.tile_alpha[at] = alpha;
    if (out_.tile_o_norm) out_.tile_o_norm[at] = o_norm;
  }

 private:
  // By reference into the kernel's params. A copy of the struct here made g++ 12 -O3 drop a store in tile().
  const ProbeBuffers& out_;
  std::int64_t num_rows_;
};

}  // namespace attn
