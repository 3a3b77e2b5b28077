// Scripts: stops, runs and exercises of a scenario, what they inherit, and the sentence for what is wrong.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "app/scenario.h"
#include "kernels/common/check.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace attn::app {
namespace {

namespace fs = std::filesystem;

Scenario parse_film(const std::string& film, const std::string& rest = "",
                    const fs::path& folder = testing::source_dir() / "assets/lessons") {
  return parse_scenario(
      R"({"engine": {"block_size": 4}, "requests": [{"id": "B", "at_step": 1, "prompt": "O"},
          {"id": "A", "prompt": "Now"}],)" +
          rest + "\n\"film\": [" + film + "]}",
      folder / "case.json");
}

TEST(Script, ReadsEveryKeyOfAStop) {
  const Scenario s = parse_film(R"({
    "stop": "first", "run": "other", "caption": "{cu_seqlens_q}", "notes": "slowly", "predict": "How many?",
    "goto": {"step": 2, "stage": "attention", "layer": 1, "head": 3},
    "step_to": {"tile": 2, "grain": "tile", "pace": 0.5},
    "select": {"seq": "B", "row": 4, "col": 5, "block": 6}, "view": "tiles", "side": "costs", "panel": "pool",
    "annotate": ["pool/block/3"], "hold": 2.5,
    "expect": {"score_dots": [0, 1],
    "num_tokens": 12},
    "task": {"do": "Shuffle.", "set": {"engine.free_list": "scrambled"}, "expect": {"slot_mapping": [3]}},
    "break_it": {"do": "Break.", "goto": {"step": 1}, "view": "weights"}})",
                                R"("about": "All.", "size": [1280, 720], "fps": 25, "theme": "print",
    "mode": "explore", "runs": [{"name": "other", "set": {"engine.num_blocks": 9}, "max_steps": 5}],)");
  EXPECT_EQ(s.script.about, "All.");
  EXPECT_EQ(s.script.size, (std::array{1280, 720}));
  EXPECT_EQ(s.script.fps, 25);
  EXPECT_EQ(s.script.theme, viz::ThemeId::print);
  EXPECT_EQ(s.script.mode, viz::ScreenMode::explore);
  ASSERT_EQ(s.script.stops.size(), 1U);
  const Stop& stop = s.script.stops[0];
  EXPECT_EQ(stop.name, "first");
  EXPECT_EQ(stop.run, "other");
  EXPECT_EQ(stop.notes, "slowly");
  EXPECT_EQ(stop.predict, "How many?");
  EXPECT_EQ(stop.from.head, 3);
  EXPECT_EQ(stop.from.tile, std::nullopt) << "the walk begins before the tiles";
  EXPECT_EQ(stop.place.tile, 2);
  EXPECT_EQ(stop.place.seq, 1) << "B enters second";
  EXPECT_EQ(stop.place.block, 6);
  ASSERT_TRUE(stop.walk);
  EXPECT_EQ(stop.walk->grain, trace::Grain::tile);
  EXPECT_DOUBLE_EQ(stop.walk->pace, 0.5);
  EXPECT_EQ(stop.shown.stage, viz::StageView::tiles);
  EXPECT_EQ(stop.shown.side, viz::SideView::costs);
  EXPECT_EQ(stop.shown.panel, viz::PanelId::pool);
  EXPECT_EQ(stop.shown.annotate, std::vector<std::string>{"pool/block/3"});
  EXPECT_DOUBLE_EQ(stop.hold.value_or(0.0), 2.5);
  ASSERT_EQ(stop.expect.size(), 2U);
  EXPECT_EQ(stop.expect[0].value, "[0,1]") << "as written, not by name";
  EXPECT_EQ(stop.expect[1].value, "12");
  ASSERT_TRUE(stop.tasks.size() == 1 && stop.break_it);
  EXPECT_EQ(stop.tasks[0].run, "first: task");
  EXPECT_EQ(stop.tasks[0].switches,
            (std::vector<std::pair<std::string, std::string>>{{"free_list", "scrambled"}}));
  EXPECT_EQ(stop.break_it->run, "other");
  EXPECT_EQ(stop.break_it->place.step, 1);
  EXPECT_EQ(s.engine.num_blocks, 64);
  EXPECT_EQ(scenario_of(s, "other").engine.num_blocks, 9);
  EXPECT_EQ(scenario_of(s, "other").max_steps, 5);
  EXPECT_EQ(scenario_of(s, "first: task").engine.num_blocks, 9) << "a task changes the run of its stop";
  EXPECT_EQ(scenario_of(s, "first: task").engine.free_list, FreeListOrder::scrambled);
  EXPECT_EQ(s.json.find("film"), std::string::npos) << "a trace keeps what was run, not how it is told";
}

