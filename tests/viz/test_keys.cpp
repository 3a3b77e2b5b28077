// Every key of the table does something, does it through the real input path, and no two keys collide.
#include <gtest/gtest.h>

#include <set>

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
  ImGui::GetIO().KeyShift = true;
  screen.press(s.frame, ImGuiKey_RightArrow);
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].kind, Command::Kind::step_forward);
}

TEST(Keys, ArrowsAndBracketsMoveTheSelection) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.press(s.frame, ImGuiKey_DownArrow);
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].selection.layer, 1);
  screen.press(s.frame, ImGuiKey_UpArrow);  // already at layer 0
  EXPECT_TRUE(screen.commands.empty());
  screen.type(s.frame, "]");
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].selection.head, 1);
  screen.selection.head = 7;
  screen.type(s.frame, "]");  // already at the last head
  EXPECT_TRUE(screen.commands.empty());
  screen.type(s.frame, "3");
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].selection.seq, 2);
  screen.type(s.frame, "6");  // there is no sixth
  EXPECT_TRUE(screen.commands.empty());
  screen.selection.stage = trace::Stage::attention;
  screen.type(s.frame, ".");  // out_mlp does not occur in this record
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].selection.stage, trace::Stage::lm_head);
}

TEST(Keys, ViewKeysChangeTheView) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.type(s.frame, "t");
  EXPECT_EQ(screen.view.theme, ThemeId::light);
  screen.type(s.frame, "L");
  EXPECT_EQ(screen.view.weight_scale, WeightScale::log10);
  for (int i = 0; i < 30; ++i) screen.type(s.frame, "+");
  EXPECT_FLOAT_EQ(screen.view.scale, 2.5F);
  for (int i = 0; i < 60; ++i) screen.type(s.frame, "-");
  EXPECT_FLOAT_EQ(screen.view.scale, 0.75F);
  screen.type(s.frame, "0");
  EXPECT_FLOAT_EQ(screen.view.scale, 1.0F);
  screen.type(s.frame, "x");
  EXPECT_EQ(screen.view.page, 1);
}

TEST(Keys, EveryKeyDoesSomethingAndNoneCollides) {
  const Sample s = sample::prefill();
  std::set<int> named;
  std::set<char> typed;
  for (const KeyBinding& key : key_table()) {
    EXPECT_FALSE(key.text.empty());
    EXPECT_TRUE(key.named < 0 || named.insert(key.named).second) << key.label;
    for (const char c : key.typed) EXPECT_TRUE(typed.insert(c).second) << c;
    Selection selection;
    selection.seq = 1;
    selection.layer = selection.head = 1;
    ViewState before;
    before.scale = 1.5F;
    ViewState view = before;
    Commands commands;
    run_key(key.action, 0, s.frame, selection, view, commands);
    const bool view_changed = view.scale != before.scale || view.theme != before.theme ||
                              view.shell.overlay != before.shell.overlay || view.page != before.page ||
                              view.weight_scale != before.weight_scale || view.stage != before.stage ||
                              view.side != before.side;
    EXPECT_TRUE(view_changed || !commands.empty()) << key.label;
  }
}

}  // namespace
}  // namespace attn::viz
