#include "viz/panels/tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/trace/number_text.h"
#include "viz/panels/tiles_parts.h"
#include "viz/pool_facts.h"
#include "viz/roofline_facts.h"
#include "viz/widgets/tall_body.h"
#include "viz/widgets/veil.h"

namespace attn::viz {
namespace {

constexpr int kSizes[] = {4, 8, 16, 0};  // keys per tile to choose from; 0: the plan's own

const Switch* find_switch(const Ui& ui, std::string_view name) {
  for (const Switch& entry : ui.frame.switches) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

void set_switch(Ui& ui, std::string name, std::string value) {
  Command command;
  command.kind = Command::Kind::set_switch;
  command.text = std::move(name);
  command.value = std::move(value);
  ui.commands.push_back(std::move(command));
}

void run_to_rescale(Ui& ui) {
  Command command;
  command.kind = Command::Kind::run_to;
  command.a = 1;
  command.condition.kind = trace::ConditionKind::rescale;
  ui.commands.push_back(std::move(command));
}

/// Puts buttons and labels side by side; what does not fit begins the next line.
struct TileLine {
  Ui& ui;
  Rect area;
  float line_h;
  float x = 0.0F;
  float y = 0.0F;

  float width(std::string_view label) const { return text_width(ui, FontRole::strong, label) + ui.px(18); }
  /// Begins a group of things that stay together.
  void group(float w) {
    if (x > 0.0F && x + w > area.w) {
      x = 0.0F;
      y += line_h + ui.px(4);
    }
  }
  Rect take(float w) {
    const Rect box{area.x + x, area.y + y, w, line_h};
    x += w + ui.px(4);
    return box;
  }
};

constexpr std::string_view kRescaleLabel = "\xE2\x86\xBB next rescale";
constexpr std::string_view kSizesLabel = "keys per tile";

std::string place_text(const TileRow& row) {
  const int last = static_cast<int>(row.tiles.size()) - 1;
  return row.finished ? fmt::format("all {} done", last + 1) : counted_text("tile", row.cursor, last + 1);
}

/// Room for the text at any tile.
float place_width(const Ui& ui, const TileRow& row) {
  const int last = static_cast<int>(row.tiles.size()) - 1;
  return std::max(text_width(ui, FontRole::strong, counted_text("tile", last, last + 1)),
                  text_width(ui, FontRole::strong, fmt::format("all {} done", last + 1))) +
         ui.px(8);
}

float query_width(const Ui& ui, const TileRow& row) {
  return text_width(ui, FontRole::text, counted_text("query", row.rows.q_len - 1, row.rows.q_len)) + ui.px(8);
}

float sizes_width(const Ui& ui, const TileLine& line) {
  return text_width(ui, FontRole::text, kSizesLabel) + ui.px(8) + line.width("plan") +
         3.0F * std::max(line.line_h, line.width("16")) + 4.0F * ui.px(4);
}

void draw_walk(Ui& ui, const TileRow& row, TileLine& line) {
  const int last = static_cast<int>(row.tiles.size()) - 1;
  const int back = row.finished ? last : row.cursor - 1;
  const int on = row.finished ? 0 : row.cursor + 1;
  const float side = line.line_h;
  if (button(ui, "tiles/prev", line.take(side), "\xE2\x80\xB9", "the tile before (Left at grain tile)",
             back >= 0))
    go_to_tile(ui, row, back);
  const std::string where = place_text(row);
  const Rect box = line.take(place_width(ui, row));
  text_in(ui, FontRole::strong, box, ui[Color::text], where, Align::center);
  mark(ui, "tiles/cursor", box, where, "Selection: tile");
  if (button(ui, "tiles/next", line.take(side), "\xE2\x80\xBA", "the next tile (Right at grain tile)",
             on <= last))
    go_to_tile(ui, row, on);
  const int rescale = row.next_rescale();
  line.group(line.width(kRescaleLabel));
  if (button(ui, "tiles/rescale", line.take(line.width(kRescaleLabel)), kRescaleLabel,
             rescale >= 0 ? fmt::format("tile {} raises the maximum: what was accumulated shrinks", rescale)
                          : std::string("none left in this row: runs on to the next step that has one"))) {
    if (rescale >= 0)
      go_to_tile(ui, row, rescale);
    else
      run_to_rescale(ui);
  }
}

void draw_row_choice(Ui& ui, const TileRow& row, TileLine& line) {
  if (row.rows.q_len <= 1) return;
  const std::string label = counted_text("query", row.q_row, row.rows.q_len);
  const float text_w = query_width(ui, row);
  const float side = line.line_h;
  line.x += line.x > 0.0F ? ui.px(12) : 0.0F;
  line.group(text_w + 2.0F * side + ui.px(8));
  const auto go = [&](int q_row) {
    select(ui, [&](Selection& s) {
      s.seq = row.rows.seq;
      s.q_row = q_row;
      s.tile = -1;
    });
  };
  if (button(ui, "tiles/row_up", line.take(side), "\xE2\x80\xB9", "the query row before", row.q_row > 0))
    go(row.q_row - 1);
  text_in(ui, FontRole::text, line.take(text_w), ui[Color::text], label, Align::center);
  if (button(ui, "tiles/row_down", line.take(side), "\xE2\x80\xBA", "the next query row",
             row.q_row + 1 < row.rows.q_len))
    go(row.q_row + 1);
}

/// At the right end of their line.
void draw_sizes(Ui& ui, const TileRow& row, TileLine& line) {
  const Switch* entry = find_switch(ui, "k_tile");
  const float plan_w = line.width("plan");
  const float each = std::max(line.line_h, line.width("16"));
  const float label_w = text_width(ui, FontRole::text, kSizesLabel) + ui.px(8);
  const float all = sizes_width(ui, line);
  line.group(all);
  line.x = std::max(line.x, line.area.w - all);
  const Rect box = line.take(label_w);
  text_in(ui, FontRole::text, box, ui[Color::muted], kSizesLabel, Align::left);
  mark(ui, "tiles/k_tile", box, fmt::format("k_tile {}", row.k_tile), "the attention kernel's plan");
  name_tag(ui, box, "k_tile");
  const std::string now = entry ? entry->value : "";
  for (const int size : kSizes) {
    const std::string value = std::to_string(size);
    const std::string tip = entry == nullptr
                                ? (ui.frame.switches_note.empty() ? std::string("this run cannot be repeated")
                                                                  : ui.frame.switches_note)
                            : size == 0 ? std::string("repeats the run with the tile that the plan chooses")
                                        : fmt::format("repeats the run with {} keys per tile", size);
    if (button(ui, "tiles/size/" + value, line.take(size == 0 ? plan_w : each), size == 0 ? "plan" : value,
               tip, entry != nullptr, value == now))
      set_switch(ui, "k_tile", value);
  }
}

void draw_controls(Ui& ui, const TileRow& row, const Rect& rect, int lines) {
  const float between = ui.px(4) * static_cast<float>(lines - 1);
  TileLine line{ui, rect, std::floor((rect.h - between) / static_cast<float>(lines))};
  draw_walk(ui, row, line);
  draw_row_choice(ui, row, line);
  draw_sizes(ui, row, line);
}

/// How many lines the controls take, the same for every tile of the row.
int control_lines(Ui& ui, const TileRow& row) {
  // Beside a scroll bar, and as high as they get.
  TileLine line{ui, {0.0F, 0.0F, ui.body.w - ui.px(5), 0.0F}, ui.px(26)};
  const float side = line.line_h;
  line.take(2.0F * side + place_width(ui, row) + 2.0F * ui.px(4));
  line.group(line.width(kRescaleLabel));
  line.take(line.width(kRescaleLabel));
  if (row.rows.q_len > 1) {
    const float w = query_width(ui, row) + 2.0F * side + ui.px(8);
    line.x += ui.px(12);
    line.group(w);
    line.take(w);
  }
  line.group(sizes_width(ui, line));
  return 1 + static_cast<int>(std::round(line.y / (line.line_h + ui.px(4))));
}

/// Says why there is nothing, and offers the way out when there is one.
void draw_missing(Ui& ui, const std::string& why) {
  empty_note(ui, why);
  const trace::AttentionView* view = ui.frame.attention.get();
  if (view == nullptr || !view->kernel.starts_with("attention_l1_")) return;
  const bool prefill = ui.frame.step && is_prefill(*ui.frame.step);
  const std::string name = prefill ? "prefill_level" : "decode_level";
  const std::string label = "repeat the run at level 2";
  const float w = text_width(ui, FontRole::strong, label) + ui.px(24);
  const Rect box{std::round(ui.body.x + (ui.body.w - w) * 0.5F),
                 std::round(ui.body.y + ui.body.h * 0.5F + ui.px(34)), w, ui.px(28)};
  if (box.bottom() > ui.body.bottom() || w > ui.body.w) return;
  if (button(ui, "tiles/level2", box, label, fmt::format("{} = 2", name), find_switch(ui, name) != nullptr))
    set_switch(ui, name, "2");
}

void draw_tile_parts(Ui& ui, const TileRow& row) {
  const int lines = control_lines(ui, row);
  const TileNeeds needs{ui.body.w, ui.scale,  !row.splits.empty(), static_cast<int>(row.tiles.size()),
                        lines,     ui.body.h, fold_note_height(ui)};
  const TallBody tall(ui, "tiles/parts", least_tiles_height(needs));
  const TileLayout layout = layout_tiles(ui.body, needs);
  draw_controls(ui, row, layout.controls, lines);
  draw_tile_strip(ui, row, layout.strip);
  draw_tile_scores(ui, row, layout.plot);
  draw_tile_gauges(ui, row, layout.gauges);
  draw_tile_table(ui, row, layout.table);
  if (layout.merge.w > 0.0F) draw_tile_merge(ui, row, layout.merge);
  draw_tile_invariant(ui, row, layout.footer);
}

}  // namespace

std::string tile_number(double value) {
  const double size = std::abs(value);
  if (size >= 10'000.0 || (size > 0.0 && size < 0.0001)) return fmt::format("{:.2e}", num(value));
  return fmt::format("{:.4f}", num(value));
}

std::string tile_sum(const TileState& tile) {
  const std::string added = fmt::format("{} = {}", tile_number(tile.sum), tile_number(tile.l_new));
  if (tile.first) return "0 + " + added;
  return fmt::format("{} \xC2\xB7 {} + {}", tile_number(tile.l_old), tile_number(tile.alpha), added);
}

std::string tile_source(const Ui& ui, const TileRow& row, std::string_view array, int tile) {
  return fmt::format("{}[{}, {}, {}] F32, {}", array, row.head, row.row, tile, ui.frame.attention->kernel);
}

void go_to_tile(Ui& ui, const TileRow& row, int tile) {
  select(ui, [&](Selection& s) {
    s.seq = row.rows.seq;
    s.q_row = row.q_row;
    s.stage = trace::Stage::attention;
    s.tile = tile;
  });
}

void draw_tiles(Ui& ui, const Rect& rect) {
  const std::string why = tiles_missing(ui.frame, ui.selection);
  if (!why.empty()) {
    if (!begin_panel(ui, "tiles", rect, "Online softmax, tile by tile")) return;
    draw_missing(ui, why);
    end_panel(ui);
    return;
  }
  const TileRow row = tile_row(ui.frame, ui.selection);
  const std::string title = fmt::format("Online softmax of {}", seq_letter(row.rows.seq));
  const std::string caption =
      with_moment_note(ui.frame, ui.selection, ui.view.grain,
                       with_probe_note(ui.frame, fmt::format("layer {}, head {}, query row {}  \xC2\xB7  {}",
                                                             ui.frame.attention->layer, row.head, row.q_row,
                                                             ui.frame.attention->kernel)));
  if (!begin_panel(ui, "tiles", rect, title, caption)) return;
  if (row.cursor < 0) {
    empty_note(ui, "This query sees no key: its output is 0 and its LSE minus infinity.");
    end_panel(ui);
    return;
  }
  draw_tile_parts(ui, row);
  veil_before_attention(ui);
  end_panel(ui);
}

}  // namespace attn::viz
