// One attention case on one path, on the device: its inputs, its launches, and the check of its result.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/bench/cases.h"
#include "app/bench/inputs.h"

namespace attn::app {

/// Rows of each result that are compared with float64: the first, the last and some between.
inline constexpr int kCheckedRows = 6;

class AttentionProblem {
 public:
  AttentionProblem(Device& device, const AttentionCase& c, BenchPath path);

  /// Copies of K and V, which calls take in turn.
  int sets() const { return static_cast<int>(k_.size()); }
  /// Sets the level up; "" or why it cannot run here.
  std::string prepare(int level);
  /// Everything that the path does, from where K and V lie to o. PRECOND: prepare gave "".
  void run(int set);
  /// Runs once more into poisoned outputs; |o - reference| / |reference| in float64 over sampled rows, the
  /// worst of them. Nothing when a row or its lse is wrong.
  std::optional<double> error();
  /// What one run launches.
  std::vector<LaunchRecord> launches();

 private:
  void gather(int set);
  void repeat();
  void flatten();
  void attend(const void* k, const void* v);
  std::string prepare_decode(int level);
  std::string prepare_prefill(int level);
  template <class Params, class Plan>
  std::string reserve(Params& params, const Plan& plan, int level);
  template <class Params>
  void fill(Params& params, int level);
  double row_error(int b, int i, int h, const std::vector<std::uint16_t>& o, float lse) const;
  std::size_t key_row(int b, int j) const;
  bool paged() const { return path_ == BenchPath::paged; }

  Device& device_;
  AttentionCase case_;
  BenchPath path_;
  int max_k_ = 0;
  std::vector<std::int32_t> first_q_, first_k_;  // cumulative
  ScatteredTables tables_;
  PagedKv pool_;
  BenchValues q_;
  std::vector<BenchValues> k_, v_;
  Buffer table_ids_, cu_q_, cu_k_, lens_, o_, lse_, tickets_, workspace_;
  Buffer k_dense_, v_dense_, k_other_, v_other_;  // gathered; then repeated or flattened
  PrefillParams prefill_;
  DecodeParams decode_;
};

}  // namespace attn::app
