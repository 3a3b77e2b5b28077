// Grouped-query attention: each K/V head is a wide tile, and the query heads that read it are small tiles
// inside it, with their weights. Heads that read another K/V head than h / (H / Hkv) are recoloured. Below,
// the K/V bytes with and without repeat_interleave.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_heads(Ui& ui, const Rect& rect);
/// Bytes of K and V that the layer moves in this step: shared by the heads of a group, and repeated for each.
void draw_head_bytes(Ui& ui, const Rect& area);
float head_bytes_height(const Ui& ui);

}  // namespace attn::viz
