#include "viz/panels/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>

#include "core/trace/step_moment.h"
#include "viz/change_lines.h"
#include "viz/lookup.h"
#include "viz/pool_facts.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr float kChangeRow = 20.0F;
constexpr float kButton = 24.0F;
constexpr std::size_t kShortList = 8;

float heading(Ui& ui, const Rect& list, float y, const std::string& text, const std::string& note) {
  const Rect box{list.x, y, list.w, ui.px(24)};
  const float used = text_in(ui, FontRole::strong, box, ui[Color::text], text, Align::left) + ui.px(10);
  if (box.w > used)
    text_in(ui, FontRole::small, {box.x + used, box.y, box.w - used, box.h}, ui[Color::muted], note,
            Align::right);
  mark(ui, "changes/heading/" + text.substr(0, text.find(' ')), box, note,
       note.empty() ? "" : "bookkeeping, batch and pool of both steps");
  return box.bottom();
}

float quiet(Ui& ui, const Rect& list, float y, std::string_view text) {
  return y + text_wrapped(ui, FontRole::small, {list.x, y, list.w, 0.0F}, ui[Color::muted], text) + ui.px(6);
}

/// Up to which stage the step is told.
trace::Stage stage_shown(const Ui& ui) {
  const bool inside = ui.frame.step && !moment_shown(ui.frame, ui.selection, ui.view.grain).committed;
  return inside ? ui.selection.stage : trace::Stage::commit;
}

/// Made once per difference, not once per frame.
const std::vector<ChangeLine>& lines_of_diff(Ui& ui) {
  ChangesView& view = ui.view.data.changes;
  if (view.shown[1] != ui.frame.diff) {
    view.shown[1] = ui.frame.diff;
    view.lines[1] = change_lines(ui.frame, *ui.frame.diff);
  }
  return view.lines[1];
}

/// The same, and once per stage.
const std::vector<ChangeLine>& lines_since_last(Ui& ui) {
  ChangesView& view = ui.view.data.changes;
  const trace::Stage stage = stage_shown(ui);
  if (view.shown[0] == ui.frame.changes && view.stage == stage) return view.lines[0];
  view.shown[0] = ui.frame.changes;
  view.stage = stage;
  if (stage == trace::Stage::commit || !ui.frame.previous) {
    view.lines[0] = change_lines(ui.frame, *ui.frame.changes);
  } else {
    const trace::StepRecord& before = *ui.frame.previous;
    const trace::StepDiff by_now =
        trace::diff_steps(before, trace::bookkeeping_at(before, *ui.frame.step, stage));
    view.lines[0] = change_lines(ui.frame, *ui.frame.changes, &by_now);
  }
  return view.lines[0];
}

void draw_line(Ui& ui, const Rect& box, const ChangeLine& one, const std::string& name,
               const trace::StepDiff& diff) {
  const float where_w = std::round(std::clamp(box.w * 0.32F, ui.px(90), ui.px(180)));
  if (!one.later) change_dot(ui, box.x + ui.px(4), box.y + box.h * 0.5F);
  const Color ink = one.later ? Color::muted : Color::text;
  const bool selected =
      (one.block >= 0 && one.block == ui.selection.block) || (one.seq >= 0 && one.seq == ui.selection.seq);
  text_in(ui, FontRole::mono, {box.x + ui.px(12), box.y, where_w - ui.px(16), box.h},
          ui[selected ? Color::accent : ink], one.where, Align::left);
  text_in(ui, FontRole::mono, {box.x + where_w, box.y, box.w - where_w, box.h}, ui[ink], one.text,
          Align::left);
  const Hit hit = mark(ui, name, box,
                       fmt::format("{}{}\n{}", one.where, one.later ? ", later in this step" : "", one.all),
                       fmt::format("StepDiff of steps {} and {}", diff.before, diff.after));
  if (hit.hovered && one.block >= 0) ui.view.next_hover.block = one.block;
  if (!hit.clicked || (one.block < 0 && one.seq < 0)) return;
  select(ui, [&](Selection& s) {
    if (one.block >= 0) s.block = one.block;
    if (one.seq >= 0) s.seq = one.seq;
  });
}

