#include "app/gl_heat.h"

#include <fmt/format.h>
#include <glad/gl.h>
#include <imgui.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "kernels/common/check.h"

namespace attn::app {
namespace {

constexpr const char* kVertexShader = R"(#version 330 core
uniform vec4 rect;   // x, y, w, h on the screen
uniform vec2 screen;
out vec2 at;         // in the picture, 0 .. 1
out vec2 pixel;
void main() {
  at = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  pixel = rect.xy + at * rect.zw;
  gl_Position = vec4(pixel.x / screen.x * 2.0 - 1.0, 1.0 - pixel.y / screen.y * 2.0, 0.0, 1.0);
}
)";

constexpr const char* kFragmentShader = R"(#version 330 core
uniform sampler2D values;
uniform sampler2D palettes;
uniform int palette;
uniform vec2 range;      // low, high
uniform float log_floor; // log10 of the floor; 0: linear
uniform vec3 ground;
uniform vec3 masked;
uniform vec3 error;
uniform float spacing;
in vec2 at;
in vec2 pixel;
out vec4 color;
void main() {
  ivec2 size = textureSize(values, 0);
  float v = texelFetch(values, clamp(ivec2(at * vec2(size)), ivec2(0), size - 1), 0).r;
  if (isnan(v)) {
    float line = mod(floor(pixel.x) + floor(pixel.y), spacing);
    color = vec4(line < 1.0 ? masked : ground, 1.0);
  } else if (isinf(v)) {
    color = vec4(error, 1.0);
  } else {
    float t = (v - range.x) / (range.y - range.x);
    if (log_floor < 0.0) t = v <= pow(10.0, log_floor) ? 0.0 : 1.0 - log(v) / log(10.0) / log_floor;
    int stop = int(floor(255.0 * clamp(t, 0.0, 1.0) + 0.5));
    color = vec4(texelFetch(palettes, ivec2(stop, palette), 0).rgb, 1.0);
  }
}
)";

unsigned compile(GLenum kind, const char* text) {
  const unsigned shader = glCreateShader(kind);
  glShaderSource(shader, 1, &text, nullptr);
  glCompileShader(shader);
  GLint good = GL_FALSE;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
  if (good == GL_TRUE) return shader;
  std::array<char, 512> log{};
  glGetShaderInfoLog(shader, static_cast<GLsizei>(log.size()), nullptr, log.data());
  glDeleteShader(shader);
  throw DeviceError(
      fmt::format("the graphics driver refuses the heat map's shader ({}); update it", log.data()));
}

unsigned link_program() {
  const unsigned vertex = compile(GL_VERTEX_SHADER, kVertexShader);
  const unsigned fragment = compile(GL_FRAGMENT_SHADER, kFragmentShader);
  const unsigned program = glCreateProgram();
  glAttachShader(program, vertex);
  glAttachShader(program, fragment);
  glLinkProgram(program);
  glDeleteShader(vertex);
  glDeleteShader(fragment);
  GLint good = GL_FALSE;
  glGetProgramiv(program, GL_LINK_STATUS, &good);
  if (good != GL_TRUE) throw DeviceError("the graphics driver cannot link the heat map's shader; update it");
  return program;
}

void nearest() {
  for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
    glTexParameteri(GL_TEXTURE_2D, filter, GL_NEAREST);
  for (const GLenum edge : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
    glTexParameteri(GL_TEXTURE_2D, edge, GL_CLAMP_TO_EDGE);
}

/// Leaves the texture that was bound bound.
class Bound {
 public:
  explicit Bound(unsigned texture) {
    glGetIntegerv(GL_TEXTURE_BINDING_2D, &before_);
    glBindTexture(GL_TEXTURE_2D, texture);
  }
  ~Bound() { glBindTexture(GL_TEXTURE_2D, static_cast<unsigned>(before_)); }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

 private:
  GLint before_ = 0;
};

unsigned make_palettes() {
  std::vector<std::uint8_t> stops;
  for (int p = 0; p < viz::kNumPalettes; ++p) {
    for (int i = 0; i < viz::kPaletteStops; ++i) {
      const viz::Rgb color = viz::palette_stop(static_cast<viz::Palette>(p), i);
      for (const int shift : {16, 8, 0}) stops.push_back(static_cast<std::uint8_t>(color >> shift & 0xFFU));
      stops.push_back(0xFF);
    }
  }
  unsigned id = 0;
  glGenTextures(1, &id);
  const Bound bound(id);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, viz::kPaletteStops, viz::kNumPalettes, 0, GL_RGBA,
               GL_UNSIGNED_BYTE, stops.data());
  nearest();
  return id;
}

}  // namespace

GlHeat::GlHeat() : program_(link_program()), palettes_(make_palettes()) {
  glGenVertexArrays(1, &vertices_);
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &max_side_);
}

