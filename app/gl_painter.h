// Dear ImGui drawing a session's frame into the current OpenGL 3.3 context: the same code for the window and
// for headless pictures.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/gl_heat.h"
#include "app/image_write.h"
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

  struct Painted {
    viz::Commands commands;  // what the panels asked for
    bool drawn = false;  // false: the picture is the one drawn last, so nothing was done and nothing need be
                         // swapped
  };
  /// After the platform's new-frame: builds the screen and draws it at that pixel size.
  Painted paint(const viz::Frame& frame, const viz::Selection& selection, viz::ViewState& view, int width,
                int height);
  /// As paint, without drawing: sizes of texts and scroll positions settle over a few frames.
  void settle(const viz::Frame& frame, const viz::Selection& selection, viz::ViewState& view);
  /// Scrolls everything to its beginning, so that the next picture does not depend on those before it.
  void rewind();
  /// The next picture is drawn whatever it is: the window's contents were lost.
  void forget() { last_picture_ = 0; }
  const viz::Marks& marks() const { return marks_; }
  /// Fonts that were not found, or "".
  const std::string& font_note() const { return font_note_; }

 private:
  void restyle(const viz::ViewState& view);
  viz::Commands build(const viz::Frame& frame, const viz::Selection& selection, viz::ViewState& view);
  ImGuiContext* context_ = nullptr;
  std::unique_ptr<GlHeat> heat_;
  viz::Marks marks_;
  std::string font_note_;
  std::uint64_t last_picture_ = 0;  // hash of what was drawn last; 0 = nothing
  viz::StyleKey style_;             // scale 0: nothing styled yet
};

/// What is drawn in the current frame buffer, opaque, top row first.
Image read_picture(int width, int height);
/// From rows as OpenGL gives them, bottom row first, RGBA. `see_through`: drawn on nothing, so that colours
/// come with alpha multiplied in, which is taken out again; else opaque.
Image picture_of(const std::uint8_t* bottom_up, int width, int height, bool see_through = false);

}  // namespace attn::app
