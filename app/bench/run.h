// Runs the cases and hands over each row as it is done.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "app/bench/against.h"
#include "app/bench/report.h"
#include "kernels/device.h"

namespace attn::app {

struct BenchOptions {
  std::string case_part;  // of the name of a case; "" = all
  int level = 0;          // 0 = all
  bool quick = false;     // fewer paths, and nothing that takes long
  std::optional<PeerBench> peers;

  bool wants(const std::string& name) const { return name.find(case_part) != std::string::npos; }
  bool wants_level(int one) const { return level == 0 || level == one; }
};

using RowSink = std::function<void(BenchRow)>;
using EngineSink = std::function<void(EngineRow)>;

/// Rows of a copy that are compared with what was copied, value by value.
inline constexpr int kCheckedCopyRows = 64;

/// Every wanted case, path and level; what cannot run, or would take too long, is a row that says why.
void bench_attention(Device& device, const BenchOptions& options, const RowSink& sink);
void bench_cache(Device& device, const BenchOptions& options, const RowSink& sink);
/// Decode steps of whole engines, with graphs and without. On the emulator the bundled model alone, and
/// small.
void bench_engine(Device& device, const BenchOptions& options, const EngineSink& sink);

/// Names of all cases, for a message when none is wanted.
std::vector<std::string> case_names(bool gpu, bool quick);

}  // namespace attn::app
