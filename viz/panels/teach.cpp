#include "viz/panels/teach.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr std::size_t kMostPoints = 4000;  // of one stroke: it then ends, and a new one begins

/// Everything between header and caption, or foot.
Rect stage_area(const ScreenLayout& layout, const Rect& screen) {
  const float top = layout[PanelId::header].bottom();
  const Rect& caption = layout[PanelId::caption];
  const float foot = layout.shows(PanelId::caption) ? caption.y - layout.gap : screen.bottom();
  return {screen.x, top, screen.w, std::max(0.0F, foot - top)};
}

void draw_blank(Ui& ui, const Rect& area) {
  if (!begin_panel(ui, "blank", area, {}, {}, PanelLook::dialog)) return;
  fill(ui, area, ui[Color::window]);
  mark(ui, "teach/blank", area);
  end_panel(ui);
}

/// Where one stands, as strokes remember it.
std::string place_text(const Ui& ui) {
  const Selection& s = ui.selection;
  return fmt::format("{}:{}/{}/{}/{}/{}", ui.frame.lesson ? ui.frame.lesson->stop : -1, s.step,
                     static_cast<int>(s.stage), s.layer, s.head, s.tile);
}

void take_strokes(TeachView& teach, const Rect& area) {
  const ImGuiIO& io = ImGui::GetIO();
  if (!area.contains(io.MousePos.x, io.MousePos.y) || !ImGui::IsMouseDown(ImGuiMouseButton_Left)) return;
  const bool begins = ImGui::IsMouseClicked(ImGuiMouseButton_Left) || teach.strokes.empty() ||
                      teach.strokes.back().size() >= kMostPoints;
  if (begins) teach.strokes.emplace_back();
  Stroke& stroke = teach.strokes.back();
  const Point here{io.MousePos.x, io.MousePos.y};
  if (stroke.empty() || stroke.back().x != here.x || stroke.back().y != here.y) stroke.push_back(here);
}

void draw_strokes(const Ui& ui) {
  const float width = std::max(3.0F, ui.px(4));
  const ImU32 ink = rgba(ui[Color::error]);
  for (const Stroke& stroke : ui.view.teach.strokes) {
    for (std::size_t i = 1; i < stroke.size(); ++i) {
      ui.draw->AddLine({stroke[i - 1].x, stroke[i - 1].y}, {stroke[i].x, stroke[i].y}, ink, width);
      ui.draw->AddCircleFilled({stroke[i].x, stroke[i].y}, width * 0.5F, ink, 8);
    }
    if (!stroke.empty()) ui.draw->AddCircleFilled({stroke[0].x, stroke[0].y}, width * 0.5F, ink, 8);
  }
}

/// While the pen is on, the mouse draws and no panel sees it.
void draw_pen(Ui& ui, const Rect& area) {
  TeachView& teach = ui.view.teach;
  const std::string here = place_text(ui);
  if (std::exchange(teach.drawn_at, here) != here) teach.strokes.clear();
  if (!begin_panel(ui, "pen", area, {}, {}, PanelLook::dialog)) return;
  take_strokes(teach, area);
  draw_strokes(ui);
  // In the gap around the panels: it covers nothing. The header says what it means.
  outline(ui, area, ui[Color::error], std::max(2.0F, ui.px(3)));
  ui.marks.add("teach/pen", area, fmt::format("{} strokes", teach.strokes.size()));
  end_panel(ui);
}

/// What the class reads, or is about to: the speaker sees it before a question is answered and while the
/// stage is blank. Takes its room off `rest`; nothing where that would leave none for the notes.
/// It may take what the notes leave, else half.
void draw_said(Ui& ui, Rect& rest, float text_row) {
  const std::string& caption = ui.frame.lesson->caption;
  const float notes = std::max(text_row, wrapped_height(ui, FontRole::text, rest.w, ui.frame.lesson->notes));
  const int most = static_cast<int>(std::max(rest.h * 0.5F, rest.h - notes - ui.px(10)) / text_row);
  if (caption.empty() || most < 2) return;
  const float h =
      std::min(wrapped_height(ui, FontRole::text, rest.w, caption), static_cast<float>(most) * text_row);
  const Rect box{rest.x, rest.y, rest.w, h};
  text_wrapped(ui, FontRole::text, box, ui[Color::text], caption, Align::left, most);
  mark(ui, "notes/caption", box, caption, ui.frame.lesson->where);
  const float used = h + ui.px(10);
  line(ui, rest.x, rest.y + used - ui.px(4), rest.right(), rest.y + used - ui.px(4), ui[Color::border]);
  rest.y += used;
  rest.h -= used;
}

