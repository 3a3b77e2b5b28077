// The film that is being made of what is open, and what became of the last one.
#pragma once

#include <string>

namespace attn::viz {

struct FilmNow {
  bool running = false;
  bool failed = false;         // of the last one
  std::string what;            // "the lesson 'Two jobs: read, then write'": what a film would be of
  std::string stem;            // of the name it is offered
  bool whole = false;          // it has stops of its own: there is no step to begin at
  std::string run = {};        // beside those: what runs now, "with engine.k_tile = 8"
  bool by_hand = false;        // what runs now is not what the stop shows: somebody turned or sent something
  std::string text;            // what is being done; of the last one what became of it; "" before the first
  float fraction = -1.0F;      // < 0: not known
  float seconds_left = -1.0F;  // < 0: not known
};

/// "12 s left", "2:05 min left".
std::string time_left_text(double seconds);

}  // namespace attn::viz