TEST(Script, NestedStopsTakeWhatTheyDoNotSayFromTheirParentAlone) {
  const Scenario s = parse_film(R"(
    {"stop": "outer", "goto": {"step": 3, "head": 2}, "compare": {"b": {"path": "decode_gather_padded"}}, "sub": [
      {"stop": "one", "caption": "1", "goto": {"head": 5}},
      {"stop": "two", "caption": "2"}]},
    {"stop": "next", "caption": "3"})");
  ASSERT_EQ(s.script.stops.size(), 3U) << "a stop without a caption only holds others";
  EXPECT_EQ(s.script.stops[0].name, "outer > one");
  EXPECT_EQ(s.script.stops[0].place.head, 5);
  EXPECT_EQ(s.script.stops[0].place.step, 3);
  EXPECT_EQ(s.script.stops[1].place.head, 2) << "not what its neighbour said";
  ASSERT_TRUE(s.script.stops[1].shown.compare);
  EXPECT_TRUE(s.script.stops[1].shown.compare->first.as_recorded());
  EXPECT_EQ(s.script.stops[1].shown.compare->second.path, trace::AttentionPath::decode_gather_padded);
  EXPECT_EQ(s.script.stops[1].shown.stage, viz::StageView::compare);
  EXPECT_EQ(s.script.stops[2].place, Place{});
}

TEST(Script, ARunCanHaveItsOwnRequests) {
  const Scenario s =
      parse_film(R"({"stop": "x", "caption": "x", "run": "alone", "select": {"seq": "C"}})",
                 R"("runs": [{"name": "alone", "requests": [{"id": "C", "token_ids": [1, 2]}]}],)");
  EXPECT_EQ(scenario_of(s, "alone").requests.size(), 1U);
  EXPECT_EQ(s.script.stops[0].place.seq, 0);
}

/// A .wav header with that many bytes of 16-bit mono sound at 8 kHz.
void write_wav(const fs::path& path, std::uint32_t bytes) {
  std::ofstream file(path, std::ios::binary);
  const auto u32 = [&](std::uint32_t v) {
    for (int i = 0; i < 4; ++i) file.put(static_cast<char>(v >> (8 * i)));
  };
  const auto u16 = [&](std::uint32_t v) {
    for (int i = 0; i < 2; ++i) file.put(static_cast<char>(v >> (8 * i)));
  };
  file << "RIFF", u32(36 + bytes), file << "WAVEfmt ", u32(16), u16(1), u16(1), u32(8000), u32(16000), u16(2),
      u16(16);
  file << "data", u32(bytes), file << std::string(bytes, '\0');
}

TEST(Script, AStopIsHeldAsLongAsItsVoice) {
  const test_support::TemporaryFolder folder;
  write_wav(folder.path() / "03.wav", 40000);
  const Scenario s = parse_film(R"({"stop": "x", "caption": "x", "hold": "03.wav"})", "", folder.path());
  EXPECT_DOUBLE_EQ(s.script.stops[0].hold.value_or(0.0), 2.5);
  EXPECT_EQ(s.script.stops[0].voice.filename(), "03.wav");
}

struct WrongScript {
  const char* name;
  std::string film, rest;
  std::vector<const char*> says;
};

