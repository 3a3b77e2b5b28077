// Pictures without a display: an EGL context without a surface, a frame buffer object, glReadPixels.
#pragma once

#include <memory>
#include <string>

#include "app/image_write.h"
#include "app/session.h"

namespace attn::app {

class Headless {
 public:
  /// Throws DeviceError saying what is missing when no EGL device gives an OpenGL 3.3 context, InputError for
  /// a size outside 320x240 .. 8192x8192.
  Headless(int width, int height);
  ~Headless();
  /// The session's picture as it is now. Draws a few frames first: text sizes settle on the third.
  Image picture(Session& session, viz::ViewState& view);
  /// GL_RENDERER.
  std::string renderer() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attn::app
