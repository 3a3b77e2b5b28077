// The inspector on its own thread with its own device. Only the newest question is answered: while the user
// scrubs, cursors in between are skipped. The last answers are remembered, so going back shows them at once.
#pragma once

#include <array>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "core/trace/compare.h"
#include "core/trace/inspector.h"

namespace attn::app {

class InspectorThread {
 public:
  using Variants = std::pair<trace::Variant, trace::Variant>;
  struct Answer {
    std::shared_ptr<const trace::AttentionView> view;    // null: note says why
    std::shared_ptr<const trace::CompareView> compared;  // instead, of two variants
    std::string note;
  };

  /// `changed` is called from the inspector's thread when an answer has come.
  InspectorThread(std::shared_ptr<const trace::Store> store, DeviceChoice choice,
                  std::function<void()> changed);
  ~InspectorThread();  // stops the launch at hand
  InspectorThread(const InspectorThread&) = delete;
  InspectorThread& operator=(const InspectorThread&) = delete;

  struct Place {
    int index = 0;  // of the step in the store
    int layer = 0;
    trace::Focus focus = {};  // matters where only a window of the batch's rows is looked at
    bool operator==(const Place&) const = default;
  };

  /// What is known of a place; asks for it when that is nothing yet. Waits a few milliseconds at most, and
  /// only the first time it is asked that.
  Answer get(const Place& place) { return get({place, std::nullopt}); }
  Answer compare(const Place& place, const Variants& variants) { return get({place, variants}); }
  /// The same, waiting for the answer: stills need it in the picture.
  Answer wait(const Place& place) { return wait({place, std::nullopt}); }
  Answer wait_compare(const Place& place, const Variants& variants) { return wait({place, variants}); }
  /// Of the device that answers; nothing before the first answer.
  std::optional<DeviceTraits> traits() const {
    const std::lock_guard lock(mutex_);
    return traits_;
  }

 private:
  struct Question {
    Place place;
    std::optional<Variants> variants;  // nothing: as it ran
    bool operator==(const Question&) const = default;
  };
  /// Of each sort only the newest question counts.
  enum Sort { as_it_ran, compared, kSorts };
  static Sort sort_of(const Question& question) { return question.variants ? compared : as_it_ran; }
  struct Known {
    Question question;
    Answer answer;
  };
  bool answers(const Known& known, const Question& question) const;
  Answer get(const Question& question);
  Answer wait(const Question& question);
  void run();
  std::optional<Question> next_question();
  Answer inspect(const Question& question);
  const Answer* find(const Question& question);
  void keep(const Question& question, Answer answer);

  const std::shared_ptr<const trace::Store> store_;
  const DeviceChoice choice_;
  const std::function<void()> changed_;

  // Only the inspector's thread touches these.
  std::unique_ptr<Device> device_;
  std::unique_ptr<trace::Inspector> inspector_;

  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable wake_;
  std::array<std::optional<Question>, kSorts> wanted_;
  std::array<std::optional<Question>, kSorts> asked_;  // by get(), last
  std::list<Known> known_;                             // most recently used first
  std::optional<DeviceTraits> traits_;                 // of device_
  std::stop_source stop_;
  std::thread thread_;  // last: starts when everything above exists
};

}  // namespace attn::app
