// The whole screen without a window: what a frame shows, where its marks lie, and what clicks and keys ask
// for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "headless.h"
#include "sample_frame.h"
#include "viz/keys.h"
#include "viz/layout/screen_layout.h"
#include "viz/panels/mass_bars.h"

namespace attn::viz {
namespace {

using sample::Sample;

const Command* only(const Commands& commands, Command::Kind kind) {
  const Command* found = nullptr;
  for (const Command& command : commands) {
    if (command.kind != kind) continue;
    EXPECT_EQ(found, nullptr) << "twice";
    found = &command;
  }
  return found;
}

TEST(Screen, PrefillShowsEveryPanelWithItsNumbers) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.selection.seq = 1;
  screen.selection.stage = trace::Stage::prepare;
  screen.draw(s.frame);
  EXPECT_EQ(value_of(screen, "mask/allowed"), "42 of 48 allowed  \xC2\xB7  cached_len 8");
  EXPECT_NE(value_of(screen, "pool/block/5").find("ref_count 2"), std::string::npos);
  EXPECT_NE(value_of(screen, "pool/block/11").find("4 slots written"), std::string::npos);
  EXPECT_EQ(value_of(screen, "strip/row/6"), "row 6 \xE2\x86\x92 sequence C, position 2");
  EXPECT_EQ(value_of(screen, "strip/cu_seqlens_k/2"), "cu_seqlens_k[2] = 19");
  EXPECT_EQ(value_of(screen, "tables/slot"), "slot 47");  // position 11: table[2] * 4 + 3 = 11 * 4 + 3
  EXPECT_EQ(value_of(screen, "weights/row_sum/0"), "row 0 sums to 1.000000");
  EXPECT_NE(value_of(screen, "weights/cell/0,9").find("masked"), std::string::npos);
  EXPECT_NE(value_of(screen, "weights/cell/0,8").find("weight"), std::string::npos);
  EXPECT_NE(value_of(screen, "mask/cell/1,9").find("own key"), std::string::npos);
  EXPECT_NE(value_of(screen, "stages/stage/prepare").find("prepare"), std::string::npos);
  for (const char* name : {"header/kind", "header/path", "free/0", "timeline/step/1", "timeline/rail",
                           "status/check", "requests/token/1/12"}) {
    EXPECT_TRUE(screen.marks.get(name).has_value()) << name;
  }
}

TEST(Screen, PickersGetShorterBeforeTheTitleIsCut) {
  const Sample s = sample::prefill();
  int full = 0, brief = 0, bare = 0;
  for (const float width : {800.0F, 1024.0F, 1280.0F, 1366.0F, 1440.0F, 1600.0F, 1920.0F}) {
    Headless screen(width, width * 9.0F / 16.0F);
    screen.view.mode = ScreenMode::present;
    screen.view.picture.title = "Eight questions, two notebooks";
    screen.draw(s.frame);
    const float wanted =
        font(FontRole::title)
            ->CalcTextSizeA(font_pixels(FontRole::title), FLT_MAX, 0.0F, screen.view.picture.title.c_str())
            .x;
    const bool whole = screen.marks.get("header/title") && screen.marks.get("header/title")->rect.w >= wanted;
    const bool stepper = screen.marks.get("header/layer/next").has_value();
    ASSERT_TRUE(whole || !stepper) << width << ": the title is cut beside pickers with buttons";
    if (!stepper) {
      ++bare;
      continue;
    }
    const Rect label = screen.marks.get("header/layer")->rect;
    EXPECT_GE(label.x, screen.marks.get("header/step")->rect.right()) << width;
    ++(label.w < 86.0F * screen_scale(screen.view) ? brief : full);
  }
  EXPECT_GT(full, 0);
  EXPECT_GT(brief, 0);
  EXPECT_GT(bare, 0);
}

TEST(Screen, CellMarksNameBufferAndKernel) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.selection.seq = 2;  // packed rows 4 .. 10
  screen.selection.head = 3;
  screen.draw(s.frame);
  const auto mark = screen.marks.get("weights/cell/2,1");
  ASSERT_TRUE(mark.has_value());
  EXPECT_EQ(mark->source, "weights[3, 6, 1] F32, prefill_l2_tiled_kernel<float, StateProbe>");
  EXPECT_NE(mark->value.find(fmt::format("{:.6f}", s.attention->weight(3, 6, 1))), std::string::npos);
}

