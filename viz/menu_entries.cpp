#include "viz/menu_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "viz/layout/panel_names.h"
#include "viz/lookup.h"
#include "viz/panels/compare_parts.h"

namespace attn::viz {
namespace {

using trace::Condition;
using trace::ConditionKind;

MenuEntry entry_of(const KeyBinding& key, const Ui& ui) {
  const std::string_view against = why_not(key.action, ui.frame, ui.selection, ui.view);
  MenuEntry entry;
  entry.choice = {.name = std::string(key.title),
                  .title = std::string(key.title),
                  .right = std::string(key.label),
                  .tip = against.empty() ? std::string(key.text) : fmt::format("{}; {}", key.text, against),
                  .enabled = against.empty(),
                  .checked = is_on(key.action, ui.frame, ui.view),
                  .rule = key.rule};
  entry.run = [action = key.action, argument = key.argument](Ui& now) {
    run_key(action, argument, now.frame, now.selection, now.view, now.commands);
  };
  return entry;
}

MenuEntry command_entry(Choice choice, Command command) {
  return {std::move(choice), [command = std::move(command)](Ui& ui) { ui.commands.push_back(command); }};
}

void add_files(const std::vector<std::string>& paths, std::string_view heading, std::vector<MenuEntry>& out) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::filesystem::path path = paths[i];
    Command command;
    command.kind = Command::Kind::open_file;
    command.text = paths[i];
    out.push_back(command_entry({.name = paths[i],
                                 .title = path.filename().string(),
                                 .tip = paths[i],
                                 .heading = i == 0 ? std::string(heading) : "",
                                 .rule = i == 0},
                                std::move(command)));
  }
}

/// What a condition is called where its sentence says it in other words.
std::string condition_words(ConditionKind kind) {
  using enum ConditionKind;
  switch (kind) {
    case block_written:
      return "block written";
    case ref_count_changes:
      return "ref_count changed, shared block";
    case block_allocated:
      return "block allocated, allocation";
    case preemption:
      return "preemption, recompute";
    case eviction:
      return "eviction, evicted";
    case prefix_hit:
      return "prefix hit, prefix cache, cached";
    case rescale:
      return "rescale, online softmax";
    case stolen_mass:
      return "stolen mass, zero pads";
    case nan_or_inf:
      return "NaN, Inf, not a number";
    case error_above:
      return "error above, difference from the record";
    case wrong_above:
      return "error above, wrong output";
    case token_equals:
      return "token equals, sampled token";
  }
  return {};
}

/// "run to: preemption" or "stop at: preemption"; numbers are asked for.
MenuEntry condition_entry(const Condition& condition, bool stop) {
  std::string text = trace::condition_text(condition);
  const bool asks = asks_number(condition);
  if (asks) text += "\xE2\x80\xA6";
  return {
      {.name = fmt::format("{} {}", stop ? "stop" : "run", static_cast<int>(condition.kind)), .title = text},
      [condition, stop, asks](Ui& ui) {
        ShellView& shell = ui.view.shell;
        if (asks) {
          shell.open(Overlay::entry);
          shell.entry = stop ? Entry::stop_at_value : Entry::run_to_value;
          shell.condition = condition;
          return;
        }
        Command command;
        command.kind = stop ? Command::Kind::add_breakpoint : Command::Kind::run_to;
        command.a = 1;
        command.condition = condition;
        ui.commands.push_back(command);
        if (!stop) shell.has_condition = true;
        if (!stop) shell.condition = condition;
      },
      condition_words(condition.kind)};
}

void add_run(const Ui& ui, std::vector<MenuEntry>& out) {
  bool first = true;
  for (const Condition& condition : offered_conditions(ui.selection, ui.frame)) {
    MenuEntry entry = condition_entry(condition, false);
    entry.choice.heading = first ? "Run to" : "";
    entry.choice.rule = std::exchange(first, false);
    out.push_back(std::move(entry));
  }
  MenuEntry more{{.name = "add",
                  .title = "Add a break point\xE2\x80\xA6",
                  .tip = "stop whenever one of these holds",
                  .heading = "Break points (click one to remove it)",
                  .rule = true},
                 [](Ui& now) {
                   now.view.shell.open(Overlay::palette);
                   now.view.shell.text = "stop at: ";
                 }};
  out.push_back(std::move(more));
  for (std::size_t i = 0; i < ui.frame.breakpoints.size(); ++i) {
    Command command;
    command.kind = Command::Kind::remove_breakpoint;
    command.a = static_cast<int>(i);
    out.push_back(command_entry({.name = fmt::format("breakpoint {}", i),
                                 .title = trace::condition_text(ui.frame.breakpoints[i]),
                                 .tip = "remove this break point",
                                 .checked = true},
                                std::move(command)));
  }
  if (ui.frame.switches.empty()) return;
  out.push_back({{.name = "switches",
                  .title = "Engine switches\xE2\x80\xA6",
                  .tip = "repeats the run with another kernel, path, block size, ...",
                  .rule = true},
                 [](Ui& now) {
                   now.view.shell.open(Overlay::palette);
                   now.view.shell.text = "switch: ";
                 }});
}

