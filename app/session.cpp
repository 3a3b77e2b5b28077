#include "app/session.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace attn::app {
namespace {

constexpr std::chrono::microseconds kHistorySlice{3000};  // of a frame's time

}  // namespace

Session::Session(Scenario scenario, DeviceChoice choice, std::function<void()> changed,
                 std::filesystem::path trace)
    : changed_(std::move(changed)), choice_(choice), follow_(true) {
  live_ = std::make_unique<LiveEngine>(std::move(scenario), choice_, std::move(trace), changed_);
  live_->request_step();
}

Session::Session(std::shared_ptr<const trace::Store> store, DeviceChoice choice,
                 std::function<void()> changed)
    : changed_(std::move(changed)), choice_(choice) {
  attach(std::move(store));
}

void Session::attach(std::shared_ptr<const trace::Store> store) {
  store_ = std::move(store);
  history_.emplace(store_);
  inspector_ = std::make_unique<InspectorThread>(store_, choice_, changed_);
  frame_.history = history_->summaries();
  frame_.device = store_->manifest().device;
  refresh();
}

void Session::seek(int index) {
  selection_.step = std::clamp(index, 0, std::max(0, last_index()));
  follow_ = live_ != nullptr && selection_.step >= last_index();
}

void Session::select(const viz::Selection& selection) {
  selection_ = selection;
  if (store_) {
    const trace::ModelShape& model = store_->manifest().model;
    selection_.head = std::clamp(selection_.head, 0, std::max(0, model.num_heads - 1));
    selection_.layer = std::clamp(selection_.layer, 0, std::max(0, model.num_layers - 1));
  }
  seek(selection_.step);
}

void Session::step_forward() {
  if (selection_.step < last_index()) return seek(selection_.step + 1);
  if (live_) live_->request_step();
}

bool Session::apply(const viz::Commands& commands, viz::ViewState& view) {
  refresh();
  for (const viz::Command& command : commands) apply(command, view);
  return !quit_;
}

void Session::apply(const viz::Command& command, viz::ViewState& view) {
  using Kind = viz::Command::Kind;
  switch (command.kind) {
    case Kind::seek:
      return seek(command.a);
    case Kind::step_forward:
      return step_forward();
    case Kind::step_back:
      return seek(selection_.step - 1);
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
    case Kind::add_prompt:
      if (!live_) return;
      live_->add_prompt(command.text, {.temperature = command.x, .max_tokens = command.a});
      // The prompt's own prefill is the next thing to see.
      seek(last_index());
      return live_->request_step();
    case Kind::quit:
      quit_ = true;
      return;
    default:  // for the window around the session
      return;
  }
}

void Session::tick(viz::ViewState& view, Clock::time_point now) {
  refresh();
  if (!view.playing || now < next_play_ || live_status_.busy) return;
  if (selection_.step >= last_index() && !live_status_.has_work) {
    view.playing = false;
    return;
  }
  step_forward();
  next_play_ = now + kStepTime;
}

void Session::refresh() {
  if (live_) {
    live_status_ = live_->status();
    if (!store_ && live_status_.recording) return attach(live_status_.recording);
  }
  if (!store_) return;
  frame_.num_steps = store_->num_steps();
  if (follow_) selection_.step = std::max(0, last_index());
  complete_ = history_->catch_up(kHistorySlice, frame_.token_texts);
}

const viz::Frame& Session::frame() {
  refresh();
  if (live_status_.startup_error) std::rethrow_exception(live_status_.startup_error);
  frame_.live = live_ != nullptr;
  frame_.engine_busy = live_status_.busy;
  frame_.engine_has_work = live_status_.has_work;
  frame_.status = status_text();
  if (!store_) return frame_;
  frame_.manifest = &store_->manifest();
  frame_.index = selection_.step;
  if (frame_.num_steps == 0) return frame_;
  frame_.step = store_->step(frame_.index);
  frame_.previous = frame_.index > 0 ? store_->step(frame_.index - 1) : nullptr;
  InspectorThread::Answer answer = inspector_->get(frame_.index, selection_.layer);
  frame_.attention = std::move(answer.view);
  frame_.attention_note = std::move(answer.note);
  return frame_;
}

std::string Session::status_text() const {
  if (!live_status_.error.empty()) return live_status_.error;
  if (!store_) return "loading the model";
  return live_status_.note.empty() ? store_->note() : live_status_.note;
}

void Session::wait_idle() {
  if (live_) live_->wait_idle();
  do {
    refresh();
  } while (!complete_);
  if (store_ && frame_.num_steps > 0) inspector_->wait(selection_.step, selection_.layer);
}

}  // namespace attn::app
