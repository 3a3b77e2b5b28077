#include "tests/core/trace_cases.h"

#include <cstring>
#include <random>

namespace attn::trace::test {

TensorMap views_of(const Tensors& tensors) {
  TensorMap views;
  for (const auto& [key, raw] : tensors) views[key] = {raw.dtype, raw.shape, raw.data};
  return views;
}

TensorCase make_case(const std::string& name, const Tensors& tensors, const MetadataMap& metadata) {
  return make_tensor_case(name, views_of(tensors), metadata);
}

RawTensor ints(std::vector<std::int64_t> shape, const std::vector<std::int32_t>& values) {
  RawTensor raw{TensorDType::i32, std::move(shape), {}};
  raw.data.resize(values.size() * 4);
  std::memcpy(raw.data.data(), values.data(), raw.data.size());
  return raw;
}

RawTensor ints(const std::vector<std::int32_t>& values) {
  return ints({static_cast<std::int64_t>(values.size())}, values);
}

RawTensor normal(std::vector<std::int64_t> shape, unsigned seed) {
  std::size_t count = 1;
  for (const auto extent : shape) count *= static_cast<std::size_t>(extent);
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution;
  RawTensor raw{TensorDType::f32, std::move(shape), std::vector<std::byte>(count * 4)};
  for (std::size_t i = 0; i < count; ++i) {
    const float value = distribution(random);
    std::memcpy(raw.data.data() + 4 * i, &value, 4);
  }
  return raw;
}

/// Two sequences, 3 and 2 queries on 5 and 2 keys; 4 heads on 2 KV heads, head_dim 8; packed and in a cache
/// of 4 blocks of 3.
Tensors prefill_case() {
  return {{"q", normal({5, 4, 8}, 1)},          {"k", normal({7, 2, 8}, 2)},
          {"v", normal({7, 2, 8}, 3)},          {"k_cache", normal({4, 3, 2, 8}, 4)},
          {"v_cache", normal({4, 3, 2, 8}, 5)}, {"block_tables", ints({2, 2}, {3, 1, 2, -1})},
          {"cu_seqlens_q", ints({0, 3, 5})},    {"cu_seqlens_k", ints({0, 5, 7})}};
}

Tensors decode_case() {
  return {{"q", normal({2, 4, 8}, 6)},          {"k_cache", normal({4, 3, 2, 8}, 4)},
          {"v_cache", normal({4, 3, 2, 8}, 5)}, {"block_tables", ints({2, 2}, {3, 1, 2, -1})},
          {"context_lens", ints({6, 2})},       {"k_new", normal({2, 2, 8}, 7)},
          {"v_new", normal({2, 2, 8}, 8)},      {"slot_mapping", ints({5, 7})}};
}

}  // namespace attn::trace::test
