#include "sample_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/mask.h"
#include "kernels/common/online_softmax.h"

namespace attn::viz::sample {
namespace {

using trace::AttentionPath;
using trace::StepKind;

/// An invented score: near keys and the first one draw attention, each head differently.
float score_of(int head, int row, int key, int own) {
  const auto distance = static_cast<float>(own - key);
  const float near = 3.2F * std::exp(-distance * (0.25F + 0.2F * static_cast<float>(head % 4)));
  const float sink = key == 0 ? 1.6F : 0.0F;
  return near + sink + 1.3F * std::sin(static_cast<float>(row * 7 + key * 13 + head * 5));
}

/// Tile states as a kernel's probe leaves them: the online softmax of kernels/common over the scores of each
/// row, |o| of values on a circle; then the partials of the splits.
void fill_tiles(trace::AttentionView& view, const Spec& spec) {
  view.k_tile = spec.k_tile;
  view.num_tiles = (view.max_k + spec.k_tile - 1) / spec.k_tile;
  view.num_splits = spec.num_splits;
  view.keys_per_split = (view.num_tiles + spec.num_splits - 1) / spec.num_splits * spec.k_tile;
  const std::size_t rows = static_cast<std::size_t>(view.num_heads) * view.num_q;
  view.tile_m.assign(rows * view.num_tiles, std::numeric_limits<float>::quiet_NaN());
  view.tile_l = view.tile_alpha = view.tile_o_norm = view.tile_m;
  view.partial_lse.assign(rows * spec.num_splits, -std::numeric_limits<float>::infinity());
  view.partial_o_norm.assign(rows * spec.num_splits, 0.0F);
  for (std::size_t row = 0; row < rows; ++row) {
    const float* scores = view.scores.data() + row * view.max_k;
    OnlineSoftmax state;
    float x = 0.0F, y = 0.0F;
    for (int t = 0; t < view.num_tiles; ++t) {
      const int begin = t * spec.k_tile, end = std::min(view.max_k, begin + spec.k_tile);
      if (begin % view.keys_per_split == 0) {
        state = {};
        x = y = 0.0F;
      }
      float largest = -std::numeric_limits<float>::infinity();
      for (int k = begin; k < end; ++k) largest = std::fmax(largest, scores[k]);
      if (std::isinf(largest)) continue;  // every key masked: NaN scores
      const float alpha = state.raise(largest);
      float sum = 0.0F;
      x *= alpha;
      y *= alpha;
      for (int k = begin; k < end && !std::isnan(scores[k]); ++k) {
        const float weight = state.weight(scores[k]);
        sum += weight;
        x += weight * std::cos(static_cast<float>(k));
        y += weight * std::sin(static_cast<float>(k));
      }
      state.add(alpha, sum);
      const std::size_t at = row * view.num_tiles + t;
      view.tile_m[at] = state.m;
      view.tile_l[at] = state.l;
      view.tile_alpha[at] = alpha;
      view.tile_o_norm[at] = std::hypot(x, y);
      const std::size_t part = static_cast<std::size_t>(begin / view.keys_per_split) * rows + row;
      view.partial_lse[part] = state.lse();
      view.partial_o_norm[part] = std::hypot(x, y) * state.normalizer();
    }
  }
}

}  // namespace

std::shared_ptr<trace::AttentionView> attention_of(const trace::StepRecord& step, const Spec& spec) {
  auto view = std::make_shared<trace::AttentionView>();
  view->step = step.step;
  view->path = step.path;
  view->kernel = spec.kind == StepKind::decode ? "decode_l2_tiled_kernel<float, StateProbe>"
                                               : "prefill_l2_tiled_kernel<float, StateProbe>";
  view->device = "SIMT emulator";
  view->levels = {
      {1, "attention_l1_scores_kernel<float>", 250'000, 180'000, 2800, 3},
      {2, spec.kind == StepKind::decode ? "decode_l2_tiled_kernel<float>" : "prefill_l2_tiled_kernel<float>",
       48'128, 180'000, 2800, 1}};
  view->num_heads = spec.heads;
  view->num_q = step.cu_seqlens_q.back();
  view->max_k = step.max_seqlen_k;
  const std::size_t size = static_cast<std::size_t>(view->num_heads) * view->num_q * view->max_k;
  view->scores.assign(size, std::numeric_limits<float>::quiet_NaN());
  view->weights = view->scores;
  view->lse.assign(static_cast<std::size_t>(view->num_heads) * view->num_q,
                   -std::numeric_limits<float>::infinity());
  const MaskAlignment mask =
      spec.kind == StepKind::decode ? MaskAlignment::none : MaskAlignment::bottom_right;
  for (int b = 0; b < step.num_scheduled; ++b) {
    const auto at = static_cast<std::size_t>(b);
    const int q_len = step.cu_seqlens_q[at + 1] - step.cu_seqlens_q[at];
    const int k_len = step.cu_seqlens_k[at + 1] - step.cu_seqlens_k[at];
    const int attended = spec.path == AttentionPath::decode_gather_padded ? step.max_seqlen_k : k_len;
    view->k_lens.push_back(k_len);
    view->attended.push_back(attended);
    for (int h = 0; h < spec.heads; ++h) {
      for (int i = 0; i < q_len; ++i) {
        const int visible = visible_keys(mask, i, q_len, attended);
        const int row = step.cu_seqlens_q[at] + i;
        const std::size_t base = (static_cast<std::size_t>(h) * view->num_q + row) * view->max_k;
        double sum = 0.0;
        for (int k = 0; k < visible; ++k) {
          view->scores[base + k] = k < k_len ? score_of(h, row, k, k_len - q_len + i) : 0.0F;
          sum += std::exp(static_cast<double>(view->scores[base + k]));
        }
        for (int k = 0; k < visible; ++k)
          view->weights[base + k] =
              static_cast<float>(std::exp(static_cast<double>(view->scores[base + k])) / sum);
        if (visible > 0)
          view->lse[static_cast<std::size_t>(h) * view->num_q + row] = static_cast<float>(std::log(sum));
      }
    }
  }
  fill_tiles(*view, spec);
  view->max_abs_diff_o = 0.0;
  view->max_abs_o = 1.93;
  return view;
}

}  // namespace attn::viz::sample
