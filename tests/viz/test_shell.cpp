// Menus, dialogs, banner, status, dragged gaps: what each offers and what it asks for.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "commands_sent.h"
#include "headless.h"
#include "sample_frame.h"
#include "viz/menu_entries.h"

namespace attn::viz {
namespace {

using sample::Sample;

bool has(const Headless& screen, const std::string& name) { return screen.marks.get(name).has_value(); }

Switch top_left() {
  return {.name = "mask",
          .values = {"bottom_right", "top_left"},
          .value = "bottom_right",
          .default_value = "bottom_right",
          .title = "Mask hangs from the top left",
          .text = "queries see the wrong keys",
          .break_it = true};
}

TEST(Menus, EveryActionIsInItsMenuWithItsKey) {
  Sample s = sample::prefill();
  Headless screen(1600, 900);
  for (int m = 0; m < kNumMenus; ++m) {
    screen.click(s.frame, "header/menu/" + std::string(menu_title(static_cast<Menu>(m))));
    EXPECT_EQ(screen.view.shell.overlay, Overlay::menu);
    screen.draw(s.frame);
    const Ui ui = ui_of(s.frame, screen);
    const auto entries = menu_entries(ui, static_cast<Menu>(m));
    for (const KeyBinding& key : key_table()) {
      if (key.menu != static_cast<Menu>(m)) continue;
      const auto entry = std::find_if(entries.begin(), entries.end(),
                                      [&](const MenuEntry& e) { return e.choice.title == key.title; });
      ASSERT_NE(entry, entries.end()) << key.title;
      EXPECT_EQ(entry->choice.right, key.label);
    }
    screen.press(s.frame, ImGuiKey_Escape);
    EXPECT_EQ(screen.view.shell.overlay, Overlay::none);
  }
}

TEST(Menus, MouseAndKeyboardRunEntries) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.click(s.frame, "header/menu/Run");
  screen.click(s.frame, "menu/One engine step back");
  ASSERT_NE(only_command(screen.commands, Command::Kind::step_back), nullptr);
  EXPECT_EQ(screen.view.shell.overlay, Overlay::none);

  screen.type(s.frame, "m");
  screen.press(s.frame, ImGuiKey_RightArrow);
  EXPECT_EQ(static_cast<Menu>(screen.view.shell.menu), Menu::go);
  screen.press(s.frame, ImGuiKey_DownArrow);
  screen.press(s.frame, ImGuiKey_Enter);  // the second entry: back
  ASSERT_NE(only_command(screen.commands, Command::Kind::step_back), nullptr);
}

TEST(Menus, AClickOutsideCloses) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.type(s.frame, "m");
  screen.draw(s.frame);
  screen.click(s.frame, "timeline/step/4");
  EXPECT_EQ(screen.view.shell.overlay, Overlay::none);
  EXPECT_TRUE(screen.commands.empty());  // the click meant the menu, not what lies below
}

TEST(BreakIt, ListsSwitchesWithWhatGoesWrongAndRepairs) {
  Sample s = sample::prefill();
  s.frame.switches = {top_left()};
  Headless screen(1600, 900);
  screen.click(s.frame, "header/menu/Break it");
  screen.click(s.frame, "menu/mask=top_left");
  const Command* broken = only_command(screen.commands, Command::Kind::set_switch);
  ASSERT_NE(broken, nullptr);
  EXPECT_EQ(broken->text, "mask");
  EXPECT_EQ(broken->value, "top_left");

  s.frame.switches[0].value = "top_left";
  s.frame.broken = Broken{
      .titles = {"Mask hangs from the top left"}, .max_abs_diff_o = 0.125, .first_wrong_step = 3, .note = ""};
  screen.draw(s.frame);
  EXPECT_NE(screen.marks.get("banner/what")->value.find("Mask hangs"), std::string::npos);
  EXPECT_NE(screen.marks.get("banner/measured")->value.find("1.25e-01"), std::string::npos);
  EXPECT_NE(screen.marks.get("banner/measured")->value.find("step 3"), std::string::npos);
  s.frame.broken->note = "2 of 3 rows are in both runs";
  screen.draw(s.frame);
  EXPECT_NE(value_of(screen, "banner/measured").find("1.25e-01 (2 of 3 rows are in both runs)"),
            std::string::npos);
  screen.click(s.frame, "header/menu/Break it");
  screen.click(s.frame, "menu/Everything right again");
  const Command* right = only_command(screen.commands, Command::Kind::set_switch);
  ASSERT_NE(right, nullptr);
  EXPECT_EQ(right->value, "bottom_right");
}

