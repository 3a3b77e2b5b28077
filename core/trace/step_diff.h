// What differs between two steps of a recording: the marks of "changed since the last step", and the list
// that comparing two cursors shows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/trace/step_record.h"

namespace attn::trace {

/// One thing that differs. `where` names it in the engine's own words.
struct DiffEntry {
  std::string where;   // "block 3", "seq B block_table", "context_lens[1]", "free_blocks", "sampled[0]"
  std::string what;    // "ref_count", "num_filled", "hash", "entry 2", ...
  std::string before;  // "" = not there
  std::string after;   // "" = gone
};

struct StepDiff {
  int before = 0;  // StepRecord::step
  int after = 0;
  std::vector<int> blocks;  // ids of blocks whose ref_count, hash, fill or tokens differ, ascending
  std::vector<int> seqs;    // ids of sequences that differ, ascending
  std::vector<DiffEntry> entries;
  std::vector<int> layers;  // that both steps recorded
  // Of each of them: largest |difference| of o over rows of the same token of the same sequence; NaN where
  // nothing can be compared.
  std::vector<double> max_abs_diff_o;
  int rows_before = 0;   // packed query rows
  int rows_in_both = 0;  // of them, those that `after` computed too
  /// Of one layer; nothing when a step did not record it.
  std::optional<double> max_abs_diff_of(int layer) const;
};

/// Bookkeeping as after commit, batch fields as when the steps ran.
StepDiff diff_steps(const StepRecord& before, const StepRecord& after);

}  // namespace attn::trace
