// Facts of the block pool, as it is after the step.
#include <algorithm>

#include "core/trace/fact_scope.h"
#include "core/trace/names.h"

namespace attn::trace {
namespace {

using Scope = FactScope;

template <class Holds>
FactValue count_blocks(const Scope& s, Holds&& holds) {
  return std::ranges::count_if(s.step().blocks, holds);
}

FactValue evicted(const Scope& s) {
  std::vector<int> blocks;
  for (const Event& event : s.step().events) {
    if (event.kind == EventKind::evict) blocks.push_back(event.block_id);
  }
  return FactValue::list_of(blocks);
}

FactValue hash_of(const Scope& s) {
  const auto& hash = s.block().hash;
  return hash ? hash_text(*hash) : std::string("none");
}

}  // namespace

std::vector<Fact> pool_facts() {
  using enum FactKind;
  using enum FactArgument;
  return {
      {"blocks_in_use", number, none, "blocks that some sequence holds",
       [](const Scope& s) { return count_blocks(s, [](const BlockState& b) { return b.ref_count > 0; }); }},
      {"blocks_shared", number, none, "blocks that several hold",
       [](const Scope& s) { return count_blocks(s, [](const BlockState& b) { return b.ref_count > 1; }); }},
      {"blocks_cached_free", number, none, "free blocks that a prompt could still hit",
       [](const Scope& s) {
         return count_blocks(s, [](const BlockState& b) { return b.ref_count == 0 && b.hash; });
       }},
      {"free_blocks", list, none, "the free list, next to be taken first",
       [](const Scope& s) { return FactValue::list_of(s.step().free_blocks); }},
      {"evicted", list, none, "cached blocks that were taken and lost their hash", evicted},
      {"ref_count", number, FactArgument::index, "sequences that hold a block",
       [](const Scope& s) -> FactValue { return s.block().ref_count; }},
      {"num_filled", number, FactArgument::index, "slots of a block that hold keys",
       [](const Scope& s) -> FactValue { return s.block().num_filled; }},
      {"hash", text, FactArgument::index, "of a block, or \"none\"", hash_of},
      {"hashes", number, none, "entries of the hash map",
       [](const Scope& s) -> FactValue { return s.step().hash_to_block.size(); }},
  };
}

}  // namespace attn::trace
