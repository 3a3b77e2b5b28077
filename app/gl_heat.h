// Large heat maps as textures: R32F values, coloured by a palette in a fragment shader (viz/heat_texture.h
// says what it looks like). A texture is uploaded once for each key and dropped when a frame does without it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>

#include "viz/heat_texture.h"

struct ImDrawCmd;

namespace attn::app {

class GlHeat : public viz::HeatPainter {
 public:
  /// PRECOND: an OpenGL 3.3 context is current, here and in the destructor. Throws DeviceError when the
  /// driver refuses the shader.
  GlHeat();
  ~GlHeat() override;
  GlHeat(const GlHeat&) = delete;
  GlHeat& operator=(const GlHeat&) = delete;

  /// Call before the panels of a frame are drawn.
  void begin_frame();
  /// Over everything that this frame's pictures show.
  std::uint64_t frame_hash() const { return hash_; }

  int max_side() const override { return max_side_; }
  bool draw(ImDrawList& list, const viz::HeatImage& image, const viz::Rect& rect) override;

 private:
  struct Texture {
    unsigned id = 0;
    bool used = false;  // in this frame
  };
  struct Picture {
    GlHeat* owner;
    unsigned texture;
    viz::HeatImage image;
    viz::Rect rect;
  };
  unsigned texture_of(const viz::HeatImage& image);
  static void paint(const ImDrawList* list, const ImDrawCmd* command);
  void paint(const Picture& picture, const ImDrawCmd& command) const;
  int place(const char* name) const;

  unsigned program_ = 0;
  unsigned vertices_ = 0;  // an empty vertex array: the corners come from gl_VertexID
  unsigned palettes_ = 0;  // texture, one row for each palette
  int max_side_ = 0;
  std::uint64_t hash_ = 0;
  std::map<std::uint64_t, Texture> textures_;  // by key
  std::deque<Picture> pictures_;               // of this frame; draw lists point at them
};

}  // namespace attn::app
