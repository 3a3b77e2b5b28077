// The compare panel, headless: pictures of both sides, the worst place, ratios, and choosing variants.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/trace/names.h"
#include "tests/viz/headless.h"
#include "tests/viz/sample_frame.h"
#include "viz/widgets/text_log.h"

namespace attn::viz {
namespace {

using trace::AttentionPath;
using trace::CompareView;

const Command* last_compare(const Headless& ui) {
  const auto found = std::find_if(ui.commands.rbegin(), ui.commands.rend(), [](const Command& command) {
    return command.kind == Command::Kind::compare;
  });
  return found == ui.commands.rend() ? nullptr : &*found;
}

Headless& in_compare(Headless& ui) {
  ui.view.stage = StageView::compare;
  return ui;
}

TEST(Compare, BothSidesTheWorstPlaceAndTheRatioAreMarked) {
  for (const auto& sample :
       {sample::compared(sample::padded_decode()), sample::compared(sample::prefill())}) {
    Headless ui(1600, 900);
    in_compare(ui).selection.seq = sample.step->seqs.back().id;
    for (const trace::SeqState& seq : sample.step->seqs) {
      if (seq.num_scheduled_tokens > 0) ui.selection.seq = seq.id;
    }
    ui.draw(sample.frame);
    ASSERT_TRUE(ui.marks.find("compare/a/pick"));
    ASSERT_TRUE(ui.marks.find("compare/b/pick"));
    EXPECT_EQ(ui.marks.find("compare/cost/bytes/ratio")->value, "B moves 3.40\xC3\x97");
    EXPECT_EQ(ui.marks.find("compare/cost/time/ratio"), nullptr) << "nothing was measured";
    ASSERT_TRUE(ui.marks.find("compare/diff/worst"));
    EXPECT_NE(ui.marks.find("compare/diff/worst")->value.find("0.2500"), std::string::npos);
    EXPECT_NE(ui.marks.find("compare/diff/text")->value.find("o differs"), std::string::npos);
    EXPECT_TRUE(ui.marks.get("compare/diff/2,0"));
    const Rect a = ui.marks.find("compare/a/pick")->rect, b = ui.marks.find("compare/b/pick")->rect;
    EXPECT_LE(a.right(), b.x);
    EXPECT_FLOAT_EQ(a.y, b.y);
  }
}

TEST(Compare, PadsAreMeasuredBesideTheLaw) {
  const auto sample = sample::compared(sample::padded_decode());
  Headless ui(1600, 900);
  int with_pads = 0;
  for (const trace::SeqState& seq : sample.step->seqs) {
    in_compare(ui).selection.seq = seq.id;
    ui.draw(sample.frame);
    const Mark* mark = ui.marks.find("compare/b/stolen");
    ASSERT_TRUE(mark);
    with_pads += mark->value.find("P/(Z+P) = ") != std::string::npos;
  }
  EXPECT_GT(with_pads, 0);
}

TEST(Compare, VariantsAreCycledAndPickedFromTheList) {
  const auto sample = sample::compared(sample::padded_decode());
  const auto choices = trace::variants_of(*sample.step, sample.manifest->model, sample.frame.traits);
  ASSERT_GT(choices.size(), 4U);
  Headless ui(1600, 900);
  in_compare(ui).click(sample.frame, "compare/a/next");
  const Command* command = last_compare(ui);
  ASSERT_TRUE(command);
  EXPECT_EQ(command->variant_a, choices[1]);
  EXPECT_EQ(command->variant_b, sample.frame.compare->b.variant);
  ui.click(sample.frame, "compare/a/previous");
  EXPECT_EQ(last_compare(ui)->variant_a, choices.back());
  ui.click(sample.frame, "compare/b/pick");
  EXPECT_EQ(ui.view.compare.open_list, 1);
  ui.draw(sample.frame);
  ui.click(sample.frame, "compare/b/choice/2");
  EXPECT_EQ(last_compare(ui)->variant_b, choices[2]);
  EXPECT_TRUE(last_compare(ui)->variant_a.as_recorded());
  EXPECT_EQ(ui.view.compare.open_list, -1);
}

/// Level 4 is offered where the device has it and nowhere else.
TEST(Compare, ListsTheLevelsOfTheDevice) {
  auto sample = compared(sample::prefill());
  sample.manifest->model.dtype = DType::bf16;
  sample.manifest->model.head_dim = 128;
  const auto offered = [&](const DeviceTraits& traits) {
    sample.frame.traits = traits;
    Headless ui(1600, 900);
    in_compare(ui).draw(sample.frame);
    ui.click(sample.frame, "compare/b/pick");
    ui.draw(sample.frame);
    std::string texts;
    for (int i = 0; ui.marks.get(fmt::format("compare/b/choice/{}", i)).has_value(); ++i) {
      texts += ui.marks.get(fmt::format("compare/b/choice/{}", i))->value + "\n";
    }
    return texts;
  };
  const std::string hopper = offered({.wgmma = true}), emulator = offered({}),
                    unknown = offered(DeviceTraits{.tensor_cores = false});
  EXPECT_NE(hopper.find("level 4"), std::string::npos) << hopper;
  EXPECT_EQ(emulator.find("level 4"), std::string::npos) << emulator;
  EXPECT_NE(emulator.find("level 3"), std::string::npos) << emulator;
  EXPECT_EQ(unknown.find("level 3"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("level 1"), std::string::npos) << unknown;
}

/// The menu lists what can be compared, from the same table as the panel's lists.
TEST(Compare, TheMenuListsTheVariantsThatApply) {
  const auto sample = compared(sample::padded_decode());
  const auto choices = trace::variants_of(*sample.step, sample.manifest->model, sample.frame.traits);
  Headless ui(1600, 900);
  in_compare(ui).draw(sample.frame);
  ui.click(sample.frame, "header/menu/Compare");
  ui.draw(sample.frame);
  ASSERT_TRUE(ui.marks.get("menu/variant 1").has_value());
  int listed = 0;
  while (ui.marks.get(fmt::format("menu/variant {}", listed)).has_value()) ++listed;
  EXPECT_GT(listed, 4);
  EXPECT_LE(listed, static_cast<int>(choices.size()));
  ui.click(sample.frame, "menu/variant 3");
  ASSERT_TRUE(last_compare(ui));
  EXPECT_EQ(last_compare(ui)->variant_b, choices[3]);
  EXPECT_TRUE(last_compare(ui)->variant_a.as_recorded());
  EXPECT_EQ(ui.view.stage, StageView::compare);
}

/// Of a large prefill a window is compared; whose costs are shown is said, and they are not the window's.
TEST(Compare, SaysWhichRowsTheCostsAreOf) {
  auto sample = compared(sample::prefill());
  Headless ui(1600, 900);
  auto compare = std::make_shared<CompareView>(*sample.frame.compare);
  in_compare(ui).draw(sample.frame);
  EXPECT_EQ(ui.marks.find("compare/cost/rows")->value, fmt::format("Costs of {} queries", compare->rows));
  compare = std::make_shared<CompareView>(*compare);
  compare->rows = 4096;
  compare->a.ms = compare->b.ms = 0.5F;
  sample.frame.compare = compare;
  ui.draw(sample.frame);
  EXPECT_EQ(ui.marks.find("compare/cost/rows")->value,
            fmt::format("Costs of all 4096 queries; time of the {} compared", compare->a.view->num_q));
  Headless low(1024, 640);
  in_compare(low).draw(sample.frame);
  ASSERT_TRUE(low.marks.find("compare/cost/bytes/ratio"));
  EXPECT_TRUE(low.marks.find("compare/cost/bytes/ratio")->source.starts_with("Costs of all 4096"));
  float share = 0.0F;
  while (!low.marks.find("compare/cost/rows") && share < 1.0F) low.scroll_to(sample.frame, share += 0.1F);
  EXPECT_TRUE(low.marks.find("compare/cost/rows")) << "also where there is little room";
}

TEST(Compare, BeginsByItselfOnceForAStep) {
  const auto sample = sample::padded_decode();
  Headless ui(1600, 900);
  in_compare(ui).draw(sample.frame);
  ASSERT_TRUE(last_compare(ui));
  EXPECT_EQ(last_compare(ui)->variant_b.path, AttentionPath::decode_paged) << "it ran padded";
  ui.draw(sample.frame);
  EXPECT_EQ(last_compare(ui), nullptr);
  ui.click(sample.frame, "compare/begin");
  EXPECT_TRUE(last_compare(ui));
  // Under the tabs, where the sides are picked afterwards.
  const auto picked = sample::compared(sample::padded_decode());
  Headless after(1600, 900);
  in_compare(after).draw(picked.frame);
  EXPECT_FLOAT_EQ(ui.marks.get("compare/begin")->rect.y, after.marks.get("compare/a/pick")->rect.y);
  auto refused = sample;
  refused.frame.compare_note = "step 3 cannot be computed that way";
  refused.frame.index += 1;
  ui.draw(refused.frame);
  EXPECT_TRUE(last_compare(ui)) << "another step: the comparison of another kind does not fit";
}

TEST(Compare, EverythingStaysInsideThePanelAtEverySize) {
  const auto sample = sample::compared(sample::padded_decode());
  for (const auto& [w, h, scale] : {std::tuple{1024.0F, 640.0F, 1.0F},
                                    {1024.0F, 640.0F, 2.5F},
                                    {1600.0F, 900.0F, 1.0F},
                                    {1920.0F, 1080.0F, 1.35F},
                                    {3840.0F, 2160.0F, 0.75F}}) {
    Headless ui(w, h, scale);
    in_compare(ui).view.maximised = PanelId::compare;
    ui.draw(sample.frame);
    for (const Mark& mark : ui.marks.all()) {
      if (!mark.name.starts_with("compare/")) continue;
      EXPECT_GE(mark.rect.x, -0.5F) << mark.name;
      EXPECT_LE(mark.rect.right(), w + 0.5F) << mark.name << " at " << w << " x " << h;
      EXPECT_LE(mark.rect.bottom(), h + 0.5F) << mark.name << " at " << w << " x " << h;
    }
  }
}

TEST(Compare, DifferenceAndBytesAreShownWhereverThePicturesAre) {
  for (const auto& sample :
       {sample::compared(sample::padded_decode()), sample::compared(sample::prefill())}) {
    for (const auto& [w, h] : {std::pair{1024.0F, 640.0F}, {1366.0F, 768.0F}, {1600.0F, 900.0F}}) {
      Headless ui(w, h);
      in_compare(ui).draw(sample.frame);
      ui.draw(sample.frame);
      for (const char* name : {"compare/diff/text", "compare/cost/bytes/ratio"})
        EXPECT_TRUE(ui.marks.find(name)) << name << " at " << w << " x " << h;
      const char* picture =
          sample.step->path >= AttentionPath::decode_paged ? "compare/b/key/0" : "compare/b/cells";
      EXPECT_TRUE(ui.marks.get(picture)) << picture << " at " << w << " x " << h;
    }
  }
}

/// Also with many launches and beside a lesson's card; what has no room then is the list of launches.
TEST(Compare, DrawnDifferenceAndBytesAreAboveTheFold) {
  LessonNow lesson;
  lesson.title = "The thieves in the padding";
  lesson.stop = 1;
  lesson.num_stops = 4;
  lesson.name = "both";
  lesson.caption = "Six zero keys took most of A's attention.";
  for (auto sample : {sample::compared(sample::padded_decode()), sample::compared(sample::prefill())}) {
    auto compare = std::make_shared<CompareView>(*sample.frame.compare);
    for (trace::CompareSide* side : {&compare->a, &compare->b}) side->launches.resize(6, side->launches[0]);
    sample.frame.compare = compare;
    for (const bool told : {false, true}) {
      sample.frame.lesson = told ? std::optional(lesson) : std::nullopt;
      for (const auto& [mode, w, h] :
           {std::tuple{ScreenMode::explore, 1600.0F, 900.0F}, {ScreenMode::present, 1920.0F, 1080.0F}}) {
        Headless ui(w, h);
        in_compare(ui).view.mode = mode;
        for (const trace::SeqState& seq : sample.step->seqs)
          if (seq.num_scheduled_tokens > 0) ui.selection.seq = seq.id;
        ui.draw(sample.frame);
        ui.draw(sample.frame);
        const auto top_of_more = ui.marks.get("compare/parts/more");
        const float fold = top_of_more ? top_of_more->rect.y : ui.marks.get("compare")->rect.bottom();
        for (const char* name :
             {"compare/diff/text", "compare/diff/colors", "compare/diff/worst", "compare/diff/7,0",
              "compare/cost/bytes/a", "compare/cost/bytes/b", "compare/cost/bytes/ratio"}) {
          const auto mark = ui.marks.get(name);
          ASSERT_TRUE(mark.has_value()) << name << " at " << w << (told ? ", lesson" : "");
          EXPECT_LE(mark->rect.bottom(), fold + 0.5F) << name << " at " << w << (told ? ", lesson" : "");
        }
      }
    }
  }
}

TEST(Compare, BarsOfBothSidesStandOnOneLineAndShareTheirScale) {
  auto sample = sample::compared(sample::padded_decode());
  // The other side attends to its own keys only: wider bars, and a larger weight at its top.
  auto other = std::make_shared<trace::AttentionView>(*sample.attention);
  other->attended = other->k_lens;
  auto compare = std::make_shared<CompareView>(*sample.frame.compare);
  compare->b.view = other;
  sample.frame.compare = compare;
  for (const auto& [w, h] : {std::pair{1024.0F, 640.0F}, {1600.0F, 900.0F}, {1920.0F, 1080.0F}}) {
    Headless ui(w, h);
    TextLog log;
    ui.view.text_log = &log;
    in_compare(ui).draw(sample.frame);
    // ".25" above a bar: as many digits at the left as at the right, two or more.
    std::set<std::size_t> digits;
    int numbers[2] = {};
    for (const TextLog::Entry& entry : log.entries) {
      if (entry.panel != "compare" || !entry.text.starts_with(".") || entry.text == ".") continue;  // a token
      digits.insert(entry.text.size() - 1);
      ++numbers[entry.rect.x < ui.marks.get("compare/b/pick")->rect.x ? 0 : 1];
    }
    EXPECT_EQ(digits.size(), 1U) << w;
    EXPECT_GE(*digits.begin(), 2U) << w;
    EXPECT_TRUE(numbers[0] > 0 && numbers[1] > 0) << w;
    EXPECT_EQ(numbers[0] == 1, numbers[1] == 1) << "all of both or the largest of both, at " << w;
    const auto a = ui.marks.get("compare/a/key/0"), b = ui.marks.get("compare/b/key/0");
    ASSERT_TRUE(a && b);
    EXPECT_FLOAT_EQ(a->rect.y, b->rect.y) << w << " x " << h;
    EXPECT_FLOAT_EQ(a->rect.bottom(), b->rect.bottom()) << w << " x " << h;
  }
}

TEST(Compare, NothingYetIsSaid) {
  Headless ui(1600, 900);
  in_compare(ui).draw(sample::empty().frame);
  EXPECT_EQ(ui.marks.find("compare/a/pick"), nullptr);
}

/// At the size of mode explore the launches of both sides stand below the bars, none of them below the fold.
TEST(Compare, AllLaunchesAreInSightAtExploreSize) {
  const sample::Sample sample = sample::compared(sample::padded_decode());
  Headless ui(1600, 900);
  ui.view.stage = StageView::compare;
  ui.draw(sample.frame);
  ui.draw(sample.frame);
  const auto panel = ui.marks.get("compare");
  ASSERT_TRUE(panel.has_value());
  for (const char* side : {"a", "b"}) {
    for (int i = 0; i < 2; ++i) {
      const auto launch = ui.marks.get(fmt::format("compare/{}/launch/{}", side, i));
      ASSERT_TRUE(launch.has_value()) << side << i;
      EXPECT_TRUE(inside(panel->rect, launch->rect));
      EXPECT_GE(launch->rect.h, 16.0F) << "cut";
    }
  }
}

}  // namespace
}  // namespace attn::viz
