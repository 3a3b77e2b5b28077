#include "viz/layout/strip_layout.h"

#include <algorithm>

namespace attn::viz {

StripLayout layout_strip(const std::vector<std::int32_t>& cu_seqlens_q,
                         const std::vector<std::int32_t>& cu_seqlens_k, float x, float width, float gap,
                         float min_q) {
  StripLayout out;
  const std::size_t batch = std::min(cu_seqlens_q.size(), cu_seqlens_k.size());
  if (batch < 2 || cu_seqlens_k[batch - 1] <= 0 || width <= 0.0F) return out;
  const auto count = static_cast<float>(batch - 1);
  if (count > 1.0F) gap = std::min(gap, width * 0.25F / (count - 1.0F));
  out.px_per_token = (width - gap * (count - 1.0F)) / static_cast<float>(cu_seqlens_k[batch - 1]);
  for (std::size_t b = 0; b + 1 < batch; ++b) {
    StripSegment segment;
    segment.batch = static_cast<int>(b);
    segment.q0 = cu_seqlens_q[b];
    segment.q1 = cu_seqlens_q[b + 1];
    segment.k0 = cu_seqlens_k[b];
    segment.k1 = cu_seqlens_k[b + 1];
    segment.k_x0 = x + static_cast<float>(segment.k0) * out.px_per_token + gap * static_cast<float>(b);
    segment.k_x1 = segment.k_x0 + static_cast<float>(segment.k1 - segment.k0) * out.px_per_token;
    segment.q_x1 = segment.k_x1;
    segment.q_x0 =
        std::max(segment.k_x0, segment.k_x1 - static_cast<float>(segment.q1 - segment.q0) * out.px_per_token);
    if (segment.q1 > segment.q0 && segment.q_x1 - segment.q_x0 < min_q) {
      // One pixel of the gap stays free: neighbours remain apart.
      const float room = segment.k_x1 - segment.k_x0 + std::max(0.0F, gap - 1.0F);
      const float wanted = segment.q_x1 - std::min(min_q, room);
      out.widened = out.widened || wanted < segment.q_x0;
      segment.q_x0 = std::min(segment.q_x0, wanted);
    }
    out.segments.push_back(segment);
  }
  return out;
}

StripLayout layout_strip_memory(const std::vector<std::int32_t>& cu_seqlens_q,
                                const std::vector<std::int32_t>& cu_seqlens_k, float x, float width) {
  StripLayout out = layout_strip(cu_seqlens_q, cu_seqlens_k, x, width, 0.0F);
  for (StripSegment& segment : out.segments) {
    segment.q_x0 = x + static_cast<float>(segment.q0) * out.px_per_token;
    segment.q_x1 = x + static_cast<float>(segment.q1) * out.px_per_token;
  }
  return out;
}

}  // namespace attn::viz