TEST(BreakIt, SaysWhyNothingCanBeSwitched) {
  Sample s = sample::prefill();
  s.frame.switches_note = "this trace has no model beside it";
  Headless screen(1600, 900);
  screen.click(s.frame, "header/menu/Break it");
  EXPECT_TRUE(has(screen, "menu/note"));
}

TEST(Help, EveryKeyAndWhatItDoesIsReadWhole) {
  const Sample s = sample::prefill();
  for (const ScreenMode mode : {ScreenMode::explore, ScreenMode::present}) {
    Headless screen(1600, 900);
    screen.view.mode = mode;
    for (const auto& [w, h] : {std::pair{1024.0F, 640.0F},
                               {1280.0F, 720.0F},
                               {1600.0F, 900.0F},
                               {1920.0F, 1080.0F},
                               {3840.0F, 2160.0F}}) {
      screen.resize(w, h);
      TextLog log;
      screen.view.text_log = &log;
      screen.view.shell.open(Overlay::help);
      screen.draw(s.frame);
      screen.draw(s.frame);
      for (const TextLog::Entry& entry : log.entries)
        EXPECT_FALSE(entry.panel == "help" && entry.shortened) << w << "x" << h << ": " << entry.text;
      screen.view.text_log = nullptr;
    }
  }
}

/// No line needs the menu beside it to be understood.
TEST(Help, EveryLineNamesItsAction) {
  const Sample s = sample::prefill();
  Headless screen(1920, 1080);
  screen.view.shell.open(Overlay::help);
  screen.draw(s.frame);
  screen.draw(s.frame);
  const auto said = [&](const std::string& key) { return screen.marks.get("help/" + key)->value; };
  EXPECT_EQ(said("Ctrl+R"), "Record a film: of the lesson, or of this run as shown");
  EXPECT_EQ(said("N"), "Speaker's notes: what to say and the clock, in a window");
  EXPECT_EQ(said("Home"), "First step") << "nothing is said twice";
  for (const KeyBinding& key : key_table()) {
    if (key.label.empty()) continue;
    const std::string_view name = key.title.substr(0, key.title.find("\xE2\x80\xA6"));
    EXPECT_TRUE(said(std::string(key.label)).starts_with(name)) << key.title;
  }
}

TEST(EntryBox, GoesToAStepAndRefusesOthers) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.type(s.frame, "g");
  screen.draw(s.frame);
  screen.view.shell.text = "400";
  screen.click(s.frame, "entry/done");
  EXPECT_TRUE(screen.commands.empty());
  screen.view.shell.text = "3";
  screen.click(s.frame, "entry/done");
  const Command* seek = only_command(screen.commands, Command::Kind::seek);
  ASSERT_NE(seek, nullptr);
  EXPECT_EQ(seek->a, 2);
}

TEST(EntryBox, AsksForTheNumberOfACondition) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.view.shell.open(Overlay::entry);
  screen.view.shell.entry = Entry::run_to_value;
  screen.view.shell.condition = {.kind = trace::ConditionKind::stolen_mass, .a = -1, .x = 0.05};
  screen.draw(s.frame);
  EXPECT_EQ(screen.view.shell.text, "5");
  screen.view.shell.text = "12.5";
  screen.click(s.frame, "entry/done");
  const Command* run = only_command(screen.commands, Command::Kind::run_to);
  ASSERT_NE(run, nullptr);
  EXPECT_DOUBLE_EQ(run->condition.x, 0.125);
}

