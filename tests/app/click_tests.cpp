// "Record my clicks": what somebody does in the window becomes a scenario that goes to the same places.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/click_script.h"
#include "app/scenario.h"
#include "tests/app/in_folder.h"
#include "tests/app/program.h"
#include "tests/app/user.h"

namespace attn::app {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::command_of;
using Kind = viz::Command::Kind;

/// Where one stood, as a stop must come to again.
struct Stood {
  viz::Selection selection;
  viz::StageView stage;
  viz::SideView side;
  viz::PanelId alone;
  int k_tile;
  bool operator==(const Stood&) const = default;
};

class Clicks : public ::testing::Test {
 protected:
  Clicks() : here_(folder_.path()) {}

  void open(const std::string& path, const std::vector<std::string>& sets = {}) {
    session_ =
        std::make_unique<Session>(open_subject(path, DeviceChoice::simt, sets), DeviceChoice::simt, [] {});
    session_->tell_scripts({});
    view_ = {};
    rest();
  }
  /// Everything settles, and a second passes.
  void rest() {
    session_->wait_idle();
    session_->tick(view_, now_);
    session_->wait_idle();
    session_->frame();
    now_ += 1s;
    session_->tick(view_, now_);
  }
  void send(const viz::Command& command) {
    session_->apply(viz::Commands{command}, view_);
    rest();
  }
  Stood stood() {
    const viz::Frame& frame = session_->frame();
    return {session_->selection(), view_.stage, view_.side, view_.maximised, frame.manifest->config.k_tile};
  }
  template <class Change>
  void select(Change change) {
    viz::Command command = command_of(Kind::select);
    command.selection = session_->selection();
    change(command.selection);
    send(command);
  }

  const testing::TemporaryFolder folder_;
  const testing::InFolder here_;
  Session::Clock::time_point now_ = Session::Clock::time_point{} + 1h;
  viz::ViewState view_;
  std::unique_ptr<Session> session_;
};

TEST_F(Clicks, BecomeAScenarioThatGoesToTheSamePlaces) {
  open(testing::default_scenario().string());
  send(command_of(Kind::record_clicks));
  EXPECT_EQ(session_->frame().clicks, 1) << "where it begins";
  std::vector<Stood> places{stood()};
  const auto note = [&] { places.push_back(stood()); };
  send(command_of(Kind::step_forward));
  note();
  select([](viz::Selection& s) {
    s.seq = 2;
    s.q_row = 0;
    s.k_col = 3;
    s.layer = 1;
    s.head = 5;
  });
  note();
  view_.stage = viz::StageView::tiles;
  view_.side = viz::SideView::costs;
  rest();
  note();
  view_.maximised = viz::PanelId::pool;
  rest();
  note();
  view_.maximised = viz::PanelId::count_;
  viz::Command run_to = command_of(Kind::run_to, 1);
  run_to.condition = {.kind = trace::ConditionKind::block_allocated, .a = 14, .x = 0.0};
  send(run_to);
  note();
  send(command_of(Kind::set_switch, 0, "k_tile", "16"));
  note();
  viz::Command compare = command_of(Kind::compare);
  compare.variant_b.level = 1;
  view_.stage = viz::StageView::compare;
  send(compare);
  note();
  ASSERT_EQ(session_->frame().clicks, static_cast<int>(places.size()));
  send(command_of(Kind::record_clicks));
  EXPECT_EQ(session_->frame().clicks, -1);
  const std::string path = folder_.file("three-prompts-clicks.json");
  EXPECT_NE(session_->frame().status.find(path), std::string::npos) << session_->frame().status;

  const Scenario saved = load_scenario(path);
  ASSERT_EQ(saved.script.stops.size(), places.size());
  ASSERT_EQ(saved.script.runs.size(), 1U);
  EXPECT_EQ(saved.script.runs[0].scenario->engine.k_tile, 16);
  EXPECT_NEAR(saved.script.stops[1].hold.value_or(0.0), 1.0, 0.11);
  EXPECT_TRUE(saved.script.stops.back().shown.compare);
  open(path);
  ASSERT_TRUE(session_->frame().lesson);
  for (std::size_t i = 0; i < places.size(); ++i) {
    ASSERT_EQ(session_->frame().lesson->stop, static_cast<int>(i));
    EXPECT_EQ(session_->frame().lesson->caption.find("{"), std::string::npos);
    EXPECT_EQ(stood(), places[i]) << "stop " << i;
    send(command_of(Kind::next_stop, 1));
  }
  const auto film = testing::run_program({"film", path, "--check-only", "--device", "simt"});
  EXPECT_EQ(film.exit_code, 0) << film.err;
}

TEST_F(Clicks, PlacesThatWerePassedThroughAreLeftOut) {
  open(testing::default_scenario().string());
  session_->run_to_step(8);
  send(command_of(Kind::record_clicks));
  for (int i = 2; i < 7; ++i) {
    session_->apply(viz::Commands{command_of(Kind::seek, i)}, view_);
    now_ += 50ms;
    session_->tick(view_, now_);
  }
  rest();
  send(command_of(Kind::record_clicks));
  const Scenario saved = load_scenario(folder_.file("three-prompts-clicks.json"));
  ASSERT_EQ(saved.script.stops.size(), 2U);
  EXPECT_EQ(saved.script.stops[1].place.step, 7);
}

TEST_F(Clicks, TypedPromptsAndAnotherFileAreNoTrap) {
  open(testing::default_scenario().string());
  send(command_of(Kind::record_clicks));
  viz::Command add = command_of(Kind::add_prompt, 3, "JULIET:\n{O}");
  send(add);
  send(command_of(Kind::open_file, 0,
                  (testing::source_dir() / "assets/lessons/02-one-long-row.json").string()));
  EXPECT_EQ(session_->frame().clicks, -1) << "saved when something else was opened";
  const Scenario saved = load_scenario(folder_.file("three-prompts-clicks.json"));
  EXPECT_EQ(saved.requests.size(), 4U);
  EXPECT_TRUE(saved.script.runs.empty()) << "a typed prompt goes on with the same run";
  EXPECT_EQ(saved.script.stops.size(), 2U);
  open(folder_.file("three-prompts-clicks.json"));
  send(command_of(Kind::next_stop, 1));
  EXPECT_EQ(session_->frame().step->seqs.size(), 4U);
}

TEST_F(Clicks, OfALessonAndItsOtherRuns) {
  testing::write_file(folder_.file("mine.json"), R"({
    "version": 1, "seed": 7, "engine": {"block_size": 4, "num_blocks": 16, "k_tile": 4},
    "requests": [{"id": "A", "prompt_tokens": 4, "max_tokens": 6}],
    "runs": [{"name": "wide", "set": {"engine.k_tile": 8}},
             {"name": "longer", "requests": [{"id": "A", "prompt_tokens": 9, "max_tokens": 2}]}],
    "film": [{"stop": "one", "caption": "One."},
             {"stop": "two", "run": "wide", "caption": "Two."},
             {"stop": "three", "run": "longer", "predict": "How?", "caption": "Three.", "goto": {"step": 2},
              "view": "heads"}]})");
  open(folder_.file("mine.json"));
  send(command_of(Kind::record_clicks));
  std::vector<Stood> places{stood()};
  for (const Kind kind : {Kind::next_stop, Kind::next_stop, Kind::answer}) {
    send(command_of(kind, 1));
    if (!(stood() == places.back())) places.push_back(stood());
  }
  ASSERT_EQ(places.size(), 3U) << "an answer goes nowhere";
  send(command_of(Kind::record_clicks));
  const Scenario saved = load_scenario(folder_.file("mine-clicks.json"));
  ASSERT_EQ(saved.script.runs.size(), 2U);
  EXPECT_EQ(saved.script.runs[0].scenario->engine.k_tile, 8);
  EXPECT_EQ(saved.script.runs[1].scenario->requests[0].prompt_tokens, 9);
  open(folder_.file("mine-clicks.json"));
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(stood(), places[i]) << "stop " << i;
    send(command_of(Kind::next_stop, 1));
  }
}

