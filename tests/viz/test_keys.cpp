// Every key of the table does something, does it through the real input path, and no two keys collide.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>

#include "commands_sent.h"
#include "headless.h"
#include "sample_frame.h"
#include "viz/keys.h"

namespace attn::viz {
namespace {

using sample::Sample;

TEST(Keys, NamedKeysBecomeCommands) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  for (const auto& [key, kind] : {std::pair{ImGuiKey_Space, Command::Kind::toggle_play},
                                  {ImGuiKey_LeftArrow, Command::Kind::step_back},
                                  {ImGuiKey_RightArrow, Command::Kind::step_forward},
                                  {ImGuiKey_Home, Command::Kind::first},
                                  {ImGuiKey_End, Command::Kind::last}}) {
    screen.press(s.frame, key);
    ASSERT_EQ(screen.commands.size(), 1U) << key;
    EXPECT_EQ(screen.commands[0].kind, kind) << key;
  }
}

TEST(Keys, ArrowsMoveAtTheGrainAndShiftArrowsByEngineSteps) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.press(s.frame, ImGuiKey_DownArrow);
  EXPECT_EQ(screen.view.grain, trace::Grain::stage);
  screen.press(s.frame, ImGuiKey_LeftArrow);
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].kind, Command::Kind::move);
  EXPECT_EQ(screen.commands[0].a, -1);
  EXPECT_EQ(screen.commands[0].grain, trace::Grain::stage);
  screen.chord(s.frame, {.key = keys::kRight, .shift = true});
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].kind, Command::Kind::step_forward);
  screen.chord(s.frame, {.key = keys::kRight, .ctrl = true});
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].kind, Command::Kind::next_event);
  screen.chord(s.frame, {.key = keys::kF11});
  EXPECT_EQ(screen.view.grain, trace::Grain::head);
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].a, 1);
  screen.chord(s.frame, {.key = keys::kF11, .shift = true});
  EXPECT_EQ(screen.view.grain, trace::Grain::stage);
  for (int i = 0; i < 8; ++i) screen.press(s.frame, ImGuiKey_UpArrow);
  EXPECT_EQ(screen.view.grain, trace::Grain::step);
  for (int i = 0; i < 8; ++i) screen.press(s.frame, ImGuiKey_DownArrow);
  EXPECT_EQ(screen.view.grain, trace::Grain::cell);
}

TEST(Keys, LayerHeadAndSequence) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.chord(s.frame, {.key = keys::kDown, .ctrl = true});
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].selection.layer, 1);
  screen.chord(s.frame, {.key = keys::kUp, .ctrl = true});  // already at layer 0
  EXPECT_TRUE(screen.commands.empty());
  screen.type(s.frame, "h");
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].selection.head, 1);
  screen.selection.head = 7;
  screen.type(s.frame, "h");  // already at the last head
  EXPECT_TRUE(screen.commands.empty());
  screen.type(s.frame, "H");
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].selection.head, 6);
  screen.type(s.frame, "3");
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].selection.seq, 2);
  screen.type(s.frame, "6");  // there is no sixth
  EXPECT_TRUE(screen.commands.empty());
}

TEST(Keys, CommaAndPeriodMoveByTheSmallestPlace) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.view.grain = trace::Grain::stage;
  for (const auto& [typed, by] : {std::pair{".", 1}, {",", -1}}) {
    screen.type(s.frame, typed);
    ASSERT_EQ(screen.commands.size(), 1U);
    EXPECT_EQ(screen.commands[0].kind, Command::Kind::move);
    EXPECT_EQ(screen.commands[0].grain, trace::Grain::cell);
    EXPECT_EQ(screen.commands[0].a, by);
  }
  Commands commands;  // the menu still steps by stages
  run_key(KeyAction::stage_forward, 0, s.frame, {.stage = trace::Stage::attention}, screen.view, commands);
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(commands[0].selection.stage, trace::Stage::lm_head) << "out_mlp does not occur in this record";
}

