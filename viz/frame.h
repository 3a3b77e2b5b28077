// What a panel may read: plain data at the cursor. Panels are pure functions of (Frame, Selection).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/trace/attention_view.h"
#include "core/trace/step_record.h"

namespace attn::viz {

/// One step as the timeline needs it.
struct StepSummary {
  int step = 0;
  trace::StepKind kind = trace::StepKind::prefill;
  int num_tokens = 0;          // N of the batch
  std::vector<int> scheduled;  // sequence ids
  std::vector<int> waiting;
  std::vector<int> preempted;
  std::vector<int> finished;
  std::vector<trace::SeqState> ended;    // the finished ones as they were at the end, with their text
  int blocks_used = 0;                   // ref_count > 0
  int blocks_cached_free = 0;            // ref_count 0, hash kept
  std::vector<trace::EventKind> events;  // distinct kinds
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
  std::string status;                    // one line: device, notes, errors
  std::string device;                    // device of the engine
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
  bool operator==(const Selection&) const = default;
};

/// What panels ask for. The session carries it out; panels never act.
struct Command {
  enum class Kind {
    seek,          // a: index (clamped)
    step_forward,  // runs the engine when the cursor is at the end of a live recording
    step_back,
    first,
    last,
    toggle_play,
    select,      // selection
    add_prompt,  // text, a: max_tokens, x: temperature
    quit
  };
  Kind kind = Kind::seek;
  int a = 0;
  float x = 0.0F;
  std::string text;
  Selection selection;
};
using Commands = std::vector<Command>;

}  // namespace attn::viz
