#include "viz/cost_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "viz/lookup.h"

namespace attn::viz {
namespace {

using trace::PhaseCosts;

/// What the history knows of one phase, steps up to the one on screen.
struct PhaseHistory {
  std::uint64_t sequences = 0;  // sum over steps
  std::uint64_t uncached_dots = 0;
  std::uint64_t uncached_rows = 0;
  std::vector<trace::AttentionPath> paths;  // distinct
};

PhaseHistory gather(const Frame& frame, trace::StepKind kind) {
  PhaseHistory out;
  if (!frame.history) return out;
  const auto end = std::min(frame.history->size(), static_cast<std::size_t>(std::max(0, frame.index + 1)));
  for (std::size_t i = 0; i < end; ++i) {
    const StepSummary& step = (*frame.history)[i];
    if (step.kind != kind) continue;
    out.sequences += step.scheduled.size();
    out.uncached_dots += step.uncached_dots;
    out.uncached_rows += step.uncached_rows;
    if (std::find(out.paths.begin(), out.paths.end(), step.path) == out.paths.end())
      out.paths.push_back(step.path);
  }
  return out;
}

std::string ratio_text(std::uint64_t a, std::uint64_t b) {
  return b == 0 ? "-" : fmt::format("{:.1f}", static_cast<double>(a) / static_cast<double>(b));
}

std::string paths_text(const std::vector<trace::AttentionPath>& paths) {
  std::string text;
  for (const trace::AttentionPath path : paths)
    text += (text.empty() ? "" : ", ") + std::string(path_text(path));
  return text.empty() ? "-" : text;
}

std::string bytes_per_token(const PhaseCosts& phase) {
  return phase.tokens_out == 0 ? "-" : bytes_text(phase.sum.total.bytes / phase.tokens_out);
}

void add_sums(std::vector<PhaseLine>& out, const Frame& frame) {
  const trace::PhaseCosts& p = frame.run_costs->prefill;
  const trace::PhaseCosts& d = frame.run_costs->decode;
  const std::string launches = "LaunchRecord of every kernel launched, all layers";
  const auto both = [&](const char* name, const char* label, std::uint64_t trace::StepCosts::*field,
                        const char* source) {
    out.push_back({name, label, count_text(p.sum.*field), count_text(d.sum.*field), source});
  };
  both("rows", "query rows", &trace::StepCosts::query_rows, "RunCosts, sum over the steps of the run so far");
  both("keys_read", "keys read", &trace::StepCosts::kv_rows_read, "columns attended to, per layer and head");
  both("dots", "score dots per head", &trace::StepCosts::score_dots, "visible (query, key) pairs");
  out.push_back(
      {"flop", "FLOP", flop_text(p.sum.total.flop), flop_text(d.sum.total.flop), launches + ": flop"});
  out.push_back(
      {"bytes", "bytes moved", bytes_text(p.sum.total.bytes), bytes_text(d.sum.total.bytes), launches});
  out.push_back({"intensity", "FLOP per byte", intensity_text(p.sum.total), intensity_text(d.sum.total),
                 "arithmetic intensity: flop / bytes of the launches"});
  const auto time = [](const PhaseCosts& phase) {
    return phase.steps == 0 ? "-" : time_text(phase.sum.total.ms);
  };
  out.push_back(
      {"time", "time", time(p), time(d), "events around every launch; not measured when one was not"});
  out.push_back({"attention_bytes", "attention's bytes", bytes_text(p.sum.attention.bytes),
                 bytes_text(d.sum.attention.bytes), "stages store_kvcache to attention"});
  out.push_back({"attention_intensity", "its FLOP per byte", intensity_text(p.sum.attention),
                 intensity_text(d.sum.attention), "flop / bytes, stages store_kvcache to attention"});
  both("kv_written", "K/V rows written", &trace::StepCosts::kv_rows_written, "slots >= 0 of slot_mapping");
}

void add_counts(std::vector<PhaseLine>& out, const Frame& frame, const PhaseHistory& prefill,
                const PhaseHistory& decode) {
  const trace::PhaseCosts& p = frame.run_costs->prefill;
  const trace::PhaseCosts& d = frame.run_costs->decode;
  out.push_back({"steps", "engine steps", count_text(static_cast<std::uint64_t>(p.steps)),
                 count_text(static_cast<std::uint64_t>(d.steps)),
                 "RunCosts, sum over the steps of the run so far"});
  out.push_back({"queries", "queries per sequence", ratio_text(p.sum.query_rows, prefill.sequences),
                 ratio_text(d.sum.query_rows, decode.sequences),
                 "rows of input_ids / sequences scheduled, mean over the run so far"});
  out.push_back({"tokens", "tokens produced", count_text(p.tokens_out), count_text(d.tokens_out),
                 "StepRecord.sampled"});
  out.push_back({"bytes_per_token", "bytes per token", bytes_per_token(p), bytes_per_token(d),
                 "bytes moved / tokens produced"});
  out.push_back({"uncached", "dots without a cache", count_text(prefill.uncached_dots),
                 count_text(decode.uncached_dots),
                 "by formula: every step computes its sequences' whole context again, n (n + 1) / 2 each",
                 true});
}

void add_words(std::vector<PhaseLine>& out, const Frame& frame, const PhaseHistory& prefill,
               const PhaseHistory& decode) {
  const auto add = [&](const char* name, const char* label, std::string of_prefill, std::string of_decode,
                       const char* source, bool by_formula) {
    out.push_back(
        {name, label, std::move(of_prefill), std::move(of_decode), source, by_formula, /*in_words=*/true});
  };
  add("source", "K/V come from", paths_text(prefill.paths), paths_text(decode.paths),
      "StepRecord.path of every step", false);
  const MaskAlignment mask = frame.step ? frame.step->config.mask_alignment : MaskAlignment::bottom_right;
  const std::string rule(mask_text(mask));
  add("mask", "mask needed", mask == MaskAlignment::none ? "none in force" : "yes, " + rule,
      mask == MaskAlignment::top_left ? "no, but " + rule : "no, every key is past",
      "config.mask_alignment; a decode query is the last position of its sequence", false);
  add("growth", "grows with", "prompt length\xC2\xB2, once", "context length, every step", "by formula",
      true);
}

}  // namespace

std::string count_text(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string flop_text(std::uint64_t flop) {
  if (flop < 10'000) return count_text(flop) + " FLOP";
  static constexpr std::array kUnits = {"kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"};
  double value = static_cast<double>(flop) / 1000.0;
  std::size_t unit = 0;
  for (; value >= 1000.0 && unit + 1 < kUnits.size(); ++unit) value /= 1000.0;
  return fmt::format("{:.2f} {}", value, kUnits[unit]);
}

std::string time_text(float ms) {
  if (std::isnan(ms)) return "not measured";
  return ms < 0.1F ? fmt::format("{:.1f} \xC2\xB5s", ms * 1000.0F) : fmt::format("{:.3f} ms", ms);
}

std::string intensity_text(const trace::Cost& cost) {
  if (cost.bytes == 0) return "-";
  return fmt::format("{:.2f}", static_cast<double>(cost.flop) / static_cast<double>(cost.bytes));
}

std::vector<CostFact> step_facts(const Frame& frame, const trace::StepCosts& costs) {
  const std::string step = fmt::format("step {}", frame.step->step);
  const std::string launches = fmt::format("launches[0..{}] of {}", costs.total.launches, step);
  std::vector<CostFact> out = {
      {"dots", "score dots per head", count_text(costs.score_dots),
       "visible (query, key) pairs of all sequences, " + step},
      {"rows", "query rows", count_text(costs.query_rows), "input_ids of " + step},
      {"kv_written", "K/V rows written", count_text(costs.kv_rows_written), "slot_mapping I32 of " + step},
      {"keys_read", "keys read", count_text(costs.kv_rows_read), "cu_seqlens_k I32 and path of " + step},
      {"flop", "FLOP", flop_text(costs.total.flop), launches},
      {"bytes", "bytes moved", bytes_text(costs.total.bytes), launches},
      {"intensity", "FLOP per byte", intensity_text(costs.total), launches},
      {"time", "time", time_text(costs.total.ms), "events around every launch of " + step},
  };
  if (frame.manifest != nullptr) {
    const trace::ModelShape& model = frame.manifest->model;
    const std::uint64_t bytes = 2ULL * static_cast<std::uint64_t>(model.num_layers) *
                                static_cast<std::uint64_t>(model.num_kv_heads) *
                                static_cast<std::uint64_t>(model.head_dim) * dtype_size(model.dtype);
    out.push_back(
        {"kv_token", "K/V bytes per token", bytes_text(bytes),
         fmt::format("by formula: 2 \xC3\x97 {} layers \xC3\x97 {} KV heads \xC3\x97 {} \xC3\x97 {} B",
                     model.num_layers, model.num_kv_heads, model.head_dim, dtype_size(model.dtype))});
  }
  return out;
}

std::vector<PhaseLine> phase_lines(const Frame& frame) {
  std::vector<PhaseLine> out;
  if (!frame.run_costs) return out;
  const PhaseHistory prefill = gather(frame, trace::StepKind::prefill);
  const PhaseHistory decode = gather(frame, trace::StepKind::decode);
  add_sums(out, frame);
  add_counts(out, frame, prefill, decode);
  add_words(out, frame, prefill, decode);
  return out;
}

CacheGain cache_gain(const Frame& frame) {
  CacheGain out;
  if (!frame.run_costs || !frame.history) return out;
  const PhaseHistory prefill = gather(frame, trace::StepKind::prefill);
  const PhaseHistory decode = gather(frame, trace::StepKind::decode);
  const trace::StepCosts& p = frame.run_costs->prefill.sum;
  const trace::StepCosts& d = frame.run_costs->decode.sum;
  out.dots = p.score_dots + d.score_dots;
  out.rows = p.query_rows + d.query_rows;
  out.dots_uncached = prefill.uncached_dots + decode.uncached_dots;
  out.rows_uncached = prefill.uncached_rows + decode.uncached_rows;
  out.known = true;
  return out;
}

}  // namespace attn::viz
