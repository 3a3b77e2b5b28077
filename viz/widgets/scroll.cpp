// Parts that scroll. What is seen of them ends between two rows: a row that an edge would cut is left out
// whole, and below it stands how many more there are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "viz/widgets/paint.h"
#include "viz/widgets/ui.h"

namespace attn::viz {
namespace {

constexpr float kInk = 0.1F;         // of a line: free of glyphs at either end
constexpr float kLeastSeen = 0.55F;  // of a part: what tells of more may not cost more than the rest
constexpr float kLargeRow = 0.4F;    // of a part: rows of this height are folded by their lines

// What a part keeps from one frame to the next, in its window's storage.
enum class Kept : ImGuiID { top = 0x5c0, low, on, at };

float& kept(Kept what, float fallback) {
  return *ImGui::GetStateStorage()->GetFloatRef(static_cast<ImGuiID>(what), fallback);
}

/// What is seen of a part.
struct Fold {
  float top = 0.0F, low = 0.0F;
  int rows_below = 0;  // 0: some, but none of text
  bool more = false;   // goes on below
  bool told = false;   // there is room to say so
};

/// No glyph reaches the upper end of its line, a few the lower; a box reaches both.
bool cuts(const ScrollPart::Line& thing, float y, bool box) {
  const float spare = box ? 0.5F : (thing.bottom - thing.top) * kInk;
  return thing.top + spare < y && thing.bottom - (box ? 0.5F : spare * 0.3F) > y;
}

/// The first y from `from` on, up or down to `end`, that cuts neither a line nor a box.
float whole_from(const ScrollPart& part, float from, float end) {
  const bool up = end < from;
  float y = from;
  for (bool moved = true; moved && (up ? y > end : y < end);) {
    moved = false;
    for (const bool box : {false, true}) {
      for (const ScrollPart::Line& thing : box ? part.boxes : part.lines) {
        if (!cuts(thing, y, box)) continue;
        y = up ? std::min(y, thing.top) : std::max(y, thing.bottom);
        moved = true;
      }
    }
  }
  return y;
}

/// Lines beside each other are one row.
int rows_from(std::vector<ScrollPart::Line> lines, float y) {
  std::erase_if(lines, [y](const ScrollPart::Line& line) {
    return line.bottom - (line.bottom - line.top) * kInk <= y;
  });
  std::ranges::sort(lines, {}, &ScrollPart::Line::top);
  int rows = 0;
  float end = y;
  for (const ScrollPart::Line& line : lines) {
    const float middle = (line.top + line.bottom) * 0.5F;
    if (rows > 0 && middle < end) continue;
    end = line.bottom;
    ++rows;
  }
  return rows;
}

/// Where rows are all of one height they need not have been drawn to be counted, and shapes end with them.
Fold fold_of_rows(const Rect& area, float bottom, float row_h, float note_h) {
  Fold fold{area.y, area.bottom()};
  const float spare = 1.0F;
  const auto end_above = [&](float y) { return bottom - std::ceil((bottom - y - spare) / row_h) * row_h; };
  if (ImGui::GetScrollY() > 0.0F)
    fold.top = std::max(area.y, bottom - std::floor((bottom - area.y + spare) / row_h) * row_h);
  fold.more = bottom > area.bottom() + spare;
  if (!fold.more) return fold;
  fold.low = end_above(area.bottom() - note_h);
  fold.told = fold.low - fold.top >= area.h * kLeastSeen;
  if (!fold.told) fold.low = std::min(area.bottom(), end_above(area.bottom()));
  fold.rows_below = static_cast<int>(std::lround((bottom - fold.low) / row_h));
  return fold;
}

Fold fold_of_lines(const ScrollPart& part, const Rect& area, float bottom, float note_h) {
  Fold fold{area.y, area.bottom()};
  if (ImGui::GetScrollY() > 0.0F) fold.top = whole_from(part, area.y, area.bottom());
  fold.more = bottom > area.bottom() + 0.5F;
  if (!fold.more) return fold;
  fold.low = whole_from(part, area.bottom() - note_h, fold.top);
  fold.told = fold.low - fold.top >= area.h * kLeastSeen;
  if (!fold.told) {
    fold.low = whole_from(part, area.bottom(), fold.top);
    fold.told = area.bottom() - fold.low >= note_h;  // a box that does not fit leaves it the room
  }
  fold.rows_below = rows_from(part.lines, fold.low);
  return fold;
}

/// Leaves of everything that was drawn since begin_scroll what is between the ends of the fold.
void cut_at(Ui& ui, const ScrollPart& part, const Fold& fold) {
  for (const ScrollPart::Drawing& drawing : part.drawings) {
    for (int i = drawing.first_command; i < drawing.list->CmdBuffer.Size; ++i) {
      ImVec4& clip = drawing.list->CmdBuffer[i].ClipRect;
      clip.y = std::max(clip.y, fold.top);
      clip.w = std::max(clip.y, std::min(clip.w, fold.low));
    }
  }
  ui.marks.cut(part.first_mark, fold.top, fold.low);
  if (ui.view.text_log == nullptr) return;
  const auto cut_clip = [&fold](Rect& clip) {
    const float low = std::min(clip.bottom(), fold.low);
    clip.y = std::max(clip.y, fold.top);
    clip.h = std::max(0.0F, low - clip.y);
  };
  TextLog& log = *ui.view.text_log;
  for (std::size_t i = part.first_text; i < log.entries.size(); ++i) cut_clip(log.entries[i].clip);
  for (std::size_t i = part.first_box; i < log.boxes.size(); ++i) cut_clip(log.boxes[i].clip);
}

/// "3 more rows below": a button that goes there.
void tell_more(Ui& ui, const std::string& name, const Rect& area, const Fold& fold) {
  const Rect strip{area.x, fold.low, area.w - ui.px(12), area.bottom() - fold.low};
  const float h = fold_note_height(ui);
  const Rect box{strip.x, strip.bottom() - h, strip.w, h};
  const std::string words = fold.rows_below == 0   ? "more below"
                            : fold.rows_below == 1 ? "1 more row below"
                                                   : fmt::format("{} more rows below", fold.rows_below);
  const Hit hit = mark(ui, name + "/more", box, words, ui.view.picture.still ? "" : "click to go there");
  const float side = ui.px(8);
  const float y = box.y + std::round((box.h - side * 0.85F) * 0.5F) + ui.px(1);
  triangle_down(ui, box.x, y, side, ui[Color::accent]);
  const float x = box.x + side + ui.px(5);
  text_in(ui, FontRole::small, {x, box.y, box.right() - x, box.h},
          ui[hit.hovered ? Color::text : Color::muted], words, Align::left);
  if (hit.clicked) kept(Kept::on, 0.0F) = std::max(ui.px(20), fold.low - area.y);
}

/// After a turn of the wheel a part comes to rest where its upper edge cuts nothing: below what it would cut
/// on the way down, above that on the way up. It goes no further at once than to the first thing not seen.
void settle(const ScrollPart& part, const Rect& area, const Fold& fold) {
  const float scroll = ImGui::GetScrollY();
  const float before = kept(Kept::at, scroll);
  const float seen = std::min(kept(Kept::low, FLT_MAX), area.bottom()) - area.y;
  kept(Kept::at, scroll) = scroll;
  if (ImGui::GetIO().MouseWheel == 0.0F || scroll == before) return;
  if (scroll > before + seen)
    ImGui::SetScrollY(before + seen);
  else if (fold.top > area.y && scroll < before)
    ImGui::SetScrollY(scroll - std::ceil(area.y - whole_from(part, area.y, area.y - area.h)));
  else if (fold.top > area.y && scroll < ImGui::GetScrollMaxY())
    ImGui::SetScrollY(scroll + std::floor(fold.top - area.y));
}

}  // namespace

float fold_note_height(const Ui& /*ui*/) { return std::ceil(font_pixels(FontRole::small) * 1.25F); }

void keep_whole(const Ui& ui, const Rect& rect, std::string_view name) {
  const bool scrolls = ui.view.scroll_parts.any();
  if (ui.view.text_log != nullptr) {
    const ImVec2 low = ui.draw->GetClipRectMin();
    const ImVec2 high = ui.draw->GetClipRectMax();
    ui.view.text_log->boxes.push_back({std::string(ui.panel_name),
                                       std::string(name),
                                       rect,
                                       {low.x, low.y, high.x - low.x, high.y - low.y},
                                       scrolls ? ui.view.scroll_parts.last().height : 0.0F});
  }
  if (!scrolls) return;
  ScrollPart& part = ui.view.scroll_parts.last();
  if (rect.h <= part.height) part.boxes.push_back({rect.y, rect.bottom()});
}

bool row_in_sight(const Ui& ui, const Rect& row, int lines) {
  if (visible_part(ui, row).w > 0.0F) return true;
  if (!ui.view.scroll_parts.any()) return false;
  const float h = row.h / static_cast<float>(lines);
  for (int i = 0; i < lines; ++i) {
    const float top = row.y + h * static_cast<float>(i);
    ui.view.scroll_parts.last().lines.push_back({top, top + h});
  }
  return false;
}

void enter_window(Ui& ui) {
  ui.draw = ImGui::GetWindowDrawList();
  ui.mouse_here = ImGui::IsWindowHovered();
  if (ui.view.scroll_parts.any() && ui.view.scroll_parts.last().mouse_on_fold) ui.mouse_here = false;
}

float begin_scroll(Ui& ui, const char* id, const Rect& area, bool wheel) {
  ImGui::SetCursorScreenPos({area.x, area.y});
  ImGui::PushStyleColor(ImGuiCol_ChildBg, ImVec4(0, 0, 0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0.0F, 0.0F});
  ImGui::BeginChild(
      id, {std::max(1.0F, area.w), std::max(1.0F, area.h)}, false,
      ImGuiWindowFlags_NoNav | (wheel ? ImGuiWindowFlags_None : ImGuiWindowFlags_NoScrollWithMouse));
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
  float& on = kept(Kept::on, 0.0F);
  if (on > 0.0F) ImGui::SetScrollY(ImGui::GetScrollY() + on);
  on = 0.0F;
  ScrollParts& all = ui.view.scroll_parts;
  const bool covered = all.any() && all.last().mouse_on_fold;
  if (all.open == std::ssize(all.parts)) all.parts.emplace_back();
  ++all.open;
  ScrollPart& part = all.last();
  part.name = id;
  part.lines.clear();
  part.boxes.clear();
  part.height = area.h;
  part.drawings.clear();
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (list->CmdBuffer.back().ElemCount > 0) list->AddDrawCmd();  // apart from the scroll bar's
  part.drawings.push_back({list, list->CmdBuffer.Size - 1});
  part.first_mark = ui.marks.all().size();
  const TextLog* log = ui.view.text_log;
  part.first_text = log != nullptr ? log->entries.size() : 0;
  part.first_box = log != nullptr ? log->boxes.size() : 0;
  const float mouse = ImGui::GetIO().MousePos.y;
  part.mouse_on_fold = covered || mouse < kept(Kept::top, -FLT_MAX) || mouse >= kept(Kept::low, FLT_MAX);
  enter_window(ui);
  return std::floor(ImGui::GetCursorScreenPos().y);
}

Rect end_scroll(Ui& ui, float bottom, float row_h) {
  ScrollParts& all = ui.view.scroll_parts;
  ScrollPart& part = all.last();
  const ImVec2 at = ImGui::GetWindowPos();
  const ImVec2 size = ImGui::GetWindowSize();
  const Rect area{at.x, at.y, size.x, size.y};
  const float note_h = fold_note_height(ui);
  const bool even = row_h > 0.0F && row_h < area.h * kLargeRow;
  Fold fold = even ? fold_of_rows(area, bottom, row_h, note_h) : fold_of_lines(part, area, bottom, note_h);
  // Rows that are folded by their lines are rows all the same, and those out of sight have drawn no lines.
  if (!even && row_h > 0.0F && fold.more)
    fold.rows_below = std::max(1, static_cast<int>(std::ceil((bottom - fold.low) / row_h - kInk)));
  if (fold.more || fold.top > area.y) cut_at(ui, part, fold);
  settle(part, area, fold);
  kept(Kept::top, 0.0F) = fold.top > area.y ? fold.top : -FLT_MAX;
  kept(Kept::low, 0.0F) = fold.more ? fold.low : FLT_MAX;
  // What is seen of it is part of what goes around it.
  ScrollPart* around = all.open > 1 ? &all.parts[static_cast<std::size_t>(all.open) - 2] : nullptr;
  if (around != nullptr) {
    std::ranges::copy(part.drawings, std::back_inserter(around->drawings));
    const auto seen = [&](const ScrollPart::Line& thing) {
      return !(thing.bottom <= fold.top || thing.top >= fold.low);
    };
    std::ranges::copy_if(part.lines, std::back_inserter(around->lines), seen);
    std::ranges::copy_if(part.boxes, std::back_inserter(around->boxes), seen);
  }
  --all.open;
  ImGui::Dummy({1.0F, std::max(1.0F, bottom - ImGui::GetCursorScreenPos().y)});
  enter_window(ui);
  if (fold.told) {
    ui.draw->AddDrawCmd();
    tell_more(ui, part.name, area, fold);
  }
  ImGui::EndChild();
  enter_window(ui);
  return {area.x, fold.top, area.w, fold.low - fold.top};
}

void follow_row(const Ui& ui, float row_h, float height, int index) {
  const float at = row_h * static_cast<float>(index);
  const float scroll = ImGui::GetScrollY();
  const float seen = height - fold_note_height(ui);
  if (at >= scroll && at + row_h <= scroll + seen) return;
  const int above = static_cast<int>(seen * 0.5F / row_h);
  ImGui::SetScrollY(row_h * static_cast<float>(std::max(0, index - above)));
}

}  // namespace attn::viz
