#include "app/bench/report.h"

#include <fmt/format.h>

#include <cmath>

#include "app/settings.h"

namespace attn::app {
namespace {

std::string time_text(double us) {
  if (us < 1000.0) return fmt::format("{:.1f} us", us);
  return us < 1e6 ? fmt::format("{:.3f} ms", us * 1e-3) : fmt::format("{:.2f} s", us * 1e-6);
}

std::string rate_text(const BenchRow& row) {
  const double rate = row.rate();
  const bool flop = row.counts_flop();
  if (rate < 1.0) return fmt::format("{:.2f} {}", rate * 1e3, flop ? "GFLOP/s" : "MB/s");
  return fmt::format("{:.{}f} {}", rate, rate < 10.0 ? 2 : 0, flop ? "TFLOP/s" : "GB/s");
}

const char* name_of(CeilingKind kind) {
  switch (kind) {
    case CeilingKind::copy:
      return "copy";
    case CeilingKind::matmul:
      return "matmul";
    case CeilingKind::read:
      break;
  }
  return "read";
}

/// "1.07x SDPA CUDNN": how many times as fast as the fastest peer.
std::string peer_text(const BenchRow& row) {
  if (row.peers.empty()) return "-";
  return fmt::format("{:.2f}x {}", row.peers.front().us / row.us, row.peers.front().name);
}

}  // namespace

double EngineRow::fraction_of_floor(const Ceilings& ceilings) const {
  if (ceilings.read_gbs <= 0.0 || step_us <= 0.0) return 0.0;
  return (weight_bytes + kv_bytes) / ceilings.read_gbs * 1e-3 / step_us;
}

double ceiling_of(CeilingKind kind, const Ceilings& ceilings) {
  switch (kind) {
    case CeilingKind::copy:
      return ceilings.copy_gbs;
    case CeilingKind::matmul:
      return ceilings.matmul_tflops;
    case CeilingKind::read:
      break;
  }
  return ceilings.read_gbs;
}

double fraction_of(const BenchRow& row, const Ceilings& ceilings) {
  const double ceiling = ceiling_of(row.ceiling, ceilings);
  return ceiling > 0.0 && row.us > 0.0 ? row.rate() / ceiling : 0.0;
}

std::string ceilings_line(const BenchReport& report) {
  const Ceilings& c = report.ceilings;
  if (!c.measured()) return fmt::format("{}: no ceilings, they are a GPU's", report.device);
  return fmt::format(
      "{}: read {:.0f} GB/s, copy {:.0f} GB/s, matmul {:.0f} TFLOP/s, CUDA cores {:.1f} TFLOP/s, exp {:.2f} "
      "T/s, launch {:.2f} us",
      report.device, c.read_gbs, c.copy_gbs, c.matmul_tflops, c.fp32_tflops, c.exp_tps, c.launch_us);
}

std::string table_head(bool with_peers) {
  return fmt::format("{:<42} {:<16} {:<5} {:>10} {:>13} {:>12} {:>8}{}", "case", "path", "level", "time",
                     "rate", "of ceiling", "error", with_peers ? "  against the best peer" : "");
}

std::string table_line(const BenchRow& row, const Ceilings& ceilings, bool with_peers) {
  const std::string level = row.level > 0 ? fmt::format("l{}", row.level) : "";
  const std::string begin = fmt::format("{:<42} {:<16} {:<5} ", row.name, row.path, level);
  if (!row.skipped.empty()) return begin + "left out: " + row.skipped;
  const double fraction = fraction_of(row, ceilings);
  const std::string part = fraction > 0.0 ? fmt::format("{:.2f} {}", fraction, name_of(row.ceiling)) : "-";
  const std::string error = !row.error          ? "WRONG"
                            : *row.error == 0.0 ? "exact"
                                                : fmt::format("{:.1e}", *row.error);
  return begin + fmt::format("{:>10} {:>13} {:>12} {:>8}{}", time_text(row.us), rate_text(row), part, error,
                             with_peers ? "  " + peer_text(row) : "");
}

std::string engine_head() {
  return fmt::format("{:<34} {:>6} {:>8} {:<7} {:>10} {:>12} {:>10} {:>14}", "whole engine, decode", "batch",
                     "context", "graphs", "step", "tokens/s", "MB floor", "of the floor");
}

std::string engine_line(const EngineRow& row, const Ceilings& ceilings) {
  const std::string begin =
      fmt::format("{:<34} {:>6} {:>8} {:<7} ", row.model, row.batch, row.context, row.graphs ? "on" : "off");
  if (!row.skipped.empty()) return begin + "left out: " + row.skipped;
  const double fraction = row.fraction_of_floor(ceilings);
  return begin + fmt::format("{:>10} {:>12.0f} {:>10.1f} {:>14}", time_text(row.step_us), row.tokens_per_s(),
                             (row.weight_bytes + row.kv_bytes) * 1e-6,
                             fraction > 0.0 ? fmt::format("{:.3f}", fraction) : "-");
}

std::filesystem::path kept_report_path() {
  const std::filesystem::path settings = settings_path();
  return settings.empty() ? settings : settings.parent_path() / "bench.json";
}

}  // namespace attn::app