void add_bookmarks(const Ui& ui, std::vector<MenuEntry>& out) {
  for (std::size_t i = 0; i < ui.frame.bookmarks.size(); ++i) {
    const trace::Bookmark& bookmark = ui.frame.bookmarks[i];
    Command command;
    command.kind = Command::Kind::go_to_bookmark;
    command.a = static_cast<int>(i);
    out.push_back(
        command_entry({.name = fmt::format("bookmark {}", i),
                       .title = fmt::format("step {}{}{}", step_number(ui.frame, bookmark.cursor.index),
                                            bookmark.note.empty() ? "" : ": ", bookmark.note),
                       .right = i < 9 ? fmt::format("Ctrl+{}", i + 1) : "",
                       .heading = i == 0 ? "Bookmarks" : "",
                       .rule = i == 0},
                      std::move(command)));
  }
}

/// What the step's attention can be compared with; the one on screen is ticked.
void add_variants(const Ui& ui, std::vector<MenuEntry>& out) {
  if (!ui.frame.step || !ui.frame.manifest) return;
  const trace::StepRecord& step = *ui.frame.step;
  const Picked picked(ui.frame, ui.view);
  const bool shown = ui.view.stage == StageView::compare && ui.frame.compare != nullptr;
  for (std::size_t i = 0; i < picked.choices.size(); ++i) {
    const trace::Variant& variant = picked.choices[i];
    out.push_back({{.name = fmt::format("variant {}", i),
                    .title = trace::variant_text(variant, step, ui.frame.manifest->model, ui.frame.traits),
                    .tip = "as B, beside what is A; launched on the recorded inputs",
                    .heading = i == 0 ? "This step's attention with" : "",
                    .checked = shown && picked.variant[1] == variant,
                    .rule = i == 0},
                   [a = picked.variant[0], variant](Ui& now) {
                     now.view.stage = StageView::compare;
                     ask_compare(now, a, variant);
                   }});
  }
}

void add_views(const Ui& ui, std::vector<MenuEntry>& out) {
  MenuEntry alone{
      {.name = "alone", .title = "One panel alone\xE2\x80\xA6", .tip = "choose a panel to fill the window"},
      [](Ui& now) {
        now.view.shell.open(Overlay::palette);
        now.view.shell.text = "alone: ";
      }};
  out.push_back(std::move(alone));
  for (int i = 0; i < kNumThemes; ++i) {
    const auto id = static_cast<ThemeId>(i);
    out.push_back({{.name = fmt::format("theme {}", theme_of(id).name),
                    .title = fmt::format("Theme: {}", theme_of(id).name),
                    .heading = i == 0 ? "Theme" : "",
                    .checked = theme_in_use(ui.view) == id,
                    .rule = i == 0},
                   [id](Ui& now) { theme_to_change(now.view) = id; }});
  }
  if (const std::string note = scale_note(ui.view); !note.empty())
    out.push_back({{.name = "scale", .title = note, .enabled = false, .rule = true}, {}});
}

/// "default" or the value beside what it is called in the engine.
std::string value_text(const Switch& s, const std::string& value) {
  return fmt::format("{} = {}{}", s.name, value, value == s.default_value ? "  (default)" : "");
}

/// What the lesson lets one turn and send: by keyboard through the palette.
void add_hands(const Ui& ui, std::vector<MenuEntry>& out) {
  if (!ui.frame.lesson) return;
  bool first = true;
  const auto add = [&](const std::string& title, bool checked, Command command) {
    out.push_back(command_entry({.name = "lesson " + title,
                                 .title = title,
                                 .heading = first ? "Lesson" : "",
                                 .checked = checked,
                                 .rule = std::exchange(first, false)},
                                std::move(command)));
  };
  for (const Handle& handle : ui.frame.lesson->handles) {
    for (std::size_t i = 0; i < handle.labels.size(); ++i) {
      Command command;
      command.kind = Command::Kind::turn_handle;
      command.text = handle.name;
      command.value = handle.labels[i];
      add(fmt::format("{}: {}", handle.name, handle.labels[i]), static_cast<int>(i) == handle.at, command);
    }
  }
  if (!ui.frame.lesson->outbox) return;
  Command command;
  command.kind = Command::Kind::start_over;
  add("Start over, nothing sent", false, command);
  command.kind = Command::Kind::send_request;
  if (ui.frame.lesson->outbox->sent >= 0) add("Send the next request", false, command);
}

/// Every value of the switches that keep the answer right; the one in force is ticked.
void add_switches(const Ui& ui, std::vector<MenuEntry>& out) {
  for (const Switch& s : ui.frame.switches) {
    if (s.break_it) continue;
    for (const std::string& value : s.values) {
      Command command;
      command.kind = Command::Kind::set_switch;
      command.text = s.name;
      command.value = value;
      out.push_back(command_entry({.name = fmt::format("{}={}", s.name, value),
                                   .title = fmt::format("switch: {}: {}", s.title, value),
                                   .right = value_text(s, value),
                                   .tip = s.text,
                                   .checked = value == s.value},
                                  std::move(command)));
    }
  }
}

