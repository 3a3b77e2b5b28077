// Block tables: whole rows at every scroll position, shared entries readable in what is seen of them, and the
// arrow to the pool, which runs where no text is.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "headless.h"
#include "sample_frame.h"
#include "text_faults.h"
#include "viz/lookup.h"

namespace attn::viz {
namespace {

using sample::Sample;

constexpr int kShared = 2;  // leading blocks of the middle tables

/// `count` sequences that decode; all but the first and the last begin with blocks 3 and 4.
Sample sharing(int count, int blocks_each, int block_size = 4) {
  sample::Spec spec{.kind = trace::StepKind::decode,
                    .path = trace::AttentionPath::decode_paged,
                    .block_size = block_size,
                    .num_blocks = 5 + count * blocks_each,
                    .seqs = {}};
  int next = 5;
  for (int id = 0; id < count; ++id) {
    const int tokens = blocks_each * block_size;
    sample::Seq seq{id, tokens - 1, tokens, tokens - 1, 1, {}};
    seq.table.resize(static_cast<std::size_t>(blocks_each));
    std::iota(seq.table.begin(), seq.table.end(), next);
    next += blocks_each;
    if (id > 0 && id + 1 < count) std::iota(seq.table.begin(), seq.table.begin() + kShared, 3);
    spec.seqs.push_back(std::move(seq));
  }
  return sample::make(spec);
}

/// The tables in a panel so low.
class Tables : public testing::Test {
 protected:
  Tables() { screen.view.text_log = &log; }

  void draw(const Sample& s) {
    screen.draw(s.frame);
    screen.draw(s.frame);
  }
  bool row_is_seen(int seq) const {
    const std::string cells = fmt::format("tables/cell/{}/", seq);
    return std::ranges::any_of(screen.marks.all(),
                               [&](const Mark& mark) { return mark.name.starts_with(cells); });
  }
  int rows_told(const std::string& mark) const {
    const auto told = screen.marks.get(mark);
    return told ? std::stoi(told->value) : 0;
  }
  bool is_written(const std::string& text, const Rect& box) const {
    return std::ranges::any_of(log.entries, [&](const TextLog::Entry& entry) {
      return entry.panel == "tables" && entry.text == text && inside(box, entry.rect);
    });
  }
  /// Rows in sight are whole and shared entries have their id in sight; all others are told.
  void check(const Sample& s) {
    for (const std::string& fault : faults_of(log)) ADD_FAILURE() << fault;
    int seen = 0;
    std::vector<Rect> of_shared;
    for (const trace::SeqState& seq : s.step->seqs) {
      if (!row_is_seen(seq.id)) continue;
      ++seen;
      for (std::size_t i = 0; i < seq.block_table.size(); ++i) {
        const auto cell = screen.marks.get(fmt::format("tables/cell/{}/{}", seq.id, i));
        if (!cell) continue;
        if (seq.block_table[i] == 3) of_shared.push_back(cell->rect);
        if (seq.block_table[i] <= 4) continue;
        EXPECT_TRUE(is_written(std::to_string(seq.block_table[i]), cell->rect)) << cell->name;
      }
    }
    if (!of_shared.empty()) {
      Rect all = of_shared.front();
      for (const Rect& rect : of_shared) {
        const float bottom = std::max(all.bottom(), rect.bottom());
        all.y = std::min(all.y, rect.y);
        all.h = bottom - all.y;
      }
      EXPECT_TRUE(is_written("3", all)) << "a shared entry whose rows are partly in sight";
    }
    EXPECT_EQ(seen + rows_told("tables/above") + rows_told("tables/more"), std::ssize(s.step->seqs));
  }

