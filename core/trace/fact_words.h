// Facts in plain English: what a learner reads where a file has "score_dots[2..33]@main".
#pragma once

#include <string>

#include "core/trace/facts.h"

namespace attn::trace {

/// "score dots of a head, steps 2 to 33, in the lesson's own run". `main_run`: the name that stands for the
/// scenario itself behind an "@".
std::string words_of(const FactCall& call, std::string_view main_run);

}  // namespace attn::trace
