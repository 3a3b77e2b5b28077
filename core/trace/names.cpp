#include "core/trace/names.h"

#include <fmt/format.h>

#include <array>

namespace attn::trace {
namespace {

/// Position in the list is the enumerator's value; the size is checked against kLastOf.
template <class E, std::size_t N>
std::string_view pick(const std::array<std::string_view, N>& names, E value) {
  static_assert(N == static_cast<std::size_t>(kLastOf<E>) + 1, "one name per enumerator");
  return names[static_cast<std::size_t>(value)];
}

constexpr auto kStepKinds = std::to_array<std::string_view>({"warmup", "prefill", "decode"});
constexpr auto kSeqStatuses = std::to_array<std::string_view>({"waiting", "running", "finished"});
constexpr auto kStages =
    std::to_array<std::string_view>({"schedule", "prepare", "qkv_rope", "store_kvcache", "gather", "flatten",
                                     "repeat", "attention", "out_mlp", "lm_head", "sample", "commit"});
constexpr auto kAttentionPaths =
    std::to_array<std::string_view>({"identity", "prefill_packed", "prefill_paged", "prefill_gather_flatten",
                                     "decode_paged", "decode_gather_masked", "decode_gather_padded"});
constexpr auto kEventKinds =
    std::to_array<std::string_view>({"allocate", "prefix_hit", "share", "free", "evict", "preempt", "hash",
                                     "reject", "finish", "admit", "poison"});
constexpr auto kMasks = std::to_array<std::string_view>({"bottom_right", "top_left", "none"});
constexpr auto kHeadMaps = std::to_array<std::string_view>({"grouped", "modulo"});
constexpr auto kDecodePaths = std::to_array<std::string_view>({"paged", "gather_masked", "gather_padded"});
constexpr auto kPrefillPaths = std::to_array<std::string_view>({"paged", "gather_flatten"});
constexpr auto kFreeListOrders = std::to_array<std::string_view>({"ordered", "scrambled"});
constexpr auto kScores = std::to_array<std::string_view>({"computed", "0", "2", "-2"});
constexpr auto kHashPolicies = std::to_array<std::string_view>({"head", "old"});

}  // namespace

std::string_view name_of(StepKind kind) { return pick(kStepKinds, kind); }
std::string_view name_of(SeqStatus status) { return pick(kSeqStatuses, status); }
std::string_view name_of(Stage stage) { return pick(kStages, stage); }
std::string_view name_of(AttentionPath path) { return pick(kAttentionPaths, path); }
std::string_view name_of(EventKind kind) { return pick(kEventKinds, kind); }
std::string_view name_of(MaskAlignment mask) { return pick(kMasks, mask); }
std::string_view name_of(HeadMap map) { return pick(kHeadMaps, map); }
std::string_view name_of(DecodePath path) { return pick(kDecodePaths, path); }
std::string_view name_of(PrefillPath path) { return pick(kPrefillPaths, path); }
std::string_view name_of(FreeListOrder order) { return pick(kFreeListOrders, order); }
std::string_view name_of(HashPolicy policy) { return pick(kHashPolicies, policy); }

std::string_view name_of(Scores scores) { return pick(kScores, scores); }

std::string hash_text(std::uint64_t hash) { return fmt::format("0x{:016x}", hash); }

}  // namespace attn::trace
