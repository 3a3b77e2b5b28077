#include "viz/panels/packed_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "viz/lookup.h"
#include "viz/panels/strip_parts.h"
#include "viz/widgets/paint.h"
#include "viz/widgets/zoom.h"

namespace attn::viz {
namespace {

constexpr float kFlag = 14.0F;  // px at scale 1: height of a number on a ruler

/// The array that gives the kernel how many keys each sequence has.
const char* key_lengths(const trace::StepRecord& step) {
  return step.context_lens ? "context_lens" : "cu_seqlens_k";
}

StripBands bands_of(const Ui& ui) {
  const float flag = ui.px(15);
  const float spare = std::max(ui.px(20), ui.body.h - flag - ui.px(2) - ui.px(kFlag));
  const float bar = std::min(ui.px(30), std::floor(spare * 0.38F));
  StripBands b{};
  b.flags_k = ui.body.y;
  b.k_top = b.flags_k + flag;
  b.k_bottom = b.k_top + bar;
  b.q_top = b.k_top + std::min(spare, 2.0F * bar + ui.px(60)) - bar;
  b.q_bottom = b.q_top + bar;
  b.flags_q = b.q_bottom;
  return b;
}

int seq_of(const Ui& ui, const StripSegment& segment) {
  return ui.frame.step->seqs[static_cast<std::size_t>(segment.batch)].id;
}

/// One of the two rulers, and the stretch of it that is still free for numbers.
struct Ruler {
  const char* name;
  float text_y, tick_y0, tick_y1;
  float free_from;
  float free_to;
};

/// The last value of a ruler, its total: right-aligned at its end, and its place kept free of other numbers.
float total_x(const Ui& ui, float x, int value) {
  return x - text_width(ui, FontRole::mono_small, std::to_string(value));
}

/// One cu value: a tick at x and its number, left out where it would run into another.
void draw_flag(Ui& ui, const Strip& strip, Ruler& ruler, std::size_t index, int value, float x, bool total) {
  if (x < strip.area.x - 1.0F || x > strip.area.right() + 1.0F) return;
  const std::string text = std::to_string(value);
  const float w = text_width(ui, FontRole::mono_small, text);
  const float text_x = total ? total_x(ui, x, value) : x;
  line(ui, x, ruler.tick_y0, x, ruler.tick_y1, ui[Color::stroke], 1.0F);
  if (text_x < ruler.free_from || (!total && text_x + w + ui.px(5) > ruler.free_to)) return;
  if (text_x + w > strip.area.right() + 1.0F) return;
  const Rect box{text_x, ruler.text_y, w, ui.px(kFlag)};
  text_in(ui, FontRole::mono_small, {box.x, box.y, w + 1.0F, box.h},
          ui[lit(ui, ruler.name) ? Color::accent : Color::text], text, Align::left);
  ruler.free_from = text_x + w + ui.px(5);
  const Hit hit = mark(ui, fmt::format("strip/{}/{}", ruler.name, index), box,
                       fmt::format("{}[{}] = {}", ruler.name, index, value),
                       fmt::format("{}[{}] I32", ruler.name, index));
  if (hit.hovered) ui.view.next_hover.name = ruler.name;
}

void draw_flags(Ui& ui, const Strip& strip) {
  const StripBands& y = strip.y;
  const StripSegment& last = strip.layout.segments.back();
  const float tick = ui.px(4);
  Ruler k{"cu_seqlens_k", y.flags_k, y.k_top - tick, y.k_top, 0.0F, total_x(ui, last.k_x1, last.k1)};
  Ruler q{"cu_seqlens_q", y.flags_q + ui.px(2),           y.q_bottom, y.q_bottom + tick,
          0.0F,           total_x(ui, last.q_x1, last.q1)};
  for (const StripSegment& s : strip.layout.segments) {
    draw_flag(ui, strip, k, static_cast<std::size_t>(s.batch), s.k0, s.k_x0, false);
    draw_flag(ui, strip, q, static_cast<std::size_t>(s.batch), s.q0, s.q_x0, false);
  }
  const auto end = static_cast<std::size_t>(last.batch) + 1;
  draw_flag(ui, strip, k, end, last.k1, last.k_x1, true);
  draw_flag(ui, strip, q, end, last.q1, last.q_x1, true);
}

void draw_segment(Ui& ui, const Strip& strip, const StripSegment& s) {
  const int seq = seq_of(ui, s);
  const bool selected = seq == focus_seq(ui.frame, ui.selection);
  const Rect k_bar = strip.k_bar(s);
  const Rect q_bar = strip.q_bar(s);
  const float split = s.k_split();
  const Rect cached{k_bar.x, k_bar.y, split - k_bar.x, k_bar.h};
  const Rect fresh{split, k_bar.y, k_bar.right() - split, k_bar.h};
  ui.draw->AddQuadFilled({fresh.x, strip.y.k_bottom}, {fresh.right(), strip.y.k_bottom},
                         {q_bar.right(), strip.y.q_top}, {q_bar.x, strip.y.q_top},
                         rgba(hue_of(ui, seq), ui.view.hover.seq == seq ? 0.4F : 0.22F));
  fill(ui, cached, tint_of(ui, seq));
  outline(ui, cached, hue_of(ui, seq), 1.0F);
  fill(ui, fresh, hue_of(ui, seq));
  fill(ui, q_bar, hue_of(ui, seq));
  const bool cells = strip.layout.px_per_token >= ui.px(7);
  if (cells) draw_strip_cells(ui, strip, s);
  if (k_bar.w >= ui.px(9)) notch(ui, k_bar, seq);
  if (q_bar.w >= ui.px(6)) notch(ui, q_bar, seq);
  if (selected) {
    outline(ui, {k_bar.x - 1.0F, k_bar.y - 1.0F, k_bar.w + 2.0F, k_bar.h + 2.0F}, ui[Color::selection],
            ui.px(2));
    outline(ui, {q_bar.x - 1.0F, q_bar.y - 1.0F, q_bar.w + 2.0F, q_bar.h + 2.0F}, ui[Color::selection],
            ui.px(2));
    const float w = s.q_px();
    if (ui.selection.q_row >= 0 && ui.selection.q_row < s.q1 - s.q0)
      outline(ui, {q_bar.x + static_cast<float>(ui.selection.q_row) * w, q_bar.y, w, q_bar.h},
              ui[Color::selection], ui.px(2));
  }
  const char* lengths = key_lengths(*ui.frame.step);
  if (lit(ui, lengths) || lit(ui, "context_lens")) {
    const Rect ring{k_bar.x - 1.0F, k_bar.y - 1.0F, k_bar.w + 2.0F, k_bar.h + 2.0F};
    outline(ui, ring, ui[Color::accent], ui.px(2));
    if (const Rect seen = visible_part(ui, ring); seen.w > 0.0F)
      ui.marks.add(fmt::format("strip/lit/{}", seq), seen,
                   fmt::format("{} keys of {}", s.k1 - s.k0, seq_letter(seq)), lengths);
  }
  const std::string cached_text = fmt::format("{} cached", s.cached());
  const bool tokens = strip.layout.px_per_token >= ui.px(14);
  if (!tokens && s.cached() > 0 && cached.w > text_width(ui, FontRole::small, cached_text) + ui.px(12))
    text_in(ui, FontRole::small, cached, ui[Color::text], cached_text, Align::center);
}

/// The sequence's letter between the rulers, in the middle of its trapezoid; with the size of its cached
/// part where tokens take the room on the bar.
void draw_letter(Ui& ui, const Strip& strip, const StripSegment& s, float& free_from) {
  const int seq = seq_of(ui, s);
  const float split = s.k_split();
  const float middle = (split + s.k_x1 + s.q_x0 + s.q_x1) * 0.25F;
  const float h = std::min(ui.px(16), strip.y.q_top - strip.y.k_bottom - ui.px(2));
  const std::string letter = seq_letter(seq);
  const float w = std::max(ui.px(18), text_width(ui, FontRole::strong, letter) + ui.px(8));
  const float room = std::max(s.k_x1 - s.k_x0, s.q_x1 - s.q_x0);
  if (h < ui.px(11) || w > room + ui.px(8)) return;
  const float x = std::clamp(middle - w * 0.5F, strip.area.x, strip.area.right() - w);
  if (x < free_from) return;
  free_from = x + w + ui.px(2);
  const float y = std::round((strip.y.k_bottom + strip.y.q_top - h) * 0.5F);
  letter_chip(ui, {std::round(x), y, w, h}, seq);
  const std::string cached = fmt::format("{} cached", s.cached());
  const bool tokens = strip.layout.px_per_token >= ui.px(14);
  if (tokens && s.cached() > 0 && split - s.k_x0 > text_width(ui, FontRole::small, cached) + ui.px(8))
    text_in(ui, FontRole::small, {s.k_x0, y, split - s.k_x0, h}, ui[Color::muted], cached, Align::center);
}

/// The key under the mouse. Where the new rows are wider than to scale they share their own width.
int key_at(const Strip& strip, const StripSegment& s, bool on_queries, float mouse_x) {
  const float split = on_queries ? s.q_x0 : s.k_split();
  const float fresh_px =
      on_queries ? s.q_px() : (s.k_x1 - split) / static_cast<float>(std::max(1, s.q1 - s.q0));
  if (on_queries || mouse_x >= split)
    return s.cached() + std::clamp(static_cast<int>((mouse_x - split) / std::max(fresh_px, 1e-6F)), 0,
                                   std::max(0, s.q1 - s.q0 - 1));
  const int key = static_cast<int>((mouse_x - s.k_x0) / strip.layout.px_per_token);
  return std::clamp(key, 0, std::max(0, s.cached() - 1));
}

/// Mark, tooltip, hover and click of a whole segment.
void touch_segment(Ui& ui, const Strip& strip, const StripSegment& s, bool dragged) {
  const int seq = seq_of(ui, s);
  const std::string letter = seq_letter(seq);
  const std::string value = fmt::format("{}: {} queries over {} keys ({} cached + {} new)", letter,
                                        s.q1 - s.q0, s.k1 - s.k0, s.cached(), s.q1 - s.q0);
  const std::string source =
      fmt::format("cu_seqlens_q[{0}..{1}], cu_seqlens_k[{0}..{1}] I32", s.batch, s.batch + 1);
  const Rect k_bar = strip.k_bar(s);
  const Rect whole{k_bar.x, k_bar.y, k_bar.w, strip.y.q_bottom - k_bar.y};
  const Rect shown = visible_part(ui, strip.memory ? k_bar : whole);
  if (shown.w > 0.0F) ui.marks.add(fmt::format("strip/seq/{}", seq), shown, value, source);
  const Rect upper{k_bar.x, k_bar.y, k_bar.w, strip.memory ? k_bar.h : strip.y.q_top - k_bar.y};
  const bool on_keys = touch(ui, upper).hovered;
  const Rect q_bar = strip.q_bar(s);
  const bool on_queries = touch(ui, q_bar).hovered;
  if (dragged || (!on_keys && !on_queries)) return;
  const int k = key_at(strip, s, on_queries, ImGui::GetIO().MousePos.x);
  const int row = k - s.cached();
  ui.view.next_hover.seq = seq;
  ui.view.next_hover.k_col = k;
  if (row >= 0) ui.view.next_hover.q_row = row;
  if (on_queries) {
    const int packed = s.q0 + row;
    ui.view.next_hover.name = "positions";
    tooltip(ui, fmt::format("row {} \xE2\x86\x92 sequence {}, position {}", packed, letter, k),
            fmt::format("positions[{0}], input_ids[{0}] I32", packed));
  } else {
    const trace::StepRecord& step = *ui.frame.step;
    ui.view.next_hover.name = key_lengths(step);
    const trace::SeqState& state = step.seqs[static_cast<std::size_t>(s.batch)];
    const auto at = static_cast<std::size_t>(k);
    const std::string token =
        at < state.token_ids.size() ? ", " + strip_token_text(ui.frame, state.token_ids[at]) : "";
    tooltip(ui, fmt::format("{}\nkey {} of {}: {}{}", value, k, letter, row < 0 ? "cached" : "new", token),
            step.context_lens ? fmt::format("context_lens[{}] I32, {}", s.batch, source) : source);
  }
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    select(ui, [&](Selection& to) {
      to.seq = seq;
      to.k_col = k;
      to.q_row = std::max(row, -1);
    });
  }
}

/// "strip/row/6": the cell of packed query row 6, made on demand.
void add_row_family(Ui& ui, const Strip& strip) {
  std::vector<std::string> letters;
  for (const StripSegment& s : strip.layout.segments) letters.push_back(seq_letter(seq_of(ui, s)));
  ui.marks.add_family("strip/row/", [strip, letters](std::string_view rest) -> std::optional<Mark> {
    int row = -1;
    if (std::from_chars(rest.data(), rest.data() + rest.size(), row).ec != std::errc{}) return std::nullopt;
    for (const StripSegment& s : strip.layout.segments) {
      if (row < s.q0 || row >= s.q1) continue;
      const float w = s.q_px();
      const float x = s.q_x0 + static_cast<float>(row - s.q0) * w;
      if (x + w <= strip.area.x || x >= strip.area.right()) return std::nullopt;
      return Mark{fmt::format("strip/row/{}", row),
                  {x, strip.y.q_top, w, strip.y.q_bottom - strip.y.q_top},
                  fmt::format("row {} \xE2\x86\x92 sequence {}, position {}", row,
                              letters[static_cast<std::size_t>(s.batch)], s.cached() + row - s.q0),
                  fmt::format("positions[{}] I32", row)};
    }
    return std::nullopt;
  });
}

/// The title line: the toggle, zoom, and what the strip counts. Returns what the buttons cover.
Rect draw_title(Ui& ui, const Strip& strip, const ZoomAxes& axes, bool large) {
  const trace::StepRecord& step = *ui.frame.step;
  const float h = ui.px(22);
  Rect rest{ui.body.x + text_width(ui, FontRole::strong, "Packed batch") + ui.px(36), ui.panel.y + ui.px(5),
            0.0F, h};
  rest.w = ui.body.right() - rest.x;
  const Rect buttons = rest;
  const float w = text_width(ui, FontRole::strong, "true memory") + ui.px(16);
  bool& memory = ui.view.attention.true_memory;
  if (rest.w > w && !ui.view.picture.still) {
    if (button(ui, "strip/true_memory", {rest.x, rest.y, w, h}, "true memory",
               memory ? "put the queries under their keys again, with gaps"
                      : "the gaps exist only in the drawing: squeeze to the packed layout",
               true, memory))
      memory = !memory;
    rest.x += w + ui.px(8);
    rest.w -= w + ui.px(8);
  }
  if (large && rest.w > 0.0F) rest.w -= zoom_buttons(ui, "strip", rest, axes);
  const auto many = [](int count, const char* one) {
    return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
  };
  std::string text =
      fmt::format("{}{} over {} in {}", many(step.cu_seqlens_q.back(), "query row"),
                  strip.layout.widened ? " (drawn wider)" : "", many(step.cu_seqlens_k.back(), "key"),
                  many(static_cast<int>(step.cu_seqlens_q.size()) - 1, "sequence"));
  const bool in_blocks = reads_cache(step) && step.path != trace::AttentionPath::prefill_gather_flatten;
  if (memory) text = in_blocks ? "q lies like this; its keys lie in pool blocks" : "q and k lie like this";
  std::string brief =
      memory ? "" : fmt::format("{} queries, {} keys", step.cu_seqlens_q.back(), step.cu_seqlens_k.back());
  const bool ids = strip.cells == CellText::ids;
  if (ids) text += "  \xC2\xB7  keys by token id";
  if (ids) brief += memory ? "keys by token id" : ", by token id";
  const std::string_view shown =
      first_fitting(ui, FontRole::small, rest.w, {text, brief, ids ? "token ids" : ""});
  text_in(ui, FontRole::small, rest, ui[Color::muted], shown, Align::right);
  const float shown_w = std::clamp(text_width(ui, FontRole::small, shown), 0.0F, std::max(0.0F, rest.w));
  if (shown_w > 0.0F)
    mark(ui, "strip/caption", {rest.right() - shown_w, rest.y, shown_w, rest.h}, text,
         "cu_seqlens_q, cu_seqlens_k I32");
  return buttons;
}

void draw_names(Ui& ui, const Strip& strip, float label_w) {
  const auto name = [&](const char* text, float top, float bottom) {
    const Rect box{ui.body.x, top, label_w, bottom - top};
    text_in(ui, FontRole::small, box, ui[lit(ui, text) ? Color::accent : Color::muted], text, Align::left);
    if (touch(ui, box).hovered) ui.view.next_hover.name = text;
  };
  name("cu_seqlens_k", strip.y.k_top, strip.y.k_bottom);
  name("cu_seqlens_q", strip.y.q_top, strip.y.q_bottom);
}

/// The whole strip is laid out wider than its area when a part is looked at closer.
Strip strip_of(const Ui& ui, float label_w) {
  const trace::StepRecord& step = *ui.frame.step;
  Strip strip;
  strip.memory = ui.view.attention.true_memory;
  strip.y = bands_of(ui);
  strip.area = {ui.body.x + label_w, ui.body.y, ui.body.w - label_w - ui.px(4),
                strip.y.flags_q + ui.px(16) - ui.body.y};
  if (step.seqs.size() + 1 < step.cu_seqlens_q.size()) return strip;
  const ZoomRange& zoom = ui.view.attention.strip;
  const float width = strip.area.w / static_cast<float>(zoom.to - zoom.from);
  const float x = strip.area.x - static_cast<float>(zoom.from) * width;
  strip.layout = strip.memory
                     ? layout_strip_memory(step.cu_seqlens_q, step.cu_seqlens_k, x, width)
                     : layout_strip(step.cu_seqlens_q, step.cu_seqlens_k, x, width, ui.px(8), ui.px(4));
  strip.cells = cell_text_of(ui, strip);
  return strip;
}

void draw_strip(Ui& ui, const Strip& strip, const ZoomAxes& axes) {
  const Rect& area = strip.area;
  const bool dragged = zoom_by_mouse(ui, area, axes);
  ui.draw->PushClipRect({area.x - ui.px(2), area.y}, {area.right() + ui.px(3), ui.body.bottom()}, true);
  for (const StripSegment& s : strip.layout.segments) {
    if (strip.shows(s)) draw_segment(ui, strip, s);
  }
  float free_from = 0.0F;  // of the letters' line
  for (const StripSegment& s : strip.layout.segments) {
    if (!strip.shows(s)) continue;
    draw_letter(ui, strip, s, free_from);
    touch_segment(ui, strip, s, dragged);
  }
  draw_flags(ui, strip);
  ui.draw->PopClipRect();
  add_row_family(ui, strip);
}

}  // namespace

