#include "viz/panels/packed_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "viz/layout/strip_layout.h"
#include "viz/lookup.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

struct Bands {
  float flags_k, k_top, k_bottom, q_top, q_bottom, flags_q;  // y of each band
};

Bands bands_of(const Ui& ui) {
  const float flag = ui.px(15);
  const float spare = std::max(ui.px(20), ui.body.h - 2.0F * flag);
  const float bar = std::min(ui.px(30), std::floor(spare * 0.38F));
  Bands b{};
  b.flags_k = ui.body.y;
  b.k_top = b.flags_k + flag;
  b.k_bottom = b.k_top + bar;
  b.q_top = b.k_top + spare - bar;
  b.q_bottom = b.q_top + bar;
  b.flags_q = b.q_bottom;
  return b;
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
void draw_flag(Ui& ui, Ruler& ruler, std::size_t index, int value, float x, bool total) {
  const std::string text = std::to_string(value);
  const float w = text_width(ui, FontRole::mono_small, text);
  const float text_x = total ? total_x(ui, x, value) : x;
  line(ui, x, ruler.tick_y0, x, ruler.tick_y1, ui[Color::stroke], 1.0F);
  if (text_x < ruler.free_from || (!total && text_x + w + ui.px(5) > ruler.free_to)) return;
  const Rect box{text_x, ruler.text_y, w, ui.px(14)};
  text_in(ui, FontRole::mono_small, {box.x, box.y, w + 1.0F, box.h}, ui[Color::text], text, Align::left);
  ruler.free_from = text_x + w + ui.px(5);
  mark(ui, fmt::format("strip/{}/{}", ruler.name, index), box,
       fmt::format("{}[{}] = {}", ruler.name, index, value), fmt::format("{}[{}] I32", ruler.name, index));
}

void draw_flags(Ui& ui, const StripLayout& layout, const Bands& y) {
  const StripSegment& last = layout.segments.back();
  const float tick = ui.px(4);
  Ruler k{"cu_seqlens_k", y.flags_k, y.k_top - tick, y.k_top, 0.0F, total_x(ui, last.k_x1, last.k1)};
  Ruler q{"cu_seqlens_q", y.flags_q + ui.px(2),           y.q_bottom, y.q_bottom + tick,
          0.0F,           total_x(ui, last.q_x1, last.q1)};
  for (const StripSegment& s : layout.segments) {
    draw_flag(ui, k, static_cast<std::size_t>(s.batch), s.k0, s.k_x0, false);
    draw_flag(ui, q, static_cast<std::size_t>(s.batch), s.q0, s.q_x0, false);
  }
  const auto end = static_cast<std::size_t>(last.batch) + 1;
  draw_flag(ui, k, end, last.k1, last.k_x1, true);
  draw_flag(ui, q, end, last.q1, last.q_x1, true);
}

void draw_segment(Ui& ui, const StripSegment& segment, const Bands& y, float px_per_token) {
  const int seq = ui.frame.step->seqs[static_cast<std::size_t>(segment.batch)].id;
  const bool selected = seq == focus_seq(ui.frame, ui.selection);
  const Rect k_bar{segment.k_x0, y.k_top, segment.k_x1 - segment.k_x0, y.k_bottom - y.k_top};
  const float split = segment.q_x0;
  const Rect cached{k_bar.x, k_bar.y, split - k_bar.x, k_bar.h};
  const Rect fresh{split, k_bar.y, k_bar.right() - split, k_bar.h};
  const Rect q_bar{segment.q_x0, y.q_top, segment.q_x1 - segment.q_x0, y.q_bottom - y.q_top};

  ui.draw->AddQuadFilled({fresh.x, y.k_bottom}, {fresh.right(), y.k_bottom}, {q_bar.right(), y.q_top},
                         {q_bar.x, y.q_top}, rgba(hue_of(ui, seq), 0.22F));
  fill(ui, cached, tint_of(ui, seq));
  outline(ui, cached, hue_of(ui, seq), 1.0F);
  fill(ui, fresh, hue_of(ui, seq));
  fill(ui, q_bar, hue_of(ui, seq));
  notch(ui, k_bar, seq);
  notch(ui, q_bar, seq);
  if (px_per_token >= ui.px(7)) {  // one cell per token
    for (int t = 1; t < segment.k1 - segment.k0; ++t) {
      const float x = std::round(k_bar.x + static_cast<float>(t) * px_per_token);
      line(ui, x, k_bar.y, x, k_bar.bottom(), ui[Color::panel], 1.0F);
      if (x > q_bar.x) line(ui, x, q_bar.y, x, q_bar.bottom(), ui[Color::panel], 1.0F);
    }
  }
  if (selected) {
    outline(ui, {k_bar.x - 1.0F, k_bar.y - 1.0F, k_bar.w + 2.0F, k_bar.h + 2.0F}, ui[Color::selection],
            ui.px(2));
    outline(ui, {q_bar.x - 1.0F, q_bar.y - 1.0F, q_bar.w + 2.0F, q_bar.h + 2.0F}, ui[Color::selection],
            ui.px(2));
  }
  const std::string letter = seq_letter(seq);
  const std::string cached_text = fmt::format("{} cached", segment.cached());
  if (segment.cached() > 0 && cached.w > text_width(ui, FontRole::small, cached_text) + ui.px(12)) {
    text_in(ui, FontRole::small, cached, ui[Color::text], cached_text, Align::center);
  }
  const float chip_w = text_width(ui, FontRole::strong, letter) + ui.px(6);
  if (q_bar.w >= chip_w) text_in(ui, FontRole::strong, q_bar, on_hue_of(ui, seq), letter, Align::center);
  if (fresh.w >= chip_w) text_in(ui, FontRole::strong, fresh, on_hue_of(ui, seq), letter, Align::center);
}

/// Mark, tooltip, hover and click of a whole segment.
void touch_segment(Ui& ui, const StripSegment& segment, const Bands& y, float px_per_token) {
  const int seq = ui.frame.step->seqs[static_cast<std::size_t>(segment.batch)].id;
  const std::string letter = seq_letter(seq);
  const Rect k_bar{segment.k_x0, y.k_top, segment.k_x1 - segment.k_x0, y.k_bottom - y.k_top};
  const std::string value =
      fmt::format("{}: {} queries over {} keys ({} cached + {} new)", letter, segment.q1 - segment.q0,
                  segment.k1 - segment.k0, segment.cached(), segment.q1 - segment.q0);
  const std::string source =
      fmt::format("cu_seqlens_q[{0}..{1}], cu_seqlens_k[{0}..{1}] I32", segment.batch, segment.batch + 1);
  const Rect whole{k_bar.x, k_bar.y, k_bar.w, y.q_bottom - k_bar.y};
  ui.marks.add(fmt::format("strip/seq/{}", seq), visible_part(ui, whole), value, source);
  if (!touch(ui, whole).hovered) return;

  const float mouse_x = ImGui::GetIO().MousePos.x;
  const float mouse_y = ImGui::GetIO().MousePos.y;
  const int k =
      std::clamp(static_cast<int>((mouse_x - k_bar.x) / px_per_token), 0, segment.k1 - segment.k0 - 1);
  const int row = k - segment.cached();
  ui.view.next_hover.seq = seq;
  ui.view.next_hover.k_col = k;
  if (row >= 0) ui.view.next_hover.q_row = row;
  if (row >= 0 && mouse_y >= y.k_bottom) {
    const int packed = segment.q0 + row;
    tooltip(ui, fmt::format("row {} \xE2\x86\x92 sequence {}, position {}", packed, letter, k),
            fmt::format("positions[{0}], input_ids[{0}] I32", packed));
  } else {
    tooltip(ui, fmt::format("{}\nkey {} of {}: {}", value, k, letter, row < 0 ? "cached" : "new"), source);
  }
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    select(ui, [&](Selection& s) {
      s.seq = seq;
      s.k_col = k;
      s.q_row = std::max(row, -1);
    });
  }
}

