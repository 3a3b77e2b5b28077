#include "core/engine/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace attn {

int edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table of optimal string alignment: distances from prefixes of a to prefixes of b.
  std::vector<int> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({replace, previous[j] + 1, current[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

std::string suggest(std::string_view word, const std::vector<std::string>& known) {
  const auto distance = [&](const std::string& k) { return edit_distance(word, k); };
  const auto best = std::ranges::min_element(known, {}, distance);
  // Half of a word wrong is no longer a slip.
  if (best != known.end() && 2 * distance(*best) <= static_cast<int>(std::max(word.size(), best->size()))) {
    return fmt::format("did you mean '{}'?", *best);
  }
  return fmt::format("known: {}", fmt::join(known, ", "));
}

}  // namespace attn