  Headless screen{1600, 900};
  TextLog log;
};

TEST_F(Tables, AreWholeAtEveryScrollPositionInALowPanel) {
  const Sample s = sharing(6, 8);
  for (const float side : {0.2F, 0.45F, 0.6F, 0.75F}) {
    screen.view.splits.side = side;
    for (int id = 0; id < 6; ++id) {
      SCOPED_TRACE(fmt::format("lower right {}, sequence {}", side, id));
      screen.selection.seq = id;
      draw(s);
      EXPECT_TRUE(row_is_seen(id)) << "the selected sequence is brought into sight";
      check(s);
    }
  }
}

TEST_F(Tables, AreScrolledByRows) {
  const Sample s = sharing(6, 8);
  screen.view.splits.side = 0.75F;
  screen.selection.seq = 0;
  draw(s);
  EXPECT_EQ(rows_told("tables/above"), 0);
  const int below = rows_told("tables/more");
  ASSERT_GT(below, 0);
  screen.hover(s.frame, "tables/cell/0/0");
  ImGui::GetIO().MouseWheel = -1.0F;
  screen.draw(s.frame);
  ImGui::GetIO().MouseWheel = 0.0F;
  draw(s);
  EXPECT_EQ(rows_told("tables/above"), 1) << "one notch of the wheel is one row";
  check(s);
  for (int i = 0; i < 6 && screen.marks.get("tables/more"); ++i) screen.click(s.frame, "tables/more");
  draw(s);
  EXPECT_EQ(rows_told("tables/above"), below);
  check(s);
  screen.selection.seq = 1;
  draw(s);
  EXPECT_TRUE(row_is_seen(1));
}

TEST_F(Tables, OfSixSequencesAreAllSeenInAWindowOf1600) {
  for (const int blocks_each : {3, 8, 12}) {
    const Sample s = sharing(6, blocks_each);
    draw(s);
    EXPECT_FALSE(screen.marks.get("tables/more") || screen.marks.get("tables/above")) << blocks_each;
    check(s);
  }
}

TEST_F(Tables, OfOneTokenBlocksAreWhole) {
  const Sample s = sharing(6, 30, 1);
  for (int id = 0; id < 6; ++id) {
    screen.selection.seq = id;
    draw(s);
    check(s);
  }
}

class BlockArrow : public Tables {
 protected:
  std::vector<std::string> arrows() const {
    std::vector<std::string> names;
    for (const Mark& mark : screen.marks.all())
      if (mark.name.starts_with("arrows/")) names.push_back(mark.name);
    return names;
  }
};

TEST_F(BlockArrow, IsOfTheBlockThatIsMeant) {
  const Sample s = sample::padded_decode();
  draw(s);
  EXPECT_TRUE(arrows().empty()) << "nothing is selected";
  screen.selection.seq = s.step->seqs[0].id;
  draw(s);
  const std::vector<std::int32_t>& table = s.step->seqs[0].block_table;
  const int explained = s.step->seqs[0].num_cached_tokens / s.step->config.block_size;
  EXPECT_EQ(arrows(), std::vector{fmt::format("arrows/{}", explained)}) << "the entry below is explained";
  for (std::size_t i = 0; i < table.size(); ++i) {
    screen.selection.block = table[i];
    draw(s);
    ASSERT_EQ(arrows(), std::vector{fmt::format("arrows/{}", i)});
    const auto arrow = screen.marks.get(fmt::format("arrows/{}", i));
    EXPECT_NE(arrow->value.find(fmt::format("block {}", table[i])), std::string::npos) << arrow->value;
    const auto card = screen.marks.get(fmt::format("pool/block/{}", table[i]));
    EXPECT_FLOAT_EQ(arrow->rect.x, card->rect.x);
    ASSERT_FALSE(log.strokes.empty());
    const Rect& tip = log.strokes.back().rect;
    EXPECT_TRUE(card->rect.contains(tip.x + tip.w * 0.5F, tip.y + tip.h * 0.5F) ||
                std::abs(tip.y + tip.h * 0.5F - card->rect.y) < 10.0F ||
                std::abs(tip.y + tip.h * 0.5F - card->rect.bottom()) < 10.0F);
  }
  screen.hover(s.frame, fmt::format("tables/cell/{}/0", s.step->seqs[0].id));
  draw(s);
  EXPECT_EQ(arrows(), std::vector<std::string>{"arrows/0"}) << "the mouse goes first";
  screen.view.maximised = PanelId::pool;  // no table to start from
  draw(s);
  EXPECT_TRUE(arrows().empty());
}

TEST_F(BlockArrow, LeadsToNoBlockThatIsOutOfSight) {
  const Sample s = sharing(6, 12);
  draw(s);
  screen.view.data.pool.zoom = 4;
  int drawn = 0, hidden = 0;
  for (const trace::SeqState& seq : s.step->seqs) {
    screen.selection.seq = seq.id;
    draw(s);
    for (std::size_t i = 0; i < seq.block_table.size(); ++i) {
      const std::string cell = fmt::format("tables/cell/{}/{}", seq.id, i);
      if (!screen.marks.get(cell)) continue;
      screen.hover(s.frame, cell);
      draw(s);
      const std::string id = std::to_string(seq.block_table[i]);
      const bool seen = std::ranges::any_of(log.entries, [&](const TextLog::Entry& entry) {
        return entry.panel == "pool" && entry.text == id && inside(entry.clip, entry.rect);
      });
      EXPECT_EQ(!arrows().empty(), seen) << seq.id << ", block " << id;
      ++(seen ? drawn : hidden);
    }
  }
  EXPECT_GT(drawn, 0);
  EXPECT_GT(hidden, 0);
}

TEST_F(BlockArrow, StrikesNoText) {
  struct Case {
    Sample sample;
    int step_of_seqs;
  };
  const Case cases[] = {{sharing(1, 6), 1},    {sharing(3, 3), 1},       {sharing(6, 8), 1},
                        {sharing(6, 3), 1},    {sharing(8, 4), 1},       {sample::padded_decode(), 1},
                        {sharing(64, 10), 13}, {sharing(64, 64, 16), 21}};
  struct Window {
    float w, h, scale;
  };
  int drawn = 0;
  for (const Window& window : {Window{1600, 900, 1.0F},
                               {1366, 768, 1.25F},
                               {1920, 1080, 1.0F},
                               {1000, 650, 1.0F},
                               {900, 520, 1.0F}}) {
    Headless other(window.w, window.h, window.scale);
    other.view.text_log = &log;
    for (const Case& c : cases) {
      for (int k = 0; k < static_cast<int>(c.sample.step->seqs.size()); k += c.step_of_seqs) {
        const trace::SeqState& seq = c.sample.step->seqs[static_cast<std::size_t>(k)];
        other.selection.seq = seq.id;
        for (std::size_t i = 0; i < seq.block_table.size();
             i += std::max<std::size_t>(1, seq.block_table.size() / 4)) {
          other.selection.block = seq.block_table[i];
          const int pages = layout_screen(layout_input(other.view, c.sample.frame, window.w, window.h)).pages;
          for (other.view.page = 0; other.view.page < pages; ++other.view.page) {
            other.draw(c.sample.frame);
            other.draw(c.sample.frame);
            drawn += log.strokes.empty() ? 0 : 1;
            for (const std::string& fault : faults_of(log))
              EXPECT_FALSE(fault.starts_with("struck"))
                  << fault << " (" << window.w << "x" << window.h << ", " << c.sample.step->seqs.size()
                  << " sequences, " << seq.id << ", entry " << i << ")";
          }
        }
      }
    }
  }
  EXPECT_GT(drawn, 100);
}

}  // namespace
}  // namespace attn::viz
