#include "app/headless.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <fmt/format.h>
#include <glad/gl.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <deque>
#include <vector>

#include "app/gl_painter.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace {

constexpr int kMaxDevices = 16;

/// Displays to try: every EGL device (GPUs first, Mesa's software renderer last), then the default one.
std::vector<EGLDisplay> candidate_displays() {
  std::vector<EGLDisplay> displays;
  const auto query = reinterpret_cast<PFNEGLQUERYDEVICESEXTPROC>(eglGetProcAddress("eglQueryDevicesEXT"));
  const auto get_display =
      reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(eglGetProcAddress("eglGetPlatformDisplayEXT"));
  if (query && get_display) {
    std::array<EGLDeviceEXT, kMaxDevices> devices{};
    EGLint count = 0;
    if (query(kMaxDevices, devices.data(), &count)) {
      for (EGLint i = 0; i < count; ++i) {
        displays.push_back(
            get_display(EGL_PLATFORM_DEVICE_EXT, devices[static_cast<std::size_t>(i)], nullptr));
      }
    }
    displays.push_back(get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr));
  }
  displays.push_back(eglGetDisplay(EGL_DEFAULT_DISPLAY));
  return displays;
}

/// An OpenGL 3.3 core context of that display made current, or EGL_NO_CONTEXT.
EGLContext make_context(EGLDisplay display) {
  if (display == EGL_NO_DISPLAY || !eglInitialize(display, nullptr, nullptr)) return EGL_NO_CONTEXT;
  const std::array<EGLint, 5> config_wanted{EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                                            EGL_OPENGL_BIT, EGL_NONE};
  const std::array<EGLint, 7> context_wanted{EGL_CONTEXT_MAJOR_VERSION,
                                             3,
                                             EGL_CONTEXT_MINOR_VERSION,
                                             3,
                                             EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                             EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                             EGL_NONE};
  EGLConfig config = nullptr;
  EGLint configs = 0;
  if (!eglBindAPI(EGL_OPENGL_API) || !eglChooseConfig(display, config_wanted.data(), &config, 1, &configs) ||
      configs == 0) {
    eglTerminate(display);
    return EGL_NO_CONTEXT;
  }
  const EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, context_wanted.data());
  if (context != EGL_NO_CONTEXT && eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
    return context;
  if (context != EGL_NO_CONTEXT) eglDestroyContext(display, context);
  eglTerminate(display);
  return EGL_NO_CONTEXT;
}

}  // namespace

struct Headless::State {
  EGLDisplay display = EGL_NO_DISPLAY;
  EGLContext context = EGL_NO_CONTEXT;
  GLuint frame_buffer = 0;
  GLuint color = 0;
  int width = 0;
  int height = 0;
  std::array<GLuint, 2> buffers{};  // pixel buffers, used in turn
  struct Reading {
    GLuint buffer;
    bool see_through;
  };
  std::deque<Reading> reading;  // oldest first
  std::size_t next_buffer = 0;
  std::unique_ptr<GlPainter> painter;

  ~State() {
    painter.reset();
    if (context == EGL_NO_CONTEXT) return;
    glDeleteBuffers(static_cast<GLsizei>(buffers.size()), buffers.data());
    glDeleteFramebuffers(1, &frame_buffer);
    glDeleteTextures(1, &color);
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display, context);
    eglTerminate(display);
  }

  void make_target() {
    glGenTextures(1, &color);
    glBindTexture(GL_TEXTURE_2D, color);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glGenFramebuffers(1, &frame_buffer);
    glBindFramebuffer(GL_FRAMEBUFFER, frame_buffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, color, 0);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
      throw DeviceError(
          fmt::format("OpenGL cannot draw into a picture of {}x{}; try a smaller --size", width, height));
    }
    glGenBuffers(static_cast<GLsizei>(buffers.size()), buffers.data());
    for (const GLuint buffer : buffers) {
      glBindBuffer(GL_PIXEL_PACK_BUFFER, buffer);
      glBufferData(GL_PIXEL_PACK_BUFFER, GLsizeiptr{4} * width * height, nullptr, GL_STREAM_READ);
    }
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  }

  void paint(Session& session, viz::ViewState& view) {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = ImVec2(static_cast<float>(width), static_cast<float>(height));
    io.DeltaTime = 1.0F / 30.0F;  // a virtual clock: pictures do not depend on the machine's speed
    glBindFramebuffer(GL_FRAMEBUFFER, frame_buffer);
    const viz::Frame& frame = session.frame();
    painter->rewind();
    viz::show_selected_again(view);
    for (int i = 0; i < kSettleFrames; ++i) painter->settle(frame, session.selection(), view);
    painter->paint(frame, session.selection(), view, width, height);
  }

  void read(bool see_through) {
    ATTN_CHECK(reading.size() < buffers.size(), "pictures are started faster than taken");
    const GLuint buffer = buffers[next_buffer];
    next_buffer = (next_buffer + 1) % buffers.size();
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffer);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    reading.push_back({buffer, see_through});
  }

  Image take() {
    ATTN_CHECK(!reading.empty(), "no picture was started");
    const Reading oldest = reading.front();
    reading.pop_front();
    glBindBuffer(GL_PIXEL_PACK_BUFFER, oldest.buffer);
    const void* pixels =
        glMapBufferRange(GL_PIXEL_PACK_BUFFER, 0, GLsizeiptr{4} * width * height, GL_MAP_READ_BIT);
    if (pixels == nullptr)
      throw DeviceError("OpenGL cannot hand out its picture; update the graphics driver");
    Image image = picture_of(static_cast<const std::uint8_t*>(pixels), width, height, oldest.see_through);
    glUnmapBuffer(GL_PIXEL_PACK_BUFFER);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    return image;
  }
};

Headless::Headless(int width, int height) : state_(std::make_unique<State>()) {
  constexpr int kLeast = 16, kMost = 8192;  // a side
  if (std::min(width, height) < kLeast || std::max(width, height) > kMost) {
    throw InputError(fmt::format("a picture of {}x{} is out of range; use {} to {} pixels a side", width,
                                 height, kLeast, kMost));
  }
  state_->width = width;
  state_->height = height;
  for (const EGLDisplay display : candidate_displays()) {
    state_->context = make_context(display);
    if (state_->context != EGL_NO_CONTEXT) {
      state_->display = display;
      break;
    }
  }
  if (state_->context == EGL_NO_CONTEXT) {
    throw DeviceError(
        "no EGL device gives an OpenGL 3.3 context; install Mesa's drivers (libegl1, libgl1-mesa-dri)");
  }
  if (gladLoadGL(reinterpret_cast<GLADloadfunc>(eglGetProcAddress)) == 0) {
    throw DeviceError("the OpenGL functions could not be loaded; update the graphics driver");
  }
  state_->make_target();
  state_->painter = std::make_unique<GlPainter>();
}

Headless::~Headless() = default;

std::string Headless::renderer() const { return reinterpret_cast<const char*>(glGetString(GL_RENDERER)); }

Image Headless::picture(Session& session, viz::ViewState& view) {
  start_picture(session, view);
  return take_picture();
}

void Headless::start_picture(Session& session, viz::ViewState& view) {
  state_->paint(session, view);
  state_->read(view.picture.clear);
}

Image Headless::take_picture() { return state_->take(); }

}  // namespace attn::app
