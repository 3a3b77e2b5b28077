#include "core/trace/attention_view.h"

#include <algorithm>

#include "core/trace/tensor_values.h"
#include "kernels/common/check.h"

namespace attn::trace {
namespace {

/// Elements [first, first + count) of little-endian data of that dtype; empty when they are not all there.
std::vector<float> slice(const std::vector<std::byte>& data, DType dtype, std::int64_t first,
                         std::int64_t count) {
  const auto size = static_cast<std::int64_t>(dtype_size(dtype));
  if (first < 0 || (first + count) * size > static_cast<std::int64_t>(data.size())) return {};
  const auto begin = data.begin() + first * size;
  return to_floats({dtype, {count}, {begin, begin + count * size}});
}

}  // namespace

std::vector<float> cache_row(const Pool& pool, bool value, const std::vector<std::int32_t>& block_table,
                             int pos, int kv_head) {
  const PagedKv& kv = pool.kv;
  if (pos < 0 || kv_head < 0 || kv_head >= kv.num_kv_heads) return {};
  const auto entry = static_cast<std::size_t>(pos / kv.block_size);
  if (entry >= block_table.size() || block_table[entry] < 0) return {};
  const std::int64_t slot = kv.slot(block_table.data(), pos);
  return slice(value ? pool.v : pool.k, pool.dtype, kv.offset(slot, kv_head), kv.head_dim);
}

std::vector<float> tensor_row(const TensorRecord& tensor, int row, int head) {
  ATTN_CHECK(tensor.shape.size() == 3, "a row of a tensor with {} axes", tensor.shape.size());
  const std::int64_t rows = tensor.shape[0], heads = tensor.shape[1], width = tensor.shape[2];
  if (row < 0 || row >= rows || head < 0 || head >= heads) return {};
  return slice(tensor.data, tensor.dtype, (row * heads + head) * width, width);
}

}  // namespace attn::trace
