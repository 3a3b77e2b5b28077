// Prefill weights: query rows over key columns in cividis, row sums at the right, a colour bar, numbers in
// cells that are large enough. Masked cells are hatched because the kernel did not look at them.
#pragma once

#include "viz/lookup.h"
#include "viz/widgets/ui.h"

namespace attn::viz {

void draw_weights_matrix(Ui& ui, const BatchRows& rows);

}  // namespace attn::viz
