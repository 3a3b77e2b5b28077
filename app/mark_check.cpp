#include "app/mark_check.h"

#include <fmt/format.h>

#include "viz/mark_range.h"

namespace attn::app {

std::vector<Failure> missing_marks(const std::vector<std::string>& names,
                                   const std::vector<std::string>& where, const trace::Store& store,
                                   const trace::FactPlace& place) {
  std::vector<Failure> missing;
  const int index = store.num_steps() == 0 ? -1 : place.step - store.step(0)->step;
  if (index < 0 || index >= store.num_steps()) return missing;  // said where the place is checked
  const auto step = store.step(index);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string instead =
        viz::marks_instead(names[i], *step, store.manifest().model, place.seq, place.row);
    if (instead.empty()) continue;
    missing.push_back({i < where.size() ? where[i] : std::string(),
                       fmt::format("there is no '{}' at step {}; {}", names[i], place.step, instead)});
  }
  return missing;
}

}  // namespace attn::app
