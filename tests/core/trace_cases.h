// Tensor cases made by hand, packed and cached, for prefill and decode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/trace/tensor_case.h"

namespace attn::trace::test {

/// A tensor that owns its bytes; the views of a TensorMap do not.
struct RawTensor {
  TensorDType dtype = TensorDType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;
};
using Tensors = std::map<std::string, RawTensor>;

TensorMap views_of(const Tensors& tensors);
TensorCase make_case(const std::string& name, const Tensors& tensors, const MetadataMap& metadata = {});

RawTensor ints(std::vector<std::int64_t> shape, const std::vector<std::int32_t>& values);
RawTensor ints(const std::vector<std::int32_t>& values);  // one dimension
RawTensor normal(std::vector<std::int64_t> shape, unsigned seed);

/// Two sequences, 3 and 2 queries on 5 and 2 keys; 4 heads on 2 KV heads, head_dim 8; packed and in a cache
/// of 4 blocks of 3.
Tensors prefill_case();
/// Two sequences with 6 and 2 keys; the last row of each is stored first.
Tensors decode_case();

}  // namespace attn::trace::test
