#include "app/inspector_thread.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace attn::app {
namespace {

constexpr std::chrono::milliseconds kPatience{8};
constexpr std::size_t kMaxBytes = 128U << 20U;  // of remembered answers

std::size_t bytes_of(const InspectorThread::Answer& answer) {
  if (!answer.view) return answer.note.size();
  const trace::AttentionView& view = *answer.view;
  return sizeof(float) *
         (view.scores.size() + view.weights.size() + 4 * view.tile_m.size() + view.lse.size());
}

}  // namespace

InspectorThread::InspectorThread(std::shared_ptr<const trace::Store> store, DeviceChoice choice,
                                 std::function<void()> changed)
    : store_(std::move(store)), choice_(choice), changed_(std::move(changed)), thread_([this] { run(); }) {}

InspectorThread::~InspectorThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

InspectorThread::Answer InspectorThread::get(int index, int layer) {
  const Question question{index, layer};
  std::unique_lock lock(mutex_);
  if (const Answer* answer = find(question)) return *answer;
  const bool is_new = std::exchange(asked_, question) != question;
  wanted_ = question;
  wake_.notify_all();
  // Most answers take a millisecond: waiting that little spares the screen a flash of "loading".
  if (is_new) wake_.wait_for(lock, kPatience, [&] { return find(question) != nullptr; });
  const Answer* answer = find(question);
  return answer != nullptr ? *answer : Answer{nullptr, "loading"};
}

InspectorThread::Answer InspectorThread::wait(int index, int layer) {
  const Question question{index, layer};
  std::unique_lock lock(mutex_);
  for (;;) {
    if (const Answer* answer = find(question)) return *answer;
    wanted_ = question;
    wake_.notify_all();
    wake_.wait(lock);
  }
}

void InspectorThread::run() {
  for (;;) {
    Question question{};
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stop_ || wanted_; });
      if (stop_) return;
      question = *std::exchange(wanted_, std::nullopt);
      if (find(question) != nullptr) continue;  // asked again while it was being answered
    }
    Answer answer = inspect(question);
    {
      const std::lock_guard lock(mutex_);
      keep(question, std::move(answer));
    }
    wake_.notify_all();
    changed_();
  }
}

InspectorThread::Answer InspectorThread::inspect(const Question& question) {
  try {
    if (!inspector_) {
      device_ = make_device(choice_).device;
      inspector_ = std::make_unique<trace::Inspector>(*device_, store_);
    }
    return {inspector_->inspect(question.index, question.layer), {}};
  } catch (const std::exception& error) {
    return {nullptr, error.what()};
  }
}

const InspectorThread::Answer* InspectorThread::find(const Question& question) {
  const auto found = std::ranges::find(known_, question, &Known::question);
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
