// Stands in for bench_timer.cu where there is no CUDA compiler: only the emulator is there to be timed.
#include "kernels/common/check.h"
#include "tests/bench/bench_timer.h"

namespace attn::bench {

double gpu_milliseconds(Device&, const std::function<void(int)>&, int) {
  throw DeviceError("CUDA: this program was built without it");
}

Ceilings measure_ceilings(Device&) { return {}; }

}  // namespace attn::bench
