#include "core/trace/stolen_mass.h"

#include <cmath>

namespace attn::trace {

StolenMass stolen_mass(const AttentionView& view, int sequence, int head) {
  const auto b = static_cast<std::size_t>(sequence);
  StolenMass mass{.pads = view.attended[b] - view.k_lens[b]};
  if (mass.pads <= 0) return {};
  for (int column = view.k_lens[b]; column < view.attended[b]; ++column) {
    mass.measured += static_cast<double>(view.weight(head, sequence, column));
  }
  const float lse = view.lse[view.at(head, sequence, 1, 0)];
  mass.predicted = mass.pads * std::exp(-static_cast<double>(lse));
  return mass;
}

}  // namespace attn::trace
