#include "app/default_comparison.h"

#include <algorithm>

namespace attn::app {

std::pair<trace::Variant, trace::Variant> default_comparison(const trace::StepRecord& step,
                                                             const trace::ModelShape& model) {
  using trace::AttentionPath;
  const std::vector<trace::Variant> variants = trace::variants_of(step, model);
  const auto find = [&](auto wanted) { return std::ranges::find_if(variants, wanted); };
  auto other = variants.end();
  for (const AttentionPath path : {AttentionPath::decode_gather_padded, AttentionPath::decode_paged,
                                   AttentionPath::prefill_gather_flatten, AttentionPath::prefill_paged}) {
    if (other == variants.end() && path != step.path) {
      other = find([&](const trace::Variant& one) { return one.path == path; });
    }
  }
  if (other == variants.end()) {
    other = find([](const trace::Variant& one) { return one.level.has_value(); });
  }
  return {{}, other == variants.end() ? trace::Variant{} : *other};
}

}  // namespace attn::app
