// What cards and squares of the block pool say in the room they have: ref_count, hash, tokens, and the
// legend.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "headless.h"
#include "sample_frame.h"
#include "text_faults.h"
#include "viz/fonts.h"
#include "viz/widgets/text_log.h"

namespace attn::viz {
namespace {

using sample::Sample;

/// A pool of so many blocks of which 5 and 2 are shared by two sequences.
Sample shared_pool(int blocks) {
  return sample::make({.path = trace::AttentionPath::prefill_paged,
                       .num_blocks = blocks,
                       .seqs = {{1, 12, 12, 8, 4, {5, 2, 11}}, {0, 10, 11, 10, 0, {5, 2, 9}}}});
}

/// Squares at hand: none of their cards has slots, and they are as high as they are wide.
bool squares(const Headless& screen) {
  const auto block = screen.marks.get("pool/block/0");
  return block && !screen.marks.get("pool/slot/0") && block->rect.w == block->rect.h;
}

bool apart(const Rect& a, const Rect& b) {
  return a.right() <= b.x || b.right() <= a.x || a.bottom() <= b.y || b.bottom() <= a.y;
}

/// Whether the log has a number in the square, and it is that one.
bool says(const TextLog& log, const Rect& square, const std::string& number) {
  for (const TextLog::Entry& entry : log.entries) {
    const float middle = entry.rect.y + entry.rect.h * 0.5F;
    if (entry.panel == "pool" && entry.rect.x >= square.x && entry.rect.right() <= square.right() &&
        middle > square.y && middle < square.bottom())
      return entry.text == number || entry.text == "\xC3\x97" + number;
  }
  return false;
}

TEST(PoolRoom, ASquareWithRoomForADigitSaysHowManyShareIt) {
  int written = 0, too_small = 0;
  for (const WindowSize size : {WindowSize{1000, 640}, {1600, 900}, {1920, 1080}}) {
    for (const ScreenMode mode : {ScreenMode::explore, ScreenMode::present}) {
      Headless screen(size.w, size.h);
      screen.view.mode = mode;
      TextLog log;
      screen.view.text_log = &log;
      for (const int blocks : {60, 90, 120, 200, 350, 500, 1500}) {
        Sample s = shared_pool(blocks);
        auto changes = std::make_shared<trace::StepDiff>();
        changes->blocks = {5};
        s.frame.changes = changes;
        screen.draw(s.frame);
        screen.draw(s.frame);
        if (!squares(screen)) continue;
        const Rect square = screen.marks.get("pool/block/5")->rect;
        const auto badge = screen.marks.get("pool/badge/5");
        const bool room = square.w >= std::round(12.0F * screen_scale(screen.view));
        ASSERT_EQ(badge.has_value(), room) << blocks << " blocks at " << size.w << ": " << square.w << " px";
        ++(room ? written : too_small);
        if (!badge) continue;
        EXPECT_TRUE(inside(square, badge->rect));
        EXPECT_TRUE(says(log, square, "2")) << blocks << " blocks at " << size.w;
        const auto changed = screen.marks.get("pool/changed/5");
        ASSERT_TRUE(changed);
        EXPECT_TRUE(apart(changed->rect, badge->rect)) << "it hides no digit";
      }
    }
  }
  EXPECT_GE(written, 6);
  EXPECT_GE(too_small, 6);
}

/// Letters that are higher than their slots would run into the border of the card.
TEST(PoolRoom, TokensStandOnlyInSlotsAsHighAsTheirLetters) {
  int with_tokens = 0, too_low = 0;
  for (const ScreenMode mode : {ScreenMode::explore, ScreenMode::present}) {
    for (const WindowSize size : {WindowSize{1600, 900}, {1920, 1080}}) {
      Headless screen(size.w, size.h);
      screen.view.mode = mode;
      TextLog log;
      screen.view.text_log = &log;
      for (const int blocks : {16, 20, 24, 28, 32, 36, 40, 48, 54, 60, 70}) {
        const Sample s = shared_pool(blocks);
        screen.draw(s.frame);
        screen.draw(s.frame);
        const auto slot = screen.marks.get("pool/slot/20");
        if (!slot) continue;
        const float line = font_pixels(FontRole::mono_small), middle = slot->rect.y + slot->rect.h * 0.5F;
        const bool token = std::any_of(log.entries.begin(), log.entries.end(), [&](const auto& entry) {
          return entry.panel == "pool" && entry.rect.x >= slot->rect.x - 1.0F &&
                 entry.rect.right() <= slot->rect.right() + 1.0F && entry.rect.y < middle &&
                 entry.rect.bottom() > middle;
        });
        ++(token ? with_tokens : too_low);
        EXPECT_TRUE(!token || slot->rect.h >= 0.55F * line) << blocks << " blocks at " << size.w;
      }
    }
  }
  EXPECT_GE(with_tokens, 4);
  EXPECT_GE(too_low, 1);
}

/// Four digits of it on cards with slots and on all but the lowest without, clear of badge, glyph and slots;
/// the hover card has the rest.
TEST(PoolRoom, ACardShowsTheHashOfItsBlock) {
  int with_slots = 0, with_bar = 0;
  for (const WindowSize size : {WindowSize{1280, 720}, {1600, 900}, {1920, 1080}, {2560, 1440}}) {
    for (const ScreenMode mode : {ScreenMode::explore, ScreenMode::present}) {
      Headless screen(size.w, size.h);
      screen.view.mode = mode;
      TextLog log;
      screen.view.text_log = &log;
      for (const int blocks : {16, 24, 30, 40, 48, 60, 90}) {
        SCOPED_TRACE(fmt::format("{} blocks at {}", blocks, size.w));
        const Sample s = shared_pool(blocks);
        screen.draw(s.frame);
        screen.draw(s.frame);
        const auto first = screen.marks.get("pool/block/5");
        ASSERT_TRUE(first);
        const bool slots = screen.marks.get("pool/slot/20").has_value();
        if (squares(screen)) continue;
        // Letters for a projector may be too large for the same cards.
        const float scale = screen_scale(screen.view);
        const bool must = mode == ScreenMode::explore && (slots || first->rect.h >= 32.0F * scale);
        if (must) ++(slots ? with_slots : with_bar);
        for (const int block : {5, 2, 11, 1}) {  // shared, shared, in use, cached but free
          const auto card = screen.marks.get(fmt::format("pool/block/{}", block));
          const auto hash = screen.marks.get(fmt::format("pool/hash/{}", block));
          ASSERT_TRUE(hash || !must) << block << ", card " << card->rect.w << " x " << card->rect.h;
          if (!hash) continue;
          EXPECT_TRUE(inside(card->rect, hash->rect)) << block;
          const std::string all =
              fmt::format("{:016x}", *s.step->blocks[static_cast<std::size_t>(block)].hash);
          EXPECT_TRUE(says(log, hash->rect, all.substr(0, 4))) << block;
          EXPECT_NE(card->value.find("hash " + all), std::string::npos) << card->value;
          for (const char* other : {"badge", "read"}) {
            const auto mark = screen.marks.get(fmt::format("pool/{}/{}", other, block));
            EXPECT_TRUE(!mark || apart(mark->rect, hash->rect)) << other << " of " << block;
          }
          const auto slot = screen.marks.get(fmt::format("pool/slot/{}", block * 4));
          EXPECT_TRUE(!slot || hash->rect.bottom() <= slot->rect.y + 1.0F) << block;
        }
        for (const std::string& fault : faults_of(log)) {
          if (fault.find(" in pool") != std::string::npos) ADD_FAILURE() << fault;
        }
      }
    }
  }
  EXPECT_GE(with_slots, 6);
  EXPECT_GE(with_bar, 6);
}

/// The legend of squares is whole, inside the panel and below them.
void expect_square_legend(const Headless& screen) {
  const Rect panel = screen.marks.get("pool")->rect;
  for (const char* item : {"free", "cached-free", "in use", "shared", "changed"}) {
    const auto entry = screen.marks.get(std::string("pool/legend/") + item);
    ASSERT_TRUE(entry) << item;
    EXPECT_TRUE(inside(panel, entry->rect)) << item;
    EXPECT_LE(screen.marks.get("pool/block/0")->rect.bottom(), entry->rect.y);
  }
}

TEST(PoolRoom, SquaresAlwaysHaveTheirLegend) {
  int seen = 0;
  for (const float scale : {1.0F, 2.0F}) {
    for (const WindowSize size : kWindowSizes) {
      for (const ScreenMode mode : {ScreenMode::explore, ScreenMode::present}) {
        Headless screen(size.w, size.h, scale);
        screen.view.mode = mode;
        for (const int blocks : {200, 400, 1000, 4000}) {
          SCOPED_TRACE(fmt::format("{} blocks at {}x{}, scale {}", blocks, size.w, size.h, scale));
          const Sample s = shared_pool(blocks);
          screen.draw(s.frame);
          screen.draw(s.frame);
          if (!squares(screen)) continue;
          ++seen;
          expect_square_legend(screen);
        }
      }
    }
  }
  EXPECT_GE(seen, 60);
}

/// However low the panel: in one line, with fewer words before it is left out.
TEST(PoolRoom, ALowAndNarrowPanelShortensTheWordsOfTheLegend) {
  const Sample s = shared_pool(400);
  Headless screen(1366, 768);
  TextLog log;
  screen.view.text_log = &log;
  const auto words = [&](const char* text) {
    return std::any_of(log.entries.begin(), log.entries.end(),
                       [&](const auto& entry) { return entry.panel == "pool" && entry.text == text; });
  };
  screen.draw(s.frame);
  screen.draw(s.frame);
  EXPECT_TRUE(words("cached-free"));
  screen.view.splits.right = 0.01F;  // as narrow and low as it can be dragged
  screen.view.splits.side = 0.99F;
  screen.draw(s.frame);
  screen.draw(s.frame);
  ASSERT_TRUE(squares(screen));
  expect_square_legend(screen);
  EXPECT_FALSE(words("cached-free")) << screen.marks.get("pool")->rect.w;
  EXPECT_TRUE(words("cached"));
  const float y = screen.marks.get("pool/legend/free")->rect.y;
  EXPECT_FLOAT_EQ(screen.marks.get("pool/legend/changed")->rect.y, y) << "one line";
}

}  // namespace
}  // namespace attn::viz
