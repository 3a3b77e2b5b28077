#include "viz/film_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attn::viz {

std::string time_left_text(double seconds) {
  const long whole = std::lround(std::max(0.0, seconds));
  return whole < 100 ? fmt::format("{} s left", whole)
                     : fmt::format("{}:{:02} min left", whole / 60, whole % 60);
}

}  // namespace attn::viz
