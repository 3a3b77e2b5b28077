// What a launcher gets besides its params, and what it leaves behind.
#pragma once

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

namespace attn {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

/// One kernel launch as the trace and the cost panel show it. bytes and flop are the launcher's own
/// count of the data it must move (each input read once, each output written once) and arithmetic.
struct LaunchRecord {
  std::string kernel;
  Dim3 grid;
  Dim3 block;
  std::size_t shared_bytes = 0;
  std::uint64_t bytes = 0;
  std::uint64_t flop = 0;
  float ms = NAN;  // device events on CUDA when timing is on; NaN = not measured
};

/// What plans need to know of a device.
struct DeviceTraits {
  int num_sms = 1;                                     // blocks of one wave
  std::size_t shared_bytes = std::size_t{227} << 10U;  // most that one block can have
  bool tensor_cores = true;  // mma of 16-bit types and cp.async: sm_80 and later; the emulator has them
  bool wgmma = false;        // Hopper's warpgroup products: compute capability 9.0 and a build for sm_90a
};

/// Thrown where work would go on that nobody wants any more: of the launch at hand anything may be missing.
class Stopped : public std::runtime_error {
 public:
  Stopped() : std::runtime_error("the work was cancelled") {}
};

/// How far the launch at hand is, for another thread to read. On the emulator only.
struct BlocksBegun {
  std::atomic<std::uint64_t> begun = 0;
  std::atomic<std::uint64_t> all = 0;
};

/// Passed to every launcher. `log` may be null. `stream` is a cudaStream_t on CUDA, unused on simt.
/// `executor` belongs to the backend (the emulator's state), null on CUDA.
struct LaunchContext {
  void* stream = nullptr;
  void* executor = nullptr;
  bool timing = false;
  std::vector<LaunchRecord>* log = nullptr;
  DeviceTraits traits;
  bool record_only = false;  // launchers check, plan and log as ever, and no kernel runs: nothing is read
  std::stop_token stop;      // once it says so nothing begins any more: no launch, no block of the emulator
  BlocksBegun* blocks = nullptr;  // told as launches go on

  void throw_if_stopped() const {
    if (stop.stop_requested()) throw Stopped();
  }
};

}  // namespace attn
