// Films recorded in the window: the dialog, the scenario that is written, and pictures equal to those of the
// command line.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/scenario.h"
#include "tests/app/program.h"
#include "tests/app/user.h"

namespace attn::app::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Kind = viz::Command::Kind;

constexpr const char* kSmallSize = "320x180";

/// Two short stops and another run, paths relative to the file.
constexpr const char* kSmallLesson = R"({
  "$schema": "scenario.schema.json", "version": 1, "name": "Small lesson", "seed": 7, "fps": 5,
  "engine": {"block_size": 4, "num_blocks": 16, "k_tile": 4},
  "requests": [{"id": "A", "prompt_tokens": 4, "max_tokens": 3}],
  "runs": [{"name": "wide", "set": {"engine.k_tile": 8}}],
  "film": [
    {"stop": "one", "caption": "cu_seqlens_q is {cu_seqlens_q}.", "hold": 0.6, "expect": {"cu_seqlens_q": [0, 4]}},
    {"stop": "two", "run": "wide", "goto": {"step": 2}, "view": "tiles", "caption": "Now a decode.", "hold": 0.6}]
})";

class FilmInTheWindow : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_.file(name); }

  /// Through the dialog, as a user does.
  void record(User& user, const std::string& output) {
    user.session().set_program(tree::binary_dir() / "attnscope");
    user.press({.key = 'R', .ctrl = true});
    user.settle();
    ASSERT_EQ(user.view.shell.overlay, viz::Overlay::film);
    user.press({.key = 'A', .ctrl = true});
    for (const char c : output) user.type(c);
    user.view.shell.film_size = kSmallSize;
    user.click("film/record");
    user.settle();
  }
  void film(std::vector<std::string> words) {
    words.insert(words.begin(), "film");
    words.insert(words.end(), {"--size", kSmallSize, "--device", "simt"});
    const auto result = run_program(words);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  /// Of two folders of pictures.
  void expect_equal_pictures(const std::string& a, const std::string& b) {
    int pictures = 0;
    for (const auto& entry : fs::directory_iterator(a)) {
      if (entry.path().extension() != ".png") continue;
      ++pictures;
      const fs::path other = fs::path(b) / entry.path().filename();
      EXPECT_EQ(read_file(entry.path()), read_file(other)) << other;
    }
    EXPECT_GT(pictures, 3);
    EXPECT_FALSE(fs::exists(fs::path(b) / (pictures < 10 ? "00000" + std::to_string(pictures) + ".png"
                                                         : "0000" + std::to_string(pictures) + ".png")))
        << "as many in both";
  }

  const TemporaryFolder folder_;
};

TEST_F(FilmInTheWindow, OfALessonIsTheFilmOfTheCommandLine) {
  write_file(file("small.json"), kSmallLesson);
  User user(open_subject(file("small.json"), DeviceChoice::simt));
  user.session().tell_scripts({});
  user.settle();
  user.view.mode = viz::ScreenMode::present;
  user.view.present_theme = viz::ThemeId::dark;
  record(user, file("window/"));
  const viz::FilmNow& made = user.frame().film;
  EXPECT_FALSE(made.running);
  EXPECT_FALSE(made.failed) << made.text;
  EXPECT_TRUE(made.whole);
  EXPECT_EQ(made.text, "film: " + file("window/") + "; its scenario: " + file("window.film.json"));
  EXPECT_EQ(user.frame().status, made.text);
  ASSERT_TRUE(user.marks().get("film/outcome")) << "the dialog says it too";

  const Scenario written = load_scenario(file("window.film.json"));
  EXPECT_EQ(written.script.stops.size(), 2U);
  EXPECT_EQ(written.script.size, (std::array{320, 180}));
  EXPECT_FALSE(json::parse(read_file(file("window.film.json"))).contains("$schema")) << "it lies elsewhere";
  film({file("small.json"), "-o", file("cli/"), "--mode", "present", "--theme", "dark"});
  expect_equal_pictures(file("window"), file("cli"));
  film({file("window.film.json"), "-o", file("again/")});
  expect_equal_pictures(file("window"), file("again"));
}

TEST_F(FilmInTheWindow, OfALessonThatWasTurnedByHandIsWhatRunsNow) {
  write_file(file("small.json"), kSmallLesson);
  User user(open_subject(file("small.json"), DeviceChoice::simt));
  user.session().tell_scripts({});
  user.settle();
  user.press({.key = 'R', .ctrl = true});
  user.settle();
  EXPECT_FALSE(user.view.shell.film_run) << "nothing was turned: the lesson";
  user.click("film/close");
  user.send(Kind::set_switch, 0, "k_tile", "16");
  user.session().run_to_step(3);
  user.settle();
  record(user, file("window/"));
  EXPECT_TRUE(user.view.shell.film_run);
  ASSERT_FALSE(user.frame().film.failed) << user.frame().film.text;
  const Scenario written = load_scenario(file("window.film.json"));
  EXPECT_TRUE(written.script.stops.empty());
  EXPECT_EQ(written.engine.k_tile, 16);
}

