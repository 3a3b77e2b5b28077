// Attention at every level, over its paths through memory.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/bench/problem.h"
#include "app/bench/run.h"
#include "core/engine/config.h"
#include "kernels/measure.h"

namespace attn::app {
namespace {

/// Slower calls are not repeated for a median.
double slowest_ms(const BenchOptions& options) { return options.quick ? 100.0 : 3000.0; }

BenchRow row_of(const AttentionCase& c, BenchPath path, int level) {
  BenchRow row;
  row.name = c.name;
  row.op = c.decode ? "decode" : "prefill";
  row.path = path_name(path);
  row.level = level;
  row.flop = c.flop();
  row.bytes = c.bytes();
  row.exps = c.exps();
  row.ceiling = c.decode ? CeilingKind::read : CeilingKind::matmul;
  return row;
}

void note_launches(const std::vector<LaunchRecord>& launches, BenchRow& row) {
  row.launches = static_cast<int>(launches.size());
  for (const LaunchRecord& launch : launches) {
    row.moved += static_cast<double>(launch.bytes);
    if (row.kernel.empty() && launch.kernel.find("_l") != std::string::npos) row.kernel = launch.kernel;
  }
}

void measure(Device& device, const BenchOptions& options, AttentionProblem& problem, BenchRow& row) {
  row.skipped = problem.prepare(row.level);
  if (!row.skipped.empty()) return;
  note_launches(problem.launches(), row);
  const TimedCall call = [&](int set) { problem.run(set); };
  const double once = once_milliseconds(device, call);
  if (once > slowest_ms(options)) {
    row.skipped = fmt::format("one call takes {:.2g} s, more than the {} s{}", once * 1e-3,
                              slowest_ms(options) * 1e-3, options.quick ? " of --quick" : " given to one");
    return;
  }
  row.us = milliseconds(device, call, problem.sets()) * 1e3;
  row.error = problem.error();
}

void bench_path(Device& device, const BenchOptions& options, const AttentionCase& c, BenchPath path,
                const RowSink& sink) {
  std::unique_ptr<AttentionProblem> problem;
  std::string refused;
  try {
    problem = std::make_unique<AttentionProblem>(device, c, path);
  } catch (const DeviceError& error) {  // too little memory for this one
    refused = error.what();
  }
  for (int level = c.decode ? kDecodeLevels : kPrefillLevels; level >= 1; --level) {
    if (!options.wants_level(level)) continue;
    BenchRow row = row_of(c, path, level);
    row.skipped = refused;
    if (problem) measure(device, options, *problem, row);
    if (options.peers) row.peers = peers_of(*options.peers, c.peers_of(path));
    sink(std::move(row));
  }
}

}  // namespace

void bench_attention(Device& device, const BenchOptions& options, const RowSink& sink) {
  for (const AttentionCase& c : attention_cases(device.kind() == DeviceKind::cuda, options.quick)) {
    if (!options.wants(c.name)) continue;
    for (const BenchPath path : c.paths) bench_path(device, options, c, path, sink);
  }
}

std::vector<std::string> case_names(bool gpu, bool quick) {
  std::vector<std::string> names;
  for (const AttentionCase& c : attention_cases(gpu, quick)) names.push_back(c.name);
  for (const CacheCase& c : cache_cases(gpu)) names.push_back(c.name);
  names.emplace_back("engine");
  return names;
}

}  // namespace attn::app