/// Lines for the caption of the next stop: all of it where what is said now leaves the room, at least two.
int next_rows(const Ui& ui, const Rect& rest, float row, float text_row) {
  const LessonNow& lesson = *ui.frame.lesson;
  const auto high = [&](const std::string& text) { return wrapped_height(ui, FontRole::text, rest.w, text); };
  const float now = high(lesson.caption) + std::max(text_row, high(lesson.notes)) + ui.px(32);
  const auto wanted = static_cast<int>(std::ceil(high(lesson.next_caption) / text_row - 0.01F));
  const auto room = static_cast<int>((rest.h - now - row) / text_row);
  return std::clamp(wanted, 2, std::max(2, room));
}

}  // namespace

void draw_notes(Ui& ui, const Rect& rect) {
  if (!ui.frame.lesson) return;
  const LessonNow& lesson = *ui.frame.lesson;
  const float pad = ui.px(14);
  Rect rest{rect.x + pad, rect.y + pad, rect.w - 2.0F * pad, rect.h - 2.0F * pad};
  const float row = std::round(font_pixels(FontRole::strong) * 1.6F);
  text_in(ui, FontRole::strong, {rest.x, rest.y, rest.w, row}, ui[Color::accent],
          fmt::format("{} of {}   {}", lesson.stop + 1, lesson.num_stops, lesson.name), Align::left);
  rest.y += row;
  rest.h -= row;
  if (!ui.view.teach.clock.empty()) {
    const Rect clock{rest.x, rest.bottom() - row, rest.w, row};
    const bool fits = text_width(ui, FontRole::number, ui.view.teach.clock) <= clock.w;
    text_in(ui, fits ? FontRole::number : FontRole::small, clock, ui[Color::text], ui.view.teach.clock,
            Align::left);
    mark(ui, "notes/clock", clock, ui.view.teach.clock, "this computer's clock");
    rest.h -= row + ui.px(8);
  }
  const float text_row = line_step(FontRole::text);
  const int next_lines = next_rows(ui, rest, row, text_row);
  const float next_h = row + static_cast<float>(next_lines) * text_row;
  const Rect next{rest.x, rest.bottom() - next_h, rest.w, next_h};
  line(ui, next.x, next.y - ui.px(6), next.right(), next.y - ui.px(6), ui[Color::border]);
  text_in(ui, FontRole::strong, {next.x, next.y, next.w, row}, ui[Color::muted],
          lesson.next.empty() ? "This is the last stop" : fmt::format("Next: {}", lesson.next), Align::left);
  text_wrapped(ui, FontRole::text, {next.x, next.y + row, next.w, next_h - row}, ui[Color::muted],
               lesson.next_caption, Align::left, next_lines);
  mark(ui, "notes/next", {next.x, next.y, next.w, row}, lesson.next, lesson.where);
  mark(ui, "notes/next_caption", {next.x, next.y + row, next.w, next_h - row}, lesson.next_caption,
       lesson.next);
  Rect notes{rest.x, rest.y + ui.px(4), rest.w, next.y - rest.y - ui.px(14)};
  draw_said(ui, notes, text_row);
  const int lines = std::max(1, static_cast<int>(notes.h / text_row));
  const bool none = lesson.notes.empty();
  text_wrapped(ui, FontRole::text, notes, ui[none ? Color::muted : Color::text],
               none ? "no notes for this stop" : lesson.notes, Align::left, lines);
  mark(ui, "notes/text", notes, lesson.notes, lesson.where);
}

void draw_notes_screen(const Frame& frame, const Selection& selection, ViewState& view, Marks& marks) {
  marks.clear();
  Commands commands;
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const Rect all{0.0F, 0.0F, size.x, size.y};
  Ui ui{frame,   selection, view, marks, commands, theme_of(theme_in_use(view)), screen_scale(view),
        nullptr, {},        {},   false};
  if (!begin_panel(ui, "notes", all, {}, {}, PanelLook::bar)) return;
  draw_notes(ui, all);
  end_panel(ui);
}

void draw_teaching(Ui& ui, const ScreenLayout& layout, const Rect& screen) {
  const TeachView& teach = ui.view.teach;
  const Rect area = stage_area(layout, screen);
  if (ui.view.shell.overlay != Overlay::none) return;
  if (teach.blank && ui.view.mode == ScreenMode::present) draw_blank(ui, area);
  if (teach.notes && !teach.notes_elsewhere && ui.frame.lesson) {
    const float w = std::min(ui.px(380), area.w * 0.5F), h = std::min(ui.px(320), area.h * 0.8F);
    const Rect card{area.right() - w - ui.px(16), area.bottom() - h - ui.px(16), w, h};
    if (begin_panel(ui, "notes", card, {}, {}, PanelLook::dialog)) {
      fill(ui, card, ui[Color::panel], 1.0F, ui.px(6));
      outline(ui, card, ui[Color::accent], std::max(1.0F, ui.px(2)), ui.px(6));
      ui.marks.add("notes", card);
      draw_notes(ui, card);
      end_panel(ui);
    }
  }
  if (teach.pen) draw_pen(ui, area);
}

}  // namespace attn::viz
