#include "app/gl_painter.h"

#include <backends/imgui_impl_opengl3.h>
#include <glad/gl.h>
#include <imgui.h>
#include <imgui_internal.h>  // scroll positions of windows
#include <xxhash.h>

#include <algorithm>
#include <cfloat>
#include <utility>
#include <vector>

#include "kernels/common/check.h"

namespace attn::app {
namespace {

/// Over everything that decides what the pixels will be, the font texture aside. Half a megabyte takes 50 us;
/// drawing it again on a software renderer would take ten milliseconds.
std::uint64_t hash_of(const ImDrawData& data, int width, int height, std::uint64_t hash) {
  const auto mix = [&](const void* bytes, int count, std::size_t size) {
    hash = XXH3_64bits_withSeed(bytes, static_cast<std::size_t>(count) * size, hash);
  };
  mix(&width, 1, sizeof width);
  mix(&height, 1, sizeof height);
  for (int i = 0; i < data.CmdListsCount; ++i) {
    const ImDrawList& list = *data.CmdLists[i];
    mix(list.VtxBuffer.Data, list.VtxBuffer.Size, sizeof(ImDrawVert));
    mix(list.IdxBuffer.Data, list.IdxBuffer.Size, sizeof(ImDrawIdx));
    for (const ImDrawCmd& command : list.CmdBuffer) {
      mix(&command.ClipRect, 1, sizeof command.ClipRect);
      mix(&command.ElemCount, 1, sizeof command.ElemCount);
    }
  }
  return hash;
}

}  // namespace

GlPainter::GlPainter() {
  IMGUI_CHECKVERSION();
  context_ = ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;  // nothing of ours is an ImGui window position
  if (!ImGui_ImplOpenGL3_Init("#version 330 core")) {
    ImGui::DestroyContext(context_);
    throw DeviceError("OpenGL 3.3 does not work here (ImGui's OpenGL backend); update the graphics driver");
  }
  heat_ = std::make_unique<GlHeat>();
}

GlPainter::~GlPainter() {
  ImGui::SetCurrentContext(context_);
  heat_.reset();
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext(context_);
}

void GlPainter::restyle(const viz::ViewState& view) {
  const viz::StyleKey style = viz::style_key(view);
  if (style == style_) return;
  font_note_ = viz::apply_style(view);
#if IMGUI_VERSION_NUM < 19200  // later versions follow changes of the atlas by themselves
  if (style_.scale != 0.0F) {  // the first texture is made by the first NewFrame
    ImGui_ImplOpenGL3_DestroyFontsTexture();
    ImGui_ImplOpenGL3_CreateFontsTexture();
  }
#endif
  forget();  // the same triangles look different with other glyphs in the texture
  style_ = style;
}

viz::Commands GlPainter::build(const viz::Frame& frame, const viz::Selection& selection,
                               viz::ViewState& view) {
  restyle(view);
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  viz::Commands commands;
  heat_->begin_frame();
  view.heat_painter = heat_.get();
  viz::draw_screen(frame, selection, view, marks_, commands);
  view.heat_painter = nullptr;  // it lives no longer than this context
  ImGui::Render();
  return commands;
}

void GlPainter::settle(const viz::Frame& frame, const viz::Selection& selection, viz::ViewState& view) {
  build(frame, selection, view);
}

void GlPainter::rewind() {
  for (ImGuiWindow* window : context_->Windows) {
    window->Scroll = {0.0F, 0.0F};
    window->ScrollTarget = {FLT_MAX, FLT_MAX};  // none
  }
}

GlPainter::Painted GlPainter::paint(const viz::Frame& frame, const viz::Selection& selection,
                                    viz::ViewState& view, int width, int height) {
  Painted painted{.commands = build(frame, selection, view)};
  // A key of this frame has changed theme or mode: half of the picture is in the old colours and letters.
  if (viz::style_key(view) != style_) return painted;
  const std::uint64_t seed = heat_->frame_hash() + (view.picture.clear ? 1 : 0);
  const std::uint64_t picture = hash_of(*ImGui::GetDrawData(), width, height, seed);
  if (std::exchange(last_picture_, picture) == picture) return painted;
  const ImVec4 background = ImGui::GetStyle().Colors[ImGuiCol_WindowBg];
  glViewport(0, 0, width, height);
  if (view.picture.clear) {
    glClearColor(0.0F, 0.0F, 0.0F, 0.0F);
  } else {
    glClearColor(background.x, background.y, background.z, 1.0F);
  }
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  painted.drawn = true;
  return painted;
}

Image picture_of(const std::uint8_t* bottom_up, int width, int height, bool see_through) {
  Image image{width, height, {}};
  const std::size_t row = static_cast<std::size_t>(width) * 4;
  image.rgba.resize(row * static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y) {
    std::copy_n(bottom_up + row * static_cast<std::size_t>(height - 1 - y), row,
                image.rgba.data() + row * static_cast<std::size_t>(y));
  }
  for (std::size_t i = 0; i < image.rgba.size(); i += 4) {
    std::uint8_t* pixel = image.rgba.data() + i;
    const int alpha = std::exchange(pixel[3], see_through ? pixel[3] : std::uint8_t{0xFF});
    if (!see_through || alpha == 0 || alpha == 0xFF) continue;
    for (int c = 0; c < 3; ++c)
      pixel[c] = static_cast<std::uint8_t>(std::min(0xFF, (pixel[c] * 0xFF + alpha / 2) / alpha));
  }
  return image;
}

Image read_picture(int width, int height) {
  std::vector<std::uint8_t> bottom_up(static_cast<std::size_t>(width) * 4 * static_cast<std::size_t>(height));
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, bottom_up.data());
  return picture_of(bottom_up.data(), width, height);
}

}  // namespace attn::app
