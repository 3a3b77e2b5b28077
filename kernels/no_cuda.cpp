// Stands in for cuda_device.cu, cuda_backend.cu and cuda_measure.cu where nvcc was not found or not wanted.
#include "kernels/common/check.h"
#include "kernels/device.h"
#include "kernels/measure.h"

namespace attn {
namespace {

[[noreturn]] void not_built() {
  throw DeviceError("CUDA: this program was built without it (no nvcc, or ATTN_CUDA=OFF)");
}

}  // namespace

bool cuda_backend_built() { return false; }

std::unique_ptr<Device> make_cuda_device() { not_built(); }

double gpu_once_milliseconds(Device&, const TimedCall&) { not_built(); }
double gpu_milliseconds(Device&, const TimedCall&, int) { not_built(); }
Ceilings measure_gpu(Device&) { not_built(); }

}  // namespace attn