/// What breaks the answer, with the sentence of what goes wrong; ticked while it does. A second click repairs
/// it.
void add_broken_switches(const Ui& ui, std::vector<MenuEntry>& out) {
  for (const Switch& s : ui.frame.switches) {
    if (!s.break_it) continue;
    for (const std::string& value : s.values) {
      if (value == s.default_value) continue;
      const bool on = value == s.value;
      Command command;
      command.kind = Command::Kind::set_switch;
      command.text = s.name;
      command.value = on ? s.default_value : value;
      out.push_back(command_entry({.name = fmt::format("{}={}", s.name, value),
                                   .title = s.title,
                                   .right = fmt::format("{} = {}", s.name, value),
                                   .tip = s.text,
                                   .note = s.text,
                                   .checked = on},
                                  std::move(command)));
    }
  }
}

void add_break_it(const Ui& ui, std::vector<MenuEntry>& out) {
  if (ui.frame.switches.empty()) {
    const std::string note = ui.frame.switches_note.empty()
                                 ? "switches need a live run: open a scenario or a model"
                                 : ui.frame.switches_note;
    out.push_back({{.name = "note", .title = note, .enabled = false, .rule = true}, {}});
    return;
  }
  add_broken_switches(ui, out);
}

}  // namespace

std::vector<Condition> offered_conditions(const Selection& selection, const Frame& frame) {
  std::vector<Condition> out;
  using enum ConditionKind;
  for (const ConditionKind kind : {block_written, ref_count_changes, block_allocated})
    out.push_back({.kind = kind, .a = selection.block, .x = 0.0});
  for (const ConditionKind kind : {preemption, eviction, prefix_hit, rescale, nan_or_inf})
    out.push_back({.kind = kind, .a = -1, .x = 0.0});
  out.push_back({.kind = stolen_mass, .a = -1, .x = 0.05});
  out.push_back({.kind = error_above, .a = -1, .x = 1e-5});
  if (frame.broken) out.push_back({.kind = wrong_above, .a = -1, .x = 1e-3});
  // The token looked at, else the one sampled first in this step.
  int token = frame.step && !frame.step->sampled.empty() ? frame.step->sampled.front().token_id : 0;
  if (frame.step && selection.k_col >= 0) {
    const trace::SeqState* seq = find_seq(frame.step->seqs_after, selection.seq);
    if (seq != nullptr && static_cast<std::size_t>(selection.k_col) < seq->token_ids.size())
      token = seq->token_ids[static_cast<std::size_t>(selection.k_col)];
  }
  out.push_back({.kind = token_equals, .a = token, .x = 0.0});
  return out;
}

bool asks_number(const Condition& condition) {
  return condition.kind == ConditionKind::stolen_mass || condition.kind == ConditionKind::error_above ||
         condition.kind == ConditionKind::wrong_above || condition.kind == ConditionKind::token_equals;
}

std::vector<MenuEntry> menu_entries(const Ui& ui, Menu menu) {
  std::vector<MenuEntry> out;
  for (const KeyBinding& key : key_table()) {
    if (key.menu == menu) out.push_back(entry_of(key, ui));
  }
  switch (menu) {
    case Menu::file:
      add_files(ui.frame.scenarios, "Lessons and scenarios", out);
      add_files(ui.frame.recent_files, "Recent files", out);
      break;
    case Menu::run:
      add_hands(ui, out);
      add_run(ui, out);
      break;
    case Menu::go:
      add_bookmarks(ui, out);
      break;
    case Menu::view:
      add_views(ui, out);
      break;
    case Menu::compare:
      add_variants(ui, out);
      break;
    case Menu::break_it:
      add_break_it(ui, out);
      break;
    default:
      break;
  }
  return out;
}

std::vector<MenuEntry> palette_entries(const Ui& ui) {
  std::vector<MenuEntry> out;
  for (int m = 0; m < kNumMenus; ++m) {
    std::string heading;
    for (MenuEntry& entry : menu_entries(ui, static_cast<Menu>(m))) {
      if (!entry.choice.heading.empty()) heading = entry.choice.heading;
      if (entry.choice.rule && entry.choice.heading.empty()) heading.clear();
      const std::string group(heading.empty() ? menu_title(static_cast<Menu>(m)) : heading);
      entry.choice.title = fmt::format("{}: {}", group, entry.choice.title);
      entry.choice.heading.clear();
      entry.choice.rule = false;
      out.push_back(std::move(entry));
    }
  }
  for (const Condition& condition : offered_conditions(ui.selection, ui.frame)) {
    MenuEntry entry = condition_entry(condition, true);
    entry.choice.title = "stop at: " + entry.choice.title;
    out.push_back(std::move(entry));
  }
  add_switches(ui, out);
  for (int i = 0; i < kNumPanels; ++i) {
    const auto id = static_cast<PanelId>(i);
    if (panel_title(id).empty()) continue;
    out.push_back({{.name = fmt::format("alone {}", panel_name(id)),
                    .title = fmt::format("alone: {}", panel_title(id))},
                   [id](Ui& now) { now.view.maximised = id; }});
  }
  return out;
}

}  // namespace attn::viz
