// What the Heads view counts of lesson 11 is what its kernels' launch records say, and what its text says.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/app/program.h"
#include "tests/app/user.h"

namespace attn::app {
namespace {

/// "gathered: 12288 B of K and V"
long bytes_of(const testing::User& user, const std::string& row) {
  const auto mark = user.marks().get("heads/bytes/" + row);
  EXPECT_TRUE(mark) << row;
  return mark ? std::stol(mark->value.substr(mark->value.find(": ") + 2)) : -1;
}

TEST(HeadBytes, ThePictureHasTheRowsOfTheText) {
  const std::string lesson =
      (testing::source_dir() / "assets/lessons/11-eight-questions-two-notebooks.json").string();
  // stop, the row of the formula that it runs, K rows of the text
  for (const auto& [stop, row, rows] :
       {std::tuple{3, "grouped", 12}, {4, "gathered", 48}, {5, "repeated", 192}}) {
    testing::User user(open_subject(fmt::format("{}#stop={}", lesson, stop), DeviceChoice::simt), 1920.0F,
                       1080.0F);
    user.session().tell_scripts({});
    user.settle();
    user.settle();
    if (user.frame().lesson->asking) user.press({.key = viz::keys::kSpace});
    user.view.stage = viz::StageView::heads;
    user.view.maximised = viz::PanelId::heads;
    user.settle();
    const long grouped = bytes_of(user, "grouped");
    EXPECT_EQ(bytes_of(user, "launched"), bytes_of(user, row)) << "stop " << stop;
    EXPECT_EQ(bytes_of(user, "launched") * 12, grouped * rows) << "stop " << stop;
  }
}

}  // namespace
}  // namespace attn::app
