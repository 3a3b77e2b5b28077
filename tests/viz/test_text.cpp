// No text is cut by an edge and none lies on another, at twelve window sizes, in both modes, in every view.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "headless.h"
#include "sample_frame.h"
#include "viz/layout/screen_layout.h"

namespace attn::viz {
namespace {

using sample::Sample;

constexpr float kTolerance = 1.0F;  // pixels: glyphs keep about that from the edges of their lines

std::string told(const TextLog::Entry& entry) {
  return fmt::format("\"{}\" in {} at {:.0f},{:.0f} {:.0f}x{:.0f}", entry.text, entry.panel, entry.rect.x,
                     entry.rect.y, entry.rect.w, entry.rect.h);
}

/// The part that the eye meets: digits and capitals leave a fifth of their line above and below, and what is
/// scrolled ends at the edge of its list.
Rect ink_of(const TextLog::Entry& entry) {
  const float inset = std::floor(entry.rect.h * 0.15F);
  const Rect ink{entry.rect.x, entry.rect.y + inset, entry.rect.w, entry.rect.h - 2.0F * inset};
  if (!entry.scrolled) return ink;
  const float top = std::max(ink.y, entry.clip.y);
  return {ink.x, top, ink.w, std::max(0.0F, std::min(ink.bottom(), entry.clip.bottom()) - top)};
}

bool cover(const Rect& a, const Rect& b) {
  const float w = std::min(a.right(), b.right()) - std::max(a.x, b.x);
  const float h = std::min(a.bottom(), b.bottom()) - std::max(a.y, b.y);
  return w > kTolerance && h > kTolerance;
}

bool off_screen(const TextLog::Entry& entry) {
  return entry.scrolled && (entry.rect.bottom() <= entry.clip.y + kTolerance ||
                            entry.rect.y >= entry.clip.bottom() - kTolerance);
}

bool cut(const TextLog::Entry& entry) {
  const Rect ink = ink_of(entry);
  const bool sideways = ink.x < entry.clip.x - kTolerance || ink.right() > entry.clip.right() + kTolerance;
  const bool upright = !entry.scrolled &&
                       (ink.y < entry.clip.y - kTolerance || ink.bottom() > entry.clip.bottom() + kTolerance);
  return sideways || upright;
}

/// A number that ends with "…" reads as another number.
bool cut_number(const TextLog::Entry& entry) {
  constexpr std::string_view kDots = "\xE2\x80\xA6";
  if (!entry.shortened || entry.text.size() <= kDots.size()) return false;
  const std::string_view kept(entry.text.data(), entry.text.size() - kDots.size());
  const auto digit = [&](std::size_t from_end) {
    return kept.size() >= from_end && kept[kept.size() - from_end] >= '0' &&
           kept[kept.size() - from_end] <= '9';
  };
  return digit(1) || (kept.ends_with('.') && digit(2));
}

/// What is wrong with the texts of one frame, one line each.
std::vector<std::string> faults_of(const TextLog& log, bool all_drawn = true) {
  std::vector<std::string> out;
  std::map<std::string, std::vector<const TextLog::Entry*>> panels;
  for (const TextLog::Entry& entry : log.entries) {
    if (off_screen(entry) || (entry.left_out && !all_drawn)) continue;
    if (cut(entry)) out.push_back("cut: " + told(entry));
    if (cut_number(entry)) out.push_back("cut number: " + told(entry));
    panels[entry.panel].push_back(&entry);
  }
  for (auto& [panel, entries] : panels) {
    std::sort(entries.begin(), entries.end(),
              [](const auto* a, const auto* b) { return a->rect.y < b->rect.y; });
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const Rect ink = ink_of(*entries[i]);
      for (std::size_t j = i + 1; j < entries.size() && entries[j]->rect.y < ink.bottom(); ++j) {
        if (cover(ink, ink_of(*entries[j])))
          out.push_back("overlap: " + told(*entries[i]) + " and " + told(*entries[j]));
      }
    }
  }
  return out;
}

/// Every size, view and page of a mode; faults that look alike are told once. At large letters in small
/// windows lines without room are left out, at scale 1 nowhere.
void check_everywhere(ScreenMode mode, const Sample& sample, const Selection& selection, float scale = 1.0F) {
  Headless screen(640, 480);
  screen.view.mode = mode;
  screen.view.scale = scale;
  apply_style(screen.view);
  TextLog log;
  screen.view.text_log = &log;
  screen.selection = selection;
  std::set<std::string> told_already;
  for (const WindowSize size : kWindowSizes) {
    screen.resize(size.w, size.h);
    for (int view = 0; view < kNumStageViews; ++view) {
      screen.view.stage = static_cast<StageView>(view);
      screen.view.side = static_cast<SideView>(view % kNumSideViews);
      const int pages = layout_screen(layout_input(screen.view, sample.frame, size.w, size.h)).pages;
      for (screen.view.page = 0; screen.view.page < pages; ++screen.view.page) {
        screen.draw(sample.frame);
        screen.draw(sample.frame);
        EXPECT_FALSE(log.entries.empty());
        for (const std::string& fault : faults_of(log, scale <= 1.0F)) {
          const std::string kind = fault.substr(0, fault.find(" at "));
          if (told_already.insert(kind).second)
            ADD_FAILURE() << fault << " (window " << size.w << "x" << size.h << ", view " << view << ", page "
                          << screen.view.page << ")";
        }
      }
    }
  }
}

class Texts : public testing::TestWithParam<ScreenMode> {};

TEST_P(Texts, OfAPrefillHaveTheirRoom) {
  check_everywhere(GetParam(), sample::compared(sample::prefill()), {.seq = 1, .q_row = 2, .k_col = 3});
}

TEST_P(Texts, OfAPaddedDecodeHaveTheirRoom) {
  check_everywhere(GetParam(), sample::compared(sample::padded_decode()), {.seq = 2, .tile = 1});
}

TEST_P(Texts, OfAMeasuredMachineHaveTheirRoom) {
  check_everywhere(GetParam(), sample::measured(sample::prefill()), {.seq = 1, .q_row = 2, .k_col = 3});
  check_everywhere(GetParam(), sample::measured(sample::padded_decode()), {.seq = 2});
}

TEST_P(Texts, OfDozensOfSequencesHaveTheirRoom) {
  check_everywhere(GetParam(), sample::many(64, 64, 16, trace::StepKind::decode), {.seq = 40, .block = 7});
}

TEST_P(Texts, OfThousandsOfKeysHaveTheirRoom) {
  check_everywhere(GetParam(), sample::many(1, 4096, 16, trace::StepKind::decode), {.tile = 100});
}

TEST_P(Texts, HaveTheirRoomAtEveryLetterSize) {
  for (const float scale : {0.75F, 1.35F, 2.0F, 2.5F}) {
    SCOPED_TRACE(scale);
    check_everywhere(GetParam(), sample::compared(sample::padded_decode()), {.seq = 2, .tile = 1}, scale);
    check_everywhere(GetParam(), sample::measured(sample::prefill()), {.seq = 1, .q_row = 2, .k_col = 3},
                     scale);
    check_everywhere(GetParam(), sample::compared(sample::prefill()), {.seq = 1, .q_row = 2, .k_col = 3},
                     scale);
  }
}

TEST_P(Texts, OfNothingHaveTheirRoom) { check_everywhere(GetParam(), sample::empty(), {}); }

INSTANTIATE_TEST_SUITE_P(Modes, Texts, testing::Values(ScreenMode::explore, ScreenMode::present),
                         [](const auto& mode) {
                           return mode.param == ScreenMode::present ? "present" : "explore";
                         });

// The check itself must be able to fail.
TEST(TextFaults, AreFound) {
  const Rect clip{0, 0, 100, 100};
  const auto entry = [&](Rect rect) { return TextLog::Entry{"panel", "text", rect, clip}; };
  TextLog log;
  log.entries = {entry({10, 10, 30, 15}), entry({10, 30, 30, 15})};
  EXPECT_TRUE(faults_of(log).empty());
  log.entries.push_back(entry({80, 50, 30, 15}));
  EXPECT_EQ(faults_of(log).size(), 1U);
  log.entries.push_back(entry({35, 12, 30, 15}));
  EXPECT_EQ(faults_of(log).size(), 2U);
  log.entries = {{"panel", "0.12\xE2\x80\xA6", {10, 10, 30, 15}, clip, false, true}};
  EXPECT_EQ(faults_of(log).size(), 1U);
}

}  // namespace
}  // namespace attn::viz
