// Part of the text twin: the selected block, what changed, costs, bookmarks and break points.
#pragma once

#include <string>

#include "viz/frame.h"

namespace attn::viz {

/// Of a frame with a step.
std::string describe_run(const Frame& frame, const Selection& selection);

}  // namespace attn::viz
