#include "core/trace/block_parent.h"

#include "core/engine/block_manager.h"

namespace attn::trace {

bool hash_follows(const BlockState& block, std::optional<std::uint64_t> parent) {
  return block.hash && BlockManager::compute_hash(block.token_ids, parent) == *block.hash;
}

}  // namespace attn::trace