float draw_lines(Ui& ui, const Rect& list, float y, std::span<const ChangeLine> lines, const char* part,
                 const trace::StepDiff& diff) {
  bool& all = ui.view.data.changes.all;
  const bool long_list = lines.size() > kShortList + 2;
  const std::size_t shown = long_list && !all ? kShortList : lines.size();
  for (std::size_t i = 0; i < shown; ++i) {
    const Rect box{list.x, y, list.w, ui.px(kChangeRow)};
    if (row_in_sight(ui, box)) draw_line(ui, box, lines[i], fmt::format("changes/{}/{}", part, i), diff);
    y += box.h;
  }
  if (!long_list) return y + ui.px(8);
  const Rect more{list.x, y + ui.px(2), ui.px(140), ui.px(kButton)};
  const std::string label = all ? "Show fewer" : fmt::format("Show all {}", lines.size());
  if (button(ui, fmt::format("changes/{}/more", part), more, label, "the whole list or its beginning"))
    all = !all;
  return more.bottom() + ui.px(8);
}

float draw_since_last(Ui& ui, const Rect& list, float y) {
  const auto& diff = ui.frame.changes;
  if (!diff) {
    y = heading(ui, list, y, "Since the last step", "");
    return quiet(ui, list, y, "this is the first step: nothing to compare with");
  }
  const std::span<const ChangeLine> lines = lines_since_last(ui);
  const auto first_later = std::ranges::find_if(lines, [](const ChangeLine& line) { return line.later; });
  const auto happened = static_cast<std::size_t>(first_later - lines.begin());
  std::size_t changes = 0;
  for (const ChangeLine& line : lines.first(happened)) changes += static_cast<std::size_t>(line.entries);
  if (happened == lines.size()) {
    y = heading(ui, list, y, fmt::format("Since step {}", diff->before),
                fmt::format("{} places, {} changes, {} blocks", lines.size(), changes, diff->blocks.size()));
    return draw_lines(ui, list, y, lines, "since", *diff);
  }
  y = heading(ui, list, y, fmt::format("Since step {}", diff->before),
              fmt::format("{} of {} changes so far", changes, diff->entries.size()));
  y = happened == 0 ? quiet(ui, list, y, "nothing so far")
                    : draw_lines(ui, list, y, lines.first(happened), "since", *diff);
  y = heading(ui, list, y, "Later in this step", fmt::format("{} changes", diff->entries.size() - changes));
  return draw_lines(ui, list, y, lines.subspan(happened), "later", *diff);
}

/// Largest |difference| of o per layer: a bar on a log scale from 1e-9 to 1, and the number.
float draw_layers(Ui& ui, const Rect& list, float y, const trace::StepDiff& diff) {
  for (std::size_t i = 0; i < diff.layers.size(); ++i) {
    const int layer = diff.layers[i];
    const Rect box{list.x, y, list.w, ui.px(kChangeRow)};
    y += box.h;
    if (!row_in_sight(ui, box)) continue;
    const double value = diff.max_abs_diff_o[i];
    const std::string text = std::isnan(value) ? "no common rows" : fmt::format("{:.3e}", value);
    text_in(ui, FontRole::small, {box.x, box.y, ui.px(110), box.h}, ui[Color::muted],
            fmt::format("layer {} max|\xCE\x94o|", layer), Align::left);
    const Rect track{box.x + ui.px(114), box.y + ui.px(6), std::max(0.0F, box.w - ui.px(214)),
                     box.h - ui.px(12)};
    fill(ui, track, ui[Color::raised]);
    if (value > 0.0) {
      const auto share = static_cast<float>(std::clamp((std::log10(value) + 9.0) / 9.0, 0.01, 1.0));
      fill(ui, {track.x, track.y, std::round(track.w * share), track.h}, ui[Color::warning]);
    }
    text_in(ui, FontRole::mono, {box.right() - ui.px(96), box.y, ui.px(96), box.h}, ui[Color::text], text,
            Align::right);
    mark(ui, fmt::format("changes/layer/{}", layer), box,
         fmt::format("layer {}: largest |difference| of o over rows of the same sequence and position: {}",
                     layer, text),
         "LayerRecord.o of both steps; bar: log scale from 1e-9 to 1");
  }
  return y + ui.px(4);
}

