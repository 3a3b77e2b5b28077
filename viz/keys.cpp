#include "viz/keys.h"

#include <imgui.h>

#include <algorithm>
#include <tuple>

#include "core/trace/compare.h"
#include "core/trace/enum_range.h"
#include "viz/key_view.h"
#include "viz/lookup.h"

namespace attn::viz {
namespace {

using trace::Grain;

Command& push(Commands& commands, Command::Kind kind, int a = 0) {
  Command command;
  command.kind = kind;
  command.a = a;
  commands.push_back(std::move(command));
  return commands.back();
}

/// A place forwards or back at a grain. Engine steps have commands of their own, which also run the engine.
void push_move(Commands& commands, Grain grain, int by) {
  if (grain == Grain::step) {
    push(commands, by > 0 ? Command::Kind::step_forward : Command::Kind::step_back);
  } else {
    push(commands, Command::Kind::move, by).grain = grain;
  }
}

/// The next stage in direction `by` that this step went through.
trace::Stage neighbour_stage(const Frame& frame, trace::Stage stage, int by) {
  if (!frame.step) return stage;
  const auto occurs = [&](trace::Stage s) {
    const auto& shapes = frame.step->shapes;
    const auto& launches = frame.step->launches;
    return std::any_of(shapes.begin(), shapes.end(), [s](const auto& shape) { return shape.stage == s; }) ||
           std::any_of(launches.begin(), launches.end(),
                       [s](const auto& launch) { return launch.stage == s; });
  };
  for (int s = static_cast<int>(stage) + by; s >= 0 && s <= static_cast<int>(trace::kLastOf<trace::Stage>);
       s += by) {
    if (occurs(static_cast<trace::Stage>(s))) return static_cast<trace::Stage>(s);
  }
  return stage;
}

/// Actions that change what is selected.
Selection moved(KeyAction action, int argument, const Frame& frame, Selection s) {
  switch (action) {
    case KeyAction::stage_back:
      s.stage = neighbour_stage(frame, s.stage, -1);
      break;
    case KeyAction::stage_forward:
      s.stage = neighbour_stage(frame, s.stage, 1);
      break;
    case KeyAction::layer_up:
      s.layer = std::max(0, s.layer - 1);
      break;
    case KeyAction::layer_down:
      s.layer = std::max(0, std::min(num_layers(frame) - 1, s.layer + 1));
      break;
    case KeyAction::head_down:
      s.head = std::max(0, s.head - 1);
      break;
    case KeyAction::head_up:
      s.head = std::max(0, std::min(num_heads(frame) - 1, s.head + 1));
      break;
    case KeyAction::select_seq: {
      const std::vector<int> ids = alive_seqs(frame);
      if (static_cast<std::size_t>(argument) < ids.size()) s.seq = ids[static_cast<std::size_t>(argument)];
      break;
    }
    default:
      s.seq = s.q_row = s.k_col = s.block = -1;
      break;
  }
  return s;
}

trace::Condition written(int block) {
  return {.kind = trace::ConditionKind::block_written, .a = block, .x = 0.0};
}

/// On the selected block; without one the break points there are to choose from are listed.
void toggle_break(const Frame& frame, const Selection& selection, ViewState& view, Commands& commands) {
  if (selection.block < 0) {
    view.shell.open(Overlay::palette);
    view.shell.text = "stop at: ";
    return;
  }
  const trace::Condition wanted = written(selection.block);
  const auto found = std::find(frame.breakpoints.begin(), frame.breakpoints.end(), wanted);
  if (found != frame.breakpoints.end()) {
    push(commands, Command::Kind::remove_breakpoint, static_cast<int>(found - frame.breakpoints.begin()));
  } else {
    push(commands, Command::Kind::add_breakpoint).condition = wanted;
  }
}

void do_run_to(const Selection& selection, ViewState& view, Commands& commands) {
  if (selection.block < 0 && !view.shell.has_condition) return;
  if (selection.block >= 0) view.shell.condition = written(selection.block);
  view.shell.has_condition = true;
  push(commands, Command::Kind::run_to, 1).condition = view.shell.condition;
}

void toggle_compare(const Frame& frame, ViewState& view, Commands& commands) {
  if (view.stage == StageView::compare) {
    view.stage = StageView::weights;
    push(commands, Command::Kind::compare_off);
    return;
  }
  view.stage = StageView::compare;
  if (!frame.step || !frame.manifest) return;
  Command& command = push(commands, Command::Kind::compare);
  std::tie(command.variant_a, command.variant_b) =
      trace::first_comparison(*frame.step, frame.manifest->model, frame.traits);
}

void toggle_diff(const Frame& frame, ViewState& view, Commands& commands) {
  if (frame.diff) {
    push(commands, Command::Kind::diff_off);
    return;
  }
  show_side(view, SideView::changes);
  push(commands, Command::Kind::diff_with, frame.bookmarks.empty() ? 0 : frame.bookmarks.back().cursor.index);
}

/// Actions that are a command as they are; false for others.
bool send_command(KeyAction action, int argument, const Frame& frame, const ViewState& view,
                  Commands& commands) {
  using Kind = Command::Kind;
  switch (action) {
    case KeyAction::play:
      return push(commands, frame.lesson && frame.lesson->asking ? Kind::answer : Kind::toggle_play), true;
    case KeyAction::next_stop:
      return push(commands, Kind::next_stop, argument), true;
    case KeyAction::break_lesson:
      return push(commands, Kind::break_lesson), true;
    case KeyAction::step_forward:
      return push_move(commands, Grain::step, 1), true;
    case KeyAction::step_back:
      return push_move(commands, Grain::step, -1), true;
    case KeyAction::forward:
    case KeyAction::over:
      return push_move(commands, view.grain, 1), true;
    case KeyAction::back:
    case KeyAction::back_over:
      return push_move(commands, view.grain, -1), true;
    case KeyAction::frame_forward:
      return push_move(commands, Grain::cell, 1), true;
    case KeyAction::frame_back:
      return push_move(commands, Grain::cell, -1), true;
    case KeyAction::next_event:
      return push(commands, Kind::next_event, 1), true;
    case KeyAction::previous_event:
      return push(commands, Kind::next_event, -1), true;
    case KeyAction::first:
      return push(commands, Kind::first), true;
    case KeyAction::last:
      return push(commands, Kind::last), true;
    case KeyAction::run:
      return push(commands, Kind::run, 1), true;
    case KeyAction::run_back:
      return push(commands, Kind::run, -1), true;
    case KeyAction::cancel:
      return push(commands, frame.film.running && !frame.work.can_cancel ? Kind::cancel_film : Kind::cancel),
             true;
    case KeyAction::go_to_bookmark:
      return push(commands, Kind::go_to_bookmark, argument), true;
    case KeyAction::record_clicks:
      return push(commands, Kind::record_clicks), true;
    case KeyAction::still:
      return push(commands, Kind::still), true;
    case KeyAction::copy_state:
      return push(commands, Kind::copy_state), true;
    case KeyAction::full_screen:
      return push(commands, Kind::toggle_full_screen), true;
    case KeyAction::quit:
      return push(commands, Kind::quit), true;
    default:
      return false;
  }
}

}  // namespace

void run_key(KeyAction action, int argument, const Frame& frame, const Selection& selection, ViewState& view,
             Commands& commands) {
  if (change_view(action, argument, frame, view) || open_overlay(action, view) ||
      send_command(action, argument, frame, view, commands))
    return;
  switch (action) {
    case KeyAction::tenth_bookmark:
      if (frame.bookmarks.size() > static_cast<std::size_t>(argument)) {
        push(commands, Command::Kind::go_to_bookmark, argument);
      } else {
        change_size(KeyAction::normal_size, view);
      }
      return;
    case KeyAction::open:
      view.shell.open(Overlay::open);
      push(commands, Command::Kind::list_folder);
      return;
    case KeyAction::into:
      view.grain = shifted(view.grain, 1);
      return push_move(commands, view.grain, 1);
    case KeyAction::out:
      view.grain = shifted(view.grain, -1);
      return push_move(commands, view.grain, 1);
    case KeyAction::run_to:
      return do_run_to(selection, view, commands);
    case KeyAction::select_seq:
      if (!frame.lesson || !frame.lesson->asking || frame.lesson->choices.empty()) break;
      // While a question has answers to pick from, the digits pick one.
      if (argument < std::ssize(frame.lesson->choices)) push(commands, Command::Kind::answer, argument + 1);
      return;
    case KeyAction::blank:
      if (view.mode == ScreenMode::present) {
        view.teach.blank = !view.teach.blank;
        return;
      }
      return toggle_break(frame, selection, view, commands);
    case KeyAction::break_here:
      return toggle_break(frame, selection, view, commands);
    case KeyAction::compare:
      return toggle_compare(frame, view, commands);
    case KeyAction::diff:
      return toggle_diff(frame, view, commands);
    case KeyAction::repair:
      for (const Switch& s : frame.switches) {
        if (!s.break_it || s.value == s.default_value) continue;
        Command& command = push(commands, Command::Kind::set_switch);
        command.text = s.name;
        command.value = s.default_value;
      }
      return;
    case KeyAction::unselect:
      if (frame.work.can_cancel) {
        push(commands, Command::Kind::cancel);
        return;
      }
      if (closed_something(view)) return;
      break;
    default:
      break;
  }
  const Selection after = moved(action, argument, frame, selection);
  if (!(after == selection)) push(commands, Command::Kind::select).selection = after;
}

}  // namespace attn::viz
