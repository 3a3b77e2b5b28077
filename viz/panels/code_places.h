// Which source, and which lines of it, belong to where one stands in a step: what just ran and what runs
// next.
#pragma once

#include <string>
#include <vector>

#include "viz/code/source_text.h"
#include "viz/frame.h"

namespace attn::viz {

enum class CodeTab : unsigned char { host, kernel, pseudo };

/// A run of lines that begins with a marked one.
struct CodeLines {
  int first = -1;
  int end = -1;
  bool contains(int line) const { return line >= first && line < end; }
};

struct CodePlace {
  const SourceText* source = nullptr;
  std::string title;           // kernel name or stage
  std::vector<CodeLines> ran;  // in order; empty: nothing of this text ran yet
  CodeLines next;              // first = -1: the next lines are elsewhere
  std::string elsewhere;       // where: "out_mlp, core/model/transformer.cpp:140"
  std::string note;            // why this text and not the one asked for
  int focus = 0;               // line to keep in view
};

/// The launches of the selected stage and layer whose kernels we have, in order.
std::vector<const LaunchRecord*> stage_kernels(const Frame& frame, const Selection& selection);
/// The one of them that the stage is about.
int main_kernel(const std::vector<const LaunchRecord*>& kernels, trace::Stage stage);

/// `launch`: which of stage_kernels, -1 the main one. A stage without a kernel of ours shows the engine's
/// host code instead and says so. The source is never null when a step is there.
CodePlace code_place(const Frame& frame, const Selection& selection, CodeTab tab, int launch);

/// The stage that follows in this step; layer is of the stage that follows.
struct NextStage {
  trace::Stage stage = trace::Stage::commit;
  int layer = 0;
  bool any = false;  // false: the step ends
};
NextStage next_stage(const Frame& frame, trace::Stage stage, int layer);

/// Where the engine or a kernel writes what has that name; null source when it is not known.
struct Writer {
  const SourceText* source = nullptr;
  int line = -1;
};
Writer writer_of(const Frame& frame, const CodePlace& shown, std::string_view name);

}  // namespace attn::viz
