#include "viz/panels/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/trace/names.h"
#include "viz/panels/code_places.h"
#include "viz/panels/code_text.h"
#include "viz/panels/code_watch.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr FontRole kFont = FontRole::mono_small;
constexpr int kNumberColumns = 4;
constexpr int kWatchRows = 5;
constexpr float kLeastLines = 12.0F;  // of code, before more than one value is watched

struct Pane {
  const CodePlace& place;
  Rect area;  // of the text
  float char_w = 1.0F;
  float row_h = 1.0F;
  float text_x = 0.0F;
  int writer_line = -1;  // of the name meant in another panel
};

bool starts(const std::vector<CodeLines>& ran, int line) {
  return std::any_of(ran.begin(), ran.end(), [line](const CodeLines& l) { return l.first == line; });
}
bool holds(const std::vector<CodeLines>& ran, int line) {
  return std::any_of(ran.begin(), ran.end(), [line](const CodeLines& l) { return l.contains(line); });
}

/// Pointing right; hollow: just ran, filled: next.
void pointer(const Ui& ui, float x, float y, float size, Rgb color, bool filled) {
  const ImVec2 a{x, y}, b{x, y + size}, c{x + size * 0.85F, y + size * 0.5F};
  if (filled)
    ui.draw->AddTriangleFilled(a, b, c, rgba(color));
  else
    ui.draw->AddTriangle(a, b, c, rgba(color), std::max(1.0F, ui.scale * 1.3F));
}

Rgb ink_of(const Ui& ui, Ink ink) {
  switch (ink) {
    case Ink::keyword:
      return ui[Color::accent];
    case Ink::comment:
      return ui[Color::muted];
    case Ink::literal:
      return ui[Color::ok];
    case Ink::plain:
      break;
  }
  return ui[Color::text];
}

float code_row_h() { return std::round(font_pixels(kFont) * 1.4F); }

void draw_name(Ui& ui, const Rect& word, std::string_view name) {
  const bool here = touch(ui, word).hovered;
  if (lit(ui, name)) {
    fill(ui, word, ui[Color::accent], 0.22F, ui.px(2));
    outline(ui, word, ui[Color::accent], ui.px(1), ui.px(2));
  } else {
    line(ui, word.x, word.bottom() - 1.0F, word.right(), word.bottom() - 1.0F, ui[Color::border]);
  }
  if (!here) return;
  const auto value = watch_value(ui.frame, ui.selection, name);
  mark(ui, fmt::format("code/name/{}", name), word,
       value ? fmt::format("{} = {}", value->label, value->now) : std::string(name),
       value ? value->source : "no value in this step");
  ui.view.next_hover.name = std::string(name);
}

