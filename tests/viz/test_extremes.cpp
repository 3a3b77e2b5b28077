// Frames that no lesson has but some trace will: nothing yet, sequences without tokens, thousands of keys,
// dozens of sequences, ids out of range. None may crash, run slowly or overflow 16-bit indices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "headless.h"
#include "sample_frame.h"
#include "viz/layout/screen_layout.h"

namespace attn::viz {
namespace {

using sample::Sample;
using trace::StepKind;

/// Of the cheapest of a few frames on every page, in milliseconds.
double slowest_page_ms(Headless& screen, const Frame& frame) {
  double slowest = 0.0;
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const int pages = layout_screen({.width = size.x, .height = size.y, .scale = screen.view.scale}).pages;
  for (screen.view.page = 0; screen.view.page < pages; ++screen.view.page) {
    slowest = std::max(slowest, screen.cheapest_draw_ms(frame, 4));
    EXPECT_LT(screen.largest_list(), 65'000);
  }
  return slowest;
}

// Far above what a frame takes (under 3 ms), so that a sanitizer does not fail the test,
// and far below what drawing every cell or measuring every token would take.
constexpr double kFrameBudgetMs = 100.0;

void draw_everywhere(const Frame& frame, const Selection& selection = {}) {
  for (const auto& [w, h] : {std::pair{640.0F, 480.0F}, {1024.0F, 640.0F}, {1920.0F, 1080.0F}}) {
    Headless screen(w, h);
    screen.selection = selection;
    EXPECT_LT(slowest_page_ms(screen, frame), kFrameBudgetMs) << w << "x" << h;
    describe_screen(frame, selection);
  }
}

TEST(Extremes, NothingRecordedYet) {
  draw_everywhere(Frame{});
  draw_everywhere(sample::empty().frame);
}

TEST(Extremes, AttentionStillLoading) {
  Sample s = sample::prefill();
  s.frame.attention = nullptr;
  s.frame.attention_note = "loading";
  draw_everywhere(s.frame);
}

TEST(Extremes, IdentityStep) {
  Sample s = sample::prefill();
  s.step->path = trace::AttentionPath::identity;
  s.frame.attention = nullptr;
  draw_everywhere(s.frame);
}

TEST(Extremes, RecordsWithoutParts) {
  Sample s = sample::prefill();
  *s.step = trace::StepRecord{};
  s.frame.attention = std::make_shared<trace::AttentionView>();
  draw_everywhere(s.frame);
  s = sample::padded_decode();
  s.step->cu_seqlens_q.clear();
  s.step->blocks.clear();
  s.step->seqs_after.clear();
  draw_everywhere(s.frame);
}

TEST(Extremes, SequencesWithoutTokensOrBlocks) {
  Sample s = sample::prefill();
  for (trace::SeqState& seq : s.step->seqs) {
    seq.token_ids.clear();
    seq.block_table.clear();
  }
  s.step->seqs_after = s.step->seqs;
  draw_everywhere(s.frame);
}

TEST(Extremes, SelectionsOutOfRange) {
  const Sample s = sample::padded_decode();
  Selection selection;
  selection.seq = 1'000'000'000;
  selection.layer = 99;
  selection.head = 99;
  selection.q_row = 1'000'000;
  selection.k_col = 1'000'000;
  selection.block = 1'000'000;
  draw_everywhere(s.frame, selection);
}

TEST(Extremes, SixtyFourSequencesWithHugeIds) {
  draw_everywhere(sample::many(64, 64, 16, StepKind::decode).frame);
  draw_everywhere(sample::many(64, 20, 16, StepKind::prefill, 1'000'000'000).frame);
}

/// "12 more rows below" of a list, with its panel over the whole window.
int rows_told(Headless& screen, const Frame& frame, PanelId panel, const std::string& list) {
  screen.view.maximised = panel;
  for (int i = 0; i < 3; ++i) screen.draw(frame);
  int rows = 0;
  EXPECT_EQ(std::sscanf(value_of(screen, list + "/more").c_str(), "%d more rows below", &rows), 1)
      << value_of(screen, list + "/more");
  return rows;
}

TEST(Extremes, RowsOutOfSightAreCountedThoughNobodyDrawsThem) {
  Headless screen(1600, 640);
  Sample s = sample::many(64, 64, 16, StepKind::decode);
  const int requests = rows_told(screen, s.frame, PanelId::requests, "requests/list");
  const auto seen = std::ranges::count_if(
      screen.marks.all(), [](const Mark& mark) { return mark.name.starts_with("requests/seq/"); });
  EXPECT_GT(requests, 20);
  EXPECT_EQ(requests + seen, 64);

  const auto add_shapes = [&s](int count) {
    for (int i = 0; i < count; ++i)
      s.step->shapes.push_back({trace::Stage::sample, -1, "logits", "F32", {64, 512}, ""});
  };
  add_shapes(60);
  const int rows = rows_told(screen, s.frame, PanelId::stages, "stages/list");
  add_shapes(100);
  EXPECT_EQ(rows_told(screen, s.frame, PanelId::stages, "stages/list"), rows + 100);
}

TEST(Extremes, FourThousandTokens) {
  draw_everywhere(sample::many(1, 4096, 16, StepKind::decode).frame);
  draw_everywhere(sample::many(1, 4096, 256, StepKind::prefill).frame);
}

TEST(Extremes, BlockSizeOne) {
  draw_everywhere(sample::many(3, 40, 1, StepKind::decode).frame);
  draw_everywhere(sample::many(2, 700, 1, StepKind::prefill).frame);
}

TEST(Extremes, TablesThatNameBlocksOutsideThePool) {
  Sample s = sample::padded_decode();
  s.step->seqs[0].block_table[1] = 1'000'000;
  s.step->seqs_after[0].block_table[2] = -1;
  s.step->free_blocks.push_back(1'000'000);
  s.step->slot_mapping[0] = 1'000'000'000;
  draw_everywhere(s.frame);
}

TEST(Extremes, LargeMatricesAreGroupedAndSaySo) {
  const Sample s = sample::many(1, 300, 16, StepKind::prefill);
  Headless screen(1600, 900);
  screen.draw(s.frame);
  const auto allowed = screen.marks.get("mask/allowed");
  ASSERT_TRUE(allowed.has_value());
  EXPECT_NE(allowed->value.find("a cell is 5 \xC3\x97 5"), std::string::npos) << allowed->value;
  EXPECT_EQ(screen.view.attention.matrix.heat.cell_rows, 60);
  EXPECT_LT(screen.vertices(), 65'000);
}

}  // namespace
}  // namespace attn::viz
