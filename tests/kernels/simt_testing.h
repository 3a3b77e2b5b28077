// Shared by the simt_* tests: an emulator with a given order, and short ways to launch and look.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/common/device_text.h"
#include "kernels/device.h"

namespace attn::simt_test {

/// The orders a correct kernel must not notice.
inline std::vector<SimtOptions> all_orders() {
  return {{.order = SimtOrder::forward},
          {.order = SimtOrder::reverse},
          {.order = SimtOrder::shuffled, .seed = 1},
          {.order = SimtOrder::shuffled, .seed = 2},
          {.order = SimtOrder::shuffled, .seed = 3, .strict = true}};
}

class Emulator {
 public:
  explicit Emulator(const SimtOptions& options = {}) : device_(make_simt_device(options)) {}

  Device& device() { return *device_; }
  Buffer buffer(std::size_t bytes, std::string_view label = "test buffer") {
    return {*device_, bytes, label};
  }
  template <class T>
  Buffer upload(const std::vector<T>& host, std::string_view label = "test input") {
    Buffer buffer(*device_, host.size() * sizeof(T), label);
    buffer.upload(host);
    return buffer;
  }
  template <class... KernelArgs, class... Args>
  void launch(Dim3 grid, Dim3 block, std::size_t shared_bytes, void (*kernel)(KernelArgs...), Args... args) {
    LaunchRecord record;
    record.kernel = "test_kernel";
    record.grid = grid;
    record.block = block;
    record.shared_bytes = shared_bytes;
    on_simt::launch_kernel(device_->context(), record, kernel, args...);
  }

 private:
  std::unique_ptr<Device> device_;
};

/// The message of the DeviceError that `f` must throw.
template <class F>
std::string device_error(F&& f) {
  try {
    f();
  } catch (const DeviceError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no DeviceError";
  return "";
}

inline void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

}  // namespace attn::simt_test
