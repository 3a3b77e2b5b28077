// Device memory that steps use again and again: it only ever grows.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/device.h"

namespace attn {

class Scratch {
 public:
  Scratch(Device& device, std::string label) : device_(&device), label_(std::move(label)) {}

  /// At least `bytes` bytes; what they held is lost when they have to grow. Half as much again is taken then,
  /// so that a context that grows by a token per step does not allocate in every step.
  template <class T = void>
  T* get(std::size_t bytes) {
    if (bytes > buffer_.bytes()) {
      buffer_.reset();
      buffer_ = Buffer(*device_, bytes + bytes / 2, label_);
    }
    return buffer_.as<T>();
  }
  template <class T>
  const T* upload(const std::vector<T>& host) {
    T* pointer = get<T>(host.size() * sizeof(T));
    if (!host.empty()) device_->upload(pointer, host.data(), host.size() * sizeof(T));
    return pointer;
  }

 private:
  Device* device_;
  std::string label_;
  Buffer buffer_;
};

}  // namespace attn
