// Stands in for cuda_device.cu and cuda_backend.cu where nvcc was not found or not wanted.
#include "kernels/common/check.h"
#include "kernels/device.h"

namespace attn {

bool cuda_backend_built() { return false; }

std::unique_ptr<Device> make_cuda_device() {
  throw DeviceError("CUDA: this program was built without it (no nvcc, or ATTN_CUDA=OFF)");
}

}  // namespace attn