void draw_row(Ui& ui, const Pane& pane, const CodeRow& row, float y) {
  const CodePlace& place = pane.place;
  const Rect band{pane.area.x, y, pane.area.w, pane.row_h};
  const bool ran = holds(place.ran, row.line);
  const bool next = place.next.contains(row.line);
  if (ran || next) fill(ui, band, ui[Color::raised]);
  if (row.line == pane.writer_line) outline(ui, band, ui[Color::accent], ui.px(1));
  const float size = std::floor(pane.row_h * 0.6F);
  const float mark_y = y + (pane.row_h - size) * 0.5F;
  if (row.begin == 0) {
    if (starts(place.ran, row.line)) {
      pointer(ui, band.x + ui.px(2), mark_y, size, ui[Color::text], false);
      mark(ui, fmt::format("code/ran/{}", row.line + 1), {band.x, y, ui.px(14), pane.row_h},
           fmt::format("line {} just ran", row.line + 1), std::string(place.source->path));
    }
    if (place.next.first == row.line) {
      pointer(ui, band.x + ui.px(2), mark_y, size, ui[Color::warning], true);
      mark(ui, fmt::format("code/next/{}", row.line + 1), {band.x, y, ui.px(14), pane.row_h},
           fmt::format("line {} runs next", row.line + 1), std::string(place.source->path));
    }
    text_in(ui, kFont, {band.x + ui.px(14), y, pane.char_w * static_cast<float>(kNumberColumns), pane.row_h},
            ui[Color::muted], std::to_string(row.line + 1), Align::right);
  }
  const std::string_view text = place.source->lines[static_cast<std::size_t>(row.line)];
  const float text_y = y + std::floor((pane.row_h - font_pixels(kFont)) * 0.5F);
  for (const CodePiece& piece : code_pieces(text, place.source->is_pseudocode())) {
    const int begin = std::max(piece.begin, row.begin), end = std::min(piece.end, row.end);
    if (begin >= end) continue;
    const float x = pane.text_x + pane.char_w * static_cast<float>(row.indent + begin - row.begin);
    if (!piece.name.empty())
      draw_name(ui, {x, y, pane.char_w * static_cast<float>(end - begin), pane.row_h}, piece.name);
    text_at(ui, kFont, x, text_y, ink_of(ui, piece.ink),
            text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
  }
}

/// Keeps the line that matters in view: once for each place, so that the wheel still scrolls. Returns how far
/// the scroll will jump with the next frame: this one is drawn as if it had, for there may be none for long.
float follow(Ui& ui, const Pane& pane, const std::vector<CodeRow>& rows) {
  CodeView& view = ui.view.code;
  const int line = pane.writer_line >= 0 ? pane.writer_line : pane.place.focus;
  const std::string key = fmt::format("{}:{}:{}", pane.place.source->path, line, rows.size());
  if (view.shown == key) return 0.0F;
  view.shown = key;
  const auto y_of = [&](int wanted) {
    const auto row =
        std::find_if(rows.begin(), rows.end(), [wanted](const CodeRow& r) { return r.line == wanted; });
    return pane.row_h * static_cast<float>(row - rows.begin());
  };
  const float at = y_of(line);
  const float seen = pane.area.h - fold_note_height(ui);
  float scroll = at - std::floor(seen * 0.35F);
  // What runs next below it is shown too, as long as both have room.
  const int next = pane.place.next.first;
  if (pane.writer_line < 0 && next > line)
    scroll = std::max(scroll, std::min(at, y_of(next) + 3.0F * pane.row_h - seen));
  const float most = std::max(0.0F, pane.row_h * static_cast<float>(rows.size()) - pane.area.h);
  const float whole = std::clamp(std::floor(scroll / pane.row_h) * pane.row_h, 0.0F, most);  // no line is cut
  const float jump = whole - ImGui::GetScrollY();
  ImGui::SetScrollY(whole);
  return jump;
}

void draw_text(Ui& ui, Pane pane) {
  pane.char_w = text_width(ui, kFont, "0000000000") * 0.1F;
  pane.row_h = code_row_h();
  pane.area.h = std::max(pane.row_h, std::floor(pane.area.h / pane.row_h) * pane.row_h);
  pane.text_x = pane.area.x + ui.px(22) + pane.char_w * static_cast<float>(kNumberColumns);
  const float scroll_bar = ui.px(12);
  const auto columns = static_cast<int>((pane.area.right() - scroll_bar - pane.text_x) / pane.char_w);
  const std::vector<CodeRow> rows = code_rows(*pane.place.source, columns);
  const float origin = begin_scroll(ui, "code/text", pane.area);
  const float top = origin - follow(ui, pane, rows);
  const float low = ui.draw->GetClipRectMin().y, high = ui.draw->GetClipRectMax().y;
  const int last = static_cast<int>(rows.size()) - 1;
  const int from = std::clamp(static_cast<int>((low - top) / pane.row_h), 0, last);
  const int to = std::clamp(static_cast<int>((high - top) / pane.row_h), 0, last);
  for (int i = from; i <= to; ++i)
    draw_row(ui, pane, rows[static_cast<std::size_t>(i)], top + pane.row_h * static_cast<float>(i));
  end_scroll(ui, origin + pane.row_h * static_cast<float>(last + 1), pane.row_h);
}

/// Which of the stage's launches is shown; returns the x behind the choice.
float draw_launches(Ui& ui, const Rect& rect) {
  CodeView& view = ui.view.code;
  const auto kernels = stage_kernels(ui.frame, ui.selection);
  const int count = static_cast<int>(kernels.size());
  if (view.tab != static_cast<int>(CodeTab::kernel) || count < 2) return rect.x;
  const bool chosen = view.launch >= 0 && view.launch < count;
  const int now = chosen ? view.launch : main_kernel(kernels, ui.selection.stage);
  const float label_w =
      text_width(ui, FontRole::text, fmt::format("{0} (0\xE2\x80\x93{0})", count - 1)) + ui.px(8);
  const float side = rect.h;
  if (label_w + 2.0F * side > rect.w) return rect.x;
  if (button(ui, "code/launch/prev", {rect.x, rect.y, side, side}, "\xE2\x80\xB9",
             "the launch before, in this stage", now > 0))
    view.launch = now - 1;
  const Rect label{rect.x + side, rect.y, label_w, rect.h};
  text_in(ui, FontRole::text, label, ui[Color::text], fmt::format("{} (0\xE2\x80\x93{})", now, count - 1),
          Align::center);
  mark(ui, "code/launch", label,
       fmt::format("{} of this stage: {}", counted_text("launch", now, count),
                   kernels[static_cast<std::size_t>(now)]->kernel),
       "launches of the step");
  if (button(ui, "code/launch/next", {label.right(), rect.y, side, side}, "\xE2\x80\xBA",
             "the next launch of this stage", now + 1 < count))
    view.launch = now + 1;
  return label.right() + side;
}

/// Text tabs, the choice among the stage's launches, and Copy.
void draw_controls(Ui& ui, const Rect& rect, const CodePlace& place, bool titled) {
  struct Choice {
    CodeTab tab;
    std::string_view name, label, tip;
  };
  constexpr Choice kCodeTabs[] = {
      {CodeTab::host, "host", "Engine", "the engine's C++ that runs this stage"},
      {CodeTab::kernel, "kernel", "Kernel", "the CUDA text of the stage's kernel"},
      {CodeTab::pseudo, "pseudo", "Short", "the same in a few lines of pseudocode"}};
  CodeView& view = ui.view.code;
  float x = rect.x;
  const auto width = [&](std::string_view label) {
    return text_width(ui, FontRole::strong, label) + ui.px(16);
  };
  for (const Choice& tab : kCodeTabs) {
    const float w = width(tab.label);
    if (x + w > rect.right()) break;
    if (button(ui, fmt::format("code/tab/{}", tab.name), {x, rect.y, w, rect.h}, tab.label, tab.tip, true,
               view.tab == static_cast<int>(tab.tab)))
      view.tab = static_cast<int>(tab.tab);
    x += w + ui.px(4);
  }
  float right = rect.right();
  if (x + width("Copy") <= right) {
    right -= width("Copy");
    if (button(ui, "code/copy", {right, rect.y, width("Copy"), rect.h}, "Copy",
               fmt::format("the whole of {} into the clipboard", place.source->path)))
      ImGui::SetClipboardText(std::string(place.source->text).c_str());
    right -= ui.px(6);
  }
  x += ui.px(4);
  x = draw_launches(ui, {x, rect.y, right - x, rect.h});
  if (!titled) return;
  const Rect title{x + ui.px(4), rect.y, right - x - ui.px(4), rect.h};
  if (title.w < ui.px(60)) return;
  const std::string_view file = place.source->path.substr(place.source->path.rfind('/') + 1);
  text_in(ui, FontRole::small, title, ui[Color::muted],
          first_fitting(ui, FontRole::small, title.w, {file, ""}), Align::right);
  mark(ui, "code/title", title, place.title, std::string(place.source->path));
}

/// Names in what just ran, then in what is next, that have a value.
std::vector<WatchValue> watched(const Ui& ui, const CodePlace& place) {
  std::vector<std::string_view> names;
  const auto add = [&](const CodeLines& lines) {
    for (const std::string_view name : names_in(*place.source, lines.first, lines.end)) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  };
  for (const CodeLines& lines : place.ran) add(lines);
  if (place.next.first >= 0) add(place.next);
  std::vector<WatchValue> out;
  Watch watch(ui.frame, ui.selection);
  for (const std::string_view name : names) {
    auto value = watch.value(name);
    if (value) out.push_back(std::move(*value));
  }
  // What changed comes first.
  std::stable_partition(out.begin(), out.end(), [](const WatchValue& v) { return v.changed(); });
  return out;
}

void draw_watch(Ui& ui, const std::vector<WatchValue>& values, const Rect& rect, float row_h) {
  line(ui, rect.x, rect.y, rect.right(), rect.y, ui[Color::border]);
  float y = rect.y + ui.px(3);
  for (const WatchValue& value : values) {
    const Rect row{rect.x, y, rect.w, row_h};
    if (row.bottom() > rect.bottom() + 0.5F) return;
    y += row_h;
    const float dot = ui.px(3);
    if (value.changed())
      ui.draw->AddCircleFilled({row.x + ui.px(6), row.y + row_h * 0.5F}, dot, rgba(ui[Color::warning]), 10);
    const float label_w = std::floor(row.w * 0.42F);
    text_in(ui, FontRole::mono_small, {row.x + ui.px(14), row.y, label_w - ui.px(18), row_h},
            ui[Color::muted], value.label, Align::left);
    const Rect rest{row.x + label_w, row.y, row.w - label_w, row_h};
    const float used = text_in(ui, FontRole::mono_small, rest, ui[Color::text], value.now, Align::left);
    const Rect old{rest.x + used + ui.px(10), row.y, rest.w - used - ui.px(10), row_h};
    const std::string was = "was " + value.before;
    if (value.changed() && text_width(ui, FontRole::mono_small, was) <= old.w)
      text_in(ui, FontRole::mono_small, old, ui[Color::muted], was, Align::left);
    name_tag(ui, row, value.name);
    mark(ui, "code/watch/" + value.label, row,
         value.before.empty() ? value.now : fmt::format("{}, before {}", value.now, value.before),
         value.source);
  }
}

/// Where to go on when the next lines, or the ones that write the meant name, are in another text.
std::string below_text(const CodePlace& place, const Writer& writer, std::string_view name, int lines_seen) {
  if (writer.source != nullptr && writer.source != place.source)
    return fmt::format("{} is written in {}:{}", name, writer.source->path, writer.line + 1);
  if (place.next.first < 0 && !place.elsewhere.empty()) return "next: " + place.elsewhere;
  if (place.next.first >= 0 && std::abs(place.next.first - place.focus) >= lines_seen) {
    const std::string_view line = place.source->lines[static_cast<std::size_t>(place.next.first)];
    return fmt::format("next: line {}: {}", place.next.first + 1,
                       line.substr(std::min(line.find_first_not_of(' '), line.size())));
  }
  return place.note;
}

void draw_body(Ui& ui, const CodePlace& place, const Rect& body) {
  Rect rest = body;
  const float row_h = ui.px(17);
  const std::string_view meant = ui.view.hover.name;
  // What the mouse means in the text must not scroll away under it.
  const bool from_elsewhere = !meant.empty() && !mouse_over(body);
  const Writer writer = from_elsewhere ? writer_of(ui.frame, place, meant) : Writer{};
  const std::vector<WatchValue> values = watched(ui, place);
  // As many as leave a dozen lines of code, or one in lower panels.
  const float code_h = kLeastLines * code_row_h() + row_h + ui.px(8);
  const int least = rest.h >= ui.px(104) + row_h ? 1 : 0;
  const int room = std::max(least, static_cast<int>((rest.h - code_h) / row_h));
  const int rows = std::min({static_cast<int>(values.size()), kWatchRows, room});
  const float watch_h = row_h * static_cast<float>(rows) + ui.px(4);
  if (rows > 0) {
    draw_watch(ui, values, {rest.x, rest.bottom() - watch_h, rest.w, watch_h}, row_h);
    rest.h -= watch_h + ui.px(2);
  }
  const int lines_seen = static_cast<int>((rest.h - row_h - ui.px(2)) / code_row_h());
  const std::string below = below_text(place, writer, meant, lines_seen);
  if (!below.empty() && rest.h >= ui.px(60)) {
    const Rect box{rest.x, rest.bottom() - row_h, rest.w, row_h};
    pointer(ui, box.x + ui.px(2), box.y + ui.px(4), ui.px(9), ui[Color::warning], true);
    text_in(ui, FontRole::small, {box.x + ui.px(15), box.y, box.w - ui.px(15), box.h}, ui[Color::text], below,
            Align::left);
    mark(ui, "code/below", box, below, "");
    rest.h -= row_h + ui.px(2);
  }
  draw_text(ui, {place, rest, 1.0F, 1.0F, 0.0F, writer.source == place.source ? writer.line : -1});
}

}  // namespace

