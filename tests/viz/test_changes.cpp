// The changes panel: what a step changed in words, the difference of two steps, bookmarks and break points.
#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "headless.h"
#include "sample_frame.h"
#include "viz/change_lines.h"
#include "viz/layout/screen_layout.h"
#include "viz/lookup.h"

namespace attn::viz {
namespace {

using sample::Sample;

std::shared_ptr<trace::StepDiff> some_changes() {
  auto diff = std::make_shared<trace::StepDiff>();
  diff->before = 8;
  diff->after = 9;
  diff->blocks = {4};
  diff->seqs = {2};
  diff->entries = {{"block 4", "num_filled", "0", "1"},
                   {"block 4", "ref_count", "0", "1"},
                   {"seq 2", "num_tokens", "9", "10"},
                   {"seq 2 token_ids", "entry 9", "", "8"},
                   {"seq 2 block_table", "entry 2", "", "4"},
                   {"block 5", "token_ids", "[]", "[3, 8]"},
                   {"sampled[0]", "", "token 3 for seq 2", "token 8 for seq 2"}};
  for (int i = 0; i < 30; ++i)
    diff->entries.push_back({"free_blocks", "entry " + std::to_string(i), "1", "2"});
  return diff;
}

const ChangeLine* line_at(const std::vector<ChangeLine>& lines, const std::string& where) {
  for (const ChangeLine& line : lines) {
    if (line.where == where) return &line;
  }
  return nullptr;
}

TEST(ChangeLines, GroupsByPlaceAndReadsLikeTheScreen) {
  const Sample s = sample::padded_decode();
  const std::vector<ChangeLine> lines = change_lines(s.frame, *some_changes());
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[0].where, "sampled[0]");
  const ChangeLine* block = line_at(lines, "block 4");
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->text, "num_filled 0 \xE2\x86\x92 1, ref_count 0 \xE2\x86\x92 1");
  EXPECT_EQ(block->block, 4);
  const ChangeLine* tokens = line_at(lines, "C token_ids");
  ASSERT_NE(tokens, nullptr);
  EXPECT_EQ(tokens->text, "entry 9 none \xE2\x86\x92 \"" + token_label(s.frame, 8) + "\" (8)");
  EXPECT_EQ(lines[0].text, "\"" + token_label(s.frame, 3) + "\" (3) for C \xE2\x86\x92 \"" +
                               token_label(s.frame, 8) + "\" (8) for C");
  const ChangeLine* full = line_at(lines, "block 5");
  ASSERT_NE(full, nullptr);
  EXPECT_EQ(full->text,
            "token_ids [] \xE2\x86\x92 \"" + token_label(s.frame, 3) + token_label(s.frame, 8) + "\" [3, 8]");
  EXPECT_EQ(tokens->seq, 2);
  const ChangeLine* free = line_at(lines, "free_blocks");
  ASSERT_NE(free, nullptr);
  EXPECT_TRUE(free->text.starts_with("30 changes")) << free->text;
  EXPECT_NE(free->all.find("and 10 more"), std::string::npos);
}

Headless& changes_view(Headless& screen) {
  screen.view.side = SideView::changes;
  return screen;
}

TEST(Changes, LinesSelectWhatTheyAreAbout) {
  Sample s = sample::padded_decode();
  s.frame.changes = some_changes();
  Headless screen(2560, 1440);
  changes_view(screen).draw(s.frame);
  for (int i = 0; i < 7; ++i) {
    const auto mark = screen.marks.get("changes/since/" + std::to_string(i));
    ASSERT_TRUE(mark.has_value()) << i;
    if (!mark->value.starts_with("block 4")) continue;
    EXPECT_EQ(mark->source, "StepDiff of steps 8 and 9");
    screen.click(s.frame, mark->name);
    ASSERT_EQ(screen.commands.size(), 1U);
    EXPECT_EQ(screen.commands[0].selection.block, 4);
  }
}

TEST(Changes, InsideAStepTellWhatOfItIsStillToCome) {
  Sample s = sample::padded_decode();
  auto before = std::make_shared<trace::StepRecord>(*s.step);
  --before->step;
  for (std::int32_t& slot : before->slot_mapping) slot = 0;
  before->sampled.clear();
  s.frame.previous = before;
  s.frame.changes = std::make_shared<trace::StepDiff>(trace::diff_steps(*before, *s.step));
  Headless screen(2560, 1440);
  screen.view.grain = trace::Grain::stage;
  const auto part_of = [&](trace::Stage stage, const std::string& where) -> std::string {
    screen.selection.stage = stage;
    changes_view(screen).draw(s.frame);
    for (const Mark& mark : screen.marks.all()) {
      if (mark.name.starts_with("changes/") && mark.value.starts_with(where)) {
        EXPECT_EQ(mark.value.find("later in this step") != std::string::npos,
                  mark.name.starts_with("changes/later/"));
        return mark.name.substr(0, mark.name.rfind('/'));
      }
    }
    return "nowhere";
  };
  EXPECT_EQ(part_of(trace::Stage::schedule, "slot_mapping"), "changes/later");
  EXPECT_EQ(part_of(trace::Stage::prepare, "slot_mapping"), "changes/since");
  EXPECT_EQ(part_of(trace::Stage::attention, "sampled[0]"), "changes/later");
  EXPECT_EQ(part_of(trace::Stage::sample, "sampled[0]"), "changes/since");
  EXPECT_EQ(part_of(trace::Stage::commit, "slot_mapping"), "changes/since");
}

