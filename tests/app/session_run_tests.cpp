// What a session does beside showing steps and searching: switches, bookmarks, files.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "app/session.h"
#include "core/trace/names.h"
#include "core/trace/trace_file.h"
#include "tests/app/program.h"
#include "tests/app/session_runs.h"
#include "tests/app/user.h"

namespace attn::app {
namespace {

namespace fs = std::filesystem;
using Kind = viz::Command::Kind;
using trace::ConditionKind;

TEST_F(SessionRuns, ASwitchRunsTheSameRequestsUpToTheSameStep) {
  send(Kind::step_forward);
  viz::Command add;
  add.kind = Kind::add_prompt;
  add.a = 3;
  add.text = "JULIET:\nO";
  send(add);
  for (int i = 0; i < 6; ++i) send(Kind::step_forward);
  const int index = frame().index;
  const auto before = frame().step;
  viz::Selection selection = session_->selection();
  selection.layer = 2;
  selection.head = 5;
  session_->select(selection);
  send(Kind::set_switch, 0, "decode_path", "gather_masked");
  EXPECT_EQ(frame().index, index);
  EXPECT_EQ(frame().step->path, trace::AttentionPath::decode_gather_masked);
  EXPECT_EQ(session_->selection().layer, 2);
  EXPECT_EQ(session_->selection().head, 5);
  EXPECT_EQ(frame().step->state_hash, before->state_hash) << "another path, the same tokens";
  EXPECT_EQ(frame().manifest->request_labels.back(), "JULIET: O");
  EXPECT_FALSE(frame().broken);
  send(Kind::set_switch, 0, "prefill_level", "1");
  EXPECT_EQ(frame().step->config.prefill_level, 1);
  EXPECT_EQ(frame().step->config.decode_path, DecodePath::gather_masked) << "both switches hold";
}

TEST_F(SessionRuns, WhatIsBrokenIsMeasuredAgainstTheRightRun) {
  for (int i = 0; i < 8; ++i) send(Kind::step_forward);
  send(Kind::set_switch, 0, "decode_path", "gather_padded");
  ASSERT_TRUE(frame().broken);
  EXPECT_EQ(frame().broken->titles, std::vector<std::string>{"Padding is attended"});
  EXPECT_EQ(frame().broken->note, "");
  EXPECT_GT(frame().broken->max_abs_diff_o, 1e-4);
  const int wrong = frame().broken->first_wrong_step;
  if (wrong >= 0) {
    EXPECT_LE(wrong, frame().step->step);
  }
  send(Kind::first);
  ASSERT_TRUE(frame().broken);
  EXPECT_EQ(frame().broken->max_abs_diff_o, 0.0) << "a prefill pads nothing";
  EXPECT_EQ(frame().broken->first_wrong_step, -1);
  send(Kind::set_switch, 0, "decode_path", "paged");
  EXPECT_FALSE(frame().broken);
}

TEST_F(SessionRuns, WrongPositionsAreMeasuredToo) {
  send(Kind::step_forward);
  ASSERT_GT(frame().step->seqs[0].num_cached_tokens, 0) << "the prompt with a cached beginning";
  send(Kind::set_switch, 0, "positions_restart", "true");
  ASSERT_TRUE(frame().broken);
  EXPECT_EQ(frame().broken->note, "");
  EXPECT_GT(frame().broken->max_abs_diff_o, 1e-4);
}

TEST_F(SessionRuns, AValueThatIsNoneIsRefusedInOneSentence) {
  const auto before = frame().step;
  send(Kind::set_switch, 0, "decode_path", "sideways");
  EXPECT_NE(frame().status.find("sideways"), std::string::npos);
  EXPECT_EQ(frame().step, before);
}

TEST_F(SessionRuns, ASavedRunOpensAgainWithItsBookmarksAndCanBeRunAgain) {
  const testing::TemporaryFolder folder;
  viz::Command add;
  add.kind = Kind::add_prompt;
  add.a = 3;
  add.text = "JULIET:\nO";
  send(add);
  for (int i = 0; i < 5; ++i) send(Kind::step_forward);
  send(Kind::add_bookmark, 0, "here");
  EXPECT_FALSE(frame().saved);
  const int steps = frame().num_steps, index = frame().index;
  const auto hash = frame().step->state_hash;
  send(Kind::save_trace, 0, folder.file("run"));
  EXPECT_TRUE(frame().saved) << frame().status;
  ASSERT_TRUE(fs::exists(folder.file("run.attn")));
  EXPECT_FALSE(fs::exists(folder.file("run.attn.part")));
  send(Kind::step_forward);
  EXPECT_FALSE(frame().saved) << "one more step than the file holds";

  send(Kind::open_file, 0, folder.file("run.attn"));
  EXPECT_FALSE(frame().live);
  EXPECT_EQ(frame().num_steps, steps);
  ASSERT_EQ(frame().bookmarks.size(), 1U);
  EXPECT_EQ(frame().bookmarks[0].note, "here");
  EXPECT_EQ(frame().recent_files.front(), folder.file("run.attn"));
  send(Kind::go_to_bookmark, 0);
  EXPECT_EQ(frame().index, index);
  EXPECT_EQ(frame().step->state_hash, hash);
  send(Kind::edit_bookmark, 0, "there");
  EXPECT_EQ(trace::read_bookmarks(folder.file("run.attn")).at(0).note, "there") << "at once in the file";

  session_ = std::make_unique<Session>(open_subject(folder.file("run.attn"), DeviceChoice::simt),
                                       DeviceChoice::simt, [] {});
  session_->wait_idle();
  ASSERT_EQ(frame().bookmarks.size(), 1U) << "a start with the file has them too";
  send(Kind::add_bookmark, 0, "second");
  const std::vector<trace::Bookmark> kept = trace::read_bookmarks(folder.file("run.attn"));
  ASSERT_EQ(kept.size(), 2U) << "the second is added to the first";
  EXPECT_EQ(kept[0].note, "there");
  send(Kind::go_to_bookmark, 0);
  EXPECT_EQ(frame().step->state_hash, hash);

  EXPECT_EQ(frame().switches_note, "");
  send(Kind::set_switch, 0, "free_list", "scrambled");
  EXPECT_TRUE(frame().live);
  EXPECT_EQ(frame().index, index);
  EXPECT_EQ(frame().step->sampled.size(), 3U);
  EXPECT_EQ(frame().manifest->request_labels.back(), "JULIET: O") << "typed requests are in the file too";
}

TEST_F(SessionRuns, NoFileOfAnotherIsOverwritten) {
  const testing::TemporaryFolder folder;
  const auto text_of = [&](const char* name) {
    std::ifstream in(folder.file(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  testing::write_file(folder.file("run.attn"), "theirs");
  testing::write_file(folder.file("q.csv"), "theirs too");
  send(Kind::save_trace, 0, folder.file("run.attn"));
  EXPECT_EQ(text_of("run.attn"), "theirs");
  EXPECT_TRUE(fs::exists(folder.file("run-2.attn")));
  EXPECT_NE(frame().status.find("run-2.attn (run.attn was there already and is kept)"), std::string::npos)
      << frame().status;
  EXPECT_EQ(frame().recent_files.front(), folder.file("run-2.attn"));
  send(Kind::export_tensor, 0, folder.file("q.csv"), "q");
  EXPECT_EQ(text_of("q.csv"), "theirs too");
  EXPECT_TRUE(fs::exists(folder.file("q-2.csv")));
  // Its own files it writes again.
  send(Kind::step_forward);
  send(Kind::save_trace, 0, folder.file("run-2.attn"));
  EXPECT_TRUE(frame().saved) << frame().status;
  EXPECT_FALSE(fs::exists(folder.file("run-3.attn")) || fs::exists(folder.file("run-2-2.attn")));
  const int steps = frame().num_steps;
  send(Kind::open_file, 0, folder.file("run-2.attn"));
  EXPECT_EQ(frame().num_steps, steps);
}

TEST_F(SessionRuns, FilesThatCannotBeOpenedLeaveWhatIsThere) {
  const testing::TemporaryFolder folder;
  testing::write_file(folder.file("broken.json"), "{\"engine\": {\"block_size\": 0}");
  testing::write_file(folder.file("model.json"), R"({"model": ".", "requests": [{"prompt": "O"}]})");
  testing::write_file(folder.file("noise.attn"), std::string(400, 'x'));
  testing::write_file(folder.file("empty.safetensors"), "");
  testing::write_file(folder.file("letter.txt"), "Dear reader");
  const auto before = frame().step;
  for (const char* name :
       {"broken.json", "model.json", "noise.attn", "empty.safetensors", "letter.txt", "nothing.attn", ""}) {
    send(Kind::open_file, 0, folder.file(name));
    EXPECT_EQ(frame().step, before) << name;
    EXPECT_NE(frame().status, "") << name;
    EXPECT_EQ(std::ranges::count(frame().status, '\n'), 0) << frame().status;
    EXPECT_TRUE(frame().recent_files.empty());
  }
  send(Kind::step_forward);
  EXPECT_EQ(frame().index, 1) << "the old run goes on";
}

TEST_F(SessionRuns, AModelIsOpenedWithAPromptToBeginWithAndTakesMore) {
  const std::string model = (assets_dir() / "models/shakespeare-1m").string();
  send(Kind::open_file, 0, model);
  EXPECT_EQ(frame().manifest->scenario_name, "shakespeare-1m");
  EXPECT_TRUE(frame().live);
  EXPECT_EQ(frame().step->kind, trace::StepKind::prefill);
  EXPECT_EQ(frame().recent_files.front(), model);
  viz::Command add;
  add.kind = Kind::add_prompt;
  add.text = "To be, or not";
  add.a = 4;
  send(add);
  EXPECT_EQ(frame().manifest->request_labels.back(), "To be, or not");
  send(Kind::set_switch, 0, "decode_path", "gather_padded");
  EXPECT_TRUE(frame().broken) << "switches work on it as on any scenario";
}

TEST_F(SessionRuns, AFolderIsListed) {
  send(Kind::list_folder);
  EXPECT_EQ(frame().folder.path, (testing::source_dir() / "assets/lessons").lexically_normal().string());
  EXPECT_TRUE(std::ranges::any_of(frame().folder.entries, [](const viz::FolderEntry& entry) {
    return entry.name == "three-prompts.json" && entry.kind == "scenario";
  }));
  EXPECT_TRUE(std::ranges::none_of(frame().folder.entries, [](const viz::FolderEntry& entry) {
    return entry.name == "scenario.schema.json";
  }));
  send(Kind::list_folder, 0, (testing::source_dir() / "assets/models").string());
  EXPECT_TRUE(std::ranges::any_of(frame().folder.entries, [](const viz::FolderEntry& entry) {
    return entry.name == "shakespeare-1m" && entry.is_folder && entry.kind == "model";
  }));
  send(Kind::list_folder, 0, "/no/such/folder");
  EXPECT_NE(frame().folder.note, "");
  send(Kind::list_folder, 0, "/");
  EXPECT_EQ(frame().folder.parent, "");
}

TEST_F(SessionRuns, LongWorkCanBeCancelledAndTheRunGoesOn) {
  viz::Command search;
  search.kind = Kind::run_to;
  search.a = 1;
  search.condition = {.kind = ConditionKind::token_equals, .a = 1 << 20, .x = 0.0};
  session_->apply(viz::Commands{search}, view_);
  EXPECT_TRUE(session_->working());
  send(Kind::cancel);
  EXPECT_FALSE(session_->working());
  EXPECT_EQ(frame().index, 0);
  send(Kind::last);
  EXPECT_NE(frame().step, nullptr);
}

TEST_F(SessionRuns, ChangesCostsAndDiffBelongToTheCursor) {
  run_to_the_end();
  send(Kind::first);
  EXPECT_EQ(frame().changes, nullptr);
  send(Kind::step_forward);
  ASSERT_NE(frame().changes, nullptr);
  EXPECT_EQ(frame().changes->after, frame().step->step);
  ASSERT_NE(frame().run_costs, nullptr);
  EXPECT_EQ(frame().run_costs->prefill.steps + frame().run_costs->decode.steps, 2);
  EXPECT_EQ(frame().diff, nullptr);
  send(Kind::diff_with, 4);
  ASSERT_NE(frame().diff, nullptr);
  EXPECT_EQ(frame().diff->before, frame().step->step + 3);
  send(Kind::last);
  EXPECT_EQ(frame().diff->after, frame().step->step);
  EXPECT_EQ(frame().run_costs->prefill.steps + frame().run_costs->decode.steps, frame().num_steps);
  send(Kind::diff_off);
  EXPECT_EQ(frame().diff, nullptr);
}

TEST_F(SessionRuns, MovesAtEveryGrainGoBackTheWayTheyCame) {
  run_to_the_end();
  for (const trace::Grain grain : {trace::Grain::step, trace::Grain::stage, trace::Grain::head,
                                   trace::Grain::tile, trace::Grain::cell}) {
    send(Kind::seek, 3);
    std::vector<viz::Selection> way;
    viz::Command move;
    move.kind = Kind::move;
    move.grain = grain;
    move.a = 1;
    send(move);  // from a place of this grain on
    for (int i = 0; i < 60; ++i) {
      const viz::Selection before = session_->selection();
      send(move);
      if (session_->selection() == before) break;  // the end of the recording
      way.push_back(before);
    }
    EXPECT_GT(way.size(), 10U);
    move.a = -1;
    for (; !way.empty(); way.pop_back()) {
      send(move);
      EXPECT_EQ(session_->selection(), way.back()) << static_cast<int>(grain) << " " << way.size();
      if (session_->selection() != way.back()) break;
    }
  }
}

TEST_F(SessionRuns, AMoveAtTheEndOfALiveRunRunsTheEngine) {
  viz::Command move;
  move.kind = Kind::move;
  move.grain = trace::Grain::step;
  move.a = 1;
  send(move);
  EXPECT_EQ(frame().num_steps, 2);
  EXPECT_EQ(frame().index, 1);
  move.grain = trace::Grain::stage;
  for (int i = 0; i < 200 && frame().num_steps < 3; ++i) send(move);
  EXPECT_EQ(frame().num_steps, 3);
  EXPECT_EQ(frame().index, 2);
}

}  // namespace
}  // namespace attn::app
