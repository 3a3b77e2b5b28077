// Live values of the names that the shown lines use: read from the records at the cursor.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "viz/frame.h"
#include "viz/panels/tiles_state.h"

namespace attn::viz {

struct WatchValue {
  std::string label;   // "context_lens[1]"
  std::string now;     // "21"
  std::string before;  // at the step (or tile) before; "" not known
  std::string source;
  std::string name{};  // as code and panels know it: "context_lens"
  bool changed() const { return !before.empty() && before != now; }
};
/// Values of several names at one place; the tiles of the row are read once.
class Watch {
 public:
  Watch(const Frame& frame, const Selection& selection) : frame_(frame), selection_(selection) {}
  /// Nothing when the step holds no value of that name.
  std::optional<WatchValue> value(std::string_view name);

 private:
  std::optional<WatchValue> find(std::string_view name);
  std::optional<WatchValue> tile_value(std::string_view name);
  const TileRow* tiles();

  const Frame& frame_;
  const Selection& selection_;
  bool looked_ = false;
  std::optional<TileRow> row_;
};
std::optional<WatchValue> watch_value(const Frame& frame, const Selection& selection, std::string_view name);

}  // namespace attn::viz
