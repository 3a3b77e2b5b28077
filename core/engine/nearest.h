// The known word that a misspelt one was probably meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Number of letters to insert, delete, replace or swap with their neighbour to get from a to b.
int edit_distance(std::string_view a, std::string_view b);

/// "did you mean 'block_size'?" when one of `known` is close, else "known: a, b, c".
std::string suggest(std::string_view word, const std::vector<std::string>& known);

}  // namespace attn
