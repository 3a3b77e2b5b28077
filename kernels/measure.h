// Time of device work, and the rates that nothing on the device beats.
#pragma once

#include <functional>

#include "kernels/common/ceilings.h"
#include "kernels/device.h"

namespace attn {

/// call(i) works on input set i; as many sets as exceed the L2 keep the inputs out of it.
using TimedCall = std::function<void(int)>;

/// Milliseconds of one call: after one to warm up, one by itself, by events (GPU) or the wall clock.
double once_milliseconds(Device& device, const TimedCall& call);
/// Median milliseconds of a call. GPU: calls(0), calls(1), ... are recorded into a CUDA graph, so that launch
/// costs of the host stay out, and replayed between events. Emulator: wall time.
double milliseconds(Device& device, const TimedCall& call, int sets);

/// All zero on the emulator.
Ceilings measure_ceilings(Device& device);

// The GPU's part (cuda_measure.cu); without a CUDA compiler they throw DeviceError.
double gpu_once_milliseconds(Device& device, const TimedCall& call);
double gpu_milliseconds(Device& device, const TimedCall& call, int sets);
/// All but matmul_tflops.
Ceilings measure_gpu(Device& device);

}  // namespace attn
