#include "app/inspector_thread.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace attn::app {
namespace {

constexpr std::chrono::milliseconds kPatience{8};
constexpr std::size_t kMaxBytes = 128U << 20U;  // of remembered answers

std::size_t bytes_of(const trace::AttentionView* view) {
  if (view == nullptr) return 0;
  return sizeof(float) *
         (view->scores.size() + view->weights.size() + 4 * view->tile_m.size() + view->lse.size());
}

std::size_t bytes_of(const InspectorThread::Answer& answer) {
  std::size_t bytes = answer.note.size() + bytes_of(answer.view.get());
  if (answer.compared) {
    bytes += bytes_of(answer.compared->a.view.get()) + bytes_of(answer.compared->b.view.get());
  }
  return bytes;
}

/// The packed row of the batch that a focus means (trace::Focus says which when it names none); -1: no rows.
int packed_row(const trace::StepRecord& step, const trace::Focus& focus) {
  std::size_t batch = 0;
  for (std::size_t b = 0; b < static_cast<std::size_t>(step.num_scheduled); ++b) {
    if (step.seqs[b].id == focus.seq) batch = b;
  }
  if (step.num_scheduled <= 0 || batch + 1 >= step.cu_seqlens_q.size()) return -1;
  const int first = step.cu_seqlens_q[batch], end = step.cu_seqlens_q[batch + 1];
  return focus.row >= 0 && focus.row < end - first ? first + focus.row : end - 1;
}

}  // namespace

InspectorThread::InspectorThread(std::shared_ptr<const trace::Store> store, DeviceChoice choice,
                                 std::function<void()> changed)
    : store_(std::move(store)), choice_(choice), changed_(std::move(changed)), thread_([this] { run(); }) {}

InspectorThread::~InspectorThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_.request_stop();
  }
  wake_.notify_all();
  thread_.join();
}

InspectorThread::Answer InspectorThread::get(const Question& question) {
  std::unique_lock lock(mutex_);
  if (const Answer* answer = find(question)) return *answer;
  const Sort sort = sort_of(question);
  const bool is_new = std::exchange(asked_[sort], question) != question;
  wanted_[sort] = question;
  wake_.notify_all();
  // Most answers take a millisecond: waiting that little spares the screen a flash of "loading".
  if (is_new) wake_.wait_for(lock, kPatience, [&] { return find(question) != nullptr; });
  const Answer* answer = find(question);
  return answer != nullptr ? *answer : Answer{.view = nullptr, .compared = nullptr, .note = "loading"};
}

InspectorThread::Answer InspectorThread::wait(const Question& question) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (const Answer* answer = find(question)) return *answer;
    wanted_[sort_of(question)] = question;
    wake_.notify_all();
    wake_.wait(lock);
  }
}

std::optional<InspectorThread::Question> InspectorThread::next_question() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] {
      return stop_.stop_requested() ||
             std::ranges::any_of(wanted_, [](const auto& q) { return q.has_value(); });
    });
    if (stop_.stop_requested()) return std::nullopt;
    for (std::optional<Question>& wanted : wanted_) {
      const std::optional<Question> question = std::exchange(wanted, std::nullopt);
      // It may have been asked again while it was being answered.
      if (question && find(*question) == nullptr) return question;
    }
  }
}

void InspectorThread::run() {
  while (const std::optional<Question> question = next_question()) {
    Answer answer = inspect(*question);
    {
      const std::lock_guard lock(mutex_);
      keep(*question, std::move(answer));
    }
    wake_.notify_all();
    changed_();
  }
}

InspectorThread::Answer InspectorThread::inspect(const Question& question) {
  Answer answer;
  const Place& place = question.place;
  try {
    if (!inspector_) {
      device_ = make_device(choice_).device;
      device_->context().stop = stop_.get_token();
      {
        const std::lock_guard lock(mutex_);
        traits_ = device_->traits();
      }
      inspector_ = std::make_unique<trace::Inspector>(*device_, store_);
    }
    if (question.variants) {
      answer.compared = inspector_->compare(place.index, place.layer, question.variants->first,
                                            question.variants->second, place.focus);
    } else {
      answer.view = inspector_->inspect(place.index, place.layer, place.focus);
    }
  } catch (const std::exception& error) {
    answer.note = error.what();
  }
  return answer;
}

/// Of most batches every row is known; of large ones a window of rows, which answers for all rows in it.
bool InspectorThread::answers(const Known& known, const Question& question) const {
  const Place &have = known.question.place, &want = question.place;
  if (have.index != want.index || have.layer != want.layer || known.question.variants != question.variants) {
    return false;
  }
  if (have.focus == want.focus) return true;
  const trace::AttentionView* view =
      known.answer.compared ? known.answer.compared->a.view.get() : known.answer.view.get();
  if (view == nullptr) return true;  // the reason is the same for every row
  const auto step = store_->step(want.index);
  const int row = packed_row(*step, want.focus);
  return view->num_q >= static_cast<int>(step->slot_mapping.size()) || (row >= 0 && view->has_row(row));
}

const InspectorThread::Answer* InspectorThread::find(const Question& question) {
  const auto found =
      std::ranges::find_if(known_, [&](const Known& known) { return answers(known, question); });
  if (found == known_.end()) return nullptr;
  known_.splice(known_.begin(), known_, found);
  return &known_.front().answer;
}

void InspectorThread::keep(const Question& question, Answer answer) {
  if (find(question) != nullptr) return;
  known_.push_front({question, std::move(answer)});
  std::size_t bytes = 0;
  for (const Known& known : known_) bytes += bytes_of(known.answer);
  while (bytes > kMaxBytes && known_.size() > 1) {
    bytes -= bytes_of(known_.back().answer);
    known_.pop_back();
  }
}

}  // namespace attn::app
