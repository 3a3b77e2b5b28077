// Pictures as video encoders want them. Done here and once per different picture: a film repeats each for
// many frames, and a frame is 2.7 times smaller this way through the pipe.
#pragma once

#include <cstdint>
#include <vector>

#include "app/image_write.h"

namespace attn::app {

/// Planar Y [h][w], U [h/2][w/2], V [h/2][w/2]: BT.709, limited range, chroma sited as H.264 has it (on the
/// left pixel of two, between rows). Integers only, so that it is the same everywhere. PRECOND: even sides.
std::vector<std::uint8_t> to_yuv420(const Image& image);

}  // namespace attn::app