TEST(Keys, ControlZeroIsTheTenthBookmarkOnceThereIsOne) {
  Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.view.scale = 1.21F;
  screen.chord(s.frame, {.key = '0', .ctrl = true});
  EXPECT_FLOAT_EQ(screen.view.scale, 1.0F);
  s.frame.bookmarks.resize(10);
  screen.view.scale = 1.21F;
  screen.chord(s.frame, {.key = '0', .ctrl = true});
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].kind, Command::Kind::go_to_bookmark);
  EXPECT_EQ(screen.commands[0].a, 9);
  EXPECT_FLOAT_EQ(screen.view.scale, 1.21F);
}

TEST(Keys, ZGivesTheLowerRightTheWindowAndSGoesThroughItsViews) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.view.side = SideView::code;
  screen.type(s.frame, "z");
  EXPECT_EQ(screen.view.maximised, PanelId::code);
  screen.type(s.frame, "s");
  EXPECT_EQ(screen.view.maximised, PanelId::stages);
  screen.draw(s.frame);
  ASSERT_TRUE(screen.marks.get("stages"));
  EXPECT_GT(screen.marks.get("stages")->rect.w, 1500.0F);
  screen.click(s.frame, "side/tab/costs");
  EXPECT_EQ(screen.view.maximised, PanelId::costs);
  screen.click(s.frame, "side/tab/action");
  EXPECT_EQ(screen.view.maximised, PanelId::count_);
}

TEST(Keys, ViewKeysChangeTheView) {
  const Sample s = sample::prefill();
  Headless screen(1920, 1080);
  screen.type(s.frame, "t");
  EXPECT_EQ(screen.view.theme, ThemeId::light);
  screen.type(s.frame, "L");
  EXPECT_EQ(screen.view.weight_scale, WeightScale::log10);
  for (int i = 0; i < 30; ++i) screen.type(s.frame, "+");
  EXPECT_FLOAT_EQ(screen.view.scale, 2.5F);
  for (int i = 0; i < 60; ++i) screen.chord(s.frame, {.key = keys::kMinus, .ctrl = true});
  EXPECT_FLOAT_EQ(screen.view.scale, 0.75F);
  screen.type(s.frame, "0");
  EXPECT_FLOAT_EQ(screen.view.scale, 1.0F);
  screen.type(s.frame, "x");
  EXPECT_EQ(screen.view.page, 1);
  screen.type(s.frame, "p");
  EXPECT_EQ(screen.view.mode, ScreenMode::present);
  EXPECT_EQ(theme_in_use(screen.view), ThemeId::light);
  screen.type(s.frame, "]");
  EXPECT_FLOAT_EQ(screen.view.speed, 2.0F);
}

TEST(Keys, ABreakPointWithoutABlockOffersWhatOneCanStopAt) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  const Chord f9{.key = keys::kF9};
  screen.chord(s.frame, f9);
  EXPECT_TRUE(screen.commands.empty());
  EXPECT_EQ(screen.view.shell.overlay, Overlay::palette);
  screen.draw(s.frame);
  screen.press(s.frame, ImGuiKey_Enter);
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].kind, Command::Kind::add_breakpoint);
  screen.selection.block = 5;
  screen.chord(s.frame, f9);
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].kind, Command::Kind::add_breakpoint);
  EXPECT_EQ(screen.commands[0].condition.a, 5);
}

TEST(Keys, TabRingsPanelsAndEnterGivesThemTheWindow) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.press(s.frame, ImGuiKey_Tab);
  EXPECT_EQ(screen.view.shell.focused, PanelId::requests);
  const float before = screen.marks.get("requests")->rect.w;
  screen.chord(s.frame, {.key = keys::kRight, .alt = true});
  screen.draw(s.frame);
  EXPECT_NEAR(screen.marks.get("requests")->rect.w, before + 24.0F, 2.0F);
  screen.press(s.frame, ImGuiKey_Enter);
  EXPECT_EQ(screen.view.maximised, PanelId::requests);
  screen.press(s.frame, ImGuiKey_Escape);
  EXPECT_EQ(screen.view.maximised, PanelId::count_);
  screen.press(s.frame, ImGuiKey_Escape);
  EXPECT_EQ(screen.view.shell.focused, PanelId::count_);
}

