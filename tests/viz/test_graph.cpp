// A decode step that a CUDA graph ran: its rows, padding and stale columns on the screen.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/viz/headless.h"
#include "tests/viz/sample_frame.h"
#include "viz/graph_facts.h"

namespace attn::viz {
namespace {

using sample::Sample;

/// A decode of 3 sequences that a graph of 4 rows ran: padding row 3, tables of 6 columns, 2 of them written.
Sample replayed() {
  Sample s = sample::padded_decode();
  trace::GraphRecord& graph = s.step->graph.emplace();
  graph.bucket = 4;
  graph.buckets = {1, 2, 4};
  graph.fresh_rows = 3;
  graph.fresh_columns = 2;
  graph.input_ids = {7, 8, 9, 5};
  graph.positions = {17, 13, 8, 2};
  graph.slot_mapping = {11, 12, 13, -1};
  graph.context_lens = {18, 14, 9, 0};
  graph.block_tables.assign(4, std::vector<std::int32_t>(6, 1));
  return s;
}

TEST(GraphFacts, ShowPaddingRowsAndStaleColumns) {
  const Sample s = replayed();
  const std::vector<GraphLine> lines = graph_lines(*s.step);
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0].values, "3 real, 1 padding");
  EXPECT_EQ(lines[3].values, "11 12 13 | -1");
  EXPECT_EQ(lines[4].values, "18 14 9 | 0");
  EXPECT_EQ(lines[5].shape, "[4, 6]");
  EXPECT_EQ(lines[5].values, "from column 2 on stale");
  EXPECT_EQ(graph_text(*s.step), "CUDA graph of 4 rows");
  EXPECT_TRUE(graph_lines(*sample::padded_decode().step).empty());
}

TEST(GraphFacts, OfAnEagerStepSayWhy) {
  Sample s = replayed();
  s.step->graph->bucket = 0;
  s.step->graph->eager_reason = "5 sequences are more than the largest graph has rows";
  const std::vector<GraphLine> lines = graph_lines(*s.step);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].values, s.step->graph->eager_reason);
}

TEST(Screen, AGraphStandsWithTheStepsInputs) {
  const Sample s = replayed();
  Headless screen(1600, 900);
  screen.selection.stage = trace::Stage::prepare;
  for (int i = 0; i < 3; ++i) screen.draw(s.frame);
  for (const char* name : {"stages/graph/0", "stages/graph/3", "stages/graph/5"})
    EXPECT_TRUE(screen.marks.get(name).has_value()) << name;
}

}  // namespace
}  // namespace attn::viz
