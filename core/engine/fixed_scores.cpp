#include "core/engine/fixed_scores.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/model/convert.h"
#include "core/trace/names.h"

namespace attn {
namespace {

float number_of(Scores scores) {
  switch (scores) {
    case Scores::two:
      return 2.0F;
    case Scores::minus_two:
      return -2.0F;
    default:
      return 0.0F;
  }
}

/// Every vector (first, 0, 0, ...).
void fill_vectors(Device& device, void* data, std::size_t count, const ScoreRows& at, float first) {
  const auto dim = static_cast<std::size_t>(at.head_dim);
  std::vector<float> values(count * dim, 0.0F);
  for (std::size_t i = 0; i < count; ++i) values[i * dim] = first;
  const std::vector<std::byte> bytes = from_floats(values, at.dtype);
  device.upload(data, bytes.data(), bytes.size());
}

}  // namespace

void fix_scores(Device& device, Scores scores, const ScoreRows& at, StageLog& log) {
  if (scores == Scores::computed || at.rows == 0) return;
  const auto rows = static_cast<std::size_t>(at.rows);
  const float unscaled = number_of(scores) * std::sqrt(static_cast<float>(at.head_dim));
  fill_vectors(device, at.qkv.q, rows * static_cast<std::size_t>(at.heads), at, unscaled);
  fill_vectors(device, at.qkv.k, rows * static_cast<std::size_t>(at.kv_heads), at, 1.0F);
  log.shape("q", dtype_name(at.dtype), {at.rows, at.heads, at.head_dim},
            fmt::format("set: every score is {}", trace::name_of(scores)));
}

}  // namespace attn
