#include "viz/panels/block_arrows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "viz/lookup.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr float kGutter = 5.0F;  // px at scale 1: the middle of what panels keep free at their sides
constexpr float kLine = 2.0F;
constexpr float kHead = 5.0F;  // half the width

/// Between cards; as much is between rows of them.
float gap_beside(const Ui& ui, int block, const Rect& card) {
  for (const int other : {block + 1, block - 1}) {
    const auto next = ui.marks.get(fmt::format("pool/block/{}", other));
    if (next && next->rect.y == card.y) return std::abs(next->rect.x - card.x) - card.w;
  }
  return 0.0F;
}

/// On from where the tables' part ends: along an edge of the panels, then between two rows of cards. Squares
/// have a free edge above, where the id of the last one is not; others below, where their id is not. The last
/// corner is the tip of the arrow, inside the card.
std::vector<ImVec2> whole_way(const Ui& ui, std::vector<ImVec2> way, int block, const Rect& card) {
  const Rect& tables = ui.marks.find("tables")->rect;
  const Rect& pool = ui.marks.find("pool")->rect;
  const bool beside = pool.right() <= tables.x;
  if (!beside && pool.bottom() > tables.y) return {};
  const float edge = std::round(beside ? tables.x + ui.px(kGutter) : tables.right() - ui.px(kGutter));
  const bool square = std::abs(card.w - card.h) < 0.5F;
  const float half_gap = gap_beside(ui, block, card) * 0.5F;
  const float inside = std::min(ui.px(3), card.h * 0.2F);
  const float between = std::round(square ? card.y - half_gap : card.bottom() + half_gap);
  const float x = std::round(card.x + card.w * 0.5F);
  way.push_back({edge, way.back().y});
  way.push_back({edge, between});
  way.push_back({x, between});
  way.push_back({x, square ? card.y + inside : card.bottom() - inside});
  return way;
}

Rect around(const ImVec2& a, const ImVec2& b, float half) {
  const float x0 = std::min(a.x, b.x) - half, y0 = std::min(a.y, b.y) - half;
  return {x0, y0, std::abs(a.x - b.x) + 2.0F * half, std::abs(a.y - b.y) + 2.0F * half};
}

/// Upright and level pieces; the line ends in a head as high as what is left of the way, whose rim keeps it
/// apart from a card of its own colour.
void draw_way(const Ui& ui, const std::vector<ImVec2>& way, Rgb color, const std::string& name) {
  const float half = std::max(1.5F, ui.px(kLine)) * 0.5F;
  std::vector<Rect> pieces;
  for (std::size_t i = 1; i + 1 < way.size(); ++i) pieces.push_back(around(way[i - 1], way[i], half));
  for (const Rect& piece : pieces) fill(ui, piece, color);
  const ImVec2 tip = way.back(), base = way[way.size() - 2];
  const float along = tip.y > base.y ? 1.0F : -1.0F, wide = ui.px(kHead);
  const auto head = [&](float by, Rgb fill_color) {
    ui.draw->AddTriangleFilled({tip.x, tip.y + along * by}, {tip.x - wide - by, base.y - along * half},
                               {tip.x + wide + by, base.y - along * half}, rgba(fill_color));
  };
  head(std::max(1.0F, ui.px(1.5F)), ui[Color::panel]);
  head(0.0F, color);
  if (ui.view.text_log == nullptr) return;
  pieces.push_back({tip.x - wide, std::min(tip.y, base.y), 2.0F * wide, std::abs(tip.y - base.y)});
  for (const Rect& piece : pieces) ui.view.text_log->strokes.push_back({name, piece});
}

}  // namespace

void begin_front_layer(Ui& ui, const Rect& screen) {
  ImGui::SetNextWindowPos({screen.x, screen.y});
  ImGui::SetNextWindowSize({screen.w, screen.h});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0.0F, 0.0F});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0.0F);
  ImGui::Begin("arrows", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoInputs | ImGuiWindowFlags_NoBackground |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav |
                   ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoFocusOnAppearing);
  ImGui::PopStyleVar(2);
  ui.draw = ImGui::GetWindowDrawList();
}

float arrow_gutter(const Ui& ui) { return std::round(ui.panel.right() - ui.px(kGutter)); }

void draw_block_arrow(Ui& ui, const Rect& screen, const ArrowStart& start) {
  if (start.way.empty() || ui.marks.find("pool") == nullptr) return;
  const auto card = ui.marks.get(fmt::format("pool/block/{}", start.block));
  if (!card) return;
  const std::vector<ImVec2> way = whole_way(ui, start.way, start.block, card->rect);
  if (way.empty()) return;
  begin_front_layer(ui, screen);
  std::string name = fmt::format("arrows/{}", start.index);
  draw_way(ui, way, hue_of(ui, start.seq), name);
  end_panel(ui);
  ui.marks.add(std::move(name), {card->rect.x, card->rect.bottom(), card->rect.w, 1.0F},
               fmt::format("{}[{}] \xE2\x86\x92 block {}", seq_letter(start.seq), start.index, start.block),
               fmt::format("block_table of sequence {} [{}] I32", start.seq, start.index));
}

}  // namespace attn::viz