TEST(EntryBox, ItsButtonSaysWhatItDoes) {
  const Sample s = sample::prefill();
  for (const auto& [entry, label] :
       {std::pair{Entry::run_to_value, "Run"}, {Entry::stop_at_value, "Add break point"}}) {
    Headless screen(1600, 900);
    TextLog log;
    screen.view.text_log = &log;
    screen.view.shell.open(Overlay::entry);
    screen.view.shell.entry = entry;
    screen.view.shell.condition = {.kind = trace::ConditionKind::stolen_mass, .a = -1, .x = 0.05};
    screen.draw(s.frame);
    const auto button = screen.marks.get("entry/done");
    ASSERT_TRUE(button.has_value());
    const auto whole = [&](const TextLog::Entry& e) {
      return e.panel == "entry" && e.text == label && !e.shortened && inside(button->rect, e.rect);
    };
    EXPECT_TRUE(std::ranges::any_of(log.entries, whole)) << label;
  }
}

TEST(StatusLine, TellsErrorsFromNews) {
  Sample s = sample::prefill();
  Headless screen(1600, 900);
  s.frame.status = "saved: a.attn";
  screen.draw(s.frame);
  EXPECT_EQ(screen.marks.get("status/text")->source, "");
  s.frame.status_is_error = true;
  screen.draw(s.frame);
  EXPECT_EQ(screen.marks.get("status/text")->source, "this went wrong");
}

TEST(EntryBox, ExportsWhatIsChosenUnderTheNameOfIt) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.chord(s.frame, {.key = 'E', .ctrl = true});
  screen.draw(s.frame);
  screen.click(s.frame, "entry/tensor/lse");
  EXPECT_EQ(screen.view.shell.text, "lse.safetensors");
  screen.view.shell.text = "lse.txt";
  screen.click(s.frame, "entry/done");
  EXPECT_TRUE(screen.commands.empty());
  screen.view.shell.text = "lse.csv";
  screen.click(s.frame, "entry/done");
  const Command* written = only_command(screen.commands, Command::Kind::export_tensor);
  ASSERT_NE(written, nullptr);
  EXPECT_EQ(written->text, "lse.csv");
  EXPECT_EQ(written->value, "lse");
}

TEST(OpenDialog, EntersFoldersAndOpensFiles) {
  Sample s = sample::prefill();
  s.frame.folder = {.path = "/data",
                    .parent = "/",
                    .entries = {{"runs", true, ""}, {"tiny", true, "model"}, {"a.trace", false, "trace"}},
                    .note = ""};
  s.frame.recent_files = {"/old/b.trace"};
  Headless screen(1600, 900);
  screen.chord(s.frame, {.key = 'O', .ctrl = true});
  ASSERT_NE(only_command(screen.commands, Command::Kind::list_folder), nullptr);
  screen.draw(s.frame);
  screen.click(s.frame, "open/entry/runs");
  const Command* enter = only_command(screen.commands, Command::Kind::list_folder);
  ASSERT_NE(enter, nullptr);
  EXPECT_EQ(enter->text, "/data/runs");
  screen.click(s.frame, "open/path//old/b.trace");
  const Command* opened = only_command(screen.commands, Command::Kind::open_file);
  ASSERT_NE(opened, nullptr);
  EXPECT_EQ(opened->text, "/old/b.trace");
  EXPECT_EQ(screen.view.shell.overlay, Overlay::none);
  screen.view.shell.open(Overlay::open);
  screen.click(s.frame, "open/entry/tiny");  // a model is opened, not entered
  ASSERT_NE(only_command(screen.commands, Command::Kind::open_file), nullptr);
}

