// The session's picture as vectors: the same panels, drawn by nobody.
#pragma once

#include <memory>
#include <vector>

#include "app/session.h"
#include "app/vector_shapes.h"
#include "viz/screen.h"

namespace attn::app {

class VectorPainter {
 public:
  VectorPainter();  // needs no display and no OpenGL
  ~VectorPainter();
  VectorPainter(const VectorPainter&) = delete;
  VectorPainter& operator=(const VectorPainter&) = delete;

  std::vector<Shape> picture(Session& session, viz::ViewState& view, int width, int height);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attn::app