TEST_F(Clicks, AQuestionAndItsAnswerAreOneStop) {
  testing::write_file(folder_.file("mine.json"), R"({
    "version": 1, "seed": 7, "requests": [{"id": "A", "prompt_tokens": 4, "max_tokens": 6}],
    "film": [{"stop": "one", "caption": "One."},
             {"stop": "two", "predict": "How many?", "caption": "Two.", "goto": {"step": 2},
              "select": {"seq": "A", "row": 0, "col": 3}}]})");
  open(folder_.file("mine.json"));
  send(command_of(Kind::record_clicks));
  send(command_of(Kind::next_stop, 1));
  ASSERT_TRUE(session_->frame().lesson->asking);
  EXPECT_EQ(session_->selection().seq, -1);
  send(command_of(Kind::answer));
  EXPECT_EQ(session_->selection().seq, 0);
  EXPECT_EQ(session_->frame().clicks, 2);
  select([](viz::Selection& s) { s.k_col = 2; });
  EXPECT_EQ(session_->frame().clicks, 3) << "what is clicked after the answer is a stop";
  send(command_of(Kind::record_clicks));
  const Scenario saved = load_scenario(folder_.file("mine-clicks.json"));
  ASSERT_EQ(saved.script.stops.size(), 3U);
  EXPECT_EQ(saved.script.stops[1].place.col, 3);
  EXPECT_EQ(saved.script.stops[2].place.col, 2);
}

TEST_F(Clicks, SuccessiveCaptionsSayWhatChanged) {
  open(testing::default_scenario().string());
  send(command_of(Kind::record_clicks));
  select([](viz::Selection& s) {
    s.seq = 1;
    s.q_row = 0;
    s.k_col = 0;
    s.head = 5;
  });
  select([](viz::Selection& s) { s.head = 6; });
  view_.stage = viz::StageView::tiles;
  rest();
  send(command_of(Kind::step_forward));
  send(command_of(Kind::record_clicks));
  const Scenario saved = load_scenario(folder_.file("three-prompts-clicks.json"));
  const std::vector<Stop>& stops = saved.script.stops;
  ASSERT_EQ(stops.size(), 5U);
  const std::string step = stops[0].caption + ".";  // it ends with a token
  EXPECT_EQ(stops[1].caption, step + " Now head 5, sequence B, query 0, key 0.");
  EXPECT_EQ(stops[2].caption, step + " Now head 6.");
  EXPECT_EQ(stops[3].caption, step + " Now tiles in the middle.");
  EXPECT_EQ(stops[4].caption.find("Now"), std::string::npos) << "another step says so itself";
}

TEST(ClickScript, AKeyTurnsItOnAndOff) {
  const testing::TemporaryFolder folder;
  const testing::InFolder here(folder.path());
  testing::User user(testing::scenario_subject({"max_steps=1"}));
  user.settle();
  user.press({.key = 'R', .ctrl = true, .shift = true});
  user.settle();
  EXPECT_EQ(user.frame().clicks, 1);
  EXPECT_TRUE(user.marks().get("status/clicks"));
  user.press({.key = 'R', .ctrl = true, .shift = true});
  user.settle();
  EXPECT_EQ(user.frame().clicks, -1);
  EXPECT_TRUE(fs::exists(folder.file("three-prompts-clicks.json")));
}

}  // namespace
}  // namespace attn::app
