#include "app/session.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "app/step_summary.h"

namespace attn::app {

Session::Session(Scenario scenario, DeviceChoice choice, std::function<void()> changed)
    : changed_(std::move(changed)),
      choice_(choice),
      history_(std::make_shared<std::vector<viz::StepSummary>>()) {
  live_ = std::make_unique<LiveEngine>(std::move(scenario), choice_, changed_);
  live_->request_step();  // the first window is never empty
  follow_from_ = 0;
}

Session::Session(std::shared_ptr<const trace::Store> store, DeviceChoice choice,
                 std::function<void()> changed)
    : changed_(std::move(changed)),
      choice_(choice),
      history_(std::make_shared<std::vector<viz::StepSummary>>()) {
  attach(std::move(store));
}

Session::~Session() = default;

void Session::attach(std::shared_ptr<const trace::Store> store) {
  store_ = std::move(store);
  inspector_ = std::make_unique<InspectorThread>(store_, choice_, changed_);
}

int Session::last_index() const { return store_ ? store_->num_steps() - 1 : -1; }

void Session::seek(int index) {
  selection_.step = std::clamp(index, 0, std::max(0, last_index()));
  follow_from_ = -1;
}

void Session::select(const viz::Selection& selection) {
  const int step = selection.step;
  selection_ = selection;
  if (store_) {
    selection_.head = std::clamp(selection_.head, 0, std::max(0, store_->manifest().model.num_heads - 1));
    selection_.layer = std::clamp(selection_.layer, 0, std::max(0, store_->manifest().model.num_layers - 1));
    seek(step);
  }
}

void Session::step_forward() {
  if (selection_.step < last_index()) {
    seek(selection_.step + 1);
  } else if (live_ && (live_->status().has_work || live_->status().loading)) {
    live_->request_step();
    follow_from_ = last_index() + 1;
  }
}

bool Session::apply(const viz::Commands& commands, viz::ViewState& view) {
  refresh();
  for (const viz::Command& command : commands) {
    switch (command.kind) {
      case viz::Command::Kind::seek:
        seek(command.a);
        break;
      case viz::Command::Kind::step_forward:
        step_forward();
        break;
      case viz::Command::Kind::step_back:
        seek(selection_.step - 1);
        break;
      case viz::Command::Kind::first:
        seek(0);
        break;
      case viz::Command::Kind::last:
        seek(last_index());
        break;
      case viz::Command::Kind::toggle_play:
        view.playing = !view.playing;
        next_play_ = {};
        break;
      case viz::Command::Kind::select:
        select(command.selection);
        break;
      case viz::Command::Kind::add_prompt:
        if (live_) {
          SamplingParams sampling;
          sampling.max_tokens = command.a;
          sampling.temperature = command.x;
          live_->add_prompt(command.text, sampling);
        }
        break;
      case viz::Command::Kind::quit:
        return false;
    }
  }
  return true;
}

void Session::tick(viz::ViewState& view, Clock::time_point now) {
  refresh();
  if (!view.playing || now < next_play_) return;
  const bool at_end = selection_.step >= last_index();
  const bool more = live_ && (live_->status().has_work || live_->status().busy || live_->status().loading);
  if (at_end && !more) {
    view.playing = false;
    return;
  }
  if (follow_from_ < 0) step_forward();  // else the step asked for has not arrived yet
  next_play_ = now + kStepTime;
}

void Session::refresh() {
  if (!store_ && live_) {
    if (std::shared_ptr<trace::Recording> recording = live_->recording()) attach(std::move(recording));
  }
  if (!store_) return;
  const int steps = store_->num_steps();
  if (follow_from_ >= 0 && steps > follow_from_) seek(steps - 1);
  update_history(steps);
  if (steps > 0) inspector_->ask(selection_.step, selection_.layer);
}

void Session::update_history(int steps) {
  if (static_cast<int>(history_->size()) == steps) return;
  // A frame being drawn may still hold the old list, so the new one is a copy.
  auto history = std::make_shared<std::vector<viz::StepSummary>>(*history_);
  for (int i = static_cast<int>(history->size()); i < steps; ++i) {
    const std::shared_ptr<const trace::StepRecord> record = store_->step(i);
    history->push_back(summarize(*record));
    for (const auto& [id, text] : record->token_texts) {
      if (static_cast<std::size_t>(id) >= token_texts_.size())
        token_texts_.resize(static_cast<std::size_t>(id) + 1);
      token_texts_[static_cast<std::size_t>(id)] = text;
    }
  }
  history_ = std::move(history);
}

viz::Frame Session::frame() {
  refresh();
  viz::Frame frame;
  frame.history = history_;
  frame.token_texts = token_texts_;
  if (live_) {
    const LiveEngine::Status status = live_->status();
    frame.live = !status.loading && status.error.empty();
    frame.engine_busy = status.busy || status.loading;
    frame.engine_has_work = status.has_work;
    frame.device = status.device;
    frame.status = !status.error.empty() ? status.error : status.loading ? "loading the model" : status.note;
  }
  if (!store_) return frame;
  frame.manifest = &store_->manifest();
  if (frame.device.empty()) frame.device = store_->manifest().device;
  if (frame.status.empty()) frame.status = store_->note();
  frame.num_steps = store_->num_steps();
  if (frame.num_steps == 0) return frame;
  frame.index = selection_.step;
  frame.step = store_->step(frame.index);
  if (frame.index > 0) frame.previous = store_->step(frame.index - 1);
  const InspectorThread::Answer answer = inspector_->latest();
  if (answer.index == frame.index && answer.layer == selection_.layer) {
    frame.attention = answer.view;
    frame.attention_note = answer.note;
  } else {
    frame.attention_note = "loading";
  }
  return frame;
}

void Session::wait_idle() {
  if (live_) {
    for (;;) {
      const LiveEngine::Status status = live_->status();
      refresh();
      if (!status.error.empty() || (!status.loading && !status.busy && follow_from_ < 0)) break;
      if (!status.loading && !status.has_work && !status.busy) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  refresh();
  if (inspector_ && last_index() >= 0) inspector_->wait();
}

}  // namespace attn::app
