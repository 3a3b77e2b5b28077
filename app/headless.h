// Pictures without a display: an EGL context without a surface, a frame buffer object, glReadPixels through
// pixel buffers.
#pragma once

#include <memory>
#include <string>

#include "app/image_write.h"
#include "app/session.h"

namespace attn::app {

/// Frames before a picture: sizes of texts settle on the third, scrolling after it.
inline constexpr int kSettleFrames = 3;

class Headless {
 public:
  /// Throws DeviceError saying what is missing when no EGL device gives an OpenGL 3.3 context, InputError for
  /// a side outside 16 .. 8192 pixels.
  Headless(int width, int height);
  ~Headless();
  /// The session's picture as it is now, whatever was drawn before it.
  Image picture(Session& session, viz::ViewState& view);
  /// The same in two halves: draws and lets the driver read, while the caller does something else. At most
  /// two pictures are under way; take_picture gives the older one.
  void start_picture(Session& session, viz::ViewState& view);
  Image take_picture();
  /// GL_RENDERER.
  std::string renderer() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attn::app
