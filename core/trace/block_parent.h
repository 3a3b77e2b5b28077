// Which block comes before another: block hashes are chained, so a full block's hash tells its parent.
#pragma once

#include <cstdint>
#include <optional>

#include "core/trace/step_record.h"

namespace attn::trace {

/// Whether the hash of a full block is the one that the engine computes for its tokens behind a block of
/// that hash; behind nothing (the first block of a sequence) without one.
bool hash_follows(const BlockState& block, std::optional<std::uint64_t> parent);

}  // namespace attn::trace