TEST(Keys, NoTwoCollideAndEachIsExplained) {
  std::set<std::tuple<int, bool, bool, bool>> chords;
  std::set<char> typed;
  for (const KeyBinding& key : key_table()) {
    EXPECT_TRUE(!key.text.empty() || key.menu == Menu::none) << key.title;
    EXPECT_TRUE(!key.title.empty() || key.menu == Menu::none);
    const Chord& c = key.chord;
    EXPECT_TRUE(c.key == 0 || chords.insert({c.key, c.ctrl, c.shift, c.alt}).second) << key.label;
    for (const char letter : std::string(key.typed) + std::string(key.also))
      EXPECT_TRUE(typed.insert(letter).second) << letter;
    EXPECT_TRUE(key.menu == Menu::none || key.label.empty() == (c.key == 0 && key.typed.empty()))
        << key.title;
  }
}

TEST(Keys, EscapeCancelsLongWorkBeforeItClosesOrUnselects) {
  Sample s = sample::prefill();
  s.frame.work = {.text = "prefill of 4123 tokens: layer 2 of 4, attention", .can_cancel = true};
  Headless screen(1600, 900);
  screen.view.maximised = PanelId::pool;
  screen.view.shell.overlay = Overlay::help;
  screen.draw(s.frame);
  screen.press(s.frame, ImGuiKey_Escape);
  EXPECT_TRUE(screen.commands.empty()) << "what lies over the screen goes first";
  screen.press(s.frame, ImGuiKey_Escape);
  EXPECT_NE(only_command(screen.commands, Command::Kind::cancel), nullptr);
  EXPECT_EQ(screen.view.maximised, PanelId::pool);
  s.frame.work.can_cancel = false;
  screen.press(s.frame, ImGuiKey_Escape);
  EXPECT_TRUE(screen.commands.empty());
  EXPECT_EQ(screen.view.maximised, PanelId::count_);
}

/// What a key must have done to be worth a place in the table.
bool same_view(const ViewState& a, const ViewState& b) {
  return a.loop == b.loop && a.scale == b.scale && a.theme == b.theme && a.mode == b.mode &&
         a.page == b.page && a.stage == b.stage && a.side == b.side && a.weight_scale == b.weight_scale &&
         a.grain == b.grain && a.speed == b.speed && a.reduced_motion == b.reduced_motion &&
         a.maximised == b.maximised && a.splits == b.splits && a.shell.overlay == b.shell.overlay &&
         a.shell.focused == b.shell.focused && a.teach.pen == b.teach.pen && a.teach.notes == b.teach.notes &&
         a.teach.blank == b.teach.blank;
}

TEST(Keys, EveryActionDoesSomethingWhereTheMenuOffersIt) {
  Sample s = sample::prefill();
  s.frame.work = {.text = "looking", .fraction = 0.5F, .can_cancel = true};
  s.frame.broken = Broken{.titles = {"mask"}, .note = ""};
  s.frame.switches = {{.name = "mask",
                       .values = {"a", "b"},
                       .value = "b",
                       .default_value = "a",
                       .title = "Mask",
                       .text = "",
                       .break_it = true}};
  s.frame.bookmarks.resize(1);
  s.frame.breakpoints.resize(1);
  s.frame.lesson.emplace().break_it.emplace();
  Headless screen(1600, 900);
  for (const KeyBinding& key : key_table()) {
    Selection selection;
    selection.seq = selection.layer = selection.head = selection.block = 1;
    selection.stage = trace::Stage::attention;
    ViewState before;
    before.scale = 1.1F;
    before.grain = trace::Grain::head;
    before.splits.right = 0.3F;
    before.shell.focused = PanelId::pool;
    before.loop = {0, 3};
    ViewState view = before;
    Commands commands;
    ASSERT_EQ(why_not(key.action, s.frame, selection, view), "") << key.title;
    run_key(key.action, key.argument, s.frame, selection, view, commands);
    EXPECT_TRUE(!same_view(view, before) || !commands.empty()) << key.title;
  }
}

}  // namespace
}  // namespace attn::viz
