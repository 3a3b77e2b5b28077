// Inside a step the panels of the engine's bookkeeping show what has happened by then, and say when that is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "headless.h"
#include "sample_frame.h"

namespace attn::viz {
namespace {

using sample::Sample;
using trace::Stage;

/// B prefills positions 8 to 11 into block 11, C finishes in this step and gives its blocks 0 and 8 back.
Sample finishing() {
  Sample s = sample::prefill();
  s.step->finished = {2};
  for (const int block : {0, 8}) {
    s.step->blocks[static_cast<std::size_t>(block)].ref_count = 0;
    s.step->free_blocks.push_back(block);
  }
  s.step->events.push_back({trace::EventKind::hash, 1, 11, "Block 11 is full."});
  return s;
}

void stand_at(Headless& screen, const Frame& frame, Stage stage) {
  screen.view.grain = trace::Grain::stage;
  screen.selection.stage = stage;
  screen.draw(frame);
}

bool shows(const Headless& screen, const std::string& mark, const char* words) {
  return value_of(screen, mark).find(words) != std::string::npos;
}

TEST(Moment, SlotsAreWrittenByTheStoreAndReadByTheGather) {
  const Sample s = finishing();
  Headless screen(1600, 900);
  stand_at(screen, s.frame, Stage::qkv_rope);
  EXPECT_TRUE(shows(screen, "pool/slot/44", "not written"));
  EXPECT_FALSE(shows(screen, "pool/block/11", "written in this step"));
  EXPECT_FALSE(shows(screen, "pool/block/5", "read in this step"));
  EXPECT_EQ(screen.marks.get("pool/sum")->source, "blocks of step 2, after qkv_rope of layer 0");
  stand_at(screen, s.frame, Stage::store_kvcache);
  EXPECT_FALSE(shows(screen, "pool/slot/44", "not written"));
  EXPECT_TRUE(shows(screen, "pool/block/11", "4 slots written in this step"));
  EXPECT_FALSE(shows(screen, "pool/block/5", "read in this step"));
  stand_at(screen, s.frame, Stage::gather);
  EXPECT_TRUE(shows(screen, "pool/block/5", "read in this step"));
  EXPECT_TRUE(shows(screen, "pool/block/11", "no hash"));
}

TEST(Moment, CommitRegistersFinishesAndFrees) {
  const Sample s = finishing();
  const std::string last = fmt::format("free/{}", s.step->free_blocks.size() - 1);
  Headless screen(1600, 900);
  stand_at(screen, s.frame, Stage::sample);
  EXPECT_TRUE(shows(screen, "pool/block/0", "in use, ref_count 1"));
  EXPECT_TRUE(shows(screen, "requests/seq/2", "prefill"));
  EXPECT_FALSE(shows(screen, "requests/seq/2", "finished"));
  EXPECT_FALSE(screen.marks.get(last).has_value());
  stand_at(screen, s.frame, Stage::commit);
  EXPECT_TRUE(shows(screen, "pool/block/11", "hash "));
  EXPECT_TRUE(shows(screen, "pool/block/0", "free"));
  EXPECT_TRUE(shows(screen, "requests/seq/2", "finished"));
  EXPECT_TRUE(shows(screen, last, "block 8"));
  EXPECT_EQ(screen.marks.get("pool/sum")->source, "blocks of step 2, after the step");
}

TEST(Moment, ATokenIsThereWhenItIsSampled) {
  const Sample s = finishing();
  Headless screen(1600, 900);
  stand_at(screen, s.frame, Stage::prepare);
  EXPECT_FALSE(screen.marks.get("requests/token/1/12").has_value());
  EXPECT_TRUE(shows(screen, "requests/token/1/11", "K/V not stored yet"));
  EXPECT_TRUE(shows(screen, "requests/token/1/7", "already in the cache"));
  stand_at(screen, s.frame, Stage::attention);
  EXPECT_TRUE(shows(screen, "requests/token/1/11", "computed in this step"));
  EXPECT_FALSE(screen.marks.get("requests/token/1/12").has_value());
  stand_at(screen, s.frame, Stage::sample);
  EXPECT_TRUE(shows(screen, "requests/token/1/12", "appended at commit"));
  // At the grain of steps everything is as the step left it, whichever stage is looked at.
  screen.view.grain = trace::Grain::step;
  screen.selection.stage = Stage::prepare;
  screen.draw(s.frame);
  EXPECT_TRUE(shows(screen, "requests/token/1/12", "sampled in this step"));
  EXPECT_TRUE(shows(screen, "requests/seq/2", "finished"));
}

TEST(Moment, WhatAttentionComputesIsVeiledUntilItHasRun) {
  const Sample s = sample::padded_decode();
  Headless screen(1600, 900);
  const auto veiled = [&](const char* panel, StageView view, Stage stage) {
    screen.view.stage = view;
    stand_at(screen, s.frame, stage);
    EXPECT_TRUE(screen.marks.find(panel) != nullptr) << panel;
    return screen.marks.find(std::string(panel) + "/veil") != nullptr;
  };
  // The gather has read the cache by then, but nothing has been weighed.
  for (const Stage before : {Stage::prepare, Stage::gather}) {
    EXPECT_TRUE(veiled("weights", StageView::weights, before));
    EXPECT_TRUE(veiled("mask", StageView::weights, before));
    EXPECT_TRUE(veiled("numbers", StageView::weights, before));
    EXPECT_TRUE(shows(screen, "numbers/moment", "attention"));
    EXPECT_TRUE(veiled("heads", StageView::heads, before));
    EXPECT_TRUE(veiled("tiles", StageView::tiles, before));
  }
  for (const Stage after : {Stage::attention, Stage::commit}) {
    EXPECT_FALSE(veiled("weights", StageView::weights, after));
    EXPECT_FALSE(veiled("mask", StageView::weights, after));
    EXPECT_FALSE(veiled("numbers", StageView::weights, after));
    EXPECT_FALSE(screen.marks.find("numbers/moment") != nullptr);
    EXPECT_FALSE(veiled("heads", StageView::heads, after));
    EXPECT_FALSE(veiled("tiles", StageView::tiles, after));
  }
  screen.selection.stage = Stage::prepare;
  screen.view.grain = trace::Grain::step;  // the step as a whole has run
  screen.draw(s.frame);
  EXPECT_EQ(screen.marks.find("tiles/veil"), nullptr);
}

TEST(Moment, TheVeilLetsTheMouseThrough) {
  const Sample s = sample::prefill();
  Headless screen(1600, 900);
  screen.view.stage = StageView::heads;
  stand_at(screen, s.frame, Stage::prepare);
  ASSERT_NE(screen.marks.find("heads/veil"), nullptr);
  screen.click(s.frame, "heads/head/1");
  ASSERT_EQ(screen.commands.size(), 1U);
  EXPECT_EQ(screen.commands[0].selection.head, 1);
}

TEST(Moment, TheCaptionTellsNoTokenBeforeItIsSampled) {
  const Sample s = finishing();
  Headless screen(1920, 1080);
  screen.view.mode = ScreenMode::present;
  stand_at(screen, s.frame, Stage::attention);
  EXPECT_TRUE(shows(screen, "caption/step", "Prefill"));
  EXPECT_FALSE(shows(screen, "caption/step", "Sampled"));
  stand_at(screen, s.frame, Stage::sample);
  EXPECT_TRUE(shows(screen, "caption/step", "Sampled"));
}

TEST(Requests, KeepTheirPlacesWhenOneFinishesAndSayWhoIsShownInstead) {
  Sample s = sample::make({.seqs = {{1, 8, 8, 0, 8, {0, 1}}, {2, 4, 4, 0, 4, {2}}}});
  auto history = std::make_shared<std::vector<StepSummary>>(*s.frame.history);
  trace::SeqState ended = s.step->seqs.front();
  ended.id = 0;
  history->front().ended = {ended};
  s.frame.history = history;
  Headless screen(1600, 900);
  screen.selection.seq = 0;
  screen.draw(s.frame);
  const auto top_of = [&](int id) { return screen.marks.get(fmt::format("requests/seq/{}", id))->rect.y; };
  EXPECT_LT(top_of(0), top_of(1));
  EXPECT_LT(top_of(1), top_of(2));
  EXPECT_TRUE(shows(screen, "requests/seq/0", "finished in step 1"));
  EXPECT_TRUE(shows(screen, "requests/seq/0", "panels show B"));
}

}  // namespace
}  // namespace attn::viz