TEST_F(FilmInTheWindow, OfARunShowsItAsTheWindowDoes) {
  User user(scenario_subject({"requests=[{\"id\": \"A\", \"prompt_tokens\": 9, \"max_tokens\": 4}]"}));
  user.settle();
  user.session().run_to_step(3);
  user.settle();
  viz::Selection at = user.session().selection();
  at.step = 1;
  at.layer = 2;
  at.head = 3;
  at.stage = trace::Stage::qkv_rope;
  user.session().select(at);
  user.view.stage = viz::StageView::tiles;
  user.view.side = viz::SideView::costs;
  user.view.shell.film_from_here = true;
  record(user, file("window/"));
  ASSERT_FALSE(user.frame().film.failed) << user.frame().film.text;
  const Scenario written = load_scenario(file("window.film.json"));
  EXPECT_EQ(written.script.begin.step, 2);
  EXPECT_EQ(written.script.begin.layer, 2);
  EXPECT_EQ(written.script.begin.stage, trace::Stage::qkv_rope);
  EXPECT_EQ(written.script.shown.stage, viz::StageView::tiles);
  EXPECT_TRUE(written.script.empty());

  // The same with the command line's own words.
  json plain = json::parse(read_file(file("window.film.json")));
  plain["begin"] = {{"goto", {{"stage", "qkv_rope"}}}};
  write_file(file("plain.json"), plain.dump());
  film({file("plain.json") + "#step=2&layer=2&head=3", "-o", file("cli/"), "--stage", "tiles", "--side",
        "costs"});
  expect_equal_pictures(file("window"), file("cli"));
}

TEST_F(FilmInTheWindow, OfATraceNamesTheTrace) {
  ASSERT_EQ(run_program({"run", default_scenario().string(), "--trace", file("run.attn"), "--device", "simt",
                         "--set", "max_steps=4"})
                .exit_code,
            0);
  User user(open_subject(file("run.attn"), DeviceChoice::simt));
  user.settle();
  record(user, file("window/"));
  ASSERT_FALSE(user.frame().film.failed) << user.frame().film.text;
  const json written = json::parse(read_file(file("window.film.json")));
  EXPECT_EQ(written.at("trace"), file("run.attn"));
  EXPECT_EQ(run_program({"check", file("window.film.json")}).exit_code, 0);
  film({file("window.film.json"), "-o", file("cli/")});
  expect_equal_pictures(file("window"), file("cli"));
}

TEST_F(FilmInTheWindow, WithoutFfmpegPicturesAndTheCommand) {
  write_file(file("small.json"), kSmallLesson);
  User user(open_subject(file("small.json"), DeviceChoice::simt));
  user.session().tell_scripts({});
  user.settle();
  const std::string path = std::getenv("PATH");
  setenv("PATH", file("nothing").c_str(), 1);
  record(user, file("a.mp4"));
  setenv("PATH", path.c_str(), 1);
  const viz::FilmNow& film = user.frame().film;
  EXPECT_TRUE(film.failed);
  EXPECT_TRUE(film.text.starts_with("ffmpeg is not installed")) << film.text;
  EXPECT_NE(film.text.find("its pictures are in " + file("a-frames")), std::string::npos) << film.text;
  EXPECT_NE(film.text.find("with ffmpeg this makes it: ffmpeg "), std::string::npos) << film.text;
  EXPECT_TRUE(fs::exists(file("a-frames/000000.png")));
}

TEST_F(FilmInTheWindow, CanBeCancelledAndGoesOnFromThere) {
  write_file(file("small.json"), kSmallLesson);
  User user(open_subject(file("small.json"), DeviceChoice::simt));
  user.session().tell_scripts({});
  user.settle();
  user.session().set_program(tree::binary_dir() / "attnscope");
  user.session().apply(viz::Commands{command_of(Kind::record_film, 0, file("big/"), "4k")}, user.view);
  EXPECT_TRUE(user.frame().film.running);
  user.session().apply(viz::Commands{command_of(Kind::cancel_film)}, user.view);
  user.settle();
  EXPECT_FALSE(user.frame().film.running);
  EXPECT_TRUE(user.frame().film.failed);
  EXPECT_NE(user.frame().film.text.find("cancelled"), std::string::npos) << user.frame().film.text;
}

TEST_F(FilmInTheWindow, WhatCannotBeWrittenIsSaidAtOnce) {
  User user(scenario_subject({"max_steps=1"}));
  user.settle();
  record(user, file("no/folder.mp4"));
  EXPECT_TRUE(user.frame().film.failed);
  EXPECT_NE(user.frame().film.text.find("there is no folder"), std::string::npos) << user.frame().film.text;
  user.send(Kind::record_film, 0, file("x.mov"), "720p");
  EXPECT_NE(user.frame().film.text.find(".mp4"), std::string::npos) << user.frame().film.text;
  EXPECT_TRUE(fs::is_empty(folder_.path())) << "no scenario without a film";
}

TEST_F(FilmInTheWindow, TheDialogKnowsFormatsAndSizes) {
  User user(scenario_subject({"max_steps=1"}));
  user.settle();
  user.press({.key = 'R', .ctrl = true});
  user.settle();
  EXPECT_EQ(user.view.shell.text, "three-prompts.mp4");
  user.click("film/format/gif");
  EXPECT_EQ(user.view.shell.text, "three-prompts.gif");
  EXPECT_EQ(user.view.shell.film_size, "960x540");
  user.click("film/format/png");
  EXPECT_EQ(user.view.shell.text, "three-prompts/");
  EXPECT_EQ(user.view.shell.film_size, "1080p");
  user.click("film/size/720p");
  EXPECT_EQ(user.view.shell.film_size, "720p");
  user.click("film/from/here");
  EXPECT_TRUE(user.view.shell.film_from_here);
  user.click("film/close");
  EXPECT_EQ(user.view.shell.overlay, viz::Overlay::none);
}

}  // namespace
}  // namespace attn::app::testing
