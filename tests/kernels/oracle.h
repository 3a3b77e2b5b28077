// Attention in float64, written from the definition and for tests only: loops over queries, heads and keys
// with an explicit mask, no tiles, no online softmax, and no code of the kernels (visible_keys included).
#pragma once

#include <vector>

#include "tests/kernels/attention_case.h"

namespace attn::test {

struct OracleResult {
  std::vector<double> o;        // [Nq, H, D]
  std::vector<double> lse;      // [H, Nq]; -inf for rows without a visible key
  std::vector<double> weights;  // [H, Nq, max_k]; 0 where masked
  std::vector<double> scores;   // [H, Nq, max_k]; NaN where masked
  std::vector<int> visible;     // [Nq]
  int max_k = 0;
};

OracleResult oracle_attention(const AttentionCase& c, const AttentionInputs& inputs);

/// Fails the test unless o and lse of the result agree with the oracle within the dtype's bound.
void expect_matches_oracle(const AttentionCase& c, const OracleResult& expected, const AttentionResult& got);

}  // namespace attn::test
