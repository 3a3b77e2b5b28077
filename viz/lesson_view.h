// What a lesson shows in the window: the cards of the gallery, the stop that is told, the exercise at hand.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace attn::viz {

/// A lesson of the gallery, and how far one has come in it.
struct LessonCard {
  std::string path;
  std::string number;  // "3"; "" for one without
  std::string title;
  std::string about;  // one sentence: what one learns
  int stops = 0;
  int seen = 0;  // of the stops
  int tasks = 0;
  int done = 0;           // of the tasks
  std::string note = {};  // why it cannot be read; "" when it can
  bool finished() const { return stops > 0 && seen == stops && done == tasks; }
};

/// A task or a "break it" of the stop.
struct ExerciseNow {
  std::string text = {};
  bool done = false;        // by the learner's own action, and the numbers came out
  bool on = false;          // of break it: the switches are set
  std::string proof = {};   // the numbers that prove it; "" until it is done
  std::string missed = {};  // the window stands right but a number is wrong: which
};

/// The stop that is told.
struct LessonNow {
  std::string title;  // of the lesson
  int stop = 0;
  int num_stops = 0;
  std::string name;      // of the stop
  std::string caption;   // numbers filled in
  std::string question;  // to be answered before caption and numbers are shown
  bool asking = false;   // it is not answered yet
  std::string notes;     // for the speaker
  std::string next;      // name of the next stop, "" at the last
  std::string next_caption;
  std::optional<ExerciseNow> task;
  std::optional<ExerciseNow> break_it;
  std::vector<std::string> rings;  // marks to ring
  std::string where;               // "01-two-jobs.json:31"
  bool ready = false;              // the run stands where the stop points
};

}  // namespace attn::viz