TEST(Screen, PaddedDecodeShowsMeasuredAndPredictedTheft) {
  const Sample s = sample::padded_decode();
  Headless screen(1600, 900);
  screen.selection.seq = 2;
  screen.draw(s.frame);
  EXPECT_EQ(value_of(screen, "weights/pads"), "9 zero pads after context_len 9");
  EXPECT_NE(value_of(screen, "weights/key/12").find("zero pad"), std::string::npos);
  EXPECT_EQ(value_of(screen, "weights/block/2"), "logical block 2 of C is physical block 4");
  const Mass c = measure_mass(weights_input(s.frame, s.attention, 2, 0, MaskAlignment::none));
  EXPECT_GT(c.pads.measured, 0.01);
  EXPECT_NEAR(c.pads.measured, c.pads.predicted, 1e-6);
  EXPECT_NEAR(c.real + c.pads.measured, 1.0, 1e-6);
  EXPECT_NE(value_of(screen, "weights/mass/2").find(fmt::format("{:.6f}", c.pads.measured)),
            std::string::npos);
  const Mass a = measure_mass(weights_input(s.frame, s.attention, 0, 0, MaskAlignment::none));
  EXPECT_EQ(a.pads.pads, 0);
  EXPECT_EQ(a.pads.measured, 0.0);
}

/// Every mark of the frame lies in the panel that the first part of its name says.
void expect_marks_inside(const Headless& screen, float w, float h, const std::string& told) {
  for (const Mark& mark : screen.marks.all()) {
    const std::string first = mark.name.substr(0, mark.name.find('/'));
    const Mark* panel = screen.marks.find(first == "free" ? "free_queue" : first);
    ASSERT_NE(panel, nullptr) << mark.name;
    ASSERT_GE(mark.rect.x, std::max(0.0F, panel->rect.x - 0.5F)) << mark.name << told;
    ASSERT_GE(mark.rect.y, panel->rect.y - 0.5F) << mark.name << told;
    ASSERT_LE(mark.rect.right(), std::min(w, panel->rect.right() + 0.5F)) << mark.name << told;
    ASSERT_LE(mark.rect.bottom(), std::min(h, panel->rect.bottom() + 0.5F)) << mark.name << told;
  }
}

