#include "core/engine/sequence.h"

#include <algorithm>
#include <utility>

#include "kernels/common/check.h"

namespace attn {

Sequence::Sequence(int id, std::vector<std::int32_t> prompt, const SamplingParams& params,
                   int tokens_per_block)
    : seq_id(id),
      token_ids(std::move(prompt)),
      num_prompt_tokens(static_cast<int>(token_ids.size())),
      sampling(params),
      block_size(tokens_per_block) {
  ATTN_CHECK(!token_ids.empty(), "sequence {} has no tokens", id);
  ATTN_CHECK(block_size >= 1, "block_size {}", block_size);
}

std::span<const std::int32_t> Sequence::block(int i) const {
  ATTN_CHECK(i >= 0 && i < num_blocks(), "block {} of {} (sequence {})", i, num_blocks(), seq_id);
  const int begin = i * block_size;
  const int count = std::min(block_size, num_tokens() - begin);
  return std::span(token_ids).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
}

trace::SeqState snapshot(const Sequence& seq) {
  return {.id = seq.seq_id,
          .status = seq.status,
          .num_tokens = seq.num_tokens(),
          .num_prompt_tokens = seq.num_prompt_tokens,
          .num_cached_tokens = seq.num_cached_tokens,
          .num_scheduled_tokens = seq.num_scheduled_tokens,
          .block_table = seq.block_table,
          .token_ids = seq.token_ids};
}

}  // namespace attn
