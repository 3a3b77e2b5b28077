// The inspector on its own thread with its own device. Only the newest question is answered: while the user
// scrubs, cursors in between are skipped.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/trace/inspector.h"

namespace attn::app {

class InspectorThread {
 public:
  struct Answer {
    int index = -1;
    int layer = -1;
    std::shared_ptr<const trace::AttentionView> view;  // null: note says why
    std::string note;
  };

  InspectorThread(std::shared_ptr<const trace::Store> store, DeviceChoice choice,
                  std::function<void()> changed);
  ~InspectorThread();
  InspectorThread(const InspectorThread&) = delete;
  InspectorThread& operator=(const InspectorThread&) = delete;

  /// Cheap; repeats of the same question are ignored.
  void ask(int index, int layer);
  Answer latest() const;
  /// Waits for the answer to the last question: stills need it in the picture.
  Answer wait() const;

 private:
  void run();
  std::shared_ptr<const trace::Store> store_;
  DeviceChoice choice_;
  std::function<void()> changed_;
  mutable std::mutex mutex_;
  mutable std::condition_variable wake_;
  int index_ = -1, layer_ = -1;  // the newest question
  Answer answer_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace attn::app
