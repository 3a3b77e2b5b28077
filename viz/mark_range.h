// Marks whose names have a number that a step decides: "strip/row/6" is there when the step has seven rows.
#pragma once

#include <string>
#include <string_view>

#include "core/trace/step_record.h"

namespace attn::viz {

/// What is there instead of a mark whose number is too large: "its packed rows are 0 to 8". "" when the mark
/// is there, or when its name says nothing that the step decides. `seq` and `row` are what is looked at: keys
/// and tiles are those of that sequence (-1: the first of the batch) and query row (-1: the last).
/// PRECOND: is_mark_name(name).
std::string marks_instead(std::string_view name, const trace::StepRecord& step,
                          const trace::ModelShape& model, int seq = -1, int row = -1);

}  // namespace attn::viz
