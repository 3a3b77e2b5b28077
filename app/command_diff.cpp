// `diff A B`: two traces of the same requests, step by step: where the bookkeeping parts, how far o is apart.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "app/commands.h"
#include "core/trace/step_diff.h"
#include "core/trace/trace_file.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace {

struct DiffOptions {
  std::string a, b;
  double tolerance = 1e-5;
};

struct Largest {
  double value = 0.0;
  int step = -1;
};

/// The first lines of what differs.
void print_first(const trace::StepRecord& a, const trace::StepDiff& diff) {
  constexpr std::size_t kShown = 8;
  fmt::print("the bookkeeping first differs in step {}:\n", a.step);
  for (std::size_t i = 0; i < std::min(kShown, diff.entries.size()); ++i) {
    const trace::DiffEntry& entry = diff.entries[i];
    fmt::print("  {} {}: {} | {}\n", entry.where, entry.what, entry.before.empty() ? "-" : entry.before,
               entry.after.empty() ? "-" : entry.after);
  }
  if (diff.entries.size() > kShown) fmt::print("  and {} more\n", diff.entries.size() - kShown);
}

int diff(const DiffOptions& options) {
  const auto a = trace::open_trace(options.a), b = trace::open_trace(options.b);
  const int steps = std::min(a->num_steps(), b->num_steps());
  bool parted = false;
  std::map<int, Largest> layers;
  int incomparable = 0;
  for (int i = 0; i < steps; ++i) {
    const auto left = a->step(i), right = b->step(i);
    const trace::StepDiff difference = trace::diff_steps(*left, *right);
    if (left->state_hash != right->state_hash && !parted) {
      parted = true;
      print_first(*left, difference);
    }
    for (std::size_t l = 0; l < difference.layers.size(); ++l) {
      const double value = difference.max_abs_diff_o[l];
      Largest& largest = layers[difference.layers[l]];
      if (std::isnan(value)) {
        ++incomparable;
      } else if (value > largest.value || largest.step < 0) {
        largest = {value, left->step};
      }
    }
  }
  if (!parted) fmt::print("{} steps have the same bookkeeping\n", steps);
  if (a->num_steps() != b->num_steps()) {
    fmt::print("the traces have {} and {} steps\n", a->num_steps(), b->num_steps());
  }
  double worst = 0.0;
  for (const auto& [layer, largest] : layers) {
    if (largest.step < 0) continue;
    fmt::print("layer {}: max|d| of o {:.3g} in step {}\n", layer, largest.value, largest.step);
    worst = std::max(worst, largest.value);
  }
  if (layers.empty()) fmt::print("no layer is recorded in both: o is not compared\n");
  if (incomparable > 0) fmt::print("{} layers of steps have no row in common\n", incomparable);
  const bool good = !parted && a->num_steps() == b->num_steps() && worst <= options.tolerance;
  fmt::print("{} (tolerance {:g})\n", good ? "the same" : "different", options.tolerance);
  return good ? 0 : 1;
}

}  // namespace

void add_diff_command(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("diff", "two traces: the first step that differs, and how far o is apart");
  auto options = std::make_shared<DiffOptions>();
  command->add_option("a", options->a, "trace (.attn)")->required();
  command->add_option("b", options->b, "trace (.attn)")->required();
  command->add_option("--tol", options->tolerance, "largest difference of o that is still the same")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->callback([options, &action] { action = [options] { return diff(*options); }; });
}

}  // namespace attn::app