TEST(Screen, MarksLieInsideTheirPanelAtEverySize) {
  Sample samples[] = {sample::measured(sample::prefill()), sample::measured(sample::padded_decode()),
                      sample::many(24, 300, 16, trace::StepKind::decode)};
  samples[1].frame.broken = Broken{.titles = {"Padding is attended"}, .max_abs_diff_o = 0.5, .note = ""};
  for (const ScreenMode mode : {ScreenMode::explore, ScreenMode::present}) {
    for (const float scale : {0.75F, 1.0F, 1.5F, 2.5F}) {
      Headless screen(640, 480, scale);
      screen.view.mode = mode;
      apply_style(screen.view);
      for (const auto& [w, h] : kWindowSizes) {
        if (scale > 1.5F && h < 640.0F) continue;  // less than the smallest window at its largest letters
        screen.resize(w, h);
        for (int view = 0; view < kNumStageViews; ++view) {
          const Sample& s = samples[(view + (w > 1500.0F ? 1 : 0)) % 3];
          screen.view.stage = static_cast<StageView>(view);
          screen.view.side = static_cast<SideView>(view % kNumSideViews);
          const int pages = layout_screen(layout_input(screen.view, s.frame, w, h)).pages;
          for (screen.view.page = 0; screen.view.page < pages; ++screen.view.page) {
            screen.draw(s.frame);
            expect_marks_inside(
                screen, w, h,
                fmt::format(" at {}x{}, scale {}, {}, view {}, page {}", w, h, scale,
                            mode == ScreenMode::present ? "present" : "explore", view, screen.view.page));
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST(Screen, ClicksBecomeSelections) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.selection.seq = 1;
  screen.click(s.frame, "requests/seq/2");
  ASSERT_NE(only(screen.commands, Command::Kind::select), nullptr);
  EXPECT_EQ(screen.commands[0].selection.seq, 2);

  screen.click(s.frame, "pool/block/9");
  ASSERT_NE(only(screen.commands, Command::Kind::select), nullptr);
  EXPECT_EQ(screen.commands[0].selection.block, 9);

  screen.click(s.frame, "weights/cell/2,5");
  ASSERT_NE(only(screen.commands, Command::Kind::select), nullptr);
  EXPECT_EQ(screen.commands[0].selection.q_row, 2);
  EXPECT_EQ(screen.commands[0].selection.k_col, 5);
  EXPECT_EQ(screen.commands[0].selection.seq, 1);

  screen.click(s.frame, "mask/cell/3,1");
  ASSERT_NE(only(screen.commands, Command::Kind::select), nullptr);
  EXPECT_EQ(screen.commands[0].selection.q_row, 3);
  EXPECT_EQ(screen.commands[0].selection.k_col, 1);

  screen.click(s.frame, "header/head/next");
  ASSERT_NE(only(screen.commands, Command::Kind::select), nullptr);
  EXPECT_EQ(screen.commands[0].selection.head, 1);

  screen.selection.stage = trace::Stage::prepare;
  for (int i = 0; i < 3; ++i) screen.draw(s.frame);
  screen.click(s.frame, "stages/stage/qkv_rope");
  ASSERT_NE(only(screen.commands, Command::Kind::select), nullptr);
  EXPECT_EQ(screen.commands[0].selection.stage, trace::Stage::qkv_rope);
}

TEST(Screen, TransportAndTimeline) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  for (const auto& [name, kind] : {std::pair{"timeline/first", Command::Kind::first},
                                   {"timeline/back", Command::Kind::step_back},
                                   {"timeline/play", Command::Kind::toggle_play},
                                   {"timeline/forward", Command::Kind::step_forward},
                                   {"timeline/last", Command::Kind::last}}) {
    screen.click(s.frame, name);
    ASSERT_EQ(screen.commands.size(), 1U) << name;
    EXPECT_EQ(screen.commands[0].kind, kind) << name;
  }
  screen.click(s.frame, "timeline/step/4");
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].kind, Command::Kind::seek);
  EXPECT_EQ(screen.commands[0].a, 4);
  screen.click(s.frame, "timeline/rail");
  ASSERT_FALSE(screen.commands.empty());
  EXPECT_EQ(screen.commands[0].kind, Command::Kind::seek);
  EXPECT_NEAR(screen.commands[0].a, 6, 1);  // the middle of 12
}

TEST(Screen, TransportIsOffWhereThereIsNothingToDo) {
  Sample s = sample::prefill();
  s.frame.index = 0;
  s.frame.engine_has_work = false;
  Headless screen(1600, 900);
  screen.click(s.frame, "timeline/back");
  EXPECT_TRUE(screen.commands.empty());
  s.frame.index = s.frame.num_steps - 1;
  screen.click(s.frame, "timeline/forward");
  EXPECT_TRUE(screen.commands.empty());
  s.frame.engine_has_work = true;  // at the end of a live recording, forward runs the engine
  screen.click(s.frame, "timeline/forward");
  ASSERT_EQ(screen.commands.size(), 1U);
}

TEST(Screen, AddPromptSendsTextAndLimits) {
  Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.click(s.frame, "requests/add");
  EXPECT_TRUE(screen.commands.empty());  // nothing typed
  screen.view.prompt = "To be";
  screen.view.max_tokens = 7;
  screen.view.temperature = 0.5F;
  screen.click(s.frame, "requests/add");
  const Command* add = only(screen.commands, Command::Kind::add_prompt);
  ASSERT_NE(add, nullptr);
  EXPECT_EQ(add->text, "To be");
  EXPECT_EQ(add->a, 7);
  EXPECT_FLOAT_EQ(add->x, 0.5F);
  EXPECT_TRUE(screen.view.prompt.empty());

  s.frame.live = false;
  screen.view.prompt = "To be";
  screen.click(s.frame, "requests/add");
  EXPECT_TRUE(screen.commands.empty());
  EXPECT_NE(value_of(screen, "requests/add").find("recording"), std::string::npos);
}

TEST(Screen, PicturesSayWhatTheyAreToldAndHaveNothingToPress) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.view.mode = ScreenMode::present;
  screen.draw(s.frame);
  EXPECT_TRUE(screen.marks.get("header/help") && screen.marks.get("timeline/play"));
  EXPECT_TRUE(value_of(screen, "caption/step").starts_with("Prefill: ")) << value_of(screen, "caption/step");
  EXPECT_FALSE(screen.marks.get("provenance"));
  screen.view.picture = {.still = true, .caption = "Look at B.", .provenance = "tiny, trace 3f2a"};
  screen.draw(s.frame);
  for (const char* name :
       {"header/help", "header/theme", "header/layer/next", "timeline/play", "timeline/zoom_in"})
    EXPECT_FALSE(screen.marks.get(name)) << name;
  EXPECT_TRUE(screen.marks.get("header/layer") && screen.marks.get("timeline/rail"));
  EXPECT_EQ(value_of(screen, "caption/step"), "Look at B.");
  EXPECT_EQ(value_of(screen, "provenance"), "tiny, trace 3f2a");
  EXPECT_LE(screen.marks.get("timeline")->rect.bottom(), screen.marks.get("provenance")->rect.y)
      << "the line has its own room";
}

TEST(Screen, APanelAloneInAPictureHasNothingToPressEither) {
  for (const Sample& s : {sample::prefill(), sample::padded_decode()}) {
    for (const PanelId panel : {PanelId::mask, PanelId::weights, PanelId::strip, PanelId::pool}) {
      Headless screen(1000, 600);
      screen.view.maximised = panel;
      screen.view.picture.alone = true;
      const char* buttons[] = {"mask/align/top_left", "weights/scale", "weights/palette", "strip/true_memory",
                               "pool/zoom/in"};
      const auto pressed = [&] {
        return std::ranges::count_if(buttons,
                                     [&](const char* name) { return screen.marks.get(name).has_value(); });
      };
      screen.draw(s.frame);
      EXPECT_GT(pressed(), 0);
      screen.view.picture.still = true;
      screen.draw(s.frame);
      EXPECT_EQ(pressed(), 0);
    }
  }
}

TEST(Screen, PicturesPointAtMarksAndAskBeforeTheyShow) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.view.picture.ringed = {"pool/block/5", "no/such/mark"};
  screen.draw(s.frame);
  const int plain = screen.vertices();
  screen.view.picture.ringed.clear();
  screen.draw(s.frame);
  EXPECT_GT(plain, screen.vertices()) << "a ring around the block that is there";
  screen.view.picture.question = true;
  screen.view.picture.caption = "How many?";
  screen.draw(s.frame);
  const auto card = screen.marks.get("question");
  ASSERT_TRUE(card);
  EXPECT_EQ(card->value, "How many?");
  EXPECT_EQ(card->rect.w * card->rect.h, 1600.0F * 900.0F) << "nothing else is to be seen";
}

