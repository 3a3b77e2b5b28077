// The steps that playing goes round.
#pragma once

namespace attn::viz {

/// Indices in the store, both inclusive; from < 0: playing goes on to the end.
struct PlayLoop {
  int from = -1;
  int to = -1;
  constexpr bool on() const { return from >= 0; }
  constexpr bool contains(int index) const { return on() && index >= from && index <= to; }
  bool operator==(const PlayLoop&) const = default;
};

/// With one end moved to a step. The other stays where it can, else it goes to that end of the run.
constexpr PlayLoop begun_at(const PlayLoop& loop, int index, int num_steps) {
  return {index, loop.on() && loop.to >= index ? loop.to : num_steps - 1};
}
constexpr PlayLoop ended_at(const PlayLoop& loop, int index) {
  return {loop.on() && loop.from <= index ? loop.from : 0, index};
}

}  // namespace attn::viz