TEST(Status, WorkShowsProgressAndCanBeCancelled) {
  Sample s = sample::prefill();
  s.frame.work = {.text = "looking for: preemption", .fraction = 0.4F, .can_cancel = true};
  Headless screen(1600, 900);
  screen.click(s.frame, "status/cancel");
  ASSERT_NE(only_command(screen.commands, Command::Kind::cancel), nullptr);
  EXPECT_NE(screen.marks.get("status/work")->value.find("40 %"), std::string::npos);
  s.frame.work = {};
  s.frame.stopped_at = "block 3 is written";
  screen.draw(s.frame);
  EXPECT_NE(screen.marks.get("status/text")->value.find("block 3"), std::string::npos);
}

TEST(Splitters, FollowTheMouseAndResetOnADoubleClick) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.draw(s.frame);
  const Rect before = screen.marks.get("requests")->rect;
  ImGuiIO& io = ImGui::GetIO();
  io.MousePos = {before.right() + 3.0F, 300.0F};
  screen.draw(s.frame);
  io.MouseDown[0] = true;
  screen.draw(s.frame);
  io.MousePos.x += 60.0F;
  screen.draw(s.frame);
  io.MouseDown[0] = false;
  screen.draw(s.frame);
  screen.draw(s.frame);
  EXPECT_NEAR(screen.marks.get("requests")->rect.w, before.w + 63.0F, 3.0F);
  EXPECT_TRUE(screen.commands.empty());
  screen.view.splits = {};
  screen.draw(s.frame);
  EXPECT_FLOAT_EQ(screen.marks.get("requests")->rect.w, before.w);
}

/// At the sizes of the two layouts every key is explained to the end.
TEST(Overlays, TheHelpCutsNothingShort) {
  const Sample s = sample::prefill();
  for (const auto& [w, h] : {std::pair{1600.0F, 900.0F}, {1920.0F, 1080.0F}}) {
    Headless screen(w, h);
    TextLog log;
    screen.view.text_log = &log;
    screen.view.shell.open(Overlay::help);
    screen.draw(s.frame);
    screen.draw(s.frame);
    int told = 0;
    for (const TextLog::Entry& entry : log.entries) {
      if (entry.panel != "help") continue;
      EXPECT_FALSE(entry.shortened || entry.left_out) << entry.text;
      ++told;
    }
    EXPECT_GT(told, 120);
  }
}

TEST(Overlays, FitEverySizeAndScale) {
  Sample s = sample::prefill();
  s.frame.switches = {top_left()};
  s.frame.folder = {
      .path = "/data", .parent = "/", .entries = {{"a.trace", false, "trace"}}, .note = "cut short"};
  for (const float scale : {0.75F, 1.0F, 2.5F}) {
    Headless screen(1024, 640, scale);
    for (const auto& [w, h] : {std::pair{1024.0F, 640.0F}, {1600.0F, 900.0F}, {3840.0F, 2160.0F}}) {
      screen.resize(w, h);
      for (const auto& [overlay, name] : {std::pair{Overlay::help, "help"},
                                          {Overlay::menu, "menu"},
                                          {Overlay::palette, "palette"},
                                          {Overlay::find, "palette"},
                                          {Overlay::entry, "entry"},
                                          {Overlay::open, "open"}}) {
        screen.view.shell.open(overlay);
        screen.draw(s.frame);
        screen.draw(s.frame);
        const auto card = screen.marks.get(name);
        ASSERT_TRUE(card.has_value()) << name;
        EXPECT_GE(card->rect.x, 0.0F);
        EXPECT_GE(card->rect.y, 0.0F);
        EXPECT_LE(card->rect.right(), w) << name << " at " << scale;
        EXPECT_LE(card->rect.bottom(), h) << name << " at " << scale;
        for (const Mark& mark : screen.marks.all()) {
          if (!mark.name.starts_with(std::string(name) + "/")) continue;
          EXPECT_GE(mark.rect.x, card->rect.x - 0.5F) << mark.name;
          EXPECT_LE(mark.rect.right(), card->rect.right() + 0.5F) << mark.name;
          EXPECT_LE(mark.rect.bottom(), card->rect.bottom() + 0.5F) << mark.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace attn::viz
