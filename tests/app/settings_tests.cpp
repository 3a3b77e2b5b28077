// Settings of the window, the difference of two traces, and what an interrupt leaves behind.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "app/settings.h"
#include "tests/app/program.h"
#include "tests/paths.h"

namespace attn::app {
namespace {

namespace fs = std::filesystem;
using testing::run_program;
using testing::run_shell;

Settings unusual() {
  Settings settings;
  settings.theme = viz::ThemeId::print;
  settings.scale = 1.5F;
  settings.mode = viz::ScreenMode::present;
  settings.stage = viz::StageView::tiles;
  settings.side = viz::SideView::costs;
  settings.splits.right = 0.25F;
  settings.present_theme = viz::ThemeId::contrast;
  settings.present_splits.side = 0.75F;
  settings.reduced_motion = true;
  settings.width = 1000;
  settings.recent_files = {"/a/b.attn", "/c \"d\".json"};
  return settings;
}

TEST(Settings, SurviveARestart) {
  const testing::TemporaryFolder folder;
  const fs::path path = folder.path() / "new" / "settings.json";
  save_settings(path, unusual());
  const LoadedSettings loaded = load_settings(path);
  EXPECT_EQ(loaded.settings, unusual());
  EXPECT_EQ(loaded.note, "");
  EXPECT_FALSE(fs::exists(path.string() + ".part"));
  viz::ViewState view;
  apply_settings(loaded.settings, view);
  view.scale *= 2.0F;  // a monitor of scale 2
  Settings back = unusual();
  back.theme = viz::ThemeId::dark;
  take_settings(view, 2.0F, back);
  EXPECT_EQ(back, unusual());
}

TEST(Settings, DamagedOnesAreIgnoredWithANote) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("settings.json");
  EXPECT_EQ(load_settings(path).note, "") << "none at all is no damage";
  for (const char* text : {"", "{", "[1]", "\xFF\xFE", "null"}) {
    testing::write_file(path, text);
    EXPECT_EQ(load_settings(path).settings, Settings{}) << text;
    EXPECT_NE(load_settings(path).note, "") << text;
  }
  testing::write_file(path,
                      R"({"theme": "pink", "scale": 1e9, "width": 1.5, "height": 700, "recent_files": [3]})");
  const LoadedSettings loaded = load_settings(path);
  Settings expected;
  expected.height = 700;
  EXPECT_EQ(loaded.settings, expected) << "the good ones count";
  EXPECT_NE(loaded.note.find("theme, scale, width, recent_files"), std::string::npos) << loaded.note;
}

TEST(Diff, TwoTracesOfTheSameRunAreTheSameAndABrokenOneIsNot) {
  const testing::TemporaryFolder folder;
  const std::string scenario = testing::default_scenario().string();
  const auto run = [&](const char* name, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run", scenario, "--device", "simt", "--trace", folder.file(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments).exit_code;
  };
  ASSERT_EQ(run("a.attn", {}), 0);
  ASSERT_EQ(run("b.attn", {}), 0);
  ASSERT_EQ(run("c.attn", {"--set", "engine.decode_path=gather_padded"}), 0);
  const auto same = run_program({"diff", folder.file("a.attn"), folder.file("b.attn"), "--tol", "0"});
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
  EXPECT_NE(same.out.find("layer 3: max|d| of o 0 "), std::string::npos) << same.out;
  const auto other = run_program({"diff", folder.file("a.attn"), folder.file("c.attn")});
  EXPECT_EQ(other.exit_code, 1) << other.out << other.err;
  EXPECT_NE(other.out.find("first differs in step"), std::string::npos) << other.out;
  const auto none = run_program({"diff", folder.file("a.attn"), folder.file("no.attn")});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_TRUE(testing::is_one_sentence(none.err)) << none.err;
}

TEST(Interrupt, LeavesNoPartBehind) {
  const testing::TemporaryFolder folder;
  const std::string part = folder.file("x.jsonl.part");
  // A long run, interrupted once its part file is there.
  const auto result =
      run_shell((tree::binary_dir() / "attnscope").string() + " run " + testing::default_scenario().string() +
                " --device simt --set requests.0.max_tokens=400 --set engine.num_blocks=400 --set "
                "requests.0.ignore_eos=true"
                " --jsonl " +
                folder.file("x.jsonl") + " & pid=$!; n=0; while [ ! -e " + part +
                " ] && [ $n -lt 400 ]; do sleep 0.02; n=$((n+1)); done; [ -e " + part +
                " ] && echo seen; kill -TERM $pid; wait $pid; echo code $?");
  EXPECT_NE(result.out.find("seen"), std::string::npos) << result.out << result.err;
  EXPECT_NE(result.out.find("code 143"), std::string::npos) << result.out << result.err;
  EXPECT_FALSE(fs::exists(part));
  EXPECT_FALSE(fs::exists(folder.file("x.jsonl")));
}

}  // namespace
}  // namespace attn::app
