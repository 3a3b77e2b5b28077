// Block tables: per sequence a row of logical blocks naming physical ones, and for the selected sequence the
// slot arithmetic with its live numbers.
#pragma once

#include "viz/panels/block_arrows.h"
#include "viz/widgets/ui.h"

namespace attn::viz {

/// Returns where the arrow to the pool begins.
ArrowStart draw_block_tables(Ui& ui, const Rect& rect);

}  // namespace attn::viz
