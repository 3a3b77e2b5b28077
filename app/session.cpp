#include "app/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "app/files.h"
#include "app/place.h"
#include "core/trace/cursor.h"
#include "core/trace/names.h"

namespace attn::app {

Session::Session(Subject subject, DeviceChoice choice, std::function<void()> changed,
                 const std::filesystem::path& trace)
    : changed_(std::move(changed)), choice_(choice), films_(changed_), recorded_(!trace.empty()) {
  open_ = std::make_unique<OpenRun>(std::move(subject), choice_, changed_, trace);
  follow_ = live();
  frame_.scenarios = bundled_scenarios();
  load_bookmarks();
  refresh();
}

Session::~Session() {
  save_clicks();
  if (job_) job_->cancel();
  if (facts_job_) facts_job_->cancel();
  films_.cancel();
  // All at once: each waits for a thread of its own.
  bin_.put(std::move(open_));
  if (next_) bin_.put(std::move(next_->run));
  bin_.put(std::move(job_));
  bin_.put(std::move(facts_job_));
  bin_.put(std::move(right_));
  bin_.put(std::move(watch_));
  for (std::unique_ptr<OpenRun>& run : parked_) bin_.put(std::move(run));
}

void Session::seek(int index) {
  selection_.step = std::clamp(index, 0, std::max(0, last_index()));
  follow_ = live() && selection_.step >= last_index();
}

void Session::select(const viz::Selection& selection) {
  selection_ = selection;
  if (open_->store()) {
    const trace::ModelShape& model = open_->store()->manifest().model;
    selection_.head = std::clamp(selection_.head, 0, std::max(0, model.num_heads - 1));
    selection_.layer = std::clamp(selection_.layer, 0, std::max(0, model.num_layers - 1));
  }
  for (int* one :
       {&selection_.seq, &selection_.q_row, &selection_.k_col, &selection_.block, &selection_.tile}) {
    *one = std::max(-1, *one);
  }
  seek(selection_.step);
}

void Session::step_forward() {
  selection_.tile = -1;
  if (selection_.step < last_index()) return seek(selection_.step + 1);
  if (live()) open_->engine()->request_step();
}

void Session::run_to_step(int steps) {
  if (live()) open_->engine()->run_to(steps);
}

trace::Cursor Session::cursor() const { return cursor_of(selection_); }

void Session::set_cursor(const trace::Cursor& to) { select(moved_to(selection_, to)); }

void Session::move(trace::Grain grain, int by) {
  waiting_move_.reset();
  if (num_steps() == 0) return;
  trace::PlannedGrids grids(*open_->store(), selection_.seq, selection_.q_row);
  const trace::Cursor from = cursor();
  const trace::Cursor to = trace::move_cursor(*open_->store(), from, grain, by, grids);
  if (to != from) {
    set_cursor(to);
  } else if (by > 0 && live() && from.index >= last_index() && open_->status().has_work) {
    waiting_move_ = {grain, by, num_steps()};
    follow_ = false;  // the move itself goes into the step
    open_->engine()->request_step();
  }
}

void Session::retry_move() {
  if (!waiting_move_) return;
  const WaitingMove waiting = *waiting_move_;
  if (open_->status().busy && num_steps() == waiting.num_steps) return;
  // A step that did not come (the engine failed or has no work) is not asked for again.
  const bool step_was_asked = num_steps() == waiting.num_steps && live() && !open_->status().has_work;
  move(waiting.grain, waiting.by);
  if (step_was_asked && waiting_move_) waiting_move_.reset();
}

bool Session::apply(const viz::Commands& commands, viz::ViewState& view) {
  refresh();
  for (const viz::Command& command : commands) apply(command, view);
  follow_lesson(view);
  return !quit_;
}

void Session::apply(const viz::Command& command, viz::ViewState& view) {
  using Kind = viz::Command::Kind;
  if (command.kind != Kind::list_folder) {
    message_.clear();
    frame_.stopped_at.clear();
  }
  switch (command.kind) {
    case Kind::seek:
      return seek(command.a);
    case Kind::step_forward:
      return step_forward();
    case Kind::step_back:
      selection_.tile = -1;
      return seek(selection_.step - 1);
    case Kind::move:
      return move(command.grain, command.a < 0 ? -1 : 1);
    case Kind::first:
      return seek(0);
    case Kind::last:
      return seek(last_index());
    case Kind::toggle_play:
      view.playing = !view.playing;
      next_play_ = {};
      return;
    case Kind::select:
      return select(command.selection);
    case Kind::cancel:
      view.playing = false;
      return stop_working();
    case Kind::record_film:
      return record_film(command, view);
    case Kind::record_clicks:
      return record_clicks(view);
    case Kind::cancel_film:
      return films_.cancel();
    case Kind::quit:
      quit_ = true;
      return;
    default:
      if (!apply_run(command) && !apply_file(command)) apply_lesson(command, view);
      return;
  }
}

bool Session::apply_run(const viz::Command& command) {
  using Kind = viz::Command::Kind;
  const int by = command.a < 0 ? -1 : 1;
  switch (command.kind) {
    case Kind::add_prompt:
      if (!live()) return true;
      open_->engine()->add_prompt(command.text, {.temperature = command.x, .max_tokens = command.a});
      // The prompt's own prefill is the next thing to see.
      seek(last_index());
      open_->engine()->request_step();
      return true;
    case Kind::next_event:
      find(events_of(selection_.block), by,
           selection_.block >= 0 ? fmt::format("event of block {}", selection_.block) : "event", false);
      return true;
    case Kind::run_to:
      find({command.condition}, by, trace::condition_text(command.condition), false);
      return true;
    case Kind::run:
      find(frame_.breakpoints, by, frame_.breakpoints.empty() ? "the end" : "a break point", true);
      return true;
    case Kind::add_breakpoint:
      if (std::ranges::find(frame_.breakpoints, command.condition) == frame_.breakpoints.end()) {
        frame_.breakpoints.push_back(command.condition);
      }
      return true;
    case Kind::remove_breakpoint:
      if (command.a >= 0 && command.a < std::ssize(frame_.breakpoints)) {
        frame_.breakpoints.erase(frame_.breakpoints.begin() + command.a);
      }
      return true;
    case Kind::set_switch:
      set_switch(command.text, command.value);
      return true;
    case Kind::compare:
      if (frame_.step) {
        compare_ = {{command.variant_a, command.variant_b}, frame_.step->kind == trace::StepKind::decode};
      }
      return true;
    case Kind::compare_off:
      compare_.reset();
      return true;
    case Kind::diff_with:
      diff_with_ = command.a;
      return true;
    case Kind::diff_off:
      diff_with_.reset();
      return true;
    default:
      return false;
  }
}

void Session::tick(viz::ViewState& view, Clock::time_point now) {
  refresh();
  follow_lesson(view);
  fill_hands(view);
  if (std::exchange(forget_loop_, false)) view.loop = {};
  if (const auto shown = std::exchange(show_next_, std::nullopt)) view.stage = *shown;
  now_ = now;
  look_at_file();
  look_at_clicks(view);
  if (!view.playing || now < next_play_ || open_->status().busy || waiting_move_) return;
  if (!knows_breakpoints()) return;
  if (next_play_ != Clock::time_point{}) stop_playing_at_breakpoint(view);
  if (!view.playing) return;
  play_on(view);
  next_play_ = now + std::chrono::duration_cast<Clock::duration>(kStepTime / std::max(0.1F, view.speed));
}

void Session::play_on(viz::ViewState& view) {
  if (view.loop.on() && go_round(view)) return;
  if (view.grain == trace::Grain::step) {
    const bool more = selection_.step < last_index() || open_->status().has_work;
    if (more) {
      step_forward();
    } else {
      view.playing = false;
    }
  } else {
    const trace::Cursor before = cursor();
    move(view.grain, 1);
    if (cursor() == before && !waiting_move_) view.playing = false;
  }
}

/// To the beginning of the loop when the next move would leave it, or when one stands outside. What a live
/// run has yet to compute of it is run first.
bool Session::go_round(const viz::ViewState& view) {
  const viz::PlayLoop& loop = view.loop;
  const int there = open_->status().has_work ? loop.to : std::min(loop.to, last_index());
  bool leaves = selection_.step >= there;
  if (leaves && view.grain != trace::Grain::step) {
    trace::PlannedGrids grids(*open_->store(), selection_.seq, selection_.q_row);
    const trace::Cursor next = trace::move_cursor(*open_->store(), cursor(), view.grain, 1, grids);
    leaves = next.index > there || next == cursor();
  }
  if (!leaves && selection_.step >= loop.from) return false;
  if (loop.from > last_index()) return false;
  if (view.grain == trace::Grain::step) {
    seek(loop.from);
  } else {
    const bool heads = view.grain != trace::Grain::stage;
    set_cursor({.index = loop.from, .head = heads ? 0 : selection_.head});
  }
  return true;
}

/// Whether it can be told by now which break points hold at this step; playing waits until it can.
bool Session::knows_breakpoints() const {
  if (frame_.breakpoints.empty()) return true;
  if (!complete()) return false;
  const bool asks_right_run = std::ranges::any_of(
      frame_.breakpoints, [](const trace::Condition& c) { return trace::needs_right_run(c.kind); });
  return !asks_right_run || !right_ || right_->step(selection_.step) || !right_->engine()->status().busy;
}

/// While playing, a step at which a break point holds stays on screen.
void Session::stop_playing_at_breakpoint(viz::ViewState& view) {
  if (!frame_.step || frame_.index != selection_.step) return;
  const auto right = right_ ? right_->step(frame_.index) : nullptr;
  for (const trace::Condition& condition : frame_.breakpoints) {
    const auto hit = trace::check_condition(condition, *frame_.step, frame_.previous.get(),
                                            frame_.attention.get(), right.get());
    if (!hit) continue;
    view.playing = false;
    show_hit(selection_.step, condition, *hit);
    if (const auto shown = std::exchange(show_next_, std::nullopt)) view.stage = *shown;
    return;
  }
}

void Session::attach() {
  attached_ = open_->store().get();
  frame_.history = open_->history().summaries();
  frame_.manifest = &attached_->manifest();
  // By token id, so those of another run of the same model stay true, and a run that was shown before does
  // not tell them again.
  if (std::exchange(texts_of_, frame_.manifest->model.name) != frame_.manifest->model.name)
    frame_.token_texts.clear();
  frame_.device = frame_.manifest->device;
  changes_at_ = costs_at_ = -1;
  diff_at_ = {-1, -1};
  frame_.changes = frame_.diff = nullptr;
  frame_.run_costs = nullptr;
  fill_switches();
}

void Session::refresh() {
  finish_job();
  finish_facts();
  finish_film();
  take_next();
  open_->refresh();
  if (!open_->store()) return;
  if (attached_ != open_->store().get()) attach();
  frame_.num_steps = num_steps();
  if (follow_) selection_.step = std::max(0, last_index());
  retry_move();
  complete_ = open_->catch_up(frame_.token_texts);
  watch_right_run();
}

void Session::wait_idle() {
  for (;;) {
    refresh();
    if (job_) {
      job_->wait();
    } else if (facts_job_) {
      facts_job_->wait();
    } else if (films_.running()) {
      films_.wait();
    } else if (next_) {
      if (next_->run->engine()) next_->run->engine()->wait_idle();
    } else if (open_->status().busy) {
      open_->engine()->wait_idle();
    } else if (open_->store() && num_steps() > 0) {
      open_->inspector().wait(place());
      if (const auto variants = variants_here()) open_->inspector().wait_compare(place(), *variants);
      if (right_) right_->wait();
      if (complete_ && !waiting_move_) return;
    } else if (!live() || open_->status().startup_error || open_->store()) {
      return;
    }
  }
}

}  // namespace attn::app
