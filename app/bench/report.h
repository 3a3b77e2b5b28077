// What a benchmark found: rows, the table on the screen, and the JSON that the roofline panel reads.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kernels/common/ceilings.h"

namespace attn::app {

/// Of which ceiling a row's rate is a fraction.
enum class CeilingKind : unsigned char { read, copy, matmul };

/// One peer's time for the same work.
struct PeerTime {
  std::string name;  // "SDPA CUDNN"
  double us = 0.0;
};

/// One case on one path at one level.
struct BenchRow {
  std::string name;    // of the case
  std::string op;      // prefill, decode, cache
  std::string path;    // paged, gather + repeat, ...
  int level = 0;       // 0: the operation has none
  std::string kernel;  // of the attention launch
  double us = 0.0;
  double flop = 0.0;   // 4 * D * H per visible pair
  double bytes = 0.0;  // that cannot be avoided: K, V, q and o once; of a copy what it reads and writes
  double moved = 0.0;  // that its launches count
  double exps = 0.0;   // one per visible pair and head
  int launches = 0;
  CeilingKind ceiling = CeilingKind::read;
  std::optional<double> error;  // against float64; nothing: not known to be right
  std::string skipped;          // why there is no time
  std::vector<PeerTime> peers;  // fastest first

  bool counts_flop() const { return ceiling == CeilingKind::matmul; }
  double rate() const { return (counts_flop() ? flop / us * 1e-6 : bytes / us * 1e-3); }  // TFLOP/s or GB/s
};

/// Decode steps of a whole engine.
struct EngineRow {
  std::string model;
  int batch = 0;
  int context = 0;  // tokens of each sequence
  bool graphs = false;
  double step_us = 0.0;       // median, the host's part included
  double weight_bytes = 0.0;  // that every step must read
  double kv_bytes = 0.0;
  std::string skipped = {};

  double tokens_per_s() const { return batch / step_us * 1e6; }
  /// Time that the bytes take at the read ceiling, of the step's time; 0 without a ceiling.
  double fraction_of_floor(const Ceilings& ceilings) const;
};

struct BenchReport {
  std::string device;
  bool quick = false;
  Ceilings ceilings;
  std::vector<BenchRow> rows;
  std::vector<EngineRow> engine;
  std::string peers_device;  // "" without --against
};

double ceiling_of(CeilingKind kind, const Ceilings& ceilings);
/// Part of its ceiling that a row reaches; 0 without a ceiling.
double fraction_of(const BenchRow& row, const Ceilings& ceilings);

// The table, line by line, so that it can grow on the screen while it is measured.
std::string ceilings_line(const BenchReport& report);
std::string table_head(bool with_peers);
std::string table_line(const BenchRow& row, const Ceilings& ceilings, bool with_peers);
std::string engine_head();
std::string engine_line(const EngineRow& row, const Ceilings& ceilings);

nlohmann::json to_json(const BenchReport& report);
/// Reads what to_json made. Throws InputError naming `source` when the text is something else.
BenchReport report_from_json(const std::string& text, const std::string& source);

/// Where the last whole GPU run lies for the viewer: beside the settings; "" when those have no place.
std::filesystem::path kept_report_path();

}  // namespace attn::app
