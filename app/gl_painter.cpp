#include "app/gl_painter.h"

#include <backends/imgui_impl_opengl3.h>
#include <glad/gl.h>
#include <imgui.h>

#include "kernels/common/check.h"

namespace attn::app {

GlPainter::GlPainter() {
  IMGUI_CHECKVERSION();
  context_ = ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;  // nothing of ours is an ImGui window position
  if (!ImGui_ImplOpenGL3_Init("#version 330 core")) {
    ImGui::DestroyContext(context_);
    throw DeviceError("OpenGL 3.3 does not work here (ImGui's OpenGL backend); update the graphics driver");
  }
}

GlPainter::~GlPainter() {
  ImGui::SetCurrentContext(context_);
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext(context_);
}

void GlPainter::restyle(const viz::ViewState& view) {
  if (view.scale == scale_ && view.light_theme == light_) return;
  font_note_ = viz::apply_style(view);
#if IMGUI_VERSION_NUM < 19200  // later versions follow changes of the atlas by themselves
  if (scale_ != 0.0F) {        // the first texture is made by the first NewFrame
    ImGui_ImplOpenGL3_DestroyFontsTexture();
    ImGui_ImplOpenGL3_CreateFontsTexture();
  }
#endif
  scale_ = view.scale;
  light_ = view.light_theme;
}

viz::Commands GlPainter::paint(const viz::Frame& frame, const viz::Selection& selection, viz::ViewState& view,
                               int width, int height) {
  restyle(view);
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  viz::Commands commands;
  marks_.clear();
  viz::draw_screen(frame, selection, view, marks_, commands);
  ImGui::Render();
  const ImVec4 background = ImGui::GetStyle().Colors[ImGuiCol_WindowBg];
  glViewport(0, 0, width, height);
  glClearColor(background.x, background.y, background.z, 1.0F);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  return commands;
}

}  // namespace attn::app
