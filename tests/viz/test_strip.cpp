// The packed strip: two rulers, true memory, zoom, tokens and positions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "headless.h"
#include "sample_frame.h"
#include "viz/layout/strip_layout.h"
#include "viz/panels/strip_parts.h"
#include "viz/widgets/text_log.h"

namespace attn::viz {
namespace {

TEST(Strip, TrueMemoryPacksQueriesFromTheLeft) {
  const std::vector<std::int32_t> q = {0, 4, 11};
  const std::vector<std::int32_t> k = {0, 12, 19};
  const StripLayout layout = layout_strip_memory(q, k, 100.0F, 190.0F);
  ASSERT_EQ(layout.segments.size(), 2U);
  EXPECT_FLOAT_EQ(layout.px_per_token, 10.0F);
  EXPECT_FLOAT_EQ(layout.segments[0].q_x0, 100.0F);
  EXPECT_FLOAT_EQ(layout.segments[0].q_x1, 140.0F);
  EXPECT_FLOAT_EQ(layout.segments[1].q_x0, 140.0F) << "no gap between queries";
  EXPECT_FLOAT_EQ(layout.segments[1].k_x0, layout.segments[0].k_x1) << "no gap between keys";
}

TEST(Strip, TheToggleMovesRowsToWhereTheyLie) {
  const auto s = sample::prefill();
  Headless screen(1600, 900);
  screen.draw(s.frame);
  const float apart = screen.marks.get("strip/row/0")->rect.x;
  screen.click(s.frame, "strip/true_memory");
  EXPECT_TRUE(screen.view.attention.true_memory);
  screen.draw(s.frame);
  const auto first = screen.marks.get("strip/row/0");
  const auto fifth = screen.marks.get("strip/row/4");
  ASSERT_TRUE(first && fifth);
  EXPECT_LT(first->rect.x, apart);
  EXPECT_NEAR(fifth->rect.x - first->rect.x, 4.0F * first->rect.w, 0.1F)
      << "row 4 is another sequence's first";
}

TEST(Strip, HoveringAQueryTellsRowSequenceAndPosition) {
  const auto s = sample::prefill();
  Headless screen(1600, 900);
  screen.hover(s.frame, "strip/row/6");
  EXPECT_EQ(screen.view.hover.seq, 2);
  EXPECT_EQ(screen.view.hover.q_row, 2);
  EXPECT_EQ(screen.view.hover.name, "positions");
}

TEST(Strip, ZoomShowsAPartAndButtonsBringItBack) {
  const auto s = sample::many(1, 4096, 16, trace::StepKind::prefill);
  Headless screen(1600, 900);
  screen.draw(s.frame);
  const float all = screen.marks.get("strip/row/2048")->rect.w;
  screen.click(s.frame, "strip/zoom_in");
  screen.draw(s.frame);
  const auto row = screen.marks.get("strip/row/2048");
  ASSERT_TRUE(row.has_value());
  EXPECT_NEAR(row->rect.w, 2.0F * all, 0.01F);
  EXPECT_FALSE(screen.marks.get("strip/row/0").has_value()) << "outside the part that is shown";
  screen.click(s.frame, "strip/zoom_all");
  EXPECT_TRUE(screen.view.attention.strip.whole());
}

TEST(Strip, WheelZoomsAtTheMouse) {
  const auto s = sample::many(1, 4096, 16, trace::StepKind::prefill);
  Headless screen(1600, 900);
  screen.hover(s.frame, "strip/seq/0");
  ImGui::GetIO().MouseWheel = 3.0F;
  screen.draw(s.frame);
  EXPECT_LT(screen.view.attention.strip.to - screen.view.attention.strip.from, 0.6);
  EXPECT_GT(screen.view.attention.strip.from, 0.1);
}

/// What is written in the cells of the keys.
std::vector<std::string> cell_texts(Headless& screen, const Frame& frame, TextLog& log) {
  screen.view.attention.true_memory = true;  // marks of sequences are the bars of their keys then
  screen.draw(frame);
  screen.draw(frame);
  std::vector<std::string> texts;
  for (int seq = 0; seq < 8; ++seq) {
    const auto bar = screen.marks.get("strip/seq/" + std::to_string(seq));
    if (!bar) continue;
    for (const TextLog::Entry& entry : log.entries) {
      const float middle = entry.rect.y + entry.rect.h * 0.5F;
      if (entry.panel == "strip" && middle > bar->rect.y && middle < bar->rect.bottom() &&
          entry.rect.x >= bar->rect.x && entry.rect.right() <= bar->rect.right() &&
          !entry.text.ends_with(" cached"))
        texts.push_back(entry.text);
    }
  }
  return texts;
}

bool is_number(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// All ids or none, whatever the width of the cells, and the caption says which when they are ids.
TEST(Strip, AllCellsOfAStripHaveOneKindOfText) {
  int with_ids = 0, with_texts = 0;
  for (const ScreenMode mode : {ScreenMode::explore, ScreenMode::present}) {
    Headless screen(640, 480);
    screen.view.mode = mode;
    TextLog log;
    screen.view.text_log = &log;
    for (const WindowSize size : kWindowSizes) {
      screen.resize(size.w, size.h);
      for (const auto& [seqs, tokens] :
           {std::pair{1, 20}, {1, 40}, {2, 9}, {2, 15}, {3, 10}, {4, 12}, {5, 8}}) {
        SCOPED_TRACE(fmt::format("{} sequences of {} at {}x{}", seqs, tokens, size.w, size.h));
        const auto s = sample::many(seqs, tokens, 4, trace::StepKind::prefill);
        const std::vector<std::string> texts = cell_texts(screen, s.frame, log);
        if (texts.empty()) continue;
        const auto ids = std::count_if(texts.begin(), texts.end(), is_number);
        EXPECT_TRUE(ids == 0 || ids == static_cast<long>(texts.size())) << ids << " of " << texts.size();
        ++(ids > 0 ? with_ids : with_texts);
        const bool told = std::any_of(log.entries.begin(), log.entries.end(), [](const auto& entry) {
          return entry.panel == "strip" && entry.text.find("token id") != std::string::npos;
        });
        EXPECT_EQ(told, ids > 0);
      }
    }
  }
  EXPECT_GE(with_ids, 5);
  EXPECT_GE(with_texts, 5);
}

TEST(Strip, TheHoverCardOfAKeyHasTextAndId) {
  const auto s = sample::prefill();
  EXPECT_EQ(strip_token_text(s.frame, 1),
            "token \xC2\xB7"
            "Cit, id 1");
  EXPECT_EQ(strip_token_text(s.frame, 1'000'000), "token id 1000000") << "a token without a text";
}

}  // namespace
}  // namespace attn::viz
