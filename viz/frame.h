// What a panel may read: plain data at the cursor. Panels are pure functions of (Frame, Selection).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/attention_view.h"
#include "core/trace/bookmark.h"
#include "core/trace/compare.h"
#include "core/trace/condition.h"
#include "core/trace/costs.h"
#include "core/trace/cursor.h"
#include "core/trace/step_diff.h"
#include "core/trace/step_record.h"
#include "kernels/common/launch.h"
#include "viz/film_view.h"
#include "viz/lesson_view.h"
#include "viz/machine_view.h"

namespace attn::viz {

/// One step as the timeline needs it.
struct StepSummary {
  int step = 0;
  trace::StepKind kind = trace::StepKind::prefill;
  trace::AttentionPath path = trace::AttentionPath::prefill_packed;
  int num_tokens = 0;          // N of the batch
  std::vector<int> scheduled;  // sequence ids
  std::vector<int> waiting;
  std::vector<int> preempted;
  std::vector<int> finished;
  std::vector<trace::SeqState> ended;    // the finished ones as they were at the end, with their text
  int blocks_used = 0;                   // ref_count > 0
  int blocks_cached_free = 0;            // ref_count 0, hash kept
  std::vector<trace::EventKind> events;  // distinct kinds
  std::vector<bool> written;             // by block id: K/V stored into it
  std::vector<bool> read;                // by block id: attention read it
  // By formula: what the step would compute without a cache, every scheduled sequence as a prompt of its
  // whole context. Score dots are per head.
  std::uint64_t uncached_dots = 0;
  std::uint64_t uncached_rows = 0;
};

/// One engine switch for the menu, with the value in force.
struct Switch {
  std::string name;                 // EngineConfig field
  std::vector<std::string> values;  // allowed ones
  std::string value;                // in force
  std::string default_value;
  std::string title;
  std::string text;       // one sentence: what it does, or what goes wrong
  bool break_it = false;  // makes the answer wrong
};

/// Something is broken on purpose: what, and how far it is from the right answer, measured on a second run of
/// the same scenario with nothing broken.
struct Broken {
  std::vector<std::string> titles;
  double max_abs_diff_o = 0.0;  // of the selected layer in this step; NaN: not comparable, note says why
  int first_wrong_step = -1;    // engine step in which the first token differs; -1: none up to here
  std::string note;             // "the right run has no step 12"; of a number, what it leaves out; "" else
};

/// Long work in the background: exporting, searching for a condition, loading.
struct Work {
  std::string text;        // "looking for: preemption"
  float fraction = -1.0F;  // < 0: not known
  bool can_cancel = false;
  float seconds_left = -1.0F;  // < 0: not known
  bool active() const { return !text.empty(); }
};

/// One entry of a folder, for the open dialog.
struct FolderEntry {
  std::string name;        // file name alone
  bool is_folder = false;  // to be entered; a model directory is a folder with kind "model"
  std::string kind;        // "scenario", "trace", "tensors", "model"; "" for a plain folder
};

/// What stands in a folder: what can be opened, and the folders in it. Answers the command list_folder.
struct FolderListing {
  std::string path;                  // absolute; "" before the first list_folder
  std::string parent;                // "" at the root
  std::vector<FolderEntry> entries;  // folders first, each by name; hidden ones left out
  std::string note;                  // why it cannot be read, or that it was cut short
};

struct Frame {
  const trace::Manifest* manifest = nullptr;
  std::shared_ptr<const trace::StepRecord> step;      // null before the first step
  std::shared_ptr<const trace::StepRecord> previous;  // null at the first step
  int index = 0;                                      // of `step` in the store
  int num_steps = 0;                                  // recorded so far
  std::shared_ptr<const std::vector<StepSummary>> history;
  std::shared_ptr<const trace::AttentionView> attention;  // of (step, selection.layer); null while loading
  std::string attention_note;            // why attention is null: "loading", "layer not recorded", ...
  std::vector<std::string> token_texts;  // by token id, "" unknown
  bool live = false;                     // an engine is attached (requests can be added)
  bool engine_busy = false;              // computing a step right now
  bool engine_has_work = false;          // more steps can be run
  std::string compare_note;              // why compare is null although asked for
  std::shared_ptr<const trace::CompareView> compare;  // two variants on this step and layer
  std::shared_ptr<const trace::StepDiff> changes;     // since the previous step; null at the first
  std::shared_ptr<const trace::StepDiff> diff;        // against the step that D compares with; else null
  std::shared_ptr<const trace::RunCosts> run_costs;   // steps up to and including this one
  std::shared_ptr<const MachineView> machine;         // what the bench measured here; null: nothing
  std::string machine_note;                           // why null although there is a file
  std::vector<trace::Bookmark> bookmarks;
  std::vector<trace::Condition> breakpoints;
  std::string stopped_at;        // the sentence of the condition that a run stopped at; "" none
  std::vector<Switch> switches;  // empty: the run cannot be repeated (a trace without its model)
  std::string switches_note;     // why they cannot be changed
  std::optional<Broken> broken;
  Work work;
  std::vector<std::string> recent_files;  // newest first
  std::vector<std::string> scenarios;     // bundled ones, paths
  FolderListing folder;                   // of the open dialog
  std::string file;                       // what is open
  bool saved = true;                      // false: a live run or bookmarks that no file holds
  std::vector<LessonCard> lessons;        // of the gallery; empty before the first list_lessons
  std::optional<LessonNow> lesson;        // while a script is told
  FilmNow film;
  int clicks = -1;     // stops that "record my clicks" has so far; -1: it is off
  std::string status;  // one line: device, notes, errors
  bool status_is_error = false;
  std::string device;  // device of the engine
  // Of the device that the panels' launches run on; until it is there, what every device can.
  DeviceTraits traits{.tensor_cores = false};
};

/// The one selection shared by every panel. -1 = nothing. Rows and columns are within a sequence.
struct Selection {
  int step = 0;  // index in the store
  trace::Stage stage = trace::Stage::attention;
  int seq = -1;  // sequence id
  int layer = 0;
  int head = 0;
  int q_row = -1;
  int k_col = -1;
  int block = -1;  // physical block id
  int tile = -1;   // key tile of the online softmax; -1 = not inside it
  bool operator==(const Selection&) const = default;
};

/// What panels ask for. The session (or the window around it) carries it out; panels never act.
struct Command {
  enum class Kind {
    seek,          // a: index (clamped)
    step_forward,  // runs the engine when the cursor is at the end of a live recording
    step_back,
    move,        // a: +1 or -1 places at `grain`; forward at the end of a live recording runs the engine
    next_event,  // a: +1 or -1: of the selected block, else the next event of interest
    first,
    last,
    toggle_play,
    run_to,             // a: +1 or -1; condition
    run,                // a: +1 or -1: until a break point
    cancel,             // the long work at hand
    add_breakpoint,     // condition
    remove_breakpoint,  // a: its place in the list
    add_bookmark,       // of the cursor; text: note
    edit_bookmark,      // a: its place; text: note
    remove_bookmark,    // a
    go_to_bookmark,     // a
    select,             // selection
    add_prompt,         // text, a: max_tokens, x: temperature
    set_switch,         // text: name, value: value; repeats the run with it
    compare,            // variant_a, variant_b
    compare_off,
    diff_with,  // a: index of the other step
    diff_off,
    open_file,      // text: path, may carry #step=..
    list_folder,    // text: path, "" = the folder of what is open; fills Frame::folder
    list_lessons,   // fills Frame::lessons
    next_stop,      // a: +1 or -1 stops of the lesson; answers first what is asked
    answer,         // what the lesson asks: caption and numbers are shown; a: 1 + the choice that was
                    // picked, 0: none was
    break_lesson,   // the lesson's break it: sets its switches, or mends them
    turn_handle,    // text: a handle of the lesson, value: one of its labels
    start_over,     // the run of the stop anew, with none of its requests sent
    send_request,   // the next of them; it enters with the next step
    save_trace,     // text: path
    export_tensor,  // text: path (.safetensors or .csv), value: "q", "k", "v", "o", "lse", "weights",
                    // "scores"
    copy_state,     // the text twin into the clipboard
    copy_text,      // text: into the clipboard
    still,          // text: path or "" for a name of its own; a PNG of the window
    record_film,    // text: where to, by its ending or a folder NAME/; value: "1080p", "960x540"; a: 0 = all
                    // of it, a lesson as it is told; of a run, also of that of a lesson: 1 = from this step
                    // on, 2 = from its first step on
    cancel_film,
    record_clicks,  // begins to write down what the user does; again: saves it as a scenario
    toggle_full_screen,
    quit
  };
  Kind kind = Kind::seek;
  int a = 0;
  float x = 0.0F;
  std::string text;
  std::string value;
  Selection selection;
  trace::Grain grain = trace::Grain::step;
  trace::Condition condition;
  trace::Variant variant_a;
  trace::Variant variant_b;
};
using Commands = std::vector<Command>;

}  // namespace attn::viz
