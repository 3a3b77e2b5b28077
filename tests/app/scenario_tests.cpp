// Scenarios: what is read, and the sentence for everything that is wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "app/located_json.h"
#include "app/scenario.h"
#include "core/engine/nearest.h"
#include "kernels/common/check.h"
#include "tests/app/program.h"

namespace attn::app {
namespace {

using testing::source_dir;

Scenario parse(const std::string& text, const std::vector<std::string>& sets = {}) {
  return parse_scenario(text, source_dir() / "assets/lessons/case.json", sets);
}

std::string error_of(const std::string& text, const std::vector<std::string>& sets = {}) {
  try {
    parse(text, sets);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

const std::string kRequest = R"("requests": [{"prompt": "O"}])";

TEST(Scenario, ReadsEveryField) {
  const Scenario s = parse(R"({
    "version": 1, "name": "all", "model": "shakespeare-1m", "seed": 9,
    "engine": {"block_size": 4, "num_blocks": 12, "max_num_seqs": 3, "max_num_batched_tokens": 64,
               "max_model_len": 99, "prefix_caching": false, "decode_path": "gather_masked",
               "prefill_path": "gather_flatten", "prefill_level": 1, "decode_level": 1, "num_splits": 2, "k_tile": 8,
               "mask_alignment": "top_left", "free_list": "scrambled", "free_list_seed": 5, "policy": "old",
               "warmup": true, "warmup_identity": true, "record_layers": 2},
    "requests": [
      {"at_step": 2, "id": "late", "token_ids": [1, 2], "max_tokens": 3, "temperature": 0.5, "top_k": 4,
       "top_p": 0.9, "ignore_eos": true},
      {"prompt_tokens": 5}],
    "max_steps": 7, "film": [{"stop": "one", "caption": "One."}]})");
  EXPECT_EQ(s.name, "all");
  EXPECT_EQ(s.model, testing::model_dir());
  EXPECT_EQ(s.engine.block_size, 4);
  EXPECT_EQ(s.engine.num_blocks, 12);
  EXPECT_EQ(s.engine.max_model_len, 99);
  EXPECT_FALSE(s.engine.prefix_caching);
  EXPECT_EQ(s.engine.k_tile, 8);
  EXPECT_EQ(s.engine.decode_path, DecodePath::gather_masked);
  EXPECT_EQ(s.engine.prefill_path, PrefillPath::gather_flatten);
  EXPECT_EQ(s.engine.mask_alignment, MaskAlignment::top_left);
  EXPECT_EQ(s.engine.free_list, FreeListOrder::scrambled);
  EXPECT_EQ(s.engine.policy, HashPolicy::old);
  EXPECT_TRUE(s.engine.warmup_identity);
  EXPECT_EQ(s.engine.seed, 9U);
  EXPECT_EQ(s.engine.record_layers, 2);
  ASSERT_EQ(s.requests.size(), 2U);
  EXPECT_EQ(s.requests[0].prompt_tokens, 5) << "requests are in order of entry";
  EXPECT_EQ(s.requests[1].id, "late");
  EXPECT_EQ(s.requests[1].token_ids, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(s.requests[1].sampling.top_k, 4);
  EXPECT_FLOAT_EQ(s.requests[1].sampling.top_p, 0.9F);
  EXPECT_TRUE(s.requests[1].sampling.ignore_eos);
  EXPECT_EQ(s.max_steps, 7);
  EXPECT_EQ(s.script.stops.size(), 1U);
}

TEST(Scenario, SetChangesOneValueAndIsKept) {
  const std::string text = "{" + kRequest + "}";
  const Scenario s = parse(text, {"engine.block_size=4", "requests.0.max_tokens=3", "engine.policy=old"});
  EXPECT_EQ(s.engine.block_size, 4);
  EXPECT_EQ(s.requests[0].sampling.max_tokens, 3);
  EXPECT_EQ(s.engine.policy, HashPolicy::old);
  EXPECT_EQ(nlohmann::json::parse(s.json)["engine"]["block_size"], 4);
}

TEST(Scenario, SetTakesTextAsItIsGivenWhereTheScenarioHasText) {
  const std::string text = "{" + kRequest + "}";
  const Scenario bare = parse(text, {"engine.scores=2", "requests.0.id=7", "name=12"});
  EXPECT_EQ(bare.engine.scores, parse(text, {"engine.scores=\"2\""}).engine.scores);
  EXPECT_NE(bare.engine.scores, parse(text).engine.scores);
  EXPECT_EQ(bare.requests[0].id, "7");
  EXPECT_EQ(bare.name, "12");
  EXPECT_EQ(parse(bare.json).engine.scores, bare.engine.scores) << "what is run is kept as text";
}

struct Wrong {
  const char* name;
  std::string text;
  std::vector<std::string> sets;
  std::vector<const char*> says;  // every one of them
};

const std::vector<Wrong>& wrong_scenarios() {
  static const std::vector<Wrong> cases = {
      {"misspelt_key",
       "{\n\"engine\": {\n\"blok_size\": 4},\n" + kRequest + "}",
       {},
       {"unknown key 'blok_size' in engine", "case.json:3", "did you mean 'block_size'?"}},
      {"misspelt_at_the_top",
       "{\"modle\": \"x\", " + kRequest + "}",
       {},
       {"'modle'", "did you mean 'model'?"}},
      {"misspelt_in_a_request",
       "{\"requests\": [\n{\"prompt\": \"O\"},\n{\"promt\": \"O\"}]}",
       {},
       {"'promt' in requests[1]", "case.json:3", "did you mean 'prompt'?"}},
      {"nothing_near", "{\"zzz\": 1, " + kRequest + "}", {}, {"'zzz'", "known: version, name"}},
      {"text_for_a_number",
       "{\"engine\": {\"block_size\": \"four\"}, " + kRequest + "}",
       {},
       {"engine.block_size is \"four\"", "it must be an integer"}},
      {"fraction_for_an_integer",
       "{\"engine\": {\"num_blocks\": 1.5}, " + kRequest + "}",
       {},
       {"engine.num_blocks is 1.5", "integer"}},
      {"too_large_for_32_bits",
       "{\"engine\": {\"num_blocks\": 3000000000}, " + kRequest + "}",
       {},
       {"3000000000", "2147483647"}},
      {"number_for_a_switch",
       "{\"engine\": {\"warmup\": 1}, " + kRequest + "}",
       {},
       {"engine.warmup is 1", "true or false"}},
      {"unknown_enum",
       "{\"engine\": {\"decode_path\": \"gather_mask\"}, " + kRequest + "}",
       {},
       {"engine.decode_path is 'gather_mask'", "did you mean 'gather_masked'?"}},
      {"negative_seed", "{\"seed\": -1, " + kRequest + "}", {}, {"seed is -1", "integer from 0"}},
      {"block_size_0",
       "{\n\"engine\": {\"block_size\": 0}, " + kRequest + "}",
       {},
       {"engine.block_size is 0 (case.json:2); use 1 or more"}},
      {"no_requests", "{}", {}, {"asks for nothing", "requests"}},
      {"requests_no_list", "{\"requests\": {}}", {}, {"requests is {}", "list of objects"}},
      {"request_no_object", "{\"requests\": [\n3]}", {}, {"requests[0] is 3", "case.json:2", "object"}},
      {"two_prompts",
       "{\"requests\": [{\"prompt\": \"O\", \"prompt_tokens\": 3}]}",
       {},
       {"has 2 of prompt", "exactly one"}},
      {"no_prompt", "{\"requests\": [{\"max_tokens\": 3}]}", {}, {"has 0 of prompt", "exactly one"}},
      {"negative_at_step",
       "{\"requests\": [{\"prompt\": \"O\", \"at_step\": -1}]}",
       {},
       {"at_step is -1", "0 or more"}},
      {"zero_max_tokens",
       "{\"requests\": [{\"prompt\": \"O\", \"max_tokens\": 0}]}",
       {},
       {"max_tokens is 0", "1 or more"}},
      {"cold",
       "{\"requests\": [{\"prompt\": \"O\", \"temperature\": -1}]}",
       {},
       {"temperature is -1", "0 (greedy)"}},
      {"top_p_0", "{\"requests\": [{\"prompt\": \"O\", \"top_p\": 0}]}", {}, {"top_p is 0", "more than 0"}},
      {"token_ids_text",
       "{\"requests\": [{\"token_ids\": [1, \"a\"]}]}",
       {},
       {"token_ids is \"a\"", "list of token ids"}},
      {"other_version", "{\"version\": 2, " + kRequest + "}", {}, {"version is 2", "reads version 1"}},
      {"no_such_model",
       "{\"model\": \"nobody\", " + kRequest + "}",
       {},
       {"'nobody'", "case.json:1", "bundled model"}},
      {"model_and_tensors",
       "{\"model\": \"shakespeare-1m\", \"tensors\": \"t.safetensors\"}",
       {},
       {"model and tensors", "keep one"}},
      {"tensors_and_requests",
       "{\"tensors\": \"t.safetensors\", " + kRequest + "}",
       {},
       {"tensors has requests"}},
      {"film_no_list", "{\"film\": 3, " + kRequest + "}", {}, {"film is 3", "list of objects"}},
      {"zero_max_steps", "{\"max_steps\": 0, " + kRequest + "}", {}, {"max_steps is 0"}},
      {"no_json", "{\n\"seed\": 1\n\"name\": 2}", {}, {"not JSON", "case.json:3"}},
      {"empty_file", "", {}, {"not JSON", "case.json:1"}},
      {"invalid_utf8", "{\"name\": \"\xff\"}", {}, {"not JSON"}},
      {"key_twice",
       "{\"seed\": 1,\n\"seed\": 2, " + kRequest + "}",
       {},
       {"'seed' stands twice", "case.json:2"}},
      {"no_object", "[1]", {}, {"the scenario is [1]", "object"}},
      {"set_unknown_key",
       "{" + kRequest + "}",
       {"engine.blok_size=4"},
       {"'blok_size'", "--set engine.blok_size=4", "did you mean 'block_size'?"}},
      {"set_bad_value",
       "{" + kRequest + "}",
       {"engine.block_size=big"},
       {"engine.block_size is \"big\"", "--set"}},
      {"set_without_value",
       "{" + kRequest + "}",
       {"engine.block_size"},
       {"no name or no value", "write --set"}},
      {"set_beyond_a_list",
       "{" + kRequest + "}",
       {"requests.4.max_tokens=1"},
       {"'4' is no element of a list of 1"}},
      {"set_inside_a_number", "{\"seed\": 1, " + kRequest + "}", {"seed.x=1"}, {"inside a plain value"}},
      {"begin_and_stops",
       "{" + kRequest + R"(, "begin": {}, "film": [{"stop": "x", "caption": "x"}]})",
       {},
       {"begin and stops", "case.json:1", "keep one"}},
      {"tensors_and_trace", R"({"tensors": "a", "trace": "b"})", {}, {"tensors and trace", "keep one"}},
      {"trace_with_engine", R"({"trace": "b", "engine": {}})", {}, {"a trace has engine", "leave it out"}},
      {"trace_with_requests", "{\"trace\": \"b\", " + kRequest + "}", {}, {"has requests", "leave them out"}},
      {"set_empty_part", "{" + kRequest + "}", {"engine..x=1"}, {"empty"}},
  };
  return cases;
}

class WrongScenario : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongScenario, OneSentenceSaysWhatWhereAndWhatToDo) {
  const std::string error = error_of(GetParam().text, GetParam().sets);
  for (const char* part : GetParam().says) EXPECT_NE(error.find(part), std::string::npos) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  EXPECT_NE(error.find("; "), std::string::npos) << "says what to do: " << error;
}

INSTANTIATE_TEST_SUITE_P(Each, WrongScenario, ::testing::ValuesIn(wrong_scenarios()),
                         [](const auto& tested) { return tested.param.name; });

/// The keys that a reader knows, out of its answer to a key that is near to none.
std::set<std::string> known_keys(const std::string& text) {
  const std::string error = error_of(text);
  const std::size_t at = error.find("known: ");
  if (at == std::string::npos) return {error};
  std::set<std::string> keys;
  std::stringstream list(error.substr(at + 7));
  for (std::string key; std::getline(list, key, ',');) keys.insert(key.substr(key.find_first_not_of(' ')));
  return keys;
}

std::set<std::string> property_names(const nlohmann::json& schema) {
  std::set<std::string> names;
  for (const auto& [name, value] : schema.at("properties").items()) names.insert(name);
  return names;
}

TEST(ScenarioSchema, HasTheKeysThatTheReaderKnows) {
  const auto schema =
      nlohmann::json::parse(testing::read_file(source_dir() / "assets/lessons/scenario.schema.json"));
  const std::string odd = "\"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\": 1";
  EXPECT_EQ(known_keys("{" + odd + ", " + kRequest + "}"), property_names(schema));
  const auto& properties = schema.at("properties");
  EXPECT_EQ(known_keys("{\"engine\": {" + odd + "}, " + kRequest + "}"),
            property_names(properties.at("engine")));
  EXPECT_EQ(known_keys("{\"requests\": [{" + odd + ", \"prompt\": \"O\"}]}"),
            property_names(properties.at("requests").at("items")));

  EXPECT_EQ(known_keys("{\"begin\": {" + odd + "}, " + kRequest + "}"),
            property_names(properties.at("begin")));

  const auto& defs = schema.at("$defs");
  const auto of_stop = [&](const std::string& stop, const std::string& rest = "") {
    return known_keys("{" + kRequest + rest + R"(, "film": [{"stop": "x", "caption": "x", )" + stop + "}]}");
  };
  const auto inside = [&](const std::string& key, const std::string& more = "") {
    return of_stop("\"" + key + "\": {" + more + odd + "}");
  };
  EXPECT_EQ(of_stop(odd), property_names(defs.at("stop")));
  EXPECT_EQ(inside("goto"), property_names(defs.at("moment")));
  EXPECT_EQ(inside("step_to"), property_names(defs.at("stop").at("properties").at("step_to")));
  EXPECT_EQ(inside("select"), property_names(defs.at("select")));
  EXPECT_EQ(inside("compare"), property_names(defs.at("compare")));
  EXPECT_EQ(inside("compare", "\"b\": {" + odd + "}, "), property_names(defs.at("variant")));
  EXPECT_EQ(inside("task", "\"do\": \"x\", "), property_names(defs.at("exercise")));
  EXPECT_EQ(of_stop(R"("controls": [{"name": "x", "runs": ["main"], )" + odd + "}]"),
            property_names(defs.at("control")));
  EXPECT_EQ(of_stop("\"hold\": 1", ", \"runs\": [{\"name\": \"r\", " + odd + "}]"),
            property_names(properties.at("runs").at("items")));
}

TEST(LocatedJson, KnowsTheLineOfEveryKeyAndElement) {
  const LocatedJson document = parse_located("{\"a\": {\n\"b\": [1,\n{\"c\": 2}]},\n\"d\": 3}", "f");
  EXPECT_EQ(document.where("/a"), "f:1");
  EXPECT_EQ(document.where("/a/b"), "f:2");
  EXPECT_EQ(document.where("/a/b/0"), "f:2");
  EXPECT_EQ(document.where("/a/b/1/c"), "f:3");
  EXPECT_EQ(document.where("/d"), "f:4");
  EXPECT_EQ(document.where("/nothing"), "f");
}

TEST(Nearest, CountsSlipsOfTheHand) {
  EXPECT_EQ(edit_distance("seed", "seed"), 0);
  EXPECT_EQ(edit_distance("sed", "seed"), 1);
  EXPECT_EQ(edit_distance("modle", "model"), 1) << "neighbours swapped";
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(suggest("blok", {"seed", "block"}), "did you mean 'block'?");
  EXPECT_EQ(suggest("xyz", {"seed", "block"}), "known: seed, block");
}

}  // namespace
}  // namespace attn::app
