// The palette and the find box: what is found, in which order, and what choosing it does.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "commands_sent.h"
#include "headless.h"
#include "sample_frame.h"
#include "viz/panels/palette_search.h"

namespace attn::viz {
namespace {

using sample::Sample;

TEST(Palette, FuzzyFindsByLettersInOrder) {
  EXPECT_LT(fuzzy_score("xyz", "Theme: light"), 0);
  EXPECT_LT(fuzzy_score("thgil", "light"), 0);
  EXPECT_GE(fuzzy_score("tl", "Theme: light"), 0);
  EXPECT_GT(fuzzy_score("light", "Theme: light"), fuzzy_score("light", "layer in green heat"));
  EXPECT_EQ(fuzzy_score("", "anything"), 0);
  EXPECT_GT(command_score("compare", "Compare: Compare two kernels"),
            command_score("compare", "View: heads to compare"));
  EXPECT_GT(command_score("step", "Go: Step over"), command_score("step", "Go: First step"));
  EXPECT_GT(command_score("step", "Go: First step"), command_score("step", "switch: tiles every p"));
  EXPECT_LT(command_score("step", "View: Pen"), 0);
}

TEST(Palette, RunsWhatIsChosen) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.chord(s.frame, {.key = 'K', .ctrl = true});
  EXPECT_EQ(screen.view.shell.overlay, Overlay::palette);
  screen.draw(s.frame);
  screen.type(s.frame, "theme: print");
  screen.draw(s.frame);
  screen.click(s.frame, "palette/theme print");
  EXPECT_EQ(screen.view.theme, ThemeId::print);
  EXPECT_EQ(screen.view.shell.overlay, Overlay::none);
}

/// What the palette lists first.
std::string top_of(Headless& screen, const Sample& s, const std::string& typed) {
  screen.view.shell.close();  // what was typed before is forgotten
  screen.draw(s.frame);
  screen.view.shell.open(Overlay::palette);
  screen.view.shell.text = typed;
  screen.draw(s.frame);
  screen.draw(s.frame);
  std::string name;
  float y = screen.marks.get("palette")->rect.bottom();
  for (const Mark& mark : screen.marks.all()) {
    if (!mark.name.starts_with("palette/") || mark.name == "palette/text" || mark.rect.y >= y) continue;
    y = mark.rect.y;
    name = mark.name;
  }
  return name;
}

TEST(Palette, FindsConditionsByTheirUsualNames) {
  using enum trace::ConditionKind;
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  const std::pair<const char*, trace::ConditionKind> kNames[] = {
      {"eviction", eviction},           {"preemption", preemption},
      {"prefix hit", prefix_hit},       {"rescale", rescale},
      {"stolen mass", stolen_mass},     {"NaN", nan_or_inf},
      {"error", error_above},           {"token", token_equals},
      {"block written", block_written}, {"ref_count", ref_count_changes}};
  for (const auto& [typed, kind] : kNames)
    EXPECT_EQ(top_of(screen, s, typed), "palette/run " + std::to_string(static_cast<int>(kind))) << typed;
}

TEST(Palette, WhatWasUsedComesFirstAmongEquals) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  EXPECT_EQ(top_of(screen, s, "theme"), "palette/theme contrast") << "by the alphabet";
  screen.click(s.frame, "palette/theme print");
  EXPECT_EQ(top_of(screen, s, "theme"), "palette/theme print");
  EXPECT_EQ(top_of(screen, s, ""), "palette/theme print");
}

TEST(Palette, FindsASwitchByWhatTheEngineCallsIt) {
  Sample s = sample::prefill();
  s.frame.switches = {{.name = "free_list",
                       .values = {"ordered", "scrambled"},
                       .value = "ordered",
                       .default_value = "ordered",
                       .title = "Order of the blocks",
                       .text = ""}};
  Headless screen(1600, 900);
  screen.view.shell.open(Overlay::palette);
  screen.view.shell.text = "switch: free_list";
  screen.draw(s.frame);
  screen.click(s.frame, "palette/free_list=scrambled");
  const Command* set = only_command(screen.commands, Command::Kind::set_switch);
  ASSERT_NE(set, nullptr);
  EXPECT_EQ(set->value, "scrambled");
}

TEST(Palette, PanelsAloneAndBreakPointsAreThere) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.view.shell.open(Overlay::palette);
  screen.view.shell.text = "alone: block pool";
  screen.draw(s.frame);
  screen.click(s.frame, "palette/alone pool");
  EXPECT_EQ(screen.view.maximised, PanelId::pool);
  screen.view.shell.open(Overlay::palette);
  screen.view.shell.text = "stop at: ";
  screen.draw(s.frame);
  screen.click(s.frame, "palette/stop 0");
  const Command* stop = only_command(screen.commands, Command::Kind::add_breakpoint);
  ASSERT_NE(stop, nullptr);
  EXPECT_EQ(stop->condition.kind, trace::ConditionKind::block_written);
}

TEST(Find, TokensBlocksStepsAndWeights) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  const Ui ui = ui_of(s.frame, screen);
  const auto named = [&](const std::string& typed, const std::string& name) {
    const auto entries = find_entries(ui, typed);
    return std::any_of(entries.begin(), entries.end(),
                       [&](const MenuEntry& e) { return e.choice.name == name; });
  };
  EXPECT_TRUE(named("3", "block 3"));
  EXPECT_TRUE(named("3", "step 3"));
  EXPECT_FALSE(named("99999", "block 99999"));
  EXPECT_TRUE(named("0.25", "weight"));
  EXPECT_TRUE(find_entries(ui, "").empty());
  const std::int32_t id = s.step->seqs_after[0].token_ids[0];
  const std::string& text = s.frame.token_texts[static_cast<std::size_t>(id)];
  if (text.empty()) GTEST_SKIP() << "the sample has no token texts";
  EXPECT_FALSE(find_entries(ui, text).empty());
}

/// A token of a request that has finished is found, and leads to the step in which it was last there.
TEST(Find, LooksIntoWhatHasFinished) {
  Sample s = sample::padded_decode();  // at index 8
  auto history = std::make_shared<std::vector<StepSummary>>(*s.frame.history);
  trace::SeqState gone = s.step->seqs_after.front();
  gone.id = 5;
  gone.token_ids = {3, 999};
  s.frame.token_texts.resize(1000);
  s.frame.token_texts[999] = "Capulet";
  (*history)[6].ended = {gone};
  s.frame.history = history;
  Headless screen(1600, 900);
  Ui ui = ui_of(s.frame, screen);
  const auto entries = find_entries(ui, "capulet");
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].choice.title, "\"Capulet\"  F position 1, finished in step 7");
  entries[0].run(ui);
  const Command* go = only_command(screen.commands, Command::Kind::select);
  ASSERT_NE(go, nullptr);
  EXPECT_EQ(go->selection.step, 6);
  EXPECT_EQ(go->selection.seq, 5);
  EXPECT_EQ(go->selection.k_col, 1);
  s.frame.index = 5;
  EXPECT_TRUE(find_entries(ui, "capulet").empty()) << "not yet there";
}

}  // namespace
}  // namespace attn::viz
