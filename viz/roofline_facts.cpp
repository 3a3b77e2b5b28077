#include "viz/roofline_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/levels.h"
#include "viz/lookup.h"

namespace attn::viz {
namespace {

/// 3 of "decode_l3_stream_kernel<bfloat16>"; 0 when the name has no level.
int level_in(std::string_view kernel) {
  const std::size_t at = kernel.find("_l");
  const bool digit = at != std::string_view::npos && at + 2 < kernel.size() && kernel[at + 2] >= '1' &&
                     kernel[at + 2] <= '9';
  return digit ? kernel[at + 2] - '0' : 0;
}

/// The attention kernel that the step launched first for that layer; "" when the record has none.
std::string_view kernel_that_ran(const trace::StepRecord& step, int layer) {
  for (const trace::LaunchEntry& entry : step.launches) {
    if (entry.layer == layer && entry.stage == trace::Stage::attention) return entry.launch.kernel;
  }
  return {};
}

RooflineLevel named(int level, bool decode) {
  const auto texts = level_texts(decode);
  RooflineLevel out;
  out.level = level;
  if (level >= 1 && level <= static_cast<int>(texts.size())) {
    out.name = texts[static_cast<std::size_t>(level) - 1].name;
    out.idea = texts[static_cast<std::size_t>(level) - 1].idea;
  }
  out.work.tensor_cores = on_tensor_cores(level);
  return out;
}

void add_here(Roofline& out, const trace::AttentionView& view, const trace::StepRecord& step) {
  const int ran = level_in(kernel_that_ran(step, view.layer));
  for (const trace::LevelCost& cost : view.levels) {
    RooflineLevel level = named(cost.level, out.decode);
    level.kernel = cost.kernel;
    level.work.flop = static_cast<double>(cost.flop);
    level.work.bytes = static_cast<double>(cost.bytes);
    level.work.exps = static_cast<double>(cost.exps);
    level.work.launches = cost.launches;
    level.ran = cost.level == ran;
    out.here.push_back(std::move(level));
  }
}

/// Levels that are not in the list, and why: the rules of level_of, in words.
std::string absent_text(const Roofline& roofline) {
  std::string missing;
  bool third = false;
  for (int level = 1; level <= static_cast<int>(level_texts(roofline.decode).size()); ++level) {
    if (std::ranges::any_of(roofline.here, [&](const RooflineLevel& l) { return l.level == level; }))
      continue;
    missing += fmt::format("{}{}", missing.empty() ? "" : " and ", level);
    third = third || level == 3;
  }
  if (missing.empty()) return {};
  return fmt::format(
      "level{} {}: {}", missing.size() > 1 ? "s" : "", missing,
      third ? "for F16 and BF16, head_dim 64 or 128, blocks of 16n slots, compute capability 8.0 on"
            : "for Hopper GPUs and its own k_tile");
}

/// How unlike two pieces of work are: the factors between their FLOP and between their bytes, as logarithms.
double unlikeness(const KernelWork& here, const MeasuredLevel& there) {
  const auto factor = [](double a, double b) { return a > 0.0 && b > 0.0 ? std::abs(std::log(a / b)) : 0.0; };
  return factor(here.flop, there.flop) + factor(here.bytes, there.bytes);
}

/// The case most like what this op takes at the same level; "" when none is of this op.
std::string nearest_case(const Roofline& out, const MachineView& machine) {
  std::string name;
  double least = std::numeric_limits<double>::infinity();
  for (const MeasuredLevel& one : machine.levels) {
    if (one.decode != out.decode || one.us <= 0.0) continue;
    const auto here = std::ranges::find(out.here, one.level, &RooflineLevel::level);
    if (here == out.here.end()) continue;
    const double now = unlikeness(here->work, one);
    if (now < least) {
      least = now;
      name = one.name;
    }
  }
  return name;
}

void add_bench(Roofline& out, const MachineView& machine) {
  out.bench_name = nearest_case(out, machine);
  for (const MeasuredLevel& one : machine.levels) {
    if (one.decode != out.decode || one.us <= 0.0 || one.name != out.bench_name) continue;
    RooflineLevel level = named(one.level, out.decode);
    level.work.flop = one.flop;
    level.work.bytes = one.bytes;
    level.work.exps = one.exps;
    level.work.launches = one.launches;
    level.measured_us = one.us;
    out.bench.push_back(std::move(level));
  }
  std::ranges::sort(out.bench, {}, &RooflineLevel::level);
}

}  // namespace

std::string_view bound_text(Bound bound) {
  switch (bound) {
    case Bound::tensor_cores:
      return "tensor cores";
    case Bound::cuda_cores:
      return "CUDA cores";
    case Bound::exp:
      return "exp";
    case Bound::launch:
      return "launch";
    case Bound::memory:
      break;
  }
  return "memory";
}

double floor_us(Bound bound, const KernelWork& work, const Ceilings& c) {
  const auto time = [](double amount, double rate, double scale) {
    return rate > 0.0 ? amount / rate * scale : 0.0;
  };
  switch (bound) {
    case Bound::tensor_cores:
      return work.tensor_cores ? time(work.flop, c.matmul_tflops, 1e-6) : 0.0;
    case Bound::cuda_cores:
      return work.tensor_cores ? 0.0 : time(work.flop, c.fp32_tflops, 1e-6);
    case Bound::exp:
      return time(work.exps, c.exp_tps, 1e-6);
    case Bound::launch:
      return work.launches * c.launch_us;
    case Bound::memory:
      break;
  }
  return time(work.bytes, c.read_gbs, 1e-3);
}

Floor floor_of(const KernelWork& work, const Ceilings& ceilings) {
  Floor longest;
  for (int i = 0; i < kNumBounds; ++i) {
    const auto bound = static_cast<Bound>(i);
    const double us = floor_us(bound, work, ceilings);
    if (us > longest.us) longest = {bound, us};
  }
  return longest;
}

double tflops(const KernelWork& work, double us) { return us > 0.0 ? work.flop / us * 1e-6 : 0.0; }

std::string roofline_missing(const Frame& frame) {
  if (!frame.step) return "What bounds the attention of a step appears here.";
  if (frame.step->path == trace::AttentionPath::identity)
    return "No attention in this step: without context or cache the output is q itself.";
  if (!frame.attention)
    return frame.attention_note.empty() ? "Reading what each level would launch \xE2\x80\xA6"
                                        : frame.attention_note;
  if (frame.attention->levels.empty()) return "The inspector's record does not say what each level takes.";
  return {};
}

Roofline roofline_of(const Frame& frame) {
  const trace::AttentionView& view = *frame.attention;
  Roofline out;
  out.decode = frame.step->kind == trace::StepKind::decode;
  out.op = fmt::format("{}  \xC2\xB7  step {}, layer {}  \xC2\xB7  {}, {} sequence{}",
                       out.decode ? "decode" : "prefill", frame.step->step, view.layer,
                       path_text(frame.step->path), frame.step->num_scheduled,
                       frame.step->num_scheduled == 1 ? "" : "s");
  add_here(out, view, *frame.step);
  out.absent = absent_text(out);
  if (frame.machine) {
    out.ceilings = frame.machine->ceilings;
    out.device = frame.machine->device;
    add_bench(out, *frame.machine);
  } else {
    out.note = frame.machine_note.empty()
                   ? "not measured on this machine: run ./attn bench where there is a GPU"
                   : frame.machine_note;
  }
  return out;
}

std::string probe_note(const Frame& frame) {
  if (!frame.step || !frame.attention) return {};
  const int ran = level_in(kernel_that_ran(*frame.step, frame.attention->layer));
  const int read = level_in(frame.attention->kernel);
  if (ran == 0 || read == 0 || ran == read) return {};
  return fmt::format("read at level {}, the step ran level {}", read, ran);
}

std::string with_probe_note(const Frame& frame, std::string text, std::string_view between) {
  const std::string note = probe_note(frame);
  return note.empty() ? text : note + std::string(between) + text;
}

}  // namespace attn::viz
