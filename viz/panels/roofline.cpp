#include "viz/panels/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/cost_lines.h"
#include "viz/layout/roofline_layout.h"
#include "viz/lookup.h"
#include "viz/panels/roofline_parts.h"
#include "viz/widgets/paint.h"
#include "viz/widgets/tall_body.h"

namespace attn::viz {
namespace {

/// One row of the list; empty cells are not drawn.
struct Cells {
  std::string level, name, intensity, time, bound;
};

std::string us_text(double us) { return time_text(static_cast<float>(us * 1e-3)); }

Cells cells_of(const Roofline& r, const RooflineLevel& level) {
  Cells cells{fmt::format("l{}", level.level), level.name, figures(level.work.intensity()), "", ""};
  if (!r.ceilings.measured()) {
    cells.time = bytes_text(static_cast<std::uint64_t>(level.work.bytes));
    cells.bound = std::to_string(level.work.launches);
    return cells;
  }
  const Floor floor = floor_of(level.work, r.ceilings);
  const bool bench = level.measured_us > 0.0;
  cells.time = us_text(bench ? level.measured_us : floor.us);
  cells.bound = std::string(bound_text(floor.bound));
  if (bench) cells.bound += fmt::format(" {:.0f} %", 100.0 * floor.us / level.measured_us);
  return cells;
}

struct Columns {
  float level, name, intensity, time, bound, gap;
  float all() const { return level + name + intensity + time + bound + 4.0F * gap; }
};

Cells head_of(const Roofline& r, bool bench) {
  if (!r.ceilings.measured()) return {"", "", "FLOP/byte", "bytes", "launches"};
  return {"", "", "FLOP/byte", bench ? "measured" : "at best", "bound by"};
}

Columns columns_of(const Ui& ui, const Roofline& r) {
  Columns c{0, 0, 0, 0, 0, ui.px(12)};
  const auto widen = [&](const Cells& cells, FontRole numbers) {
    c.level = std::max(c.level, text_width(ui, FontRole::mono, cells.level));
    c.name = std::max(c.name, text_width(ui, FontRole::text, cells.name));
    c.intensity = std::max(c.intensity, text_width(ui, numbers, cells.intensity));
    c.time = std::max(c.time, text_width(ui, numbers, cells.time));
    c.bound = std::max(c.bound, text_width(ui, FontRole::text, cells.bound));
  };
  for (const bool bench : {false, true}) {
    widen(head_of(r, bench), FontRole::small);
    for (const RooflineLevel& level : bench ? r.bench : r.here) widen(cells_of(r, level), FontRole::mono);
  }
  for (float* w : {&c.level, &c.name, &c.intensity, &c.time, &c.bound}) *w += ui.px(2);
  return c;
}

/// What has no room goes in this order: the name, FLOP per byte, the time.
Columns fitted(Columns c, float width) {
  for (float* column : {&c.name, &c.intensity, &c.time}) {
    if (c.all() <= width) break;
    *column = -c.gap;
  }
  return c;
}

void draw_row(Ui& ui, const Rect& row, const Columns& c, const Cells& cells, FontRole numbers, Rgb ink) {
  float x = row.x;
  const auto cell = [&](FontRole role, float w, const std::string& text, Align align) {
    if (w > 0.0F && !text.empty()) text_in(ui, role, {x, row.y, w, row.h}, ink, text, align);
    x += w + c.gap;
  };
  cell(FontRole::mono, c.level, cells.level, Align::left);
  cell(FontRole::text, c.name, cells.name, Align::left);
  cell(numbers, c.intensity, cells.intensity, Align::right);
  cell(numbers, c.time, cells.time, Align::right);
  cell(numbers == FontRole::small ? numbers : FontRole::text, c.bound, cells.bound, Align::left);
}

struct List {
  Columns columns;
  float x, w, y, row;
  Rect next() {
    const Rect box{x, y, w, row};
    y += row;
    return box;
  }
};

/// A line of small text, wrapped.
void draw_words(Ui& ui, List& list, const char* name, const std::string& text, const char* source) {
  const float h = wrapped_height(ui, FontRole::small, list.w, text);
  text_wrapped(ui, FontRole::small, {list.x, list.y, list.w, h}, ui[Color::muted], text);
  mark(ui, fmt::format("roofline/{}", name), {list.x, list.y, list.w, h}, text, source);
  list.y += h + ui.px(4);
}

/// What its points look like in the chart, then the title.
void draw_heading(Ui& ui, const Roofline& r, List& list, bool bench) {
  const Rect box = list.next();
  const float marker = ui.px(18);
  draw_roofline_marker(ui, box.x + ui.px(7), box.y + box.h * 0.5F, bench, false);
  const char* title = bench                   ? "measured by the bench"
                      : r.ceilings.measured() ? "this attention, at best"
                                              : "this attention";
  text_in(ui, FontRole::strong, {box.x + marker, box.y, box.w - marker, box.h}, ui[Color::text],
          first_fitting(ui, FontRole::strong, box.w - marker, {title, bench ? "measured" : "at best", ""}),
          Align::left);
}

void draw_levels(Ui& ui, const Roofline& r, List& list, bool bench) {
  const auto& levels = bench ? r.bench : r.here;
  if (levels.empty()) return;
  draw_heading(ui, r, list, bench);
  if (bench) draw_words(ui, list, "nearest case", r.bench_name, "attnscope bench");
  draw_row(ui, list.next(), list.columns, head_of(r, bench), FontRole::small, ui[Color::muted]);
  for (const RooflineLevel& level : levels) {
    const Rect box = list.next();
    if (!row_in_sight(ui, box)) continue;
    const Rgb ink = ui[level.ran ? Color::accent : Color::text];
    draw_row(ui, box, list.columns, cells_of(r, level), FontRole::mono, ink);
    mark(ui, fmt::format("roofline/{}/{}", bench ? "bench" : "level", level.level), box, level_tip(r, level),
         bench ? "attnscope bench on " + r.device : "launch records of each level, at the measured ceilings");
  }
  list.y += ui.px(6);
}

void draw_list(Ui& ui, const Roofline& r, const Rect& area, const Columns& columns) {
  List list{fitted(columns, area.w - ui.px(12)), area.x, area.w - ui.px(12),
            begin_scroll(ui, "roofline/list", area),
            std::max(ui.px(20), font_pixels(FontRole::text) + ui.px(6))};
  draw_levels(ui, r, list, false);
  if (!r.absent.empty()) draw_words(ui, list, "absent", r.absent, "what the launcher of that level can run");
  draw_levels(ui, r, list, true);
  end_scroll(ui, list.y);
}

/// Chart, list, and what is to be said first.
void draw_roofline_parts(Ui& ui, const Roofline& roofline) {
  const Columns columns = columns_of(ui, roofline);
  const RooflineText text{font_pixels(FontRole::small) + ui.px(4),
                          text_width(ui, FontRole::small, "0.001") + ui.px(6), columns.all() + ui.px(14)};
  const float width = ui.body.w - ui.px(5);  // the same with a scroll bar
  const float note_h =
      roofline.note.empty() ? 0.0F : wrapped_height(ui, FontRole::strong, width, roofline.note);
  const TallBody tall(ui, "roofline/parts",
                      least_roofline_height(width, ui.scale, text, note_h, ui.body.h - fold_note_height(ui)));
  const RooflineLayout layout = layout_roofline(ui.body, ui.scale, text, note_h);
  if (layout.note.h > 0.0F) {
    text_wrapped(ui, FontRole::strong, layout.note, ui[Color::warning], roofline.note);
    mark(ui, "roofline/note", layout.note, roofline.note);
  }
  keep_whole(ui, layout.chart, "roofline/chart");
  draw_roofline_chart(ui, roofline, layout.plot);
  draw_list(ui, roofline, layout.list, columns);
}

}  // namespace

std::string figures(double value) {
  if (value >= 100.0) return fmt::format("{:.0f}", value);
  if (value >= 10.0) return fmt::format("{:.1f}", value);
  return value >= 0.1 ? fmt::format("{:.2f}", value) : fmt::format("{:.2g}", value);
}

std::string level_tip(const Roofline& r, const RooflineLevel& level) {
  const KernelWork& work = level.work;
  std::string tip = fmt::format("level {}, {}: {}\n{} in {}, {} FLOP per byte, {} launch{}", level.level,
                                level.name, level.idea, flop_text(static_cast<std::uint64_t>(work.flop)),
                                bytes_text(static_cast<std::uint64_t>(work.bytes)), figures(work.intensity()),
                                work.launches, work.launches == 1 ? "" : "es");
  if (!level.kernel.empty()) tip += fmt::format("\n{}{}", level.kernel, level.ran ? ", as the step ran" : "");
  if (!r.ceilings.measured()) return tip;
  tip += "\nat least";
  for (int i = 0; i < kNumBounds; ++i) {
    const auto bound = static_cast<Bound>(i);
    if (const double us = floor_us(bound, work, r.ceilings); us > 0.0)
      tip += fmt::format("{} {} by {}", i == 0 ? "" : ",", us_text(us), bound_text(bound));
  }
  if (level.measured_us > 0.0)
    tip += fmt::format("\nmeasured {}, {} TFLOP/s, {:.0f} GB/s", us_text(level.measured_us),
                       figures(tflops(work, level.measured_us)), work.bytes / level.measured_us * 1e-3);
  return tip;
}

void draw_roofline(Ui& ui, const Rect& rect) {
  const std::string why = roofline_missing(ui.frame);
  if (!why.empty()) {
    if (!begin_panel(ui, "roofline", rect, "Roofline")) return;
    empty_note(ui, why);
    end_panel(ui);
    return;
  }
  const Roofline roofline = roofline_of(ui.frame);
  const std::string ceilings =
      roofline.ceilings.measured() ? "  \xC2\xB7  ceilings of " + roofline.device : std::string();
  if (!begin_panel(ui, "roofline", rect, "Roofline", roofline.op + ceilings)) return;
  draw_roofline_parts(ui, roofline);
  end_panel(ui);
}

}  // namespace attn::viz
