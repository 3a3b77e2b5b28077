// Marks whose numbers a step does not have.
#include <gtest/gtest.h>

#include <string>

#include "headless.h"
#include "sample_frame.h"
#include "viz/mark_names.h"
#include "viz/mark_range.h"

namespace attn::viz {
namespace {

std::string instead(const sample::Sample& s, const std::string& name) {
  EXPECT_TRUE(is_mark_name(name)) << name;
  return marks_instead(name, *s.step, s.manifest->model);
}

TEST(MarkRange, SaysWhichNumbersThereAre) {
  const auto s = sample::prefill();
  const auto rows = static_cast<int>(s.step->input_ids.size());
  EXPECT_EQ(instead(s, "strip/row/66"), "its packed rows are 0 to " + std::to_string(rows - 1));
  EXPECT_EQ(instead(s, "strip/row/" + std::to_string(rows - 1)), "");
  EXPECT_EQ(instead(s, "pool/block/16"), "its blocks are 0 to 15");
  EXPECT_EQ(instead(s, "pool/slot/64"), "its slots are 0 to 63");
  EXPECT_EQ(instead(s, "heads/head/8"), "its query heads are 0 to 7");
  EXPECT_EQ(instead(s, "tables/cell/9/0").substr(0, 17), "its sequences are");
  EXPECT_EQ(instead(s, "tables/cell/1/99").substr(0, 32), "its entries of that table are 0 ");
  EXPECT_EQ(instead(s, "strip/seq/B").substr(0, 17), "its sequences are") << "marks have numbers, not labels";
  EXPECT_EQ(instead(s, "free/400").substr(0, 34), "its places in the free queue are 0");
  EXPECT_EQ(instead(s, "free/title"), "");
  EXPECT_EQ(instead(s, "mask"), "");
  EXPECT_EQ(instead(s, "tables/slot"), "");
}

/// Whatever is on screen is there. (The tiles of a sample are invented: no kernel cuts its keys so.)
TEST(MarkRange, RefusesNoMarkThatIsDrawn) {
  for (const auto& s : {sample::prefill(), sample::padded_decode()}) {
    for (const StageView stage : {StageView::weights, StageView::tiles, StageView::heads}) {
      Headless screen(1920, 1080);
      screen.view.stage = stage;
      screen.selection.seq = s.step->seqs[0].id;
      for (int i = 0; i < 3; ++i) screen.draw(s.frame);
      for (const Mark& mark : screen.marks.all()) {
        if (mark.name.starts_with("tiles/") || mark.name.starts_with("timeline/tile/")) continue;
        EXPECT_EQ(marks_instead(mark.name, *s.step, s.manifest->model, screen.selection.seq), "")
            << mark.name;
      }
    }
  }
}

}  // namespace
}  // namespace attn::viz
