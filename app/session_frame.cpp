// What the panels see of a session at its cursor.
#include <fmt/format.h>

#include <exception>
#include <limits>
#include <utility>

#include "app/session.h"
#include "core/engine/switches.h"
#include "core/trace/names.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace {

constexpr std::chrono::milliseconds kLong{300};  // what takes less would only flicker

/// "prefill of 4123 tokens: layer 2 of 4, attention".
std::string step_text(const StepAt& at) {
  if (at.stage == trace::Stage::schedule) return "schedule of the next step";
  const std::string what =
      fmt::format("{} of {} token{}", trace::name_of(at.kind), at.num_tokens, at.num_tokens == 1 ? "" : "s");
  const std::string_view stage = trace::name_of(at.stage);
  if (at.layer < 0) return fmt::format("{}: {}", what, stage);
  return fmt::format("{}: layer {} of {}, {}", what, at.layer + 1, at.num_layers, stage);
}

/// What an engine has been at for long; nothing when it has not.
viz::Work work_of(const LiveEngine::Status& status) {
  if (!status.busy || LiveEngine::Clock::now() - status.busy_since < kLong) return {};
  if (!status.recording) return {.text = "loading the model"};
  if (!status.step) return {};
  return {.text = step_text(*status.step), .fraction = status.step_done, .can_cancel = true};
}

/// Long work that needs steps of an engine, with what that is at.
std::string with_step(const std::string& text, const LiveEngine::Status& status) {
  const viz::Work step = work_of(status);
  return step.active() ? fmt::format("{} ({})", text, step.text) : text;
}

}  // namespace

const viz::Frame& Session::frame() {
  refresh();
  const LiveEngine::Status& status = open_->status();
  if (status.startup_error) std::rethrow_exception(status.startup_error);
  frame_.live = live();
  frame_.engine_busy = status.busy;
  frame_.engine_has_work = status.has_work;
  frame_.status = status_text();
  frame_.status_is_error =
      !status.error.empty() || (message_.empty() ? !file_error_.empty() : message_is_error_);
  frame_.file = open_->subject().link.path.string();
  frame_.saved = is_saved();
  fill_work();
  fill_film();
  frame_.clicks = clicks_ ? clicks_->num_stops() : -1;
  frame_.lesson.reset();
  if (lesson_) {
    frame_.lesson = lesson_->now();
    frame_.lesson->handles = handles_;
    frame_.lesson->outbox = outbox_now_;
  }
  if (!open_->store()) return frame_;
  frame_.manifest = &open_->store()->manifest();  // grows with the prompts that are typed
  frame_.index = selection_.step;
  if (frame_.num_steps == 0) return frame_;
  frame_.step = open_->store()->step(frame_.index);
  frame_.previous = frame_.index > 0 ? open_->store()->step(frame_.index - 1) : nullptr;
  fill_attention();
  fill_compare();
  fill_changes();
  frame_.broken.reset();
  const std::vector<std::string> titles = broken(frame_.step->config);
  if (right_) {
    frame_.broken = right_->measure(*open_->store(), frame_.index, selection_.layer);
  } else if (!titles.empty()) {
    frame_.broken = viz::Broken{.titles = titles,
                                .max_abs_diff_o = std::numeric_limits<double>::quiet_NaN(),
                                .first_wrong_step = -1,
                                .note = "it cannot be run again with nothing broken"};
  }
  return frame_;
}

void Session::fill_attention() {
  InspectorThread::Answer answer = open_->inspector().get(place());
  frame_.attention = std::move(answer.view);
  frame_.attention_note = std::move(answer.note);
  if (const auto traits = open_->inspector().traits()) frame_.traits = *traits;
}

InspectorThread::Place Session::place() const {
  return {selection_.step, selection_.layer, {selection_.seq, selection_.q_row}};
}

/// A comparison of decode paths says nothing of a prefill: a step of the other kind is compared as it is
/// when nothing is picked.
std::optional<InspectorThread::Variants> Session::variants_here() const {
  if (!compare_ || num_steps() == 0) return std::nullopt;
  const auto step = open_->store()->step(selection_.step);
  const bool decode = step->kind == trace::StepKind::decode;
  return compare_->of_decode == decode
             ? compare_->variants
             : trace::first_comparison(*step, open_->store()->manifest().model, frame_.traits);
}

void Session::fill_compare() {
  frame_.compare = nullptr;
  frame_.compare_note.clear();
  const auto variants = variants_here();
  if (!variants) return;
  InspectorThread::Answer answer = open_->inspector().compare(place(), *variants);
  frame_.compare = std::move(answer.compared);
  frame_.compare_note = std::move(answer.note);
}

void Session::fill_changes() {
  if (std::exchange(changes_at_, frame_.index) != frame_.index) {
    frame_.changes =
        frame_.previous
            ? std::make_shared<const trace::StepDiff>(trace::diff_steps(*frame_.previous, *frame_.step))
            : nullptr;
  }
  if (costs_at_ != frame_.index) {
    frame_.run_costs = open_->history().costs(frame_.index);
    if (frame_.run_costs) costs_at_ = frame_.index;
  }
  if (!diff_with_ || *diff_with_ < 0 || *diff_with_ >= frame_.num_steps) {
    frame_.diff = nullptr;
    diff_at_ = {-1, -1};
  } else if (const std::pair at{*diff_with_, frame_.index}; std::exchange(diff_at_, at) != at) {
    frame_.diff = std::make_shared<const trace::StepDiff>(
        trace::diff_steps(*open_->store()->step(*diff_with_), *frame_.step));
  }
}

/// Once per run: the configuration does not change within it.
void Session::fill_switches() {
  frame_.switches.clear();
  frame_.switches_note.clear();
  recipe_.reset();
  try {
    if (!live()) recipe_ = recipe_of(*open_->store(), open_->subject().link.path);
    frame_.switches = switch_menu(frame_.manifest->config);
  } catch (const InputError& error) {
    frame_.switches_note = error.what();
  }
  bin_.put(std::move(right_));
  const std::vector<std::string> titles = broken(frame_.manifest->config);
  if (const auto again = recipe(); again && !titles.empty()) {
    right_ = std::make_unique<RightRun>(*again, titles, choice_, changed_);
  }
}

void Session::watch_right_run() {
  if (right_) right_->follow(open_->engine().get(), selection_.step + 1);
}

void Session::fill_work() {
  frame_.work = {};
  if (job_) {
    frame_.work = job_->state();
    frame_.work.text = with_step(frame_.work.text, open_->status());
  } else if (next_) {
    const LiveEngine::Status& status = next_->run->status();
    const float done = static_cast<float>(next_->run->num_steps()) + status.step_done;
    frame_.work = {
        .text = with_step(next_->text, status),
        .fraction = next_->steps > 0 && status.step ? done / static_cast<float>(next_->steps) : -1.0F,
        .can_cancel = true};
  } else {
    frame_.work = work_of(open_->status());
  }
}

bool Session::is_saved() const {
  if (!bookmarks_saved_) return false;
  return !live() || recorded_ || saved_steps_ >= frame_.num_steps;
}

std::string Session::status_text() const {
  const LiveEngine::Status& status = open_->status();
  if (!status.error.empty()) return status.error;
  if (!message_.empty()) return message_;
  if (!file_error_.empty()) return file_error_;
  if (status.cancelled)
    return "the step was cancelled: nothing of it is recorded, and \xE2\x86\x92 computes it from its "
           "beginning";
  if (!open_->store()) return "loading the model";
  return status.note.empty() ? open_->store()->note() : status.note;
}

}  // namespace attn::app
