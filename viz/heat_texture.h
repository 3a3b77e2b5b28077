// How a panel has a matrix of more than 64 x 64 cells drawn without a quad per cell: as one R32F texture with
// GL_NEAREST, coloured by the palette in a fragment shader. viz/ knows no OpenGL: whoever owns the context
// implements HeatPainter (app/gl_heat.*) and sets ViewState::heat_painter. Without one (headless tests) the
// panels draw at most 64 x 64 aggregated quads instead.
#pragma once

#include <cstdint>

#include "viz/marks.h"
#include "viz/palette.h"

struct ImDrawList;

namespace attn::viz {

/// One picture: `rows` x `cols` values, row r at data + r * row_stride, top row first.
/// Colour of a value v: palette stop round(255 * t), t = position(v) clamped to 0 .. 1, where
///   linear  t = (v - low) / (high - low)
///   log10   t = 1 - log10(v) / log10(kLogFloor), 0 for v <= kLogFloor (as weight_position of palette.h)
/// NaN   = the kernel did not look: 45 degree lines of `masked`, `hatch_spacing` pixels apart across the
///         line's normal times sqrt(2) (as hatch() of widgets/paint.h), on `ground`
/// +-Inf = a value that is itself NaN or infinite: plain `error`; panels put it there for both
struct HeatImage {
  std::uint64_t key = 0;  // same key = same values, never 0: the texture need not be uploaded again
  const float* data = nullptr;
  int rows = 0;
  int cols = 0;
  int row_stride = 0;  // floats
  float low = 0.0F;
  float high = 1.0F;
  Palette palette = Palette::cividis;
  bool log10 = false;
  Rgb ground = 0;
  Rgb masked = 0;
  Rgb error = 0;
  float hatch_spacing = 6.0F;  // pixels along x between two lines
};

class HeatPainter {
 public:
  virtual ~HeatPainter() = default;
  /// Largest rows or cols that one image may have (GL_MAX_TEXTURE_SIZE).
  virtual int max_side() const = 0;
  /// Puts the picture into the draw list, filling `rect` (whole pixels), clipped by the list's clip
  /// rectangle, between what was added before and what is added after. `image.data` need only live during
  /// this call: it is uploaded now or known by its key. Two calls in one frame with different keys are two
  /// pictures. Textures that a frame does not ask for may be dropped. False: it cannot (no memory, too
  /// large); the caller then draws quads.
  virtual bool draw(ImDrawList& list, const HeatImage& image, const Rect& rect) = 0;
};

}  // namespace attn::viz
