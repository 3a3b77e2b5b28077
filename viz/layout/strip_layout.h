// Geometry of the packed strip: each sequence's keys on the upper ruler (cached part, then new part) and its
// queries on the lower one, right-aligned under the keys. Pure, in pixels.
#pragma once

#include <cstdint>
#include <vector>

namespace attn::viz {

struct StripSegment {
  int batch = 0;
  int q0 = 0, q1 = 0;        // packed query rows [q0, q1)
  int k0 = 0, k1 = 0;        // packed keys [k0, k1)
  float k_x0 = 0, k_x1 = 0;  // the whole key segment
  float q_x0 = 0, q_x1 = 0;  // the query segment; right-aligned: q_x1 == k_x1
  int cached() const { return (k1 - k0) - (q1 - q0); }
};

struct StripLayout {
  float px_per_token = 0;
  std::vector<StripSegment> segments;
};

/// `gap` separates segments in the drawing only; it shrinks when there are many. A segment with more queries
/// than keys is not something the engine makes: its queries start at the key segment's left edge.
StripLayout layout_strip(const std::vector<std::int32_t>& cu_seqlens_q,
                         const std::vector<std::int32_t>& cu_seqlens_k, float x, float width, float gap);
/// As it lies in memory: no gaps, and the queries packed from the left, not under their keys.
StripLayout layout_strip_memory(const std::vector<std::int32_t>& cu_seqlens_q,
                                const std::vector<std::int32_t>& cu_seqlens_k, float x, float width);

}  // namespace attn::viz
