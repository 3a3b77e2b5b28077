// The names that panels give to what they show: what a script may ring or cover.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn::viz {

/// Whether a panel, or something that a panel shows, is called so: "pool", "pool/block/3". That there is a
/// block 3 depends on the run, and is not asked here.
bool is_mark_name(std::string_view name);

/// Names like this one, for a hint: all panels, and marks with the same numbers.
std::vector<std::string> mark_names_like(std::string_view name);

}  // namespace attn::viz
