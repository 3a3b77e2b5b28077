// Letters of every size in windows of every size: what a view has to say is said on one of its pages, seen at
// once or scrolled, and no text of it is cut.
#include <gtest/gtest.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include "headless.h"
#include "sample_frame.h"
#include "text_faults.h"
#include "viz/layout/screen_layout.h"

namespace attn::viz {
namespace {

using sample::Sample;

constexpr WindowSize kSizes[] = {{1024, 640},  {1280, 720},  {1600, 900},
                                 {1920, 1080}, {2560, 1440}, {3840, 2160}};
constexpr float kAskedScales[] = {0.75F, 1.0F, 1.35F, 1.6F, 2.0F, 2.5F};

using Names = std::vector<std::string>;

const Names kAlways = {"header/kind",   "header/step",   "header/help",    "header/present",
                       "timeline/play", "timeline/rail", "timeline/step/1"};
const Names kExplore = {"header/layer",    "header/head",    "status/check",
                        "requests/prompt", "requests/seq/0", "side/tab/code"};
const Names kMemory = {"pool/block/0", "pool/sum", "free/0", "tables/slot", "strip/true_memory"};
const Names kMask = {"mask/allowed", "mask/rule", "mask/align/bottom_right", "mask/align/top_left",
                     "mask/align/none"};
const Names kNumbers = {"numbers/row_sum", "numbers/m",   "numbers/l",
                        "numbers/lse",     "numbers/err", "numbers/bytes"};
const Names kMatrix = {"weights/colors",   "weights/scale",  "weights/palette",
                       "weights/cell/0,0", "weights/head/0", "weights/row_sum/0"};
const Names kStrip = {"weights/key/0", "weights/pads", "weights/mass/0", "weights/mass/1", "weights/mass/2"};
const Names kTiles = {"tiles/prev",    "tiles/cursor",  "tiles/next",    "tiles/rescale",
                      "tiles/k_tile",  "tiles/size/0",  "tiles/gauge/m", "tiles/gauge/alpha",
                      "tiles/gauge/l", "tiles/gauge/o", "tiles/row/0",   "tiles/invariant"};
const Names kHeads = {"heads/verdict", "heads/head/0", "heads/head/7", "heads/bytes/grouped",
                      "heads/bytes/repeated"};
const Names kCompare = {"compare/a/pick",          "compare/b/pick",    "compare/diff/text",
                        "compare/diff/colors",     "compare/cost/rows", "compare/cost/bytes/ratio",
                        "compare/cost/flop/ratio", "compare/cost/time"};
const Names kRoofline = {"roofline/level/3", "roofline/bench/3", "roofline/roof/memory"};

Names all_of(std::initializer_list<const Names*> lists) {
  Names out;
  for (const Names* list : lists) out.insert(out.end(), list->begin(), list->end());
  return out;
}

Names needed(ScreenMode mode, StageView view, bool prefill, bool lesson) {
  const Names caption = {lesson ? "lesson/caption" : "caption/step"};
  Names out = all_of({&kAlways, mode == ScreenMode::present ? &caption : &kExplore});
  if (lesson) out.insert(out.end(), {"lesson/caption", "lesson/stop", "lesson/next"});
  const auto add = [&](std::initializer_list<const Names*> lists) {
    const Names more = all_of(lists);
    out.insert(out.end(), more.begin(), more.end());
  };
  switch (view) {
    case StageView::weights:
      add({&kMemory, &kMask, &kNumbers, prefill ? &kMatrix : &kStrip});
      break;
    case StageView::tiles:
      add({&kTiles});
      break;
    case StageView::heads:
      add({&kHeads});
      break;
    case StageView::compare:
      add({&kCompare});
      break;
    case StageView::roofline:
      add({&kRoofline});
      break;
  }
  return out;
}

/// Every page of a view, from the top and scrolled to the end: which of the marks are never seen, and what is
/// wrong with texts.
struct Seen {
  std::set<std::string> missing;
  std::set<std::string> faults;
};

void look(const Headless& screen, const TextLog& log, Seen& seen) {
  for (auto it = seen.missing.begin(); it != seen.missing.end();)
    it = screen.marks.get(*it) ? seen.missing.erase(it) : std::next(it);
  for (const std::string& fault : faults_of(log)) seen.faults.insert(fault);
  for (const TextLog::Entry& entry : log.entries)
    if (entry.text.find("too small") != std::string::npos) seen.faults.insert(entry.text);
}

void scroll_to(float share, bool lists_too) {
  for (ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
    if ((window->Flags & ImGuiWindowFlags_ChildWindow) == 0 || !window->WasActive) continue;
    const bool inner = window->ParentWindow != nullptr && window->ParentWindow->ScrollMax.y > 0.0F;
    window->Scroll.y = inner && !lists_too ? 0.0F : std::floor(window->ScrollMax.y * share);
  }
}

/// Goes down through everything that scrolls on all pages, in so many steps.
void look_down(Headless& screen, const Sample& sample, const TextLog& log, int steps, Seen& seen) {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const int pages = layout_screen(layout_input(screen.view, sample.frame, size.x, size.y)).pages;
  for (screen.view.page = 0; screen.view.page < pages; ++screen.view.page) {
    screen.draw(sample.frame);
    screen.draw(sample.frame);
    // A list inside a part that scrolls stands at its beginning, and then goes with it.
    for (const bool lists_too : {false, true}) {
      const int parts = lists_too ? steps / 2 : steps;
      for (int part = 0; part <= parts; ++part) {
        scroll_to(static_cast<float>(part) / static_cast<float>(parts), lists_too);
        screen.draw(sample.frame);
        look(screen, log, seen);
      }
    }
  }
}

Seen look_everywhere(Headless& screen, const Sample& sample, StageView view, const Names& names) {
  Seen seen;
  seen.missing.insert(names.begin(), names.end());
  TextLog log;
  screen.view.text_log = &log;
  screen.view.stage = view;
  screen.view.side = static_cast<SideView>(static_cast<int>(view) % kNumSideViews);
  look_down(screen, sample, log, 10, seen);
  // A row that a fold hides at one step may be seen between two of them where the part is low.
  for (int steps = 30; !seen.missing.empty() && steps <= 120; steps *= 2)
    look_down(screen, sample, log, steps, seen);
  screen.view.text_log = nullptr;
  return seen;
}

std::string list_of(const std::set<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += "\n  " + name;
  return out;
}

class Scales : public testing::TestWithParam<ScreenMode> {
 protected:
  void check(const Sample& sample, const Selection& selection, bool prefill) {
    Headless screen(1024, 640);
    screen.view.mode = GetParam();
    screen.selection = selection;
    std::set<std::string> told;
    for (const float scale : kAskedScales) {
      screen.view.scale = scale;
      for (const auto& [w, h] : kSizes) {
        screen.resize(w, h);
        for (int v = 0; v < kNumStageViews; ++v) {
          const auto view = static_cast<StageView>(v);
          const Seen seen = look_everywhere(
              screen, sample, view, needed(GetParam(), view, prefill, sample.frame.lesson.has_value()));
          EXPECT_TRUE(seen.missing.empty())
              << w << "x" << h << " at " << scale << ", view " << v << ":" << list_of(seen.missing);
          for (const std::string& fault : seen.faults)
            if (told.insert(fault.substr(0, fault.find(" at "))).second)
              ADD_FAILURE() << w << "x" << h << " at " << scale << ", view " << v << ": " << fault;
        }
      }
    }
  }
};

TEST_P(Scales, EveryPartOfAPrefillIsSomewhere) {
  check(sample::measured(sample::compared(sample::prefill())), {.seq = 1, .q_row = 2, .k_col = 3}, true);
}

TEST_P(Scales, EveryPartOfADecodeIsSomewhere) {
  check(sample::measured(sample::compared(sample::padded_decode())), {.seq = 2}, false);
}

TEST_P(Scales, ABannerCostsNoPart) {
  Sample sample = sample::measured(sample::compared(sample::padded_decode()));
  sample.frame.broken =
      Broken{.titles = {"Padding is attended"}, .max_abs_diff_o = 0.5, .first_wrong_step = 3, .note = ""};
  check(sample, {.seq = 2}, false);
}

TEST_P(Scales, ALessonIsToldAndCostsNoPart) {
  Sample sample = sample::measured(sample::compared(sample::prefill()));
  LessonNow lesson;
  lesson.title = "Slots, blocks, tables";
  lesson.stop = 1;
  lesson.num_stops = 4;
  lesson.name = "where it lands";
  lesson.caption = "A's fifth token opens a new block, and its slot follows from the table.";
  lesson.task = ExerciseNow{.text = "Select block 3."};
  lesson.break_it = ExerciseNow{.text = "Forget one store."};
  lesson.rings = {"pool/block/3"};
  lesson.where = "03-slots.json:12";
  lesson.ready = true;
  sample.frame.lesson = lesson;
  check(sample, {.seq = 1, .q_row = 2, .k_col = 3}, true);
}

INSTANTIATE_TEST_SUITE_P(Modes, Scales, testing::Values(ScreenMode::explore, ScreenMode::present),
                         [](const auto& mode) {
                           return mode.param == ScreenMode::present ? "present" : "explore";
                         });

// Notch by notch the wheel shows every part: it stops where the upper edge cuts nothing, and skips nothing.
TEST(ScrollingWindow, ComesToRestBetweenBoxesAndPassesNone) {
  const Sample sample = sample::measured(sample::compared(sample::padded_decode()));
  for (const StageView view : {StageView::tiles, StageView::heads, StageView::weights}) {
    Headless screen(1024, 640, 2.0F);
    screen.view.mode = ScreenMode::present;
    screen.view.stage = view;
    screen.selection.seq = 2;
    screen.resize(1024, 640);
    TextLog log;
    screen.view.text_log = &log;
    screen.draw(sample.frame);
    screen.draw(sample.frame);
    const Names own = view == StageView::tiles ? kTiles : view == StageView::heads ? kHeads : kStrip;
    Seen seen;
    seen.missing.insert(own.begin(), own.end());
    seen.missing.erase("tiles/row/0");  // the table has a bar of its own, and stands at the current tile
    const Rect panel = screen.marks.find(own[0].substr(0, own[0].find('/')))->rect;
    ImGuiIO& io = ImGui::GetIO();
    io.MousePos = {panel.x + 30.0F, panel.bottom() - 60.0F};
    for (int notch = 0; notch < 12; ++notch) {
      look(screen, log, seen);
      io.MouseWheel = -1.0F;
      screen.draw(sample.frame);
      io.MouseWheel = 0.0F;
      screen.draw(sample.frame);
      screen.draw(sample.frame);
    }
    EXPECT_TRUE(seen.missing.empty()) << "view " << static_cast<int>(view) << list_of(seen.missing);
    EXPECT_TRUE(seen.faults.empty()) << list_of(seen.faults);
  }
}

TEST(FittingScale, IsWhatAWindowHasRoomForAndIsSaidInWords) {
  EXPECT_FLOAT_EQ(fitting_scale(ScreenMode::explore, 1024, 640), 1.6F);
  EXPECT_GE(fitting_scale(ScreenMode::explore, 1920, 1080), 2.5F);
  EXPECT_GE(fitting_scale(ScreenMode::present, 2560, 1440), 2.5F * kPresentScale);
  EXPECT_GT(fitting_scale(ScreenMode::present, 1024, 640), kPresentScale) << "scale 1 fits everywhere";
  const Sample s = sample::prefill();
  Headless screen(1024, 640, 2.5F);
  screen.draw(s.frame);
  EXPECT_FLOAT_EQ(screen_scale(screen.view), 1.6F);
  EXPECT_EQ(value_of(screen, "status/scale"), "Scale 2.5: 1.6 fits this window");
  TextLog log;
  screen.view.text_log = &log;
  screen.draw(s.frame);
  screen.view.text_log = nullptr;
  EXPECT_TRUE(std::ranges::any_of(log.entries, [](const TextLog::Entry& entry) {
    return entry.text == "1.6 fits" || entry.text == "Scale 2.5: 1.6 fits this window";
  })) << "cut";
  screen.type(s.frame, "+");
  EXPECT_FLOAT_EQ(screen.view.scale, 2.5F) << "no more is asked for";
  screen.type(s.frame, "-");
  EXPECT_LT(screen.view.scale, 1.6F) << "smaller begins with what is seen";
  screen.draw(s.frame);
  EXPECT_FALSE(screen.marks.get("status/scale"));
  EXPECT_EQ(scale_note(screen.view), "");
  screen.view.scale = 2.5F;
  screen.resize(2560, 1440);
  EXPECT_FLOAT_EQ(screen_scale(screen.view), 2.5F);
  screen.view.mode = ScreenMode::present;
  screen.resize(1024, 640);
  screen.draw(s.frame);
  EXPECT_EQ(value_of(screen, "scale_note"), scale_note(screen.view));
  EXPECT_TRUE(scale_note(screen.view).starts_with("Scale 2.5: 1.")) << scale_note(screen.view);
  screen.view.scale = 1.0F;
  screen.resize(1024, 640);
  screen.draw(s.frame);
  EXPECT_FALSE(screen.marks.get("scale_note"));
}

}  // namespace
}  // namespace attn::viz
