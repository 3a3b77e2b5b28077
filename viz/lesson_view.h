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
  int at = 0;             // the stop that was told last, from 1; 0: none yet
  bool last = false;      // the lesson that was told last
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
  int passed = 0;           // of a task that is a walk: places of it that one has come through ...
  int places = 0;           // ... of so many; 0: it is none
};

/// Something that is turned in the lesson itself: an engine switch, one of several runs, two launches.
struct Handle {
  std::string name;
  std::vector<std::string> labels;  // of its values
  int at = -1;                      // the value in force; -1: none of these
};

/// Requests that the learner sends with their own hands.
struct Outbox {
  std::vector<std::string> labels;  // in the order in which they can be sent
  int sent = -1;                    // how many of them; -1: they came by themselves, nothing was started anew
  int waiting = 0;                  // of the sent ones: not taken in by a step yet
};

/// The stop that is told.
struct LessonNow {
  std::string title;  // of the lesson
  int stop = 0;
  int num_stops = 0;
  std::string name;                       // of the stop
  std::string caption;                    // numbers filled in
  std::string question;                   // to be answered before caption and numbers are shown
  bool asking = false;                    // it is not answered yet
  std::vector<std::string> choices = {};  // answers to pick from; empty: it is thought about
  int guessed = -1;                       // which was picked; -1: none
  int right = -1;                         // which is right; -1 until it is known
  std::string notes;                      // for the speaker
  std::string next;                       // name of the next stop, "" at the last
  std::string next_caption;
  std::optional<ExerciseNow> task;  // the first that is not done, else the last
  int num_tasks = 0;
  int tasks_done = 0;
  std::string task_proof = {};  // of the task that was done last
  std::optional<ExerciseNow> break_it;
  std::vector<Handle> handles = {};
  std::optional<Outbox> outbox = {};
  std::vector<std::string> rings;  // marks to ring
  std::string where;               // "01-two-jobs.json:31"
  bool ready = false;              // the run stands where the stop points
};

}  // namespace attn::viz
