// Grid of the kernels that give each element of the output its own thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "kernels/common/check.h"
#include "kernels/common/launch.h"

namespace attn {

inline constexpr int kElementThreads = 256;

/// One thread per element in blocks of 256. PRECOND: count >= 1; a grid has at most 2^31 - 1 blocks.
inline LaunchRecord elementwise_record(std::string kernel, std::int64_t count, std::uint64_t bytes,
                                       std::uint64_t flop) {
  const std::int64_t blocks = (count + kElementThreads - 1) / kElementThreads;
  ATTN_CHECK(blocks >= 1 && blocks <= INT32_MAX, "{}: {} elements do not fit a grid", kernel, count);
  LaunchRecord record;
  record.kernel = std::move(kernel);
  record.grid = {static_cast<unsigned>(blocks)};
  record.block = {kElementThreads};
  record.bytes = bytes;
  record.flop = flop;
  return record;
}

}  // namespace attn
