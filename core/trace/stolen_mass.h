// How much softmax weight the zero pads of a padded decode took, measured and by the law.
#pragma once

#include "core/trace/attention_view.h"

namespace attn::trace {

/// Zero keys score 0, so each of P pads adds exp(0) = 1 to the softmax sum Z of the real keys: the pads take
/// P / (Z + P), and o becomes o * Z / (Z + P).
struct StolenMass {
  int pads = 0;            // P: columns attended beyond k_len
  double measured = 0.0;   // sum of the kernel's weights on pad columns
  double predicted = 0.0;  // P / (Z + P) with Z + P = exp(lse), from the kernel's lse
};

/// PRECOND: a decode view (one query row per sequence) that has the sequence's row, head < num_heads.
StolenMass stolen_mass(const AttentionView& view, int sequence, int head);

}  // namespace attn::trace