TEST(Screen, KeysAreOffWhileTyping) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.click(s.frame, "requests/prompt");
  screen.type(s.frame, "5?");
  screen.type(s.frame, "x");
  screen.press(s.frame, ImGuiKey_LeftArrow);
  EXPECT_TRUE(screen.commands.empty());
  EXPECT_EQ(screen.view.shell.overlay, Overlay::none);
  EXPECT_EQ(screen.view.prompt, "5?x");
}

TEST(Screen, NamesMeanTheSameInCodeAndPanels) {
  const Sample s = sample::padded_decode();
  Headless screen(1600, 900);
  screen.hover(s.frame, "tables/slot");
  EXPECT_EQ(screen.view.next_hover.name, "slot_mapping");
  screen.view.stage = StageView::tiles;
  for (const auto& [mark, name] : {std::pair{"tiles/gauge/alpha", "alpha"}, {"tiles/gauge/o", "o"}}) {
    screen.hover(s.frame, mark);
    EXPECT_EQ(screen.view.next_hover.name, name) << mark;
  }
  // The other way round: what carries the name is drawn otherwise while it is meant elsewhere.
  const auto vertices_while = [&](const char* name) {
    ImGui::GetIO().MousePos = {-100.0F, -100.0F};
    screen.draw(s.frame);
    screen.view.next_hover.name = name;
    screen.draw(s.frame);
    return screen.vertices();
  };
  const int plain = vertices_while("");
  for (const char* name : {"slot_mapping", "alpha", "o"}) EXPECT_GT(vertices_while(name), plain) << name;
}

