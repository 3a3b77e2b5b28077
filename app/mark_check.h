// Marks of a script whose numbers the run does not have.
#pragma once

#include <string>
#include <vector>

#include "app/script_runs.h"

namespace attn::app {

/// One failure for each mark that there is not at that place of the run. `where`: the line of each.
std::vector<Failure> missing_marks(const std::vector<std::string>& names,
                                   const std::vector<std::string>& where, const trace::Store& store,
                                   const trace::FactPlace& place);

}  // namespace attn::app
