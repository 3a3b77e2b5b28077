#include "core/trace/inspector.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <list>

#include "core/trace/attention_launch.h"
#include "core/trace/pool_history.h"
#include "core/trace/record_check.h"
#include "core/trace/tensor_values.h"
#include "kernels/common/check.h"

namespace attn::trace {
namespace {

constexpr std::size_t kViewsKept = 8;  // the view at the cursor and its neighbours

double max_abs(const TensorRecord& tensor) {
  double largest = 0.0;
  for (const float value : to_floats(tensor))
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  return largest;
}

const LayerRecord& recorded_layer(const StepRecord& step, int layer) {
  std::vector<int> recorded;
  for (const LayerRecord& record : step.layers) {
    if (record.layer == layer) return record;
    recorded.push_back(record.layer);
  }
  if (recorded.empty()) {
    throw InputError(
        fmt::format("step {} has no recorded layers; record with engine.record_layers = -1", step.step));
  }
  throw InputError(fmt::format("layer {} of step {} is not recorded; choose one of {}", layer, step.step,
                               fmt::join(recorded, ", ")));
}

/// The guard of the gather variant: without a context attention returns q. There is nothing to launch.
AttentionView identity_view(const StepRecord& step, const ModelShape& model, const LayerRecord& layer) {
  AttentionView view;
  view.step = step.step;
  view.path = step.path;
  view.kernel = "none: no context, attention returned q";
  view.device = "none";
  view.num_heads = model.num_heads;
  view.num_q = step.cu_seqlens_q.empty() ? 0 : step.cu_seqlens_q.back();
  for (std::size_t b = 0; b + 1 < step.cu_seqlens_k.size(); ++b) view.k_lens.push_back(k_len(step, b));
  view.attended.assign(view.k_lens.size(), 0);
  view.max_abs_diff_o = max_abs_diff(layer.q, layer.o);
  return view;
}

}  // namespace

struct Inspector::State {
  struct Kept {
    int index;
    int layer;
    std::shared_ptr<const AttentionView> view;
  };
  State(Device& device_, std::shared_ptr<const Store> store_)
      : device(device_), store(std::move(store_)), pools(store) {}

  Device& device;
  std::shared_ptr<const Store> store;
  PoolHistory pools;
  std::list<Kept> kept;  // most recent first
};

Inspector::Inspector(Device& device, std::shared_ptr<const Store> store)
    : state_(std::make_unique<State>(device, std::move(store))) {}

Inspector::~Inspector() = default;

std::shared_ptr<const AttentionView> Inspector::inspect(int index, int layer) {
  auto& kept = state_->kept;
  const auto found = std::find_if(kept.begin(), kept.end(),
                                  [&](const auto& k) { return k.index == index && k.layer == layer; });
  if (found != kept.end()) {
    kept.splice(kept.begin(), kept, found);
    return kept.front().view;
  }
  const auto step = state_->store->step(index);
  const ModelShape& model = state_->store->manifest().model;
  const LayerRecord& record = recorded_layer(*step, layer);

  auto view = std::make_shared<AttentionView>();
  if (step->path == AttentionPath::identity) {
    *view = identity_view(*step, model, record);
  } else {
    std::shared_ptr<const Pool> pool;
    if (reads_cache(step->path)) pool = state_->pools.at(index, layer);
    AttentionOutputs out = launch_attention(state_->device,
                                            {.step = step.get(),
                                             .model = &model,
                                             .q = &record.q,
                                             .k = &record.k,
                                             .v = &record.v,
                                             .pool = pool.get()},
                                            true);
    *view = std::move(out.view);
    view->max_abs_diff_o = max_abs_diff(out.o, record.o);
  }
  view->layer = layer;
  view->max_abs_o = max_abs(record.o);
  kept.push_front({index, layer, view});
  if (kept.size() > kViewsKept) kept.pop_back();
  return view;
}

}  // namespace attn::trace
