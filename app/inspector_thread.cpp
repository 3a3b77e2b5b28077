#include "app/inspector_thread.h"

#include <exception>
#include <utility>

namespace attn::app {

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

void InspectorThread::ask(int index, int layer) {
  {
    const std::lock_guard lock(mutex_);
    if (index == index_ && layer == layer_) return;
    index_ = index;
    layer_ = layer;
  }
  wake_.notify_all();
}

InspectorThread::Answer InspectorThread::latest() const {
  const std::lock_guard lock(mutex_);
  return answer_;
}

InspectorThread::Answer InspectorThread::wait() const {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return answer_.index == index_ && answer_.layer == layer_; });
  return answer_;
}

void InspectorThread::run() {
  std::unique_ptr<Device> device;
  std::unique_ptr<trace::Inspector> inspector;
  for (;;) {
    Answer answer;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stop_ || index_ != answer_.index || layer_ != answer_.layer; });
      if (stop_) return;
      answer.index = index_;
      answer.layer = layer_;
    }
    try {
      if (!inspector) {
        device = make_device(choice_).device;
        inspector = std::make_unique<trace::Inspector>(*device, store_);
      }
      answer.view = inspector->inspect(answer.index, answer.layer);
    } catch (const std::exception& error) {
      answer.note = error.what();
    }
    {
      const std::lock_guard lock(mutex_);
      answer_ = std::move(answer);
    }
    wake_.notify_all();
    changed_();
  }
}

}  // namespace attn::app
