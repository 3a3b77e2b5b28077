// What is wrong with the texts of a frame: cut by an edge, on each other, under a line, left out.
#pragma once

#include <string>
#include <vector>

#include "viz/widgets/text_log.h"

namespace attn::viz {

/// One line each.
std::vector<std::string> faults_of(const TextLog& log);

}  // namespace attn::viz
