#include "viz/screen.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "viz/fonts.h"
#include "viz/keys.h"
#include "viz/layout/panel_place.h"
#include "viz/layout/screen_layout.h"
#include "viz/panels/banner.h"
#include "viz/panels/block_arrows.h"
#include "viz/panels/block_pool.h"
#include "viz/panels/block_tables.h"
#include "viz/panels/caption.h"
#include "viz/panels/changes.h"
#include "viz/panels/code.h"
#include "viz/panels/compare.h"
#include "viz/panels/costs.h"
#include "viz/panels/free_queue.h"
#include "viz/panels/header.h"
#include "viz/panels/heads.h"
#include "viz/panels/lesson.h"
#include "viz/panels/mask.h"
#include "viz/panels/numbers.h"
#include "viz/panels/overlays.h"
#include "viz/panels/packed_strip.h"
#include "viz/panels/question_card.h"
#include "viz/panels/requests.h"
#include "viz/panels/roofline.h"
#include "viz/panels/side_tabs.h"
#include "viz/panels/stage_list.h"
#include "viz/panels/stage_tabs.h"
#include "viz/panels/status.h"
#include "viz/panels/teach.h"
#include "viz/panels/tiles.h"
#include "viz/panels/timeline.h"
#include "viz/panels/weights.h"
#include "viz/widgets/paint.h"
#include "viz/widgets/splitters.h"

namespace attn::viz {
namespace {

/// The background is cleared to the panel colour, so only what lies between panels is painted: on a software
/// renderer, filling every panel would cost more than all the rest. Each panel paints the gap above and left
/// of itself.
void draw_gaps(const Ui& ui, const ScreenLayout& layout, float layout_height) {
  ImDrawList* draw = ImGui::GetBackgroundDrawList();
  const ImU32 color = rgba(ui[Color::window]);
  const float gap = layout.gap;
  const Rect& header = layout[PanelId::header];
  const float foot = layout.shows(PanelId::status) ? layout[PanelId::status].y : layout_height;
  const auto paint = [&](float x0, float y0, float x1, float y1) {
    draw->AddRectFilled({x0, y0}, {x1, y1}, color);
  };
  for (int i = 0; i < kNumPanels; ++i) {
    const auto id = static_cast<PanelId>(i);
    const Rect& r = layout[id];
    if (r.w <= 0.0F || id == PanelId::header || id == PanelId::status) continue;
    if (joined_above(layout, id))
      draw->AddRectFilled({r.x + gap, r.y}, {r.right() - gap, r.y + 1.0F}, rgba(ui[Color::border]));
    else
      paint(r.x - gap, r.y - gap, r.right(), r.y);
    paint(r.x - gap, r.y, r.x, r.bottom());
  }
  paint(header.right() - gap, header.bottom(), header.right(), foot);
  paint(0.0F, foot - gap, header.right() - gap, foot);
}

void draw_provenance(Ui& ui, const Rect& rect) {
  if (rect.h <= 0.0F) return;
  ui.draw = ImGui::GetBackgroundDrawList();
  const float margin = ui.px(12);
  text_in(ui, FontRole::small, {margin, rect.y, rect.w - 2.0F * margin, rect.h}, ui[Color::muted],
          ui.view.picture.provenance, Align::right);
  ui.marks.add("provenance", rect, ui.view.picture.provenance);
  ui.draw = nullptr;
}

}  // namespace

float provenance_height(float scale) { return std::round(24.0F * scale); }

void draw_screen(const Frame& frame, const Selection& selection, ViewState& view, Marks& marks,
                 Commands& commands) {
  marks.clear();
  if (view.text_log != nullptr) {
    view.text_log->entries.clear();
    view.text_log->boxes.clear();
    view.text_log->strokes.clear();
  }
  view.hover = view.next_hover;
  view.next_hover = {};
  handle_keys(frame, selection, view, commands);

  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const float foot = view.picture.provenance.empty() ? 0.0F : provenance_height(screen_scale(view));
  LayoutInput input = layout_input(view, frame, size.x, size.y - foot);
  if (const PanelId wanted = std::exchange(view.wanted, PanelId::count_); wanted != PanelId::count_)
    input.page = view.page = page_with(input, wanted);
  const ScreenLayout layout = layout_screen(input);
  Ui ui{frame,       selection, view, marks, commands, theme_of(theme_in_use(view)),
        input.scale, nullptr,   {},   {},    false,    {}};
  const Rect screen{0.0F, 0.0F, size.x, size.y};
  if (view.picture.question) return draw_question_card(ui, screen);
  if (!view.picture.clear && !view.picture.alone) draw_gaps(ui, layout, size.y - foot);
  draw_provenance(ui, {0.0F, size.y - foot, size.x, foot});
  begin_front_layer(ui, screen);
  end_panel(ui);
  drag_splitters(ui, layout);
  draw_header(ui, layout);
  draw_banner(ui, layout[PanelId::banner]);
  if (layout.shows(PanelId::lesson)) draw_lesson(ui, "lesson", layout[PanelId::lesson]);
  draw_requests(ui, layout[PanelId::requests]);
  draw_packed_strip(ui, layout[PanelId::strip]);
  draw_stage_tabs(ui, layout[PanelId::stage_tabs]);
  draw_mask(ui, layout[PanelId::mask]);
  draw_weights(ui, layout[PanelId::weights]);
  draw_heads(ui, layout[PanelId::heads]);
  draw_numbers(ui, layout[PanelId::numbers]);
  draw_tiles(ui, layout[PanelId::tiles]);
  draw_compare(ui, layout[PanelId::compare]);
  draw_roofline(ui, layout[PanelId::roofline]);
  draw_block_pool(ui, layout[PanelId::pool]);
  draw_free_queue(ui, layout[PanelId::free_queue]);
  const ArrowStart arrow = draw_block_tables(ui, layout[PanelId::tables]);
  draw_side_tabs(ui, layout[PanelId::side_tabs]);
  draw_code(ui, layout[PanelId::code]);
  draw_stage_list(ui, layout[PanelId::stages]);
  draw_costs(ui, layout[PanelId::costs]);
  draw_changes(ui, layout[PanelId::changes]);
  draw_caption(ui, layout[PanelId::caption]);
  draw_timeline(ui, layout[PanelId::timeline]);
  draw_status(ui, layout[PanelId::status]);
  draw_block_arrow(ui, screen, arrow);
  draw_focus(ui, layout);
  draw_rings(ui, layout, screen);
  draw_teaching(ui, layout, screen);
  draw_overlays(ui, screen);
}

}  // namespace attn::viz