float draw_diff(Ui& ui, const Rect& list, float y) {
  if (!ui.frame.diff) return y;
  const trace::StepDiff& diff = *ui.frame.diff;
  const std::vector<ChangeLine>& lines = lines_of_diff(ui);
  const Rect off{list.right() - ui.px(64), y, ui.px(64), ui.px(kButton)};
  if (button(ui, "changes/diff/off", off, "Close", "stop comparing two steps (D)"))
    send(ui, Command::Kind::diff_off);
  y = heading(ui, {list.x, y, list.w - ui.px(72), list.h}, y,
              fmt::format("Steps {} and {} compared", diff.before, diff.after),
              fmt::format("{} places differ", lines.size()));
  y = draw_layers(ui, list, y, diff);
  return draw_lines(ui, list, y, lines, "diff", diff);
}

/// A line of text in ImGui's own field; true when Enter was pressed.
bool note_field(Ui& ui, const char* id, const Rect& box, std::array<char, 256>& text, const char* hint,
                bool focus) {
  ImGui::PushFont(font(FontRole::text));
  ImGui::SetCursorScreenPos({box.x, box.y});
  ImGui::SetNextItemWidth(box.w);
  if (focus) ImGui::SetKeyboardFocusHere();
  const bool entered =
      ImGui::InputTextWithHint(id, hint, text.data(), text.size(), ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::PopFont();
  const Rect shown = visible_part(ui, box);
  if (shown.w > 0.0F)
    ui.marks.add(std::string("changes/") + (id + 2), shown, text.data(), "note of a bookmark");
  return entered;
}

void send_note(Ui& ui, Command::Kind kind, int place, const char* note) {
  Command command;
  command.kind = kind;
  command.a = place;
  command.text = note;
  ui.commands.push_back(std::move(command));
}

float draw_bookmark(Ui& ui, const Rect& list, float y, int place) {
  const trace::Bookmark& bookmark = ui.frame.bookmarks[static_cast<std::size_t>(place)];
  ChangesView& view = ui.view.data.changes;
  const float h = ui.px(30);
  const Rect box{list.x, y, list.w, h};
  const float side = ui.px(kButton);
  Rect tool{box.right() - side, y + ui.px(3), side, side};
  if (button(ui, fmt::format("changes/bookmark/{}/remove", place), tool, "\xC3\x97",
             "remove this bookmark")) {
    send(ui, Command::Kind::remove_bookmark, place);
    view.editing = -1;
  }
  tool = {tool.x - ui.px(46), tool.y, ui.px(42), side};
  const bool editing = view.editing == place;
  const auto keep = [&] {
    send_note(ui, Command::Kind::edit_bookmark, place, view.note.data());
    view.editing = -1;
  };
  if (button(ui, fmt::format("changes/bookmark/{}/edit", place), tool, editing ? "Keep" : "Edit",
             editing ? "keep the note (Enter)" : "change the note", true, editing)) {
    if (editing) {
      keep();
    } else {
      view.editing = place;
      std::snprintf(view.note.data(), view.note.size(), "%s", bookmark.note.c_str());
      view.take_focus = true;
    }
  }
  const Rect words{box.x, y, tool.x - ui.px(6) - box.x, h};
  if (editing) {
    if (note_field(ui, "##edit_note", {words.x, y + ui.px(2), words.w, h}, view.note, "note",
                   view.take_focus))
      keep();
    view.take_focus = false;
    return y + h + ui.px(2);
  }
  const bool here = bookmark.cursor.index == ui.frame.index;
  const std::string place_words = place_text(ui.frame, bookmark.cursor);
  const std::string text =
      bookmark.note.empty() ? place_words : fmt::format("{}  \xC2\xB7  {}", bookmark.note, place_words);
  const Hit hit = mark(ui, fmt::format("changes/bookmark/{}", place), words, text,
                       "bookmarks of the trace; click to go there");
  if (hit.hovered) fill(ui, words, ui[Color::raised], 1.0F, ui.px(4));
  text_in(ui, FontRole::text, {words.x + ui.px(6), y, words.w - ui.px(12), h},
          ui[here ? Color::accent : Color::text], text, Align::left);
  if (hit.clicked) send(ui, Command::Kind::go_to_bookmark, place);
  return y + h + ui.px(2);
}

float draw_bookmarks(Ui& ui, const Rect& list, float y) {
  const int count = static_cast<int>(ui.frame.bookmarks.size());
  ChangesView& view = ui.view.data.changes;
  y = heading(ui, list, y, "Bookmarks", count == 0 ? "kept in the trace file" : fmt::format("{}", count));
  for (int i = 0; i < count; ++i) y = draw_bookmark(ui, list, y, i);
  const float add_w = ui.px(84);
  const float h = ui.px(30);
  const Rect field{list.x, y, std::max(ui.px(30), list.w - add_w - ui.px(6)), h};
  const bool entered = note_field(ui, "##new_note", field, view.fresh, "note for this place", false);
  const bool pressed =
      button(ui, "changes/bookmark/add", {field.right() + ui.px(6), y, add_w, ui.px(26)}, "+ Bookmark",
             "keep this place with the note (Ctrl+B)", ui.frame.step != nullptr);
  if ((entered || pressed) && ui.frame.step) {
    send_note(ui, Command::Kind::add_bookmark, 0, view.fresh.data());
    view.fresh[0] = '\0';
  }
  return y + h + ui.px(10);
}

float draw_breakpoints(Ui& ui, const Rect& list, float y) {
  y = heading(ui, list, y, "Break points", ui.frame.stopped_at.empty() ? "" : "stopped");
  if (!ui.frame.stopped_at.empty()) {
    const float h =
        text_wrapped(ui, FontRole::text, {list.x, y, list.w, 0.0F}, ui[Color::warning], ui.frame.stopped_at);
    mark(ui, "changes/stopped", {list.x, y, list.w, h}, ui.frame.stopped_at,
         "the condition that stopped the run");
    y += h + ui.px(4);
  }
  if (ui.frame.breakpoints.empty()) return quiet(ui, list, y, "none: add one in the menu Run");
  const float side = ui.px(kButton);
  for (std::size_t i = 0; i < ui.frame.breakpoints.size(); ++i) {
    const Rect box{list.x, y, list.w, ui.px(28)};
    const std::string text = trace::condition_text(ui.frame.breakpoints[i]);
    if (button(ui, fmt::format("changes/breakpoint/{}/remove", i),
               {box.right() - side, y + ui.px(2), side, side}, "\xC3\x97", "remove this break point"))
      send(ui, Command::Kind::remove_breakpoint, static_cast<int>(i));
    ui.draw->AddCircleFilled({box.x + ui.px(6), y + box.h * 0.5F}, ui.px(5), rgba(ui[Color::error]));
    const Rect words{box.x + ui.px(18), y, box.w - side - ui.px(24), box.h};
    text_in(ui, FontRole::text, words, ui[Color::text], text, Align::left);
    mark(ui, fmt::format("changes/breakpoint/{}", i), words, text,
         "break points; a run stops where one holds");
    y += box.h;
  }
  return y + ui.px(8);
}

}  // namespace

void draw_changes(Ui& ui, const Rect& rect) {
  const std::string when =
      stage_shown(ui) == trace::Stage::commit ? "" : moment_text(ui.frame, ui.selection, ui.view.grain);
  if (!begin_panel(ui, "changes", rect, "Changes and places", when)) return;
  if (!ui.frame.step) {
    empty_note(ui, "What a step changes, bookmarks and break points appear here.");
    end_panel(ui);
    return;
  }
  const float y = begin_scroll(ui, "changes/list", ui.body);
  Rect list{ui.body.x, y, ui.body.w - ui.px(14), ui.body.h};
  const bool wide = list.w >= ui.px(860);
  const float gap = ui.px(32);
  if (wide) list.w = (list.w - gap) * 0.5F;
  float left = draw_diff(ui, list, y);
  left = draw_since_last(ui, list, left);
  if (wide) list.x += list.w + gap;
  const float right = draw_breakpoints(ui, list, draw_bookmarks(ui, list, wide ? y : left));
  end_scroll(ui, std::max(left, right));
  end_panel(ui);
}

}  // namespace attn::viz
