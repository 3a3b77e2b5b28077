// How one request wants its tokens drawn (nano-vllm's SamplingParams, with greedy allowed).
#pragma once

namespace attn {

struct SamplingParams {
  float temperature = 0.0F;  // 0 = greedy
  int max_tokens = 64;
  bool ignore_eos = false;
  int top_k = 0;       // 0 = off
  float top_p = 1.0F;  // 1 = off
};

}  // namespace attn
