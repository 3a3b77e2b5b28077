// Time of device work, and the rates that nothing on the device can beat.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "kernels/device.h"

namespace attn::bench {

/// Rates measured on this device in this run; 0 = not measured (the emulator).
struct Ceilings {
  double copy_gbs = 0.0;  // bytes read plus bytes written
  double read_gbs = 0.0;
  double matmul_tflops = 0.0;  // bf16, 8192 x 8192 x 8192
};
Ceilings measure_ceilings(Device& device);

/// Milliseconds of one call on a GPU: calls(0), calls(1), ... are recorded into a CUDA graph, so that launch
/// costs of the host stay out, and replayed between events; median of 7 replays. bench_timer.cu.
double gpu_milliseconds(Device& device, const std::function<void(int)>& call, int rotation);

/// The same on either device: wall time, median of 5, on the emulator. `rotation`: call(i) works on input set
/// i % rotation, enough of them to exceed the L2.
inline double milliseconds(Device& device, const std::function<void(int)>& call, int rotation) {
  if (device.kind() == DeviceKind::cuda) return gpu_milliseconds(device, call, rotation);
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    call(i % rotation);
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + 2, times.end());
  return times[2];
}

}  // namespace attn::bench