TEST(Changes, DiffOfTwoStepsTellsLayersAndCloses) {
  Sample s = sample::padded_decode();
  auto diff = some_changes();
  diff->before = 3;
  diff->layers = {0, 1};
  diff->max_abs_diff_o = {1.5e-3, std::numeric_limits<double>::quiet_NaN()};
  s.frame.diff = diff;
  Headless screen(2560, 1440);
  changes_view(screen).draw(s.frame);
  EXPECT_NE(screen.marks.get("changes/layer/0")->value.find("1.500e-03"), std::string::npos);
  EXPECT_NE(screen.marks.get("changes/layer/1")->value.find("no common rows"), std::string::npos);
  screen.click(s.frame, "changes/diff/off");
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].kind, Command::Kind::diff_off);
}

TEST(Changes, BookmarksCanBeMadeWalkedEditedAndRemoved) {
  Sample s = sample::padded_decode();
  s.frame.bookmarks = {
      {.cursor = {.index = 3}, .seq = -1, .note = "the hit"},
      {.cursor = {.index = 8, .stage = trace::Stage::attention, .layer = 1, .tile = 2}, .note = ""}};
  Headless screen(2560, 1440);
  changes_view(screen).draw(s.frame);
  EXPECT_NE(screen.marks.get("changes/bookmark/0")->value.find("the hit"), std::string::npos);
  EXPECT_NE(
      screen.marks.get("changes/bookmark/1")->value.find("step 9 D, attention, layer 1, head 0, tile 2"),
      std::string::npos);
  screen.click(s.frame, "changes/bookmark/1");
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].kind, Command::Kind::go_to_bookmark);
  EXPECT_EQ(screen.commands[0].a, 1);
  screen.click(s.frame, "changes/bookmark/0/edit");
  EXPECT_EQ(screen.view.data.changes.editing, 0);
  for (int i = 0; i < 2; ++i) screen.draw(s.frame);
  screen.type(s.frame, "!");
  screen.draw(s.frame);
  screen.click(s.frame, "changes/bookmark/0/edit");
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].kind, Command::Kind::edit_bookmark);
  EXPECT_NE(screen.commands[0].text.find('!'), std::string::npos);
  screen.click(s.frame, "changes/bookmark/0/remove");
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].kind, Command::Kind::remove_bookmark);
  screen.click(s.frame, "changes/new_note");
  screen.type(s.frame, "here");
  screen.draw(s.frame);
  screen.click(s.frame, "changes/bookmark/add");
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].kind, Command::Kind::add_bookmark);
  EXPECT_EQ(screen.commands[0].text, "here");
}

TEST(Changes, BreakPointsAreListedAndRemoved) {
  Sample s = sample::padded_decode();
  s.frame.breakpoints = {{trace::ConditionKind::preemption, -1, 0.0},
                         {trace::ConditionKind::block_written, 3, 0.0}};
  s.frame.stopped_at = "block 3: slot 12 written by row 0";
  Headless screen(2560, 1440);
  changes_view(screen).draw(s.frame);
  EXPECT_EQ(screen.marks.get("changes/stopped")->value, s.frame.stopped_at);
  EXPECT_EQ(screen.marks.get("changes/breakpoint/1")->value, trace::condition_text(s.frame.breakpoints[1]));
  screen.click(s.frame, "changes/breakpoint/1/remove");
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].kind, Command::Kind::remove_breakpoint);
  EXPECT_EQ(screen.commands[0].a, 1);
}

TEST(Changes, TheTextTwinTellsThemToo) {
  Sample s = sample::padded_decode();
  s.frame.changes = some_changes();
  s.frame.bookmarks = {{.cursor = {.index = 3}, .seq = -1, .note = "the hit"}};
  s.frame.breakpoints = {{trace::ConditionKind::preemption, -1, 0.0}};
  Selection selection;
  selection.block = 5;
  const std::string text = describe_screen(s.frame, selection);
  for (const char* part :
       {"Changed since step 8: 7 places", "block 4: num_filled 0", "Selected block 5: shared, ref_count 2",
        "Costs of the step: score dots per head 54", "Bookmark at step 4", "the hit", "Break point: "})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(Changes, EveryPartStaysInsideItsPanel) {
  Sample s = sample::padded_decode();
  s.frame.changes = some_changes();
  s.frame.diff = some_changes();
  s.frame.bookmarks.resize(3);
  s.frame.breakpoints.resize(3);
  for (const auto& [w, h, scale] : {std::tuple{640.0F, 480.0F, 1.0F},
                                    {1024.0F, 640.0F, 1.0F},
                                    {1600.0F, 900.0F, 0.75F},
                                    {3840.0F, 2160.0F, 2.5F}}) {
    for (const SideView side : {SideView::changes, SideView::costs}) {
      Headless screen(w, h, scale);
      screen.view.side = side;
      const int pages = layout_screen({.width = w, .height = h, .scale = scale, .side = side}).pages;
      for (screen.view.page = 0; screen.view.page < pages; ++screen.view.page) {
        screen.draw(s.frame);
        for (const Mark& mark : screen.marks.all()) {
          if (!mark.name.starts_with("changes/") && !mark.name.starts_with("costs/")) continue;
          const Mark* panel = screen.marks.find(mark.name.substr(0, mark.name.find('/')));
          ASSERT_NE(panel, nullptr) << mark.name;
          EXPECT_GE(mark.rect.x, panel->rect.x) << mark.name;
          EXPECT_LE(mark.rect.right(), panel->rect.right() + 0.5F) << mark.name;
          EXPECT_LE(mark.rect.bottom(), panel->rect.bottom() + 0.5F) << mark.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace attn::viz
