// What keys do to the view alone: sizes, layouts, panels, what lies over them.
#pragma once

#include "viz/keys.h"
#include "viz/screen.h"

namespace attn::viz {

/// The grain that many finer (or coarser, below 0), as far as there are any.
trace::Grain shifted(trace::Grain grain, int by);
/// Esc closes one thing at a time, the nearest first; false when nothing was open.
bool closed_something(ViewState& view);
/// Actions that change the size of text and drawings; false for others.
bool change_size(KeyAction action, ViewState& view);
/// Actions that change only the view; false for others.
bool change_view(KeyAction action, int argument, const Frame& frame, ViewState& view);
/// Actions that open something over the panels; false for others.
bool open_overlay(KeyAction action, ViewState& view);

}  // namespace attn::viz
