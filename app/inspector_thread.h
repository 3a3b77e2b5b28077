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
    bool pending = false;  // the note is that it is not known yet
  };

  /// `changed` is called from the inspector's thread when an answer has come.
  InspectorThread(std::shared_ptr<const trace::Store> store, DeviceChoice choice,
                  std::function<void()> changed);
  ~InspectorThread();  // waits for the launch at hand
  InspectorThread(const InspectorThread&) = delete;
  InspectorThread& operator=(const InspectorThread&) = delete;

  /// What is known of step `index` and `layer`; asks for it when that is nothing yet. Waits a few
  /// milliseconds at most, and only the first time it is asked that.
  Answer get(int index, int layer) { return get({index, layer, {}}); }
  Answer compare(int index, int layer, const Variants& variants) { return get({index, layer, variants}); }
  /// The same, waiting for the answer: stills need it in the picture.
  Answer wait(int index, int layer) { return wait({index, layer, {}}); }
  Answer wait_compare(int index, int layer, const Variants& variants) {
    return wait({index, layer, variants});
  }

 private:
  struct Question {
    int index;
    int layer;
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

  std::mutex mutex_;  // guards everything below
  std::condition_variable wake_;
  std::array<std::optional<Question>, kSorts> wanted_;
  std::array<std::optional<Question>, kSorts> asked_;  // by get(), last
  std::list<Known> known_;                             // most recently used first
  bool stop_ = false;
  std::thread thread_;  // last: starts when everything above exists
};

}  // namespace attn::app