/// "strip/row/6": the cell of packed query row 6, made on demand.
void add_row_family(Ui& ui, const StripLayout& layout, const Bands& y) {
  std::vector<std::string> letters;
  for (const StripSegment& s : layout.segments)
    letters.push_back(seq_letter(ui.frame.step->seqs[static_cast<std::size_t>(s.batch)].id));
  ui.marks.add_family("strip/row/", [layout, letters, y](std::string_view rest) -> std::optional<Mark> {
    int row = -1;
    if (std::from_chars(rest.data(), rest.data() + rest.size(), row).ec != std::errc{}) return std::nullopt;
    for (const StripSegment& s : layout.segments) {
      if (row < s.q0 || row >= s.q1) continue;
      const float x = s.q_x0 + static_cast<float>(row - s.q0) * layout.px_per_token;
      return Mark{fmt::format("strip/row/{}", row),
                  {x, y.q_top, layout.px_per_token, y.q_bottom - y.q_top},
                  fmt::format("row {} \xE2\x86\x92 sequence {}, position {}", row,
                              letters[static_cast<std::size_t>(s.batch)], s.cached() + row - s.q0),
                  fmt::format("positions[{}] I32", row)};
    }
    return std::nullopt;
  });
}

}  // namespace

void draw_packed_strip(Ui& ui, const Rect& rect) {
  const trace::StepRecord* step = ui.frame.step.get();
  std::string caption = "keys above, queries below";
  if (step != nullptr && !step->cu_seqlens_q.empty() && !step->cu_seqlens_k.empty()) {
    caption = fmt::format("{} query rows over {} keys in {} sequences", step->cu_seqlens_q.back(),
                          step->cu_seqlens_k.back(), step->cu_seqlens_q.size() - 1);
  }
  if (!begin_panel(ui, "strip", rect, "Packed batch", caption)) return;
  const float label_w = ui.px(104);
  const float end_pad = ui.px(4);
  StripLayout layout;
  if (step != nullptr && step->seqs.size() + 1 >= step->cu_seqlens_q.size()) {
    layout = layout_strip(step->cu_seqlens_q, step->cu_seqlens_k, ui.body.x + label_w,
                          ui.body.w - label_w - end_pad, ui.px(8));
  }
  if (layout.segments.empty()) {
    empty_note(ui,
               "The packed batch of a step appears here: one row of queries, one row of keys, and their "
               "cu_seqlens.");
    end_panel(ui);
    return;
  }
  const Bands y = bands_of(ui);
  text_in(ui, FontRole::small, {ui.body.x, y.k_top, label_w, y.k_bottom - y.k_top}, ui[Color::muted],
          "cu_seqlens_k", Align::left);
  text_in(ui, FontRole::small, {ui.body.x, y.q_top, label_w, y.q_bottom - y.q_top}, ui[Color::muted],
          "cu_seqlens_q", Align::left);
  for (const StripSegment& s : layout.segments) {
    draw_segment(ui, s, y, layout.px_per_token);
    touch_segment(ui, s, y, layout.px_per_token);
  }
  draw_flags(ui, layout, y);
  add_row_family(ui, layout, y);
  end_panel(ui);
}

}  // namespace attn::viz
