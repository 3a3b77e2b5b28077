#include "core/engine/config.h"

#include <fmt/format.h>

#include <limits>
#include <string_view>

#include "kernels/common/check.h"
#include "kernels/common/tiles.h"

namespace attn {

namespace {

constexpr int kMaxSplits = 128;  // as flash-attention: more partial states than that cost more than they save

void require(bool good, std::string_view field, std::int64_t value, std::string_view allowed) {
  if (!good) throw InputError(fmt::format("engine.{} is {}; use {}", field, value, allowed));
}

}  // namespace

void EngineConfig::validate() const {
  require(block_size >= 1, "block_size", block_size, "1 or more tokens per block");
  require(num_blocks >= 1, "num_blocks", num_blocks, "1 or more blocks");
  require(static_cast<std::int64_t>(num_blocks) * block_size <= std::numeric_limits<std::int32_t>::max(),
          "num_blocks", num_blocks,
          fmt::format("at most {} with block_size {}, for slots are 32-bit",
                      std::numeric_limits<std::int32_t>::max() / block_size, block_size));
  require(max_num_seqs >= 1, "max_num_seqs", max_num_seqs, "1 or more sequences per step");
  require(max_num_batched_tokens >= 1, "max_num_batched_tokens", max_num_batched_tokens,
          "1 or more tokens per prefill step");
  require(max_model_len >= 0, "max_model_len", max_model_len, "0 (the model's limit) or a number of tokens");
  require(prefill_level >= 1 && prefill_level <= kPrefillLevels, "prefill_level", prefill_level,
          fmt::format("1 (naive) to {}", kPrefillLevels));
  require(decode_level >= 1 && decode_level <= kDecodeLevels, "decode_level", decode_level,
          fmt::format("1 (naive) to {}", kDecodeLevels));
  require(num_splits >= 0 && num_splits <= kMaxSplits, "num_splits", num_splits,
          fmt::format("0 (the plan chooses) to {}", kMaxSplits));
  require(k_tile >= 0 && k_tile <= max_k_tile(1), "k_tile", k_tile,
          fmt::format("0 (the plan chooses) to {} keys", max_k_tile(1)));
  require(record_layers >= -1, "record_layers", record_layers,
          "-1 (all layers), 0 (none) or a number of layers");
  require(forget_store == -1 || forget_store >= 1, "forget_store", forget_store,
          "-1 (nothing is forgotten) or the number of a step, from 1");
  if (graph_skip_cache_ops && !cuda_graphs) {
    throw InputError("engine.graph_skip_cache_ops is true without cuda_graphs; set engine.cuda_graphs too");
  }
  if (scores != Scores::computed && cuda_graphs) {
    throw InputError("engine.scores cannot be set in a captured graph; set engine.cuda_graphs to false");
  }
}

}  // namespace attn
