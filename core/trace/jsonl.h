// One JSON object per engine step on one line, for scripts and for comparing with other engines.
#pragma once

#include <string>

#include "core/trace/step_record.h"

namespace attn::trace {

/// The line of a step, without a newline. Keys and their order are fixed; hashes are strings 0x%016x.
/// `seqs` lists every living sequence, those of the batch first; a sample that the engine discarded (an
/// unfinished prefill chunk) is not in `sampled`.
std::string to_json_line(const StepRecord& record);

}  // namespace attn::trace
