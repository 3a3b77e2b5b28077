// Places and views as a script writes them: "goto", "select", "view", "compare" and what goes with them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/object_reader.h"
#include "app/scenario.h"

namespace attn::app {

/// "goto", "step_to", an entry of "through": a place in the computation.
void read_moment(ObjectReader& object, Place& place);
/// "goto" and "select" of a stop or exercise; requests are named as `scenario` labels them.
void read_place(ObjectReader& object, const Scenario& scenario, Place& place);
/// A and B of a comparison.
std::pair<trace::Variant, trace::Variant> read_comparison(ObjectReader& object);
/// "view", "side", "panel", "compare" and "annotate", with the lines of what that names.
void read_shown(ObjectReader& object, Shown& shown, std::vector<std::string>& annotate_where);
/// A list of panels and marks ("mask", "pool/block/3") and the line of each. False when it is not there.
bool read_marks(ObjectReader& object, const char* key, std::vector<std::string>& names,
                std::vector<std::string>& where);

}  // namespace attn::app