void draw_code(Ui& ui, const Rect& rect) {
  if (!ui.frame.step) {
    if (!begin_panel(ui, "code", rect, "Code")) return;
    empty_note(ui, "The source of each stage appears here: kernel, engine and pseudocode.");
    end_panel(ui);
    return;
  }
  CodeView& view = ui.view.code;
  const int where = static_cast<int>(ui.selection.stage) * 4096 + ui.selection.layer;
  if (view.stage != where) {  // another stage has other launches
    view.stage = where;
    view.launch = -1;
  }
  const CodePlace place = code_place(ui.frame, ui.selection, static_cast<CodeTab>(view.tab), view.launch);
  // Low panels keep their lines for the code: the title is then in the tab's tooltip only.
  const bool low = rect.h < ui.px(300);
  const std::string_view path = place.source->path;
  const float room = rect.w - ui.px(60) - text_width(ui, FontRole::strong, place.title);
  const std::string_view caption =
      first_fitting(ui, FontRole::small, room, {path, path.substr(path.rfind('/') + 1)});
  if (!begin_panel(ui, "code", rect, low ? std::string() : place.title, caption)) return;
  Rect body = ui.body;
  if (body.h >= ui.px(70)) {
    draw_controls(ui, {body.x, body.y, body.w, ui.px(24)}, place, low);
    body.y += ui.px(29);
    body.h -= ui.px(29);
  }
  draw_body(ui, place, body);
  end_panel(ui);
}

}  // namespace attn::viz
