// Lanes of the timeline on the screens it is made for: looks and letters of sequences, flags, legend.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "headless.h"
#include "sample_frame.h"
#include "viz/fonts.h"
#include "viz/layout/screen_layout.h"
#include "viz/layout/timeline_layout.h"
#include "viz/lookup.h"
#include "viz/widgets/paint.h"
#include "viz/widgets/text_log.h"

namespace attn::viz {
namespace {

using sample::Sample;
using trace::StepKind;

/// The screens that everything of the timeline has room on.
struct Nominal {
  ScreenMode mode;
  float w, h;
};
constexpr Nominal kNominal[] = {{ScreenMode::explore, 1600, 900},
                                {ScreenMode::present, 1920, 1080},
                                {ScreenMode::explore, 1280, 720},
                                {ScreenMode::present, 1280, 720}};

TEST(TimelineLanes, LanesAndTheirLegendHaveRoomOnNominalScreens) {
  for (const Nominal& screen : kNominal) {
    const bool present = screen.mode == ScreenMode::present;
    const float scale = present ? kPresentScale : 1.0F;
    const ScreenLayout layout =
        layout_screen({.width = screen.w, .height = screen.h, .scale = scale, .mode = screen.mode});
    const float h = layout[PanelId::timeline].h / scale - 44.0F;  // without its edge and the transport
    for (const bool block : {false, true}) {
      const TimelineStack stack = stack_timeline(h, present, block);
      EXPECT_GT(stack.legend, 0.0F) << screen.w << " block " << block;
      EXPECT_GE(stack.gantt, block ? 20.0F : screen.h >= 900 ? 35.0F : 24.0F) << screen.w;
      EXPECT_LE(
          stack.flags + stack.steps + stack.stages + stack.gantt + stack.block + stack.pool + stack.legend,
          h - TimelineStack::kGap + 0.01F);
    }
  }
  const TimelineStack low = stack_timeline(20.0F, false, true);
  EXPECT_EQ(low.gantt + low.legend + low.pool + low.block, 0.0F);
}

/// All are prefilled and decode; then the last is preempted, waits and is prefilled again.
std::shared_ptr<std::vector<StepSummary>> preempting(int sequences) {
  auto history = std::make_shared<std::vector<StepSummary>>();
  std::vector<int> all, rest;
  for (int id = 0; id < sequences; ++id) all.push_back(id);
  rest.assign(all.begin(), all.end() - 1);
  const int last = sequences - 1;
  for (int i = 0; i < 30; ++i) {
    StepSummary step;
    step.step = i + 1;
    step.kind = i == 0 || i == 10 ? StepKind::prefill : StepKind::decode;
    step.scheduled = i == 10 ? std::vector<int>{last} : i >= 6 && i < 10 ? rest : all;
    if (i >= 6 && i < 10) step.waiting = {last};
    if (i == 6) step.preempted = {last};
    history->push_back(step);
  }
  return history;
}

/// Colours of what is drawn inside a rectangle, one for each vertex.
std::vector<ImU32> colours_in(const Rect& rect) {
  std::vector<ImU32> colours;
  const ImDrawData* data = ImGui::GetDrawData();
  for (int list = 0; list < data->CmdListsCount; ++list) {
    for (const ImDrawVert& v : data->CmdLists[list]->VtxBuffer) {
      if (v.pos.x >= rect.x && v.pos.x <= rect.right() && v.pos.y >= rect.y && v.pos.y <= rect.bottom())
        colours.push_back(v.col);
    }
  }
  return colours;
}

TEST(TimelineLanes, LanesKeepTheirLooksInEveryThemeHoweverLowTheyAre) {
  for (const Nominal& nominal : kNominal) {
    for (int theme = 0; theme < kNumThemes; ++theme) {
      for (const int sequences : {3, 5, 7}) {
        Sample s = sample::padded_decode();
        s.frame.history = preempting(sequences);
        s.frame.num_steps = 30;
        s.frame.index = 20;
        Headless screen(nominal.w, nominal.h);
        screen.view.mode = nominal.mode;
        screen.view.theme = screen.view.present_theme = static_cast<ThemeId>(theme);
        screen.draw(s.frame);
        screen.draw(s.frame);
        const Theme& t = theme_of(static_cast<ThemeId>(theme));
        const auto told = fmt::format("{} sequences at {}, theme {}", sequences, nominal.w, t.name);
        const auto lane = screen.marks.get(fmt::format("timeline/seq/{}", sequences - 1));
        ASSERT_TRUE(lane) << told;
        const auto in_steps = [&](int first, int last) {
          const Rect from = screen.marks.get(fmt::format("timeline/step/{}", first))->rect;
          const Rect to = screen.marks.get(fmt::format("timeline/step/{}", last))->rect;
          return colours_in({from.x + 1.0F, lane->rect.y, to.right() - from.x - 2.0F, lane->rect.h});
        };
        const Rgb hue = t.hue[static_cast<std::size_t>((sequences - 1) % kNumHues)];
        const auto count = [](const std::vector<ImU32>& colours, Rgb color) {
          return std::ranges::count(colours, rgba(color));
        };
        EXPECT_GE(count(in_steps(1, 5), t[Color::panel]), 16) << told << ": dashes";
        EXPECT_GE(count(in_steps(6, 6), t[Color::error]), 8) << told << ": hatched or barred";
        const auto waiting = in_steps(7, 9);
        EXPECT_GE(count(waiting, hue), 2) << told << ": hollow or dotted, in its hue";
        EXPECT_EQ(count(waiting, t[Color::muted]), 0) << told;
        for (const ImU32 colour : in_steps(1, 9)) {
          const auto alpha = colour >> IM_COL32_A_SHIFT;
          EXPECT_TRUE(alpha == 0 || alpha == 255) << told << ": pale colours lose their contrast";
        }
        EXPECT_GE(contrast(t[Color::error], t[Color::panel]), 3.0);
        EXPECT_GE(contrast(hue, t[Color::panel]), 3.0);
      }
    }
  }
}

struct Written {
  TextLog log;
  /// What of the timeline stands in a rectangle, from left to right.
  std::vector<std::string> in(const Rect& rect) const {
    std::vector<std::pair<float, std::string>> found;
    for (const TextLog::Entry& entry : log.entries) {
      const float x = entry.rect.x + entry.rect.w * 0.5F, y = entry.rect.y + entry.rect.h * 0.5F;
      if (entry.panel == "timeline" && !entry.shortened && !entry.left_out && x >= rect.x &&
          x < rect.right() && y >= rect.y && y < rect.bottom())
        found.emplace_back(x, entry.text);
    }
    std::ranges::sort(found);
    std::vector<std::string> texts;
    for (auto& [x, text] : found) texts.push_back(text);
    return texts;
  }
};

TEST(TimelineLanes, LettersStandAtTheirLanesAndTheSelectedOneIsNamed) {
  for (const Nominal& nominal : kNominal) {
    for (const int sequences : {3, 5, 7, 12}) {
      Sample s = sample::padded_decode();
      s.frame.history = preempting(sequences);
      s.frame.num_steps = 30;
      Headless screen(nominal.w, nominal.h);
      screen.view.mode = nominal.mode;
      screen.selection.seq = 2;
      Written written;
      screen.draw(s.frame);
      screen.view.text_log = &written.log;
      screen.draw(s.frame);
      for (int id = 0; id < sequences; ++id) {
        const bool few = sequences <= (nominal.h >= 900 ? 7 : 3);
        if (!few && id != screen.selection.seq) continue;
        const auto lane = screen.marks.get(fmt::format("timeline/seq/{}", id));
        ASSERT_TRUE(lane) << id;
        const float middle = lane->rect.y + lane->rect.h * 0.5F;
        std::vector<std::string> beside = written.in({0.0F, middle - 3.0F, lane->rect.x, 6.0F});
        if (const auto crowd = screen.marks.get("timeline/crowd"))
          beside = written.in({0.0F, crowd->rect.y, lane->rect.x, lane->rect.bottom() - crowd->rect.y});
        EXPECT_TRUE(std::ranges::any_of(beside,
                                        [&](const std::string& text) {
                                          return text == seq_letter(id) ||
                                                 text == fmt::format("{} of {}", seq_letter(id), sequences);
                                        }))
            << seq_letter(id) << " of " << sequences << " at " << nominal.w << "x" << nominal.h;
      }
    }
  }
}

/// `steps` steps, the given one with events.
std::shared_ptr<std::vector<StepSummary>> eventful(int steps, int at, std::vector<trace::EventKind> events) {
  auto history = std::make_shared<std::vector<StepSummary>>();
  for (int i = 0; i < steps; ++i) {
    StepSummary step;
    step.step = i + 1;
    step.kind = StepKind::decode;
    step.scheduled = {0};
    if (i == at) step.events = events;
    history->push_back(step);
  }
  return history;
}

TEST(TimelineLanes, FlagsThatHaveNoRoomLeaveASign) {
  using enum trace::EventKind;
  const std::vector<trace::EventKind> events = {preempt, evict, free, hash, allocate};
  for (const Nominal& nominal : kNominal) {
    for (const int steps : {10, 36, 200}) {
      Sample s = sample::padded_decode();
      s.frame.history = eventful(steps, 6, events);
      s.frame.num_steps = steps;
      Headless screen(nominal.w, nominal.h);
      screen.view.mode = nominal.mode;
      Written written;
      screen.draw(s.frame);
      screen.view.text_log = &written.log;
      screen.draw(s.frame);
      const Rect step = screen.marks.get("timeline/step/6")->rect;
      const float line = font_pixels(FontRole::mono_small);
      const std::vector<std::string> flags = written.in({step.x, step.y, std::max(step.w, line), line});
      ASSERT_FALSE(flags.empty());
      const Rect panel = screen.marks.get("timeline")->rect;
      const std::vector<std::string> legend =
          written.in({panel.x, panel.bottom() - 24.0F * kPresentScale, panel.w, 24.0F * kPresentScale});
      const bool more = std::ranges::find(legend, "more") != legend.end();
      const auto told = fmt::format("{} steps at {}: {}", steps, nominal.w, fmt::join(flags, " "));
      EXPECT_EQ(more, flags.size() < events.size() || flags.back() == "\xE2\x80\xA6") << told;
      if (step.w > 2.5F * line) {
        EXPECT_TRUE(flags.size() == events.size() || flags.back() == "\xE2\x80\xA6") << told;
      }
    }
  }
}

TEST(TimelineLanes, TheLegendIsWholeForTheEventsThatOccur) {
  using enum trace::EventKind;
  const std::vector<trace::EventKind> events = {poison, reject, preempt, evict, prefix_hit, share,
                                                finish, free,   admit,   hash,  allocate};
  const std::vector<std::vector<std::string>> words = {
      {"NaN read", "NaN"}, {"reject"}, {"preempt"}, {"evict"}, {"prefix hit", "hit"}, {"share"},
      {"finish"},          {"free"},   {"admit"},   {"hash"},  {"allocate", "alloc"}};
  for (const Nominal& nominal : kNominal) {
    for (const std::size_t kinds : {std::size_t{4}, events.size()}) {
      Sample s = sample::padded_decode();
      s.frame.history =
          eventful(60, 3, {events.begin(), events.begin() + static_cast<std::ptrdiff_t>(kinds)});
      s.frame.num_steps = 60;
      Headless screen(nominal.w, nominal.h);
      screen.view.mode = nominal.mode;
      Written written;
      screen.draw(s.frame);
      screen.view.text_log = &written.log;
      screen.draw(s.frame);
      const Rect panel = screen.marks.get("timeline")->rect;
      const std::vector<std::string> legend = written.in(panel);
      for (std::size_t i = 0; i < events.size(); ++i) {
        const bool said = std::ranges::any_of(words[i], [&](const std::string& word) {
          return std::ranges::find(legend, word) != legend.end();
        });
        EXPECT_EQ(said, i < kinds) << words[i][0] << " at " << nominal.w << "x" << nominal.h;
      }
    }
  }
}

}  // namespace
}  // namespace attn::viz
