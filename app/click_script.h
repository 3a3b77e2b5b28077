// "Record my clicks": the places that somebody went to in the window, as the stops of a scenario.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "app/script.h"

namespace attn::app {

class ClickScript {
 public:
  using Clock = std::chrono::steady_clock;
  /// How the window stands.
  struct Seen {
    std::string run;  // what runs, as the text of a scenario without a script
    Place place;
    Shown shown;
    std::string name;     // "step 3, attention"
    std::string caption;  // plain text, no facts in it
    bool asking = false;  // a lesson's question is not answered yet
    bool same_as(const Seen& other) const {
      return run == other.run && place == other.place && shown == other.shown;
    }
    /// Whether one only answered the question that was asked there: that selects what it was about.
    bool answers(const Seen& question) const;
  };

  /// Call whenever the window is at rest somewhere. A question and its answer are one stop.
  void look(const Seen& seen, Clock::time_point now);
  /// With the one that is stood at.
  int num_stops() const { return static_cast<int>(stops_.size()) + (last_ ? 1 : 0); }
  /// The scenario as a text, its last stop the place that is stood at. No two successive captions are the
  /// same: where the step says nothing new, the caption also says what changed. PRECOND: num_stops() > 0.
  std::string text(const std::string& name, Clock::time_point now) const;

  /// A place that was left sooner was only passed through.
  static constexpr std::chrono::milliseconds kPassing{250};

 private:
  struct Stop {
    Seen seen;
    double hold = 0.0;  // seconds
  };
  std::vector<Stop> stops_;
  std::optional<Seen> last_;
  Clock::time_point since_;  // of last_
};

}  // namespace attn::app
