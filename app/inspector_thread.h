// The inspector on its own thread with its own device. Only the newest question is answered: while the user
// scrubs, cursors in between are skipped. The last answers are remembered, so going back shows them at once.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/trace/inspector.h"

namespace attn::app {

class InspectorThread {
 public:
  struct Answer {
    std::shared_ptr<const trace::AttentionView> view;  // null: note says why
    std::string note;
  };

  /// `changed` is called from the inspector's thread when an answer has come.
  InspectorThread(std::shared_ptr<const trace::Store> store, DeviceChoice choice,
                  std::function<void()> changed);
  ~InspectorThread();  // waits for the launch at hand
  InspectorThread(const InspectorThread&) = delete;
  InspectorThread& operator=(const InspectorThread&) = delete;

  /// What is known of step `index` and `layer`; asks for it when that is nothing yet. Waits a few
  /// milliseconds at most, and only the first time it is asked that.
  Answer get(int index, int layer);
  /// The same, waiting for the answer: stills need it in the picture.
  Answer wait(int index, int layer);

 private:
  struct Question {
    int index;
    int layer;
    bool operator==(const Question&) const = default;
  };
  struct Known {
    Question question;
    Answer answer;
  };
  void run();
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
  std::optional<Question> wanted_;
  std::optional<Question> asked_;  // by get(), last
  std::list<Known> known_;         // most recently used first
  bool stop_ = false;
  std::thread thread_;  // last: starts when everything above exists
};

}  // namespace attn::app
