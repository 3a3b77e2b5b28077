// Geometry of the packed strip: each sequence's keys on the upper ruler (cached part, then new part) and its
// queries on the lower one, right-aligned under the keys. Queries too narrow to see are drawn wider. Pure, in
// pixels.
#pragma once

#include <algorithm>
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
  /// Width of one query row; more than px_per_token where the segment is drawn wider than to scale.
  float q_px() const { return (q_x1 - q_x0) / static_cast<float>(std::max(1, q1 - q0)); }
  /// x where the new keys begin: above the queries. Where those are wider than to scale, what is cached keeps
  /// half of the segment, or its own share where that is less.
  float k_split() const {
    const float share = static_cast<float>(cached()) / static_cast<float>(std::max(1, k1 - k0));
    return std::max(k_x1 - (q_x1 - q_x0), k_x0 + (k_x1 - k_x0) * std::min(0.5F, share));
  }
};

struct StripLayout {
  float px_per_token = 0;
  bool widened = false;  // some queries are wider than px_per_token each
  std::vector<StripSegment> segments;
};

/// `gap` separates segments in the drawing only; it shrinks when there are many. A segment with more queries
/// than keys is not something the engine makes: its queries start at the key segment's left edge.
/// No queries are narrower than `min_q` as far as the gap to the segment before has room for them.
StripLayout layout_strip(const std::vector<std::int32_t>& cu_seqlens_q,
                         const std::vector<std::int32_t>& cu_seqlens_k, float x, float width, float gap,
                         float min_q = 0.0F);
/// As it lies in memory: no gaps, and the queries packed from the left, not under their keys.
StripLayout layout_strip_memory(const std::vector<std::int32_t>& cu_seqlens_q,
                                const std::vector<std::int32_t>& cu_seqlens_k, float x, float width);

}  // namespace attn::viz
