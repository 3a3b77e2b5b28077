#include "core/engine/step_at.h"

namespace attn {
namespace {

constexpr int kPartsOfLayer = 4;

/// Parts of the step before this stage.
int parts_before(const StepAt& at) {
  using trace::Stage;
  const int layers = kPartsOfLayer * at.num_layers;
  const int layer = kPartsOfLayer * at.layer;
  switch (at.stage) {
    case Stage::schedule:
    case Stage::prepare:
      return 0;
    case Stage::qkv_rope:
      return layer;
    case Stage::store_kvcache:
    case Stage::gather:
    case Stage::flatten:
    case Stage::repeat:
      return layer + 1;
    case Stage::attention:
      return layer + 2;
    case Stage::out_mlp:
      return layer + 3;
    case Stage::lm_head:
      return layers;
    case Stage::sample:
      return layers + 1;
    case Stage::commit:
      return layers + 2;
  }
  return 0;
}

}  // namespace

float StepAt::done(float of_part) const {
  const int parts = kPartsOfLayer * num_layers + 2;
  return (static_cast<float>(parts_before(*this)) + of_part) / static_cast<float>(parts);
}

}  // namespace attn
