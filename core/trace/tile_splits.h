// Which tiles a split of a split-KV decode has. Its keys need not end with a tile: one that straddles belongs
// to the split that its first key is in.
#pragma once

#include "core/trace/attention_view.h"

namespace attn::trace {

/// 0 when the keys are not split.
inline int split_of_tile(const AttentionView& view, int tile) {
  return view.num_splits > 1 && view.keys_per_split > 0 ? tile * view.k_tile / view.keys_per_split : 0;
}
/// The first tile of the split, which is one past the last of the split before it.
inline int first_tile_of(const AttentionView& view, int split) {
  return (split * view.keys_per_split + view.k_tile - 1) / view.k_tile;
}
/// Whether nothing was accumulated before the tile: the row's first, or a split's.
inline bool begins_at(const AttentionView& view, int tile) {
  return tile == 0 || split_of_tile(view, tile) != split_of_tile(view, tile - 1);
}

}  // namespace attn::trace
