#include "core/trace/fact_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/common/check.h"

namespace attn::trace {
namespace {

struct Words {
  std::string_view fact;
  std::string_view alone;  // without brackets
  std::string_view of;     // "{}" is what stands in them; "" = "ALONE of {}"
};

// What kernels and engine call their own arrays stays as it is: those names are on screen, too.
constexpr std::array kWords = {
    Words{"kind", "kind of step", ""},
    Words{"path", "way through memory", ""},
    Words{"seqs", "requests in the batch", ""},
    Words{"num_seqs", "sequences in the batch", ""},
    Words{"cu_seqlens_q", "cu_seqlens_q", ""},
    Words{"cu_seqlens_k", "cu_seqlens_k", ""},
    Words{"max_seqlen_q", "most query rows of a sequence", ""},
    Words{"max_seqlen_k", "most keys of a sequence", ""},
    Words{"context_lens", "context_lens", ""},
    Words{"block_tables", "block tables", ""},
    Words{"slot_mapping", "slots", ""},
    Words{"positions", "positions", ""},
    Words{"input_ids", "tokens", ""},
    Words{"row_owner", "owner of the row", "owner of packed row {}"},
    Words{"lm_head_rows", "rows that the LM head reads", ""},
    Words{"q_len", "query rows", ""},
    Words{"k_len", "keys attended to", "keys that {} attends to"},
    Words{"cached_len", "keys from the cache", "keys of {} from the cache"},
    Words{"status", "status", ""},
    Words{"num_tokens", "tokens known", "tokens of {}"},
    Words{"num_tokens_after", "tokens after the step", "tokens of {} after the step"},
    Words{"num_cached_tokens", "tokens found in the cache", "tokens of {} found in the cache"},
    Words{"num_scheduled_tokens", "tokens computed", "tokens of {} computed"},
    Words{"block_table", "block table", ""},
    Words{"shapes", "shapes", ""},
    Words{"sampled", "tokens sampled", ""},
    Words{"sampled_text", "token sampled", "token sampled for {}"},
    Words{"discarded", "samples thrown away", ""},
    Words{"preempted", "preempted", ""},
    Words{"finished", "finished", ""},
    Words{"rejected", "refused", ""},
    Words{"events", "events", "{} events"},
    Words{"graph_rows", "rows of the graph", ""},
    Words{"graph_slots", "slots of the graph's rows", ""},
    Words{"graph_context_lens", "context_lens of the graph's rows", ""},
    Words{"graph_padding_o", "largest |o| of the graph's empty rows", ""},
    Words{"blocks_in_use", "blocks in use", ""},
    Words{"blocks_shared", "blocks shared", ""},
    Words{"blocks_cached_free", "free blocks still cached", ""},
    Words{"free_blocks", "free blocks, next first", ""},
    Words{"evicted", "cached blocks given up", ""},
    Words{"ref_count", "holders of the block", "holders of block {}"},
    Words{"num_filled", "filled slots of the block", "filled slots of block {}"},
    Words{"hash", "hash of the block", "hash of block {}"},
    Words{"hashes", "hashes registered", ""},
    Words{"score_dots", "score dots per head", ""},
    Words{"rows_computed", "rows computed", ""},
    Words{"kv_rows_written", "K/V rows written", ""},
    Words{"kv_rows_read", "K/V rows read", ""},
    Words{"flop", "FLOP", ""},
    Words{"bytes", "bytes", ""},
    Words{"attention_bytes", "bytes of attention", ""},
    Words{"launches", "kernels launched", ""},
    Words{"tokens_out", "tokens written", ""},
    Words{"passes", "passes through the model", ""},
    Words{"k_rows_moved", "K rows moved per KV head", ""},
    Words{"kv_bytes_per_token", "bytes of K and V per token", ""},
    Words{"kv_bytes_of", "bytes of K and V per token", "bytes of K and V per token, shape {}"},
    Words{"kernel", "kernel", ""},
    Words{"relaunch_error", "difference from the recorded o", ""},
    Words{"score", "score of the key", "score of key {}"},
    Words{"scores", "scores", ""},
    Words{"weight", "weight of the key", "weight of key {}"},
    Words{"weights", "weights", ""},
    Words{"row_sum", "sum of the weights", ""},
    Words{"keys_seen", "keys seen", ""},
    Words{"pairs_allowed", "pairs allowed", "pairs allowed for {}"},
    Words{"pairs", "pairs", ""},
    Words{"lse", "log of the softmax sum", ""},
    Words{"exp_lse", "softmax sum", ""},
    Words{"pads", "zero keys attended to", ""},
    Words{"stolen", "share of the zero keys", ""},
    Words{"stolen_law", "share by the formula P / (Z + P)", ""},
    Words{"num_tiles", "key tiles", ""},
    Words{"tile_m", "m by tile", ""},
    Words{"tile_l", "l by tile", ""},
    Words{"tile_alpha", "alpha by tile", ""},
    Words{"tile_o_norm", "length of o by tile", ""},
    Words{"tile_sums", "l times exp(m) by tile", ""},
    Words{"m", "m", "m after tile {}"},
    Words{"l", "l", "l after tile {}"},
    Words{"alpha", "alpha", "alpha of tile {}"},
    Words{"rescales", "rescales", ""},
    Words{"o", "o", "o[{}]"},
    Words{"o_norm", "length of o", ""},
    Words{"o_minus_q", "largest |o - q|", ""},
    Words{"fresh_rows", "rows that this step computed", "rows of {} that this step computed"},
    Words{"gathered_diff", "largest |K read back - K computed|", "largest |K read back - K computed| of {}"},
    Words{"kv_head", "KV head of each query head", ""},
    Words{"max_diff", "largest |o of A - o of B|", ""},
    Words{"max_diff_here", "largest |o of A - o of B| of this head and row", ""},
    Words{"bytes_moved", "bytes moved", ""},
    Words{"heads_moved", "heads that read another KV head", ""},
    Words{"max_diff_o", "largest difference of o", ""},
    Words{"row_diff_o", "largest difference of this row's o", ""},
    Words{"first_wrong_step", "first step with another token", ""},
    Words{"tokens_differing", "tokens that differ", ""},
};

/// "2..33" as "steps 2 to 33".
std::string steps_text(std::string_view steps) {
  const std::size_t dots = steps.find("..");
  return dots == std::string_view::npos
             ? fmt::format("step {}", steps)
             : fmt::format("steps {} to {}", steps.substr(0, dots), steps.substr(dots + 2));
}

std::string run_text(std::string_view run, std::string_view main_run) {
  return run == main_run ? "the lesson's own run" : fmt::format("\"{}\"", run);
}

/// Without its run and its divisor.
std::string bare(const FactCall& call) {
  const auto words = std::ranges::find(kWords, call.fact->name, &Words::fact);
  ATTN_CHECK(words != kWords.end(), "the fact '{}' has no words", call.fact->name);
  std::string text(words->alone);
  if (!call.argument.empty()) {
    if (call.fact->argument == FactArgument::steps) {
      text += ", " + steps_text(call.argument);
    } else if (words->of.empty()) {
      text += " of " + call.argument;
    } else {
      std::string argument = call.argument;
      std::ranges::replace(argument, '_', ' ');  // "prefix_hit"
      text = fmt::format(fmt::runtime(words->of), argument);
    }
  }
  return call.side_b ? "side B: " + text : text;  // sequences are called B too
}

}  // namespace

std::string words_of(const FactCall& call, std::string_view main_run) {
  std::string text = bare(call);
  if (!call.run.empty()) text += (call.fact->of_two_runs ? " from " : ", ") + run_text(call.run, main_run);
  if (!call.divisor) return text;
  const FactCall& by = *call.divisor;
  const bool same = by.fact == call.fact && by.argument == call.argument && !by.divisor && !by.run.empty();
  return text +
         (same ? ", in multiples of " + run_text(by.run, main_run) : " divided by " + words_of(by, main_run));
}

}  // namespace attn::trace
