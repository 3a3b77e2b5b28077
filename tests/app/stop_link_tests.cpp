// Links that name a stop of a lesson: in the window, in stills, films and texts.
#include <gtest/gtest.h>

#include <string>

#include "app/still_scene.h"
#include "kernels/common/check.h"
#include "tests/app/program.h"
#include "tests/app/user.h"

namespace attn::app {
namespace {

std::string second_lesson() {
  return (testing::source_dir() / "assets/lessons/02-one-long-row.json").string();
}

StillOptions still_of(const std::string& link) {
  StillOptions options;
  options.file = link;
  options.device = "simt";
  return options;
}

TEST(StopLink, TheWindowOpensAtTheStop) {
  testing::User user(open_subject(second_lesson() + "#stop=3", DeviceChoice::simt));
  user.session().tell_scripts({});
  user.settle();
  ASSERT_TRUE(user.frame().lesson);
  EXPECT_EQ(user.frame().lesson->name, "no look across");
  EXPECT_EQ(user.session().selection().seq, 1) << "B, as the stop says";
  user.send(viz::Command::Kind::open_file, 0, second_lesson() + "#stop=4");
  user.settle();
  EXPECT_EQ(user.frame().lesson->stop, 3) << "from inside the window too";
}

TEST(StopLink, AStillIsOfTheStopBeforeOrAfterItsQuestion) {
  Scene told(still_of(second_lesson() + "#stop=2"));
  ASSERT_TRUE(told.session.frame().lesson);
  EXPECT_EQ(told.session.frame().lesson->name, "whose row is 6");
  EXPECT_FALSE(told.session.frame().lesson->asking);
  EXPECT_NE(told.session.frame().lesson->caption.find("B, position 2"), std::string::npos);
  StillOptions options = still_of(second_lesson() + "#stop=2");
  options.ask = true;
  Scene asks(options);
  EXPECT_TRUE(asks.session.frame().lesson->asking);
  options.file = second_lesson() + "#stop=1";
  EXPECT_THROW(Scene{options}, InputError) << "it asks nothing";
  options.file = second_lesson();
  EXPECT_THROW(Scene{options}, InputError) << "of no stop";
  options.file = second_lesson() + "#stop=2";
  options.panel = "strip";
  EXPECT_LT(Scene(options).size.second, 400) << "one panel of it";
}

TEST(StopLink, AStillTakesTheViewsThatItsStopDoesNotName) {
  const std::string decode = (testing::source_dir() / "assets/lessons/07-one-decode-step.json").string();
  StillOptions options = still_of(decode + "#stop=2");
  options.side = viz::SideView::costs;
  options.stage = viz::StageView::heads;
  for (const bool ask : {true, false}) {
    options.ask = ask;
    const Scene scene(options);
    EXPECT_EQ(scene.view.side, viz::SideView::costs) << ask;
    EXPECT_EQ(scene.view.stage, viz::StageView::heads) << ask;
  }
  options.file = decode + "#stop=4";
  EXPECT_EQ(Scene(options).view.side, viz::SideView::stages) << "as the stop says";
  options.panel = "costs";
  EXPECT_EQ(Scene(options).view.side, viz::SideView::costs) << "a panel alone is the one asked for";
  options.panel.clear();
  options.file = second_lesson() + "#stop=3";
  EXPECT_EQ(Scene(options).view.wanted, viz::PanelId::mask) << "what the stop points into";
  options.page = 2;
  const Scene paged(options);
  EXPECT_EQ(paged.view.page, 1) << "a page that is asked for comes before it";
  EXPECT_EQ(paged.view.wanted, viz::PanelId::count_);
  options.compare = true;
  Scene compared(options);
  EXPECT_EQ(compared.view.stage, viz::StageView::compare);
  EXPECT_TRUE(compared.session.frame().compare) << "launched in two ways";
}

TEST(StopLink, DescribeTellsThatStopAlone) {
  const auto text = testing::run_program({"describe", second_lesson() + "#stop=3", "--device", "simt"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("# One long row"), std::string::npos);
  EXPECT_NE(text.out.find("## no look across"), std::string::npos);
  EXPECT_EQ(text.out.find("## packed"), std::string::npos);
}

TEST(StopLink, AFilmOfItIsThatSectionAlone) {
  const testing::TemporaryFolder folder;
  const auto film =
      testing::run_program({"film", second_lesson() + "#stop=3", "--check-only", "--device", "simt"});
  const auto whole = testing::run_program({"film", second_lesson(), "--check-only", "--device", "simt"});
  ASSERT_EQ(film.exit_code, 0) << film.err;
  EXPECT_LT(std::stoi(film.out), std::stoi(whole.out) / 2) << film.out;
  EXPECT_GT(std::stoi(film.out), 30);
}

TEST(StopLink, StopsThatThereAreNotAreRefused) {
  const testing::TemporaryFolder folder;
  const auto refused = [&](const std::string& link, const std::string& says) {
    const auto result = testing::run_program({"still", link, "-o", folder.file("a.svg"), "--device", "simt"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(testing::is_one_sentence(result.err)) << result.err;
    EXPECT_NE(result.err.find(says), std::string::npos) << result.err;
  };
  refused(second_lesson() + "#stop=5", "it has stops 1 to 4");
  refused(second_lesson() + "#stop=0", "it has stops 1 to 4");
  refused(second_lesson() + "#stop=2&step=1", "write #stop=2 alone");
  refused(testing::default_scenario().string() + "#stop=1", "leave out #stop=1");
  refused(testing::model_dir().string() + "#stop=1", "leave out #stop=1");
  const auto text = testing::run_program({"describe", second_lesson() + "#stop=9"});
  EXPECT_EQ(text.exit_code, 2);
  EXPECT_NE(text.err.find("1 to 4"), std::string::npos);
}

}  // namespace
}  // namespace attn::app
