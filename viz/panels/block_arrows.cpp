#include "viz/panels/block_arrows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/lookup.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr std::size_t kMostArrows = 48;  // more are a tangle: then only the block that is meant has one

/// From the side of the cell that faces the block to the side of the block that faces the cell.
void draw_arrow(const Ui& ui, const Rect& cell, const Rect& block, Rgb color, bool strong) {
  const bool up = block.bottom() <= cell.y;
  const bool left = !up && block.right() <= cell.x;
  if (!up && !left) return;
  const ImVec2 from = up ? ImVec2{cell.x + cell.w * 0.5F, cell.y} : ImVec2{cell.x, cell.y + cell.h * 0.5F};
  const ImVec2 to =
      up ? ImVec2{block.x + block.w * 0.5F, block.bottom()} : ImVec2{block.right(), block.y + block.h * 0.5F};
  const float head = ui.px(strong ? 6 : 5);
  const ImVec2 neck = up ? ImVec2{to.x, to.y + head} : ImVec2{to.x + head, to.y};
  const float bend = 0.5F * (up ? from.y - neck.y : from.x - neck.x);
  const ImVec2 a = up ? ImVec2{from.x, from.y - bend} : ImVec2{from.x - bend, from.y};
  const ImVec2 b = up ? ImVec2{neck.x, neck.y + bend} : ImVec2{neck.x + bend, neck.y};
  const ImU32 ink = rgba(color, strong ? 1.0F : 0.6F);
  ImGui::GetBackgroundDrawList()->AddBezierCubic(from, a, b, neck, ink,
                                                 std::max(1.0F, ui.px(strong ? 2.5F : 1.5F)));
  const float half = head * 0.5F;
  if (up)
    ui.draw->AddTriangleFilled(to, {neck.x + half, neck.y}, {neck.x - half, neck.y}, rgba(color));
  else
    ui.draw->AddTriangleFilled(to, {neck.x, neck.y - half}, {neck.x, neck.y + half}, rgba(color));
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

void draw_block_arrows(Ui& ui, const Rect& screen) {
  if (!ui.frame.step || ui.selection.seq < 0 || ui.marks.find("pool") == nullptr) return;
  const trace::SeqState* seq = find_seq(ui.frame.step->seqs, ui.selection.seq);
  if (seq == nullptr || ui.marks.find("tables") == nullptr) return;
  begin_front_layer(ui, screen);
  const bool few = seq->block_table.size() <= kMostArrows;
  for (std::size_t i = 0; i < seq->block_table.size(); ++i) {
    const int block = seq->block_table[i];
    const bool meant = block >= 0 && (block == ui.view.hover.block || block == ui.selection.block);
    if (block < 0 || (!few && !meant)) continue;
    const Mark* cell = ui.marks.find(fmt::format("tables/cell/{}/{}", seq->id, i));
    const auto card = ui.marks.get(fmt::format("pool/block/{}", block));
    if (cell == nullptr || !card) continue;
    draw_arrow(ui, cell->rect, card->rect, hue_of(ui, seq->id), meant);
    ui.marks.add(fmt::format("arrows/{}", i), {card->rect.x, card->rect.bottom(), card->rect.w, 1.0F},
                 fmt::format("{}[{}] \xE2\x86\x92 block {}", seq_letter(seq->id), i, block), cell->source);
  }
  ImGui::End();
  ui.draw = nullptr;
}

}  // namespace attn::viz
