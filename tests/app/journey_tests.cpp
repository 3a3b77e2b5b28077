// Whole journeys through the screen, clicking marks and pressing keys over a real engine on the emulator; and
// what must hold wherever one has come: seeks equal walking, numbers name their buffers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>

#include "core/trace/compare.h"
#include "tests/app/program.h"
#include "tests/app/user.h"

namespace attn::app {
namespace {

namespace fs = std::filesystem;
using Kind = viz::Command::Kind;
using testing::User;

viz::Command condition(Kind kind, trace::ConditionKind what, int by, int a = -1) {
  viz::Command command;
  command.kind = kind;
  command.a = by;
  command.condition = {.kind = what, .a = a, .x = 0.0};
  return command;
}

/// Every mark's value by name: what is on screen, as text.
std::map<std::string, std::string> values(const viz::Marks& marks) {
  std::map<std::string, std::string> out;
  for (const viz::Mark& mark : marks.all()) out[mark.name] = mark.value;
  return out;
}

TEST(Journey, OpenStepLockCompareBreakFindExportSaveReopen) {
  const testing::TemporaryFolder folder;
  User user(testing::scenario_subject());
  user.settle();
  ASSERT_EQ(user.frame().num_steps, 1);

  for (int i = 0; i < 12; ++i) {
    user.press({.key = viz::keys::kRight});
    user.settle();
  }
  EXPECT_EQ(user.frame().index, 12) << "the arrow key runs the engine";
  EXPECT_EQ(user.frame().step->kind, trace::StepKind::decode);
  for (const trace::Grain grain : {trace::Grain::stage, trace::Grain::head, trace::Grain::tile,
                                   trace::Grain::cell, trace::Grain::step}) {
    const viz::Selection before = user.session().selection();
    viz::Command move;
    move.kind = Kind::move;
    move.grain = grain;
    move.a = 1;
    user.send(move);
    EXPECT_NE(user.session().selection(), before) << static_cast<int>(grain);
  }

  user.click("pool/block/2");
  EXPECT_EQ(user.session().selection().block, 2) << "a click locks";
  viz::Command compare;
  compare.kind = Kind::compare;
  std::tie(compare.variant_a, compare.variant_b) =
      trace::first_comparison(*user.frame().step, user.frame().manifest->model, user.frame().traits);
  user.view.stage = viz::StageView::compare;
  user.send(compare);
  ASSERT_NE(user.frame().compare, nullptr) << user.frame().compare_note;
  EXPECT_GT(user.frame().compare->b.bytes, user.frame().compare->a.bytes) << "a gather moves more";

  user.send(Kind::set_switch, 0, "decode_path", "gather_padded");
  ASSERT_TRUE(user.frame().broken);
  user.send(Kind::set_switch, 0, "decode_path", "paged");
  EXPECT_FALSE(user.frame().broken);

  user.view.stage = viz::StageView::weights;
  user.send(condition(Kind::run_to, trace::ConditionKind::prefix_hit, -1));
  EXPECT_NE(user.frame().stopped_at, "") << user.frame().status;
  user.send(Kind::add_bookmark, 0, "the shared prefix");
  const auto at = user.frame().step->state_hash;

  user.send(Kind::export_tensor, 0, folder.file("o.csv"), "o");
  EXPECT_GT(fs::file_size(folder.file("o.csv")), 100U) << user.frame().status;
  user.send(Kind::export_tensor, 0, folder.file("w.safetensors"), "weights");
  EXPECT_TRUE(fs::exists(folder.file("w.safetensors"))) << user.frame().status;
  user.send(Kind::save_trace, 0, folder.file("mine.attn"));
  user.send(Kind::open_file, 0, testing::default_scenario().string() + "#step=3");
  EXPECT_EQ(user.frame().step->step, 3);
  user.send(Kind::open_file, 0, folder.file("mine.attn"));
  ASSERT_EQ(user.frame().bookmarks.size(), 1U);
  user.send(Kind::go_to_bookmark, 0);
  EXPECT_EQ(user.frame().step->state_hash, at);
  EXPECT_TRUE(user.marks().get("pool/block/2").has_value()) << "and it is drawn";
}

TEST(Journey, AnotherFileDoesNotTakeBookmarksWithItUnasked) {
  const testing::TemporaryFolder folder;
  User user(testing::scenario_subject());
  user.settle();
  user.send(Kind::add_bookmark, 0, "here");
  const std::string other = testing::default_scenario().string() + "#step=3";
  const int before = user.frame().step->step;
  user.send(Kind::open_file, 0, other);
  ASSERT_EQ(user.frame().bookmarks.size(), 1U);
  EXPECT_EQ(user.frame().step->step, before);
  EXPECT_NE(user.frame().status.find("1 bookmark is in no file"), std::string::npos) << user.frame().status;
  user.send(Kind::open_file, 0, other);
  EXPECT_EQ(user.frame().bookmarks.size(), 0U) << "asked for twice, it is meant";
  EXPECT_EQ(user.frame().step->step, 3);
  user.send(Kind::add_bookmark, 0, "there");
  user.send(Kind::save_trace, 0, folder.file("kept.attn"));
  user.send(Kind::open_file, 0, testing::default_scenario().string());
  EXPECT_EQ(user.frame().bookmarks.size(), 0U) << "a file holds it";
}

TEST(Journey, AThousandRandomSeeksEqualWalking) {
  User user(testing::scenario_subject());
  user.settle();
  while (user.frame().engine_has_work) user.send(Kind::step_forward);
  const int steps = user.frame().num_steps;
  std::vector<std::uint64_t> hashes;
  std::vector<std::map<std::string, std::string>> screens;
  for (int i = 0; i < steps; ++i) {
    user.send(Kind::seek, i);
    hashes.push_back(user.frame().step->state_hash);
    screens.push_back(values(user.marks()));
  }
  std::mt19937 random(20);
  for (int i = 0; i < 1000; ++i) {
    const int index = static_cast<int>(random() % static_cast<unsigned>(steps));
    user.session().apply(viz::Commands{[&] {
                           viz::Command seek;
                           seek.kind = Kind::seek;
                           seek.a = index;
                           return seek;
                         }()},
                         user.view);
    ASSERT_EQ(user.frame().step->state_hash, hashes[static_cast<std::size_t>(index)]) << index;
    if (i % 20 != 0) continue;  // drawing takes longer than seeking
    user.settle();
    ASSERT_EQ(values(user.marks()), screens[static_cast<std::size_t>(index)]) << "step index " << index;
  }
}

TEST(Journey, EveryNumberOnScreenNamesItsSource) {
  User user(testing::scenario_subject(), 1920.0F, 1080.0F);
  user.settle();
  for (int i = 0; i < 10; ++i) user.send(Kind::step_forward);
  // What a click does or a field holds is no number of the run.
  const auto is_control = [](const viz::Mark& mark) {
    static const std::vector<std::string> kControls = {
        "header/",        "status/",        "transport/",
        "menu/",          "tabs/",          "requests/max_tokens",
        "requests/temp",  "tiles/size/",    "tiles/rescale",
        "weights/scale",  "code/copy",      "code/below",
        "compare/a/pick", "compare/b/pick", "compare/a/scale",
        "compare/b/scale"};
    return std::any_of(kControls.begin(), kControls.end(),
                       [&](const std::string& prefix) { return mark.name.starts_with(prefix); });
  };
  std::set<std::string> unsourced;
  const auto look = [&] {
    for (const viz::Mark& mark : user.marks().all()) {
      const bool number = std::any_of(mark.value.begin(), mark.value.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
      if (number && mark.source.empty() && !is_control(mark)) unsourced.insert(mark.name + ": " + mark.value);
    }
  };
  for (const viz::ScreenMode mode : {viz::ScreenMode::explore, viz::ScreenMode::present}) {
    user.view.mode = mode;
    for (int stage = 0; stage < viz::kNumStageViews; ++stage) {
      user.view.stage = static_cast<viz::StageView>(stage);
      for (const int index : {0, 1, 5}) {
        user.send(Kind::seek, index);
        viz::Command compare = testing::command_of(Kind::compare);
        std::tie(compare.variant_a, compare.variant_b) =
            trace::first_comparison(*user.frame().step, user.frame().manifest->model, user.frame().traits);
        if (user.view.stage == viz::StageView::compare) user.send(compare);
        for (int side = 0; side < viz::kNumSideViews; ++side) {
          user.view.side = static_cast<viz::SideView>(side);
          for (user.view.page = 0; user.view.page < 4; ++user.view.page) {
            user.draw();
            look();
          }
          user.view.page = 0;
        }
      }
    }
  }
  EXPECT_EQ(unsourced, std::set<std::string>{});
}

}  // namespace
}  // namespace attn::app
