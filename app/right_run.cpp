#include "app/right_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <ranges>
#include <utility>

#include "core/trace/step_diff.h"

namespace attn::app {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

bool same_tokens(const trace::StepRecord& a, const trace::StepRecord& b) {
  return std::ranges::equal(a.sampled, b.sampled, [](const trace::Sampled& x, const trace::Sampled& y) {
    return x.seq_id == y.seq_id && x.token_id == y.token_id;
  });
}

}  // namespace

RightRun::RightRun(const Recipe& broken, std::vector<std::string> titles, DeviceChoice choice,
                   std::function<void()> changed)
    : engine_(std::make_shared<LiveEngine>(without_breaks(broken.scenario), broken.added, choice,
                                           std::filesystem::path{}, std::move(changed))),
      prompts_(broken.added.size()) {
  measured_.titles = std::move(titles);
}

void RightRun::follow(const LiveEngine* run, int num_steps) {
  const std::vector<ScenarioRequest> added = run != nullptr ? run->added() : std::vector<ScenarioRequest>{};
  for (; prompts_ < added.size(); ++prompts_) engine_->add_request(added[prompts_]);
  engine_->run_to(num_steps);
}

const viz::Broken& RightRun::measure(const trace::Store& broken, int index, int layer) {
  measured_.max_abs_diff_o = kUnknown;
  const LiveEngine::Status status = engine_->status();
  if (!status.recording || status.recording->num_steps() <= index) {
    measured_.note = status.startup_error ? "the right run could not be started"
                     : status.busy        ? "the right run is being computed"
                     : status.error.empty()
                         ? fmt::format("the right run has no step {}", broken.step(index)->step)
                         : status.error;
    return measured_;
  }
  compare_tokens(broken, *status.recording, index);
  compare_outputs(broken, *status.recording, index, layer);
  measured_.first_wrong_step =
      first_wrong_ >= 0 && first_wrong_ <= index ? broken.step(first_wrong_)->step : -1;
  return measured_;
}

std::shared_ptr<const trace::StepRecord> RightRun::step(int index) const {
  const auto recording = engine_->status().recording;
  return recording && index < recording->num_steps() ? recording->step(index) : nullptr;
}

void RightRun::compare_tokens(const trace::Store& broken, const trace::Store& right, int index) {
  for (; first_wrong_ < 0 && tokens_to_ <= index; ++tokens_to_) {
    if (!same_tokens(*broken.step(tokens_to_), *right.step(tokens_to_))) first_wrong_ = tokens_to_;
  }
}

void RightRun::compare_outputs(const trace::Store& broken, const trace::Store& right, int index, int layer) {
  const auto a = right.step(index), b = broken.step(index);
  if (std::exchange(outputs_at_, index) != index) outputs_ = trace::diff_steps(*a, *b);
  const std::optional<double> off = outputs_.max_abs_diff_of(layer);
  measured_.note = off ? "" : fmt::format("layer {} is not recorded", layer);
  if (!off) return;
  measured_.max_abs_diff_o = *off;
  if (!(measured_.max_abs_diff_o >= 0.0)) {
    measured_.note = "the right run computes other rows in this step";
  } else if (outputs_.rows_in_both < outputs_.rows_before) {
    measured_.note =
        fmt::format("{} of {} rows are in both runs", outputs_.rows_in_both, outputs_.rows_before);
  }
}

}  // namespace attn::app
