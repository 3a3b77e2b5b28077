// The element-wise and row-wise model kernels as random problems with a float64 answer, for any device.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/device.h"

namespace attn::test {

struct OpResult {
  std::vector<std::byte> bytes;  // the output as the kernel left it
  std::vector<double> expected;  // same elements, float64
  std::string shape;             // for messages
};

/// One random problem of an op; sizes are odd and change with the seed.
struct ModelOp {
  std::string name;
  std::function<OpResult(Device&, DType, std::uint64_t seed)> run;
};
const std::vector<ModelOp>& model_ops();

}  // namespace attn::test
