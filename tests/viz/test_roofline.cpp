// The roofline: its arithmetic, its geometry, and what the panel says with a measurement and without.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "kernels/common/levels.h"
#include "tests/paths.h"
#include "tests/viz/headless.h"
#include "tests/viz/sample_frame.h"
#include "viz/layout/roofline_layout.h"
#include "viz/roofline_facts.h"
#include "viz/widgets/text_log.h"

namespace attn::viz {
namespace {

constexpr Ceilings kH200{.read_gbs = 4000.0,
                         .copy_gbs = 4000.0,
                         .matmul_tflops = 800.0,
                         .fp32_tflops = 64.0,
                         .exp_tps = 4.0,
                         .launch_us = 2.0};

TEST(RooflineFacts, EachCeilingAloneGivesATime) {
  const KernelWork work{.flop = 800e9, .bytes = 4e9, .exps = 4e9, .launches = 3, .tensor_cores = true};
  EXPECT_DOUBLE_EQ(work.intensity(), 200.0);
  EXPECT_DOUBLE_EQ(floor_us(Bound::memory, work, kH200), 1000.0);
  EXPECT_DOUBLE_EQ(floor_us(Bound::tensor_cores, work, kH200), 1000.0);
  EXPECT_DOUBLE_EQ(floor_us(Bound::exp, work, kH200), 1000.0);
  EXPECT_DOUBLE_EQ(floor_us(Bound::launch, work, kH200), 6.0);
  EXPECT_DOUBLE_EQ(floor_us(Bound::cuda_cores, work, kH200), 0.0) << "its products run on tensor cores";
  EXPECT_DOUBLE_EQ(floor_us(Bound::memory, work, {}), 0.0) << "not measured";
  EXPECT_DOUBLE_EQ(tflops(work, 1000.0), 800.0);
}

TEST(RooflineFacts, TheLongestTimeIsWhatBinds) {
  const auto bound = [](KernelWork work) { return floor_of(work, kH200).bound; };
  EXPECT_EQ(bound({.flop = 1e9, .bytes = 4e9, .exps = 1e6, .launches = 1, .tensor_cores = true}),
            Bound::memory);
  EXPECT_EQ(bound({.flop = 1e12, .bytes = 1e8, .exps = 1e9, .launches = 1, .tensor_cores = true}),
            Bound::tensor_cores);
  EXPECT_EQ(bound({.flop = 1e12, .bytes = 1e8, .exps = 1e9, .launches = 1, .tensor_cores = false}),
            Bound::cuda_cores);
  EXPECT_EQ(bound({.flop = 1e9, .bytes = 1e6, .exps = 1e9, .launches = 1, .tensor_cores = true}), Bound::exp);
  EXPECT_EQ(bound({.flop = 1e3, .bytes = 1e3, .exps = 10, .launches = 1, .tensor_cores = true}),
            Bound::launch);
  EXPECT_DOUBLE_EQ(floor_of({}, {}).us, 0.0);
}

TEST(RooflineFacts, LevelsOfTheOpAndOfTheBenchCaseBesideIt) {
  const auto sample = sample::measured(sample::prefill());
  const Roofline r = roofline_of(sample.frame);
  ASSERT_EQ(r.here.size(), 4U);
  EXPECT_TRUE(r.here[1].ran);
  EXPECT_FALSE(r.here[0].ran || r.here[2].ran || r.here[3].ran);
  EXPECT_FALSE(r.here[1].work.tensor_cores);
  EXPECT_TRUE(r.here[3].work.tensor_cores);
  EXPECT_EQ(r.here[3].name, "Hopper");
  EXPECT_EQ(r.bench_name, "prefill B4 S4096 H32/8 D128, packed");
  ASSERT_EQ(r.bench.size(), 3U) << "of that case alone";
  EXPECT_EQ(r.bench.front().level, 2);
  EXPECT_EQ(r.bench.back().level, 4);
  EXPECT_EQ(r.absent, "");
  // A smaller case comes nearer to this small op.
  auto machine = std::make_shared<MachineView>(*sample.frame.machine);
  MeasuredLevel small = machine->levels.front();
  small.name = "prefill small";
  small.level = r.here[1].level;
  small.decode = false;
  small.flop = r.here[1].work.flop * 2.0;
  small.bytes = r.here[1].work.bytes * 2.0;
  machine->levels.push_back(small);
  Frame frame = sample.frame;
  frame.machine = machine;
  EXPECT_EQ(roofline_of(frame).bench_name, "prefill small");
  const auto decode = sample::measured(sample::padded_decode());
  EXPECT_EQ(roofline_of(decode.frame).bench_name, "decode B64 ctx8192 H32/8 D128, paged 16");
}

TEST(RooflineFacts, SaysWhichLevelsAreNotThereAndWhy) {
  const auto sample = sample::prefill();
  EXPECT_EQ(
      roofline_of(sample.frame).absent,
      "levels 3 and 4: for F16 and BF16, head_dim 64 or 128, blocks of 16n slots, compute capability 8.0 on");
  auto measured = sample::measured(sample::prefill());
  measured.attention->levels.pop_back();
  EXPECT_EQ(roofline_of(measured.frame).absent, "level 4: for Hopper GPUs and its own k_tile");
}

TEST(RooflineFacts, AProbeThatStoodInIsNamed) {
  auto sample = sample::padded_decode();
  EXPECT_EQ(probe_note(sample.frame), "") << "the probe is in the kernel that ran";
  for (trace::LaunchEntry& entry : sample.step->launches) {
    if (entry.stage == trace::Stage::attention) entry.launch.kernel = "decode_l3_stream_kernel<bfloat16>";
  }
  EXPECT_EQ(probe_note(sample.frame), "read at level 2, the step ran level 3");
  for (const StageView stage : {StageView::weights, StageView::tiles}) {
    Headless window(1600, 900);
    TextLog log;
    window.view.text_log = &log;
    window.view.stage = stage;
    window.selection.seq = sample.step->seqs.front().id;
    window.draw(sample.frame);
    EXPECT_TRUE(std::ranges::any_of(log.entries, [](const TextLog::Entry& entry) {
      return entry.text.find("read at level 2, the step ran level 3") != std::string::npos;
    })) << static_cast<int>(stage);
  }
}

TEST(RooflineLayout, AxesAreLogarithmic) {
  const LogAxis axis = log_axis(0.3, 700.0, 0.0F, 400.0F);
  EXPECT_EQ(axis.low, -1);
  EXPECT_EQ(axis.high, 3);
  EXPECT_FLOAT_EQ(axis.at(0.1), 0.0F);
  EXPECT_FLOAT_EQ(axis.at(10.0), 200.0F);
  EXPECT_FLOAT_EQ(axis.at(1e9), 400.0F) << "clamped";
  EXPECT_TRUE(axis.holds(1000.0));
  EXPECT_FALSE(axis.holds(0.0));
  EXPECT_EQ(axis.ticks(60.0F), (std::vector<int>{-1, 0, 1, 2, 3}));
  EXPECT_EQ(axis.ticks(150.0F), (std::vector<int>{-1, 1, 3}));
  const LogAxis down = log_axis(1.0, 100.0, 300.0F, 100.0F);
  EXPECT_FLOAT_EQ(down.at(10.0), 200.0F);
}

TEST(RooflineLayout, LabelsTakeTheFirstFreePlaceInside) {
  LabelRoom room({0, 0, 100, 100});
  Rect box{0, 0, 40, 10};
  ASSERT_TRUE(room.place(box, {{90, 0}, {10, 10}}));
  EXPECT_FLOAT_EQ(box.x, 10.0F) << "the first lies outside";
  Rect other{0, 0, 40, 10};
  ASSERT_TRUE(room.place(other, {{20, 12}, {60, 60}}));
  EXPECT_FLOAT_EQ(other.x, 60.0F) << "the first is taken";
  EXPECT_FALSE(room.place(other, {{20, 12}}));
}

TEST(RooflineLayout, PartsStayInsideAndApart) {
  const RooflineText text{17, 45, 300};
  for (const float w : {320.0F, 500.0F, 860.0F, 1500.0F}) {
    for (const float note : {0.0F, 22.0F}) {
      const float least = least_roofline_height(w, 1.0F, text, note, 900.0F);
      for (const float h : {least, least + 90.0F, 900.0F}) {
        const Rect body{10, 20, w, h};
        const RooflineLayout l = layout_roofline(body, 1.0F, text, note);
        for (const Rect& part : {l.note, l.plot, l.list}) {
          if (part.h <= 0.0F && note <= 0.0F) continue;
          EXPECT_GE(part.x, body.x);
          EXPECT_GE(part.y, body.y);
          EXPECT_LE(part.right(), body.right());
          EXPECT_LE(part.bottom(), body.bottom() + 0.5F) << w << "x" << h;
        }
        EXPECT_TRUE(l.plot.right() <= l.list.x || l.plot.bottom() <= l.list.y) << w << "x" << h;
        EXPECT_GT(l.plot.h, 100.0F);
        EXPECT_GE(l.list.h, 5.0F * text.line);
      }
    }
  }
}

class RooflinePanel : public testing::TestWithParam<ScreenMode> {
 protected:
  void show(Headless& window, const sample::Sample& sample) {
    window.view.mode = GetParam();
    window.view.stage = StageView::roofline;
    apply_style(window.view);
    window.view.text_log = &log_;
    window.draw(sample.frame);
    window.draw(sample.frame);
  }
  bool says(const std::string& text) const {
    return std::ranges::any_of(log_.entries, [&](const TextLog::Entry& entry) {
      return entry.text.find(text) != std::string::npos;
    });
  }
  TextLog log_;
};

TEST_P(RooflinePanel, PlacesLevelsUnderTheCeilingsAndSaysWhatBinds) {
  for (const auto& sample :
       {sample::measured(sample::prefill()), sample::measured(sample::padded_decode())}) {
    Headless window(1920, 1080);
    show(window, sample);
    for (const char* mark : {"roofline/roof/memory", "roofline/roof/tensor_cores", "roofline/roof/cuda_cores",
                             "roofline/level/1", "roofline/level/2", "roofline/level/3", "roofline/bench/3",
                             "roofline/here/1", "roofline/here/2"})
      EXPECT_NE(window.marks.find(mark), nullptr) << mark;
    EXPECT_EQ(window.marks.find("roofline/note"), nullptr);
    EXPECT_TRUE(says("tensor cores 809"));
    EXPECT_TRUE(says("memory 4580 GB/s"));
    EXPECT_TRUE(says("launch")) << "so small an op is bound by its launch";
    const Mark* second = window.marks.find("roofline/level/2");
    EXPECT_NE(second->value.find("online softmax"), std::string::npos) << second->value;
    EXPECT_NE(second->value.find("as the step ran"), std::string::npos) << second->value;
    EXPECT_NE(second->value.find("by memory"), std::string::npos) << second->value;
    EXPECT_TRUE(says(sample.step->kind == trace::StepKind::decode ? "memory 99 %" : "tensor cores 70 %"));
  }
}

TEST_P(RooflinePanel, WithoutAMeasurementSaysSoAndShowsIntensityAlone) {
  const auto sample = sample::prefill();
  Headless window(1600, 900);
  show(window, sample);
  ASSERT_NE(window.marks.find("roofline/note"), nullptr);
  EXPECT_EQ(window.marks.find("roofline/note")->value,
            "not measured on this machine: run ./attn bench where there is a GPU");
  EXPECT_NE(window.marks.find("roofline/here/1"), nullptr);
  EXPECT_NE(window.marks.find("roofline/absent"), nullptr);
  EXPECT_EQ(window.marks.find("roofline/roof/memory"), nullptr) << "no ceiling is invented";
  EXPECT_TRUE(says("FLOP per byte"));
  EXPECT_FALSE(says("TFLOP/s")) << "no speed without a measurement";
  EXPECT_FALSE(says("at best"));
}

TEST_P(RooflinePanel, ADamagedReportIsSaid) {
  auto sample = sample::prefill();
  sample.frame.machine_note = "bench.json is not valid JSON (byte 3); the file is damaged or cut short";
  Headless window(1600, 900);
  show(window, sample);
  EXPECT_EQ(window.marks.find("roofline/note")->value, sample.frame.machine_note);
}

INSTANTIATE_TEST_SUITE_P(Both, RooflinePanel, testing::Values(ScreenMode::explore, ScreenMode::present),
                         [](const auto& mode) {
                           return mode.param == ScreenMode::explore ? "explore" : "present";
                         });

TEST(LevelTexts, StandInTheScenarioSchemaToo) {
  std::ifstream file(tree::source_dir() / "assets/lessons/scenario.schema.json");
  std::stringstream schema;
  schema << file.rdbuf();
  for (const bool decode : {false, true}) {
    int level = 0;
    for (const LevelText& text : level_texts(decode)) {
      const std::string words = fmt::format("{} {}: {}", ++level, text.name, text.idea);
      EXPECT_NE(schema.str().find(words), std::string::npos) << words;
    }
  }
}

}  // namespace
}  // namespace attn::viz