GlHeat::~GlHeat() {
  for (const auto& [key, texture] : textures_) glDeleteTextures(1, &texture.id);
  glDeleteTextures(1, &palettes_);
  glDeleteVertexArrays(1, &vertices_);
  glDeleteProgram(program_);
}

void GlHeat::begin_frame() {
  pictures_.clear();
  hash_ = 0;
  for (auto texture = textures_.begin(); texture != textures_.end();) {
    if (std::exchange(texture->second.used, false)) {
      ++texture;
    } else {
      glDeleteTextures(1, &texture->second.id);
      texture = textures_.erase(texture);
    }
  }
}

unsigned GlHeat::texture_of(const viz::HeatImage& image) {
  Texture& texture = textures_[image.key];
  texture.used = true;
  if (texture.id != 0) return texture.id;
  while (glGetError() != GL_NO_ERROR) {  // what others left
  }
  glGenTextures(1, &texture.id);
  const Bound bound(texture.id);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, image.row_stride);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_R32F, image.cols, image.rows, 0, GL_RED, GL_FLOAT, image.data);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  nearest();
  if (glGetError() == GL_NO_ERROR) return texture.id;
  glDeleteTextures(1, &texture.id);
  textures_.erase(image.key);
  return 0;
}

bool GlHeat::draw(ImDrawList& list, const viz::HeatImage& image, const viz::Rect& rect) {
  if (image.rows <= 0 || image.cols <= 0 || std::max(image.rows, image.cols) > max_side_) return false;
  const unsigned texture = texture_of(image);
  if (texture == 0) return false;
  const std::array numbers{static_cast<double>(image.key),
                           static_cast<double>(image.key >> 32U),
                           double{rect.x},
                           double{rect.y},
                           double{rect.w},
                           double{rect.h},
                           double{image.low},
                           double{image.high},
                           static_cast<double>(image.palette),
                           image.log10 ? 1.0 : 0.0,
                           double(image.ground),
                           double(image.masked),
                           double(image.error),
                           double{image.hatch_spacing}};
  hash_ = XXH3_64bits_withSeed(numbers.data(), sizeof numbers, hash_);
  pictures_.push_back({this, texture, image, rect});
  pictures_.back().image.data = nullptr;  // it lives only during this call
  list.AddCallback(&GlHeat::paint, &pictures_.back());
  list.AddCallback(ImDrawCallback_ResetRenderState, nullptr);
  return true;
}

void GlHeat::paint(const ImDrawList*, const ImDrawCmd* command) {
  const auto& picture = *static_cast<const Picture*>(command->UserCallbackData);
  picture.owner->paint(picture, *command);
}

int GlHeat::place(const char* name) const { return glGetUniformLocation(program_, name); }

void GlHeat::paint(const Picture& picture, const ImDrawCmd& command) const {
  const ImDrawData& data = *ImGui::GetDrawData();
  const ImVec2 pixels = data.FramebufferScale;
  const ImVec4& clip = command.ClipRect;
  const float bottom = data.DisplayPos.y + data.DisplaySize.y - clip.w;
  const float w = (clip.z - clip.x) * pixels.x, h = (clip.w - clip.y) * pixels.y;
  if (w <= 0.0F || h <= 0.0F) return;
  glScissor(static_cast<int>((clip.x - data.DisplayPos.x) * pixels.x), static_cast<int>(bottom * pixels.y),
            static_cast<int>(w), static_cast<int>(h));
  const auto color = [&](const char* name, viz::Rgb rgb) {
    glUniform3f(place(name), static_cast<float>(rgb >> 16U & 0xFFU) / 255.0F,
                static_cast<float>(rgb >> 8U & 0xFFU) / 255.0F, static_cast<float>(rgb & 0xFFU) / 255.0F);
  };
  const viz::HeatImage& image = picture.image;
  glUseProgram(program_);
  glUniform4f(place("rect"), picture.rect.x - data.DisplayPos.x, picture.rect.y - data.DisplayPos.y,
              picture.rect.w, picture.rect.h);
  glUniform2f(place("screen"), data.DisplaySize.x, data.DisplaySize.y);
  glUniform1i(place("values"), 0);
  glUniform1i(place("palettes"), 1);
  glUniform1i(place("palette"), static_cast<int>(image.palette));
  glUniform2f(place("range"), image.low, image.high);
  glUniform1f(place("log_floor"), image.log10 ? std::log10(viz::kLogFloor) : 0.0F);
  color("ground", image.ground);
  color("masked", image.masked);
  color("error", image.error);
  glUniform1f(place("spacing"), std::max(1.0F, image.hatch_spacing));
  glActiveTexture(GL_TEXTURE1);
  glBindTexture(GL_TEXTURE_2D, palettes_);
  glActiveTexture(GL_TEXTURE0);
  glBindTexture(GL_TEXTURE_2D, picture.texture);
  glBindVertexArray(vertices_);
  glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

}  // namespace attn::app