const std::vector<WrongScript>& wrong_scripts() {
  static const std::vector<WrongScript> cases = {
      {"misspelt_key",
       "{\"stop\": \"x\",\n\"capton\": \"x\"}",
       "",
       {"'capton' in film[0]", "case.json:4", "did you mean 'caption'?"}},
      {"misspelt_place",
       R"({"stop": "x", "caption": "x", "goto": {"stpe": 1}})",
       "",
       {"film[0].goto", "'step'?"}},
      {"no_name", R"({"caption": "x"})", "", {"'stop' is missing in film[0]"}},
      {"nothing_said", R"({"stop": "x"})", "", {"'caption' is missing in film[0]"}},
      {"two_of_a_name",
       R"({"stop": "x", "caption": "x"}, {"stop": "x", "caption": "y"})",
       "",
       {"two stops 'x'", "name of its own"}},
      {"no_such_run",
       R"({"stop": "x", "caption": "x", "run": "cash off"})",
       R"("runs": [{"name": "cache off"}],)",
       {"no run 'cash off'", "did you mean 'cache off'?"}},
      {"run_with_a_wrong_switch",
       R"({"stop": "x", "caption": "x"})",
       "\"runs\": [{\"name\": \"r\", \"set\": {\n\"engine.blok_size\": 2}}],",
       {"'blok_size' in engine", "case.json:3", "did you mean 'block_size'?"}},
      {"run_with_a_wrong_value",
       R"({"stop": "x", "caption": "x"})",
       "\"runs\": [{\"name\": \"r\", \"set\": {\n\"engine.block_size\": 0}}],",
       {"engine.block_size is 0", "case.json:3"}},
      {"no_such_request",
       R"({"stop": "x", "caption": "x", "select": {"seq": "D"}})",
       "",
       {"no request 'D'", "known: A, B"}},
      {"no_such_view",
       R"({"stop": "x", "caption": "x", "view": "tile"})",
       "",
       {"'tile'", "did you mean 'tiles'?"}},
      {"no_such_panel",
       R"({"stop": "x", "caption": "x", "panel": "pol"})",
       "",
       {"'pol'", "did you mean 'pool'?"}},
      {"no_such_panel_to_hide",
       "{\"stop\": \"x\", \"caption\": \"x\", \"predict\": \"x?\",\n\"hide\": [\"wieghts\"]}",
       "",
       {"'wieghts'", "case.json:4", "did you mean 'weights'?"}},
      {"no_such_mark_to_ring",
       R"({"stop": "x", "caption": "x", "annotate": ["pool", "strp/row/6"]})",
       "",
       {"'strp/row/6'", "did you mean 'strip/row/6'?"}},
      {"no_such_path",
       R"({"stop": "x", "caption": "x", "compare": {"b": {"path": "decode_pagd"}}})",
       "",
       {"film[0].compare.b.path", "did you mean 'decode_paged'?"}},
      {"negative_step",
       R"({"stop": "x", "caption": "x", "goto": {"step": -1}})",
       "",
       {"film[0].goto.step is -1"}},
      {"odd_size",
       R"({"stop": "x", "caption": "x"})",
       R"("size": [1281, 720],)",
       {"size is [1281, 720]", "even"}},
      {"no_such_theme", R"({"stop": "x", "caption": "x"})", R"("theme": "lite",)", {"known: dark, light"}},
      {"no_voice", R"({"stop": "x", "caption": "x", "hold": "no.wav"})", "", {"voice", "no.wav"}},
      {"no_such_fact",
       "{\"stop\": \"x\", \"caption\": \"x\",\n\"expect\": {\"scoredots\": 1}}",
       "",
       {"no fact 'scoredots'", "case.json:4", "did you mean 'score_dots'?"}},
      {"no_such_fact_in_a_caption",
       "{\"stop\": \"x\",\n\"caption\": \"{pathh}\"}",
       "",
       {"no fact 'pathh'", "case.json:4", "did you mean 'path'?"}},
      {"no_such_number_format",
       "{\"stop\": \"x\",\n\"caption\": \"{stolen:.1q}\"}",
       "",
       {"'.1q' is no number format", "case.json:4", ".1%"}},
      {"no_such_run_of_a_fact",
       R"({"stop": "x", "caption": "{score_dots@cash off}"})",
       R"("runs": [{"name": "cache off"}],)",
       {"no run 'cash off'", "did you mean 'cache off'?"}},
      {"a_number_for_a_list",
       R"({"stop": "x", "caption": "x", "expect": {"cu_seqlens_q": 4}})",
       "",
       {"'cu_seqlens_q' cannot be 4", "a list"}},
      {"a_text_for_a_number",
       R"({"stop": "x", "caption": "x", "expect": {"score_dots": "4"}})",
       "",
       {"cannot be \"4\"", "a range [low, high]"}},
      {"a_brace_alone",
       R"({"stop": "x", "caption": "{score_dots"})",
       "",
       {"a brace stands alone", "case.json"}},
      {"exercise_says_nothing",
       R"({"stop": "x", "caption": "x", "task": {}})",
       "",
       {"'do' is missing in film[0].task"}},
      {"exercise_sets_no_switch",
       R"({"stop": "x", "caption": "x", "task": {"do": "x", "set": {"max_steps": 3}}})",
       "",
       {"'max_steps' is no switch"}},
  };
  return cases;
}

class ScriptErrors : public ::testing::TestWithParam<WrongScript> {};

TEST_P(ScriptErrors, NameThePlaceAndWhatToDo) {
  std::string error = "accepted";
  try {
    parse_film(GetParam().film, GetParam().rest);
  } catch (const InputError& e) {
    error = e.what();
  }
  for (const char* part : GetParam().says)
    EXPECT_NE(error.find(part), std::string::npos) << part << "\n" << error;
}

INSTANTIATE_TEST_SUITE_P(WrongScript, ScriptErrors, ::testing::ValuesIn(wrong_scripts()),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace attn::app
