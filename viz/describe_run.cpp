#include "viz/describe_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/change_lines.h"
#include "viz/cost_lines.h"
#include "viz/lookup.h"
#include "viz/panels/pool_cards.h"

namespace attn::viz {
namespace {

constexpr std::size_t kLines = 40;  // of a list of changes

std::string one_line(std::string text) {
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at))
    text.replace(at, 1, "; ");
  return text;
}

/// "steps 1, 4 to 9, 12" of those in which the block is in the set.
std::string steps_in(const Frame& frame, int block, std::vector<bool> StepSummary::*set) {
  std::string text;
  const std::vector<StepSummary>& steps = *frame.history;
  const auto in = [&](std::size_t i) {
    return static_cast<std::size_t>(block) < (steps[i].*set).size() &&
           (steps[i].*set)[static_cast<std::size_t>(block)];
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!in(i)) continue;
    const std::size_t first = i;
    while (i + 1 < steps.size() && in(i + 1)) ++i;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", steps[first].step);
    if (i > first) text += fmt::format(" to {}", steps[i].step);
  }
  return text.empty() ? "none" : text;
}

std::string describe_block(const Frame& frame, int block) {
  if (block < 0 || static_cast<std::size_t>(block) >= frame.step->blocks.size()) return {};
  std::string out = fmt::format("Selected {}.\n", one_line(block_text(frame, pool_now(frame, {}), block)));
  if (frame.history)
    out += fmt::format("It was written in steps {} and read in steps {}.\n",
                       steps_in(frame, block, &StepSummary::written),
                       steps_in(frame, block, &StepSummary::read));
  return out;
}

std::string describe_changes(const Frame& frame, const trace::StepDiff& diff, const std::string& title) {
  const std::vector<ChangeLine> lines = change_lines(frame, diff);
  std::string out = fmt::format("{}: {} places, {} changes.\n", title, lines.size(), diff.entries.size());
  for (std::size_t i = 0; i < std::min(kLines, lines.size()); ++i)
    out += fmt::format("  {}: {}\n", lines[i].where, lines[i].text);
  if (lines.size() > kLines) out += fmt::format("  and {} more places\n", lines.size() - kLines);
  for (std::size_t i = 0; i < diff.layers.size(); ++i) {
    const double value = diff.max_abs_diff_o[i];
    if (!std::isnan(value))
      out += fmt::format("  layer {}: max|difference of o| {:.3e}\n", diff.layers[i], value);
  }
  return out;
}

std::string describe_costs(const Frame& frame) {
  std::string out = "Costs of the step:";
  const trace::StepCosts costs = trace::step_costs(*frame.step);
  const std::vector<CostFact> facts = step_facts(frame, costs);
  for (std::size_t i = 0; i < facts.size(); ++i)
    out += fmt::format("{} {} {}", i == 0 ? "" : ",", facts[i].label, facts[i].value);
  out += ".\n";
  const std::vector<PhaseLine> lines = phase_lines(frame);
  if (!lines.empty()) out += "Prefill and decode over the run so far:\n";
  for (const PhaseLine& line : lines)
    out += fmt::format("  {}{}: prefill {}, decode {}\n", line.label, line.by_formula ? " (by formula)" : "",
                       line.prefill, line.decode);
  const CacheGain gain = cache_gain(frame);
  if (gain.known)
    out += fmt::format("With the cache {} score dots per head, without (by formula) {}.\n",
                       count_text(gain.dots), count_text(gain.dots_uncached));
  return out;
}

std::string describe_places(const Frame& frame) {
  std::string out;
  for (const trace::Bookmark& bookmark : frame.bookmarks)
    out += fmt::format("Bookmark at {}: {}.\n", place_text(frame, bookmark.cursor),
                       bookmark.note.empty() ? "no note" : bookmark.note);
  for (const trace::Condition& condition : frame.breakpoints)
    out += fmt::format("Break point: {}.\n", trace::condition_text(condition));
  if (!frame.stopped_at.empty()) out += fmt::format("Stopped: {}.\n", frame.stopped_at);
  return out;
}

}  // namespace

std::string describe_run(const Frame& frame, const Selection& selection) {
  std::string out = describe_block(frame, selection.block);
  if (frame.changes)
    out +=
        describe_changes(frame, *frame.changes, fmt::format("Changed since step {}", frame.changes->before));
  if (frame.diff)
    out += describe_changes(frame, *frame.diff,
                            fmt::format("Steps {} and {} compared", frame.diff->before, frame.diff->after));
  return out + describe_costs(frame) + describe_places(frame);
}

}  // namespace attn::viz
