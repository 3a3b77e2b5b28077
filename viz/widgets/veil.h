// What a step has not done yet by the stage at the cursor: a panel shows it faint.
#pragma once

#include "viz/widgets/ui.h"

namespace attn::viz {

/// Whether what attention computes is still to come.
bool before_attention(const Ui& ui);
/// Lays the theme's veil over a part of the panel at hand, whatever scrolls in it included. Call it when the
/// part is drawn; the mouse reaches what lies below. The mark is "<panel>/veil".
void draw_veil(Ui& ui, const Rect& part);
/// The same over all below the panel's title, where attention is still to come. The title's caption says so
/// (with_moment_note).
void veil_before_attention(Ui& ui);

}  // namespace attn::viz
