#include "app/search.h"

#include <algorithm>

#include "core/trace/inspector.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace {

using trace::Condition;
using trace::ConditionKind;

/// Launches the kernels of steps again when a condition asks for that, on a device made for the search.
class Views {
 public:
  Views(const SearchRequest& request, const std::stop_token& stop) : request_(request), stop_(stop) {}

  /// Null when the step has no such launch (its layer is not recorded): the condition is then not known.
  std::shared_ptr<const trace::AttentionView> at(int index) {
    if (!inspector_) {
      device_ = make_device(request_.device).device;
      device_->context().stop = stop_;
      inspector_ = std::make_unique<trace::Inspector>(*device_, request_.store);
    }
    try {
      return inspector_->inspect(index, request_.layer);
    } catch (const InputError&) {
      return nullptr;
    }
  }

 private:
  const SearchRequest& request_;
  const std::stop_token& stop_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<trace::Inspector> inspector_;
};

/// Fills `result` when one of the conditions holds in the step; the cheap ones are asked first.
bool look_at(const SearchRequest& request, int index, Views& views, const Job::Control& control,
             SearchResult& result) {
  const auto step = request.store->step(index);
  const auto previous = index > 0 ? request.store->step(index - 1) : nullptr;
  std::shared_ptr<const trace::AttentionView> view;
  std::shared_ptr<const trace::StepRecord> right;
  for (const bool attention : {false, true}) {
    for (const Condition& condition : request.conditions) {
      if (trace::needs_attention(condition.kind) != attention) continue;
      if (attention && !view) view = views.at(index);
      if (trace::needs_right_run(condition.kind) && request.right_step) {
        right = request.right_step(index, control);
      }
      if (const auto hit =
              trace::check_condition(condition, *step, previous.get(), view.get(), right.get())) {
        result.index = index;
        result.condition = condition;
        result.hit = *hit;
        return true;
      }
    }
  }
  return false;
}

}  // namespace

SearchResult search(const SearchRequest& request, Job::Control& control) {
  SearchResult result;
  Views views(request, control.stop_token());
  for (int i = request.from + request.by; i >= 0 && !control.stopped(); i += request.by) {
    const int known = request.store->num_steps();
    if (i >= known && !(request.make_step && request.make_step(i, control))) break;
    if (look_at(request, i, views, control, result)) break;
    result.last = i;
    if (request.by < 0) {
      control.progress(request.from - i, request.from);
    } else if (!request.make_step) {
      control.progress(i - request.from, known - request.from);
    }
  }
  return result;
}

std::vector<Condition> events_of(int block) {
  const auto kinds =
      block >= 0 ? std::vector{ConditionKind::block_written, ConditionKind::ref_count_changes,
                               ConditionKind::block_allocated, ConditionKind::eviction}
                 : std::vector{ConditionKind::prefix_hit, ConditionKind::eviction, ConditionKind::preemption,
                               ConditionKind::rescale, ConditionKind::nan_or_inf};
  std::vector<Condition> conditions(kinds.size());
  std::ranges::transform(kinds, conditions.begin(),
                         [&](ConditionKind kind) { return Condition{.kind = kind, .a = block, .x = 0.0}; });
  return conditions;
}

}  // namespace attn::app
