#include "kernels/device.h"

#include <fmt/format.h>

#include "kernels/common/check.h"

namespace attn {

DevicePick make_device(DeviceChoice choice) {
  if (choice == DeviceChoice::simt) return {make_simt_device(), ""};
  if (choice == DeviceChoice::cuda) return {make_cuda_device(), ""};
  try {
    return {make_cuda_device(), ""};
  } catch (const DeviceError& error) {
    auto device = make_simt_device();
    const std::string note = fmt::format("{}; running on the {}", error.what(), device->name());
    return {std::move(device), note};
  }
}

}  // namespace attn
