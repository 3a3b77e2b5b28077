#include "app/vector_painter.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/headless.h"
#include "viz/heat_texture.h"
#include "viz/palette.h"
#include "viz/widgets/paint.h"

namespace attn::app {
namespace {

constexpr int kMostCells = 512;  // a side; more are put together by the panels

viz::Rgb color_of(const viz::HeatImage& image, float value) {
  if (std::isnan(value)) return image.ground;
  if (std::isinf(value)) return image.error;
  const float position =
      image.log10 ? viz::weight_position(value, true) : (value - image.low) / (image.high - image.low);
  return viz::palette_color(image.palette, position);
}

/// Matrices as rectangles, one for each run of equal cells of a row.
class CellPainter : public viz::HeatPainter {
 public:
  int max_side() const override { return kMostCells; }

  bool draw(ImDrawList& list, const viz::HeatImage& image, const viz::Rect& rect) override {
    if (image.rows <= 0 || image.cols <= 0 || std::max(image.rows, image.cols) > kMostCells) return false;
    const float w = rect.w / static_cast<float>(image.cols), h = rect.h / static_cast<float>(image.rows);
    for (int r = 0; r < image.rows; ++r) {
      const float* row = image.data + static_cast<std::ptrdiff_t>(r) * image.row_stride;
      for (int c = 0; c < image.cols;) {
        const viz::Rgb color = color_of(image, row[c]);
        const int begin = c;
        while (c < image.cols && color_of(image, row[c]) == color) ++c;
        const float y = rect.y + h * static_cast<float>(r);
        list.AddRectFilled({rect.x + w * static_cast<float>(begin), y},
                           {rect.x + w * static_cast<float>(c), y + h}, viz::rgba(color));
      }
    }
    return true;
  }
};

}  // namespace

struct VectorPainter::State {
  ImGuiContext* context = nullptr;
  CellPainter cells;
  viz::Marks marks;
};

VectorPainter::VectorPainter() : state_(std::make_unique<State>()) {
  state_->context = ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;  // large draw lists
}

VectorPainter::~VectorPainter() { ImGui::DestroyContext(state_->context); }

std::vector<Shape> VectorPainter::picture(Session& session, viz::ViewState& view, int width, int height) {
  ImGui::SetCurrentContext(state_->context);
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
  viz::apply_style(view);
  if (!io.Fonts->IsBuilt()) io.Fonts->Build();
  ImGuiStyle& style = ImGui::GetStyle();
  style.AntiAliasedFill = style.AntiAliasedLines = style.AntiAliasedLinesUseTex = false;  // see shapes_of
  io.DeltaTime = 1.0F / 30.0F;
  view.heat_painter = &state_->cells;
  viz::Commands ignored;
  for (int i = 0; i <= kSettleFrames; ++i) {
    ImGui::NewFrame();
    viz::draw_screen(session.frame(), session.selection(), view, state_->marks, ignored);
    ImGui::Render();
  }
  view.heat_painter = nullptr;
  return shapes_of(*ImGui::GetDrawData());
}

}  // namespace attn::app
