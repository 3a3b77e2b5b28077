// Dear ImGui drawing a session's frame into the current OpenGL 3.3 context: the same code for the window and
// for headless pictures.
#pragma once

#include "app/session.h"
#include "viz/marks.h"
#include "viz/screen.h"

struct ImGuiContext;

namespace attn::app {

class GlPainter {
 public:
  /// PRECOND: a context is current and glad is loaded. Throws DeviceError when ImGui's backend refuses it.
  GlPainter();
  ~GlPainter();
  GlPainter(const GlPainter&) = delete;
  GlPainter& operator=(const GlPainter&) = delete;

  /// Between the platform's new-frame and the swap: builds the screen and draws it at that pixel size.
  /// Returns what the panels asked for.
  viz::Commands paint(const viz::Frame& frame, const viz::Selection& selection, viz::ViewState& view,
                      int width, int height);
  const viz::Marks& marks() const { return marks_; }
  /// Fonts that were not found, or "".
  const std::string& font_note() const { return font_note_; }

 private:
  void restyle(const viz::ViewState& view);
  ImGuiContext* context_ = nullptr;
  viz::Marks marks_;
  std::string font_note_;
  float scale_ = 0.0F;
  bool light_ = false;
};

}  // namespace attn::app