void draw_packed_strip(Ui& ui, const Rect& rect) {
  const trace::StepRecord* step = ui.frame.step.get();
  const PanelId maximised = ui.view.maximised;
  if (!begin_panel(ui, "strip", rect, "Packed batch")) return;
  const float label_w = ui.px(104);
  const bool batch = step != nullptr && !step->cu_seqlens_q.empty() && !step->cu_seqlens_k.empty();
  const Strip strip = batch ? strip_of(ui, label_w) : Strip{};
  if (strip.layout.segments.empty()) {
    empty_note(ui,
               "The packed batch of a step appears here: one row of queries, one row of keys, and their "
               "cu_seqlens.");
    end_panel(ui);
    return;
  }
  const int keys = std::max(1, step->cu_seqlens_k.back());
  const ZoomAxes axes{&ui.view.attention.strip, nullptr, std::min(1.0, 12.0 / keys), 1.0};
  const bool large = strip.layout.px_per_token < ui.px(7) || !axes.whole();
  const Rect buttons = draw_title(ui, strip, axes, large);
  // Two quick presses of a button are not a double click on the title.
  const bool pressed_twice = ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
  if (pressed_twice && touch(ui, buttons).hovered) ui.view.maximised = maximised;
  draw_names(ui, strip, label_w);
  draw_strip(ui, strip, axes);
  end_panel(ui);
}

}  // namespace attn::viz
