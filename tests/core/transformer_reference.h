// The whole model in float64, written from the papers and for tests only, and the Transformer with a float64
// attention between its halves, so that the two can be compared without any attention kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/transformer.h"
#include "tests/core/model_support.h"

namespace attn::test {

/// Logits [N, vocab] of every position of one sequence that starts at position 0.
std::vector<double> reference_logits(const ModelConfig& config, const ModelWeights& weights,
                                     const std::vector<std::int32_t>& ids);

/// The same through Transformer, in steps of the given numbers of tokens (their sum is ids.size()): keys and
/// values of earlier steps are kept on the host, as a cache would. `rows`: positions whose logits are wanted,
/// in order.
std::vector<float> transformer_logits(Device& device, Transformer& model,
                                      const std::vector<std::int32_t>& ids, const std::vector<int>& steps,
                                      const std::vector<int>& rows);

/// max |got - expected| / max |expected| over the given rows of [N, vocab].
double relative_error(const std::vector<float>& got, const std::vector<double>& expected,
                      const std::vector<int>& rows, int vocab);

}  // namespace attn::test