TEST(Screen, HoverLightsUpTheSameBlockElsewhere) {
  const Sample s = sample::padded_decode();
  Headless screen(1600, 900);
  screen.selection.seq = 2;
  screen.hover(s.frame, "weights/key/8");
  EXPECT_EQ(screen.view.hover.block, 4);
  EXPECT_EQ(screen.view.hover.seq, 2);
  EXPECT_EQ(screen.view.hover.k_col, 8);
  EXPECT_EQ(value_of(screen, "tables/slot"), "slot 16");
}

TEST(Screen, HelpListsEveryKey) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.type(s.frame, "?");
  EXPECT_EQ(screen.view.shell.overlay, Overlay::help);
  screen.draw(s.frame);
  for (const KeyBinding& key : key_table()) {
    if (key.label.empty()) continue;
    EXPECT_TRUE(screen.marks.get("help/" + std::string(key.label)).has_value()) << key.label;
  }
  screen.press(s.frame, ImGuiKey_Escape);
  EXPECT_EQ(screen.view.shell.overlay, Overlay::none);
}

TEST(Screen, StageListFollowsTheCurrentStage) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  for (const auto& [stage, name] : {std::pair{trace::Stage::commit, "stages/stage/commit"},
                                    {trace::Stage::sample, "stages/stage/sample"},
                                    {trace::Stage::schedule, "stages/stage/schedule"},
                                    {trace::Stage::prepare, "stages/stage/prepare"},
                                    {trace::Stage::attention, "stages/stage/attention"}}) {
    screen.selection.stage = stage;
    for (int i = 0; i < 3; ++i) screen.draw(s.frame);
    EXPECT_TRUE(screen.marks.get(name).has_value()) << name;
  }
}

TEST(Describe, TellsTheStepInText) {
  const Sample s = sample::padded_decode();
  Selection selection;
  selection.seq = 2;
  const std::string text = describe_screen(s.frame, selection);
  for (const char* part : {"decode_gather_padded", "cu_seqlens_k [0, 18, 32, 41]", "context_lens [18, 14, 9]",
                           "zero pads", "Shared blocks: 2 (x2), 5 (x2)", "Sequence C"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_NE(describe_screen(sample::empty().frame, {}).find("No step"), std::string::npos);
}

}  // namespace
}  // namespace attn::viz
