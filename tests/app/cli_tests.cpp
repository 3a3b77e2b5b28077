// The command line as scripts see it: output, exit codes, and one sentence for every kind of bad input.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "core/model/safetensors.h"
#include "core/trace/trace_file.h"
#include "kernels/device.h"
#include "tests/app/program.h"

namespace attn::app::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A scenario of two short requests on the bundled model.
std::string small_scenario(const TemporaryFolder& folder, const std::string& model = model_dir().string()) {
  const json scenario = {{"version", 1},
                         {"model", model},
                         {"engine", {{"block_size", 4}, {"num_blocks", 16}}},
                         {"requests",
                          {{{"id", "A"}, {"token_ids", {5, 6, 7}}, {"max_tokens", 3}},
                           {{"id", "B"}, {"prompt", "ROMEO:"}, {"max_tokens", 2}}}}};
  const std::string path = folder.file("small.json");
  write_file(path, scenario.dump());
  return path;
}

/// A copy of the bundled model to spoil.
std::string copy_model(const TemporaryFolder& folder) {
  const std::string path = folder.file("model");
  fs::copy(model_dir(), path, fs::copy_options::recursive);
  return path;
}

void edit_json(const std::string& path, const std::function<void(json&)>& edit) {
  json value = json::parse(read_file(path));
  edit(value);
  write_file(path, value.dump());
}

void expect_refused(const ProgramResult& result, const std::vector<std::string>& says, int exit_code = 2) {
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_TRUE(is_one_sentence(result.err)) << result.err;
  for (const std::string& part : says)
    EXPECT_NE(result.err.find(part), std::string::npos) << part << " | " << result.err;
}

TEST(CommandLine, HelpIsGood) {
  for (const char* command : {"run", "attend", "view", "check", "describe", "still", "strip"}) {
    const ProgramResult result = run_program({command, "--help"});
    EXPECT_EQ(result.exit_code, 0) << command;
    EXPECT_NE(result.out.find("--help"), std::string::npos) << command;
  }
  EXPECT_EQ(run_program({"--help"}).exit_code, 0);
  const ProgramResult version = run_program({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_NE(version.out.find("attnscope 0."), std::string::npos) << version.out;
}

TEST(CommandLine, BadUsageIsTwo) {
  expect_refused(run_program({"fly"}), {"--help"});
  expect_refused(run_program({"run"}), {"scenario"});
  expect_refused(run_program({"run", "a.json", "--devise", "simt"}), {"--devise"});
  expect_refused(run_program({"run", "a.json", "--device", "tpu"}), {"tpu"});
  expect_refused(run_program({"run", "/no/such/file.json"}), {"/no/such/file.json"});
  expect_refused(run_program({"check", "/no/such/file"}), {"/no/such/file"});
  expect_refused(run_program({"view", "/no/such/file"}), {"/no/such/file"});
}

TEST(CommandLine, RunPrintsTheTextsAndWritesATrace) {
  const TemporaryFolder folder;
  const ProgramResult result = run_program({"run", small_scenario(folder), "--trace", folder.file("t.attn")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("[0] A: "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("[1] B: "), std::string::npos) << result.out;
  EXPECT_EQ(trace::open_trace(folder.file("t.attn"))->num_steps(), 3);
  EXPECT_EQ(run_program({"check", folder.file("t.attn")}).exit_code, 0);
}

TEST(CommandLine, JsonLinesGoToStandardOutputAlone) {
  const TemporaryFolder folder;
  const ProgramResult result = run_program({"run", small_scenario(folder), "--jsonl", "-"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::stringstream lines(result.out);
  int step = 0;
  for (std::string line; std::getline(lines, line);) EXPECT_EQ(json::parse(line).at("step"), ++step);
  EXPECT_EQ(step, 3);
  const ProgramResult into_file =
      run_program({"run", small_scenario(folder), "--jsonl", folder.file("s.jsonl")});
  EXPECT_EQ(into_file.exit_code, 0);
  EXPECT_EQ(read_file(folder.file("s.jsonl")), result.out) << "two runs are equal";
  EXPECT_FALSE(fs::exists(folder.file("s.jsonl.part")));
}

TEST(CommandLine, SetReachesTheEngine) {
  const TemporaryFolder folder;
  const ProgramResult result = run_program({"run", small_scenario(folder), "--set", "engine.block_size=2",
                                            "--set", "max_steps=1", "--jsonl", "-"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json line = json::parse(result.out);
  EXPECT_EQ(line.at("block_tables"), nullptr);
  EXPECT_EQ(line.at("seqs")[0].at("block_table").size(), 2U) << "3 tokens in blocks of 2";
  EXPECT_NE(result.err.find("max_steps = 1"), std::string::npos);
}

TEST(CommandLine, DescribeTellsAStepWithItsWeights) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program({"run", small_scenario(folder), "--trace", folder.file("t.attn")}).exit_code, 0);
  const ProgramResult whole = run_program({"describe", folder.file("t.attn")});
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
  const ProgramResult step = run_program({"describe", folder.file("t.attn") + "#step=2&layer=1&head=3"});
  EXPECT_EQ(step.exit_code, 0) << step.err;
  EXPECT_LT(step.out.size(), whole.out.size());
  EXPECT_NE(step.out.find("head 3"), std::string::npos) << step.out;
  expect_refused(run_program({"describe", folder.file("t.attn") + "#step=9"}), {"no step 9", "steps 1 to 3"});
  expect_refused(run_program({"describe", folder.file("t.attn") + "#step=1&layer=4"}), {"no layer 4"});
  expect_refused(run_program({"describe", folder.file("t.attn") + "#pace=1"}),
                 {"pace", "step, layer, head, seq"});
  expect_refused(run_program({"describe", folder.file("t.attn") + "#step=two"}), {"step=two"});
}

TEST(CommandLine, LinksToWhatIsNotThereAreRefused) {
  const TemporaryFolder folder;
  const std::string trace = folder.file("t.attn");  // A: 3 tokens and B prefilled in step 1, both decode in 2
  ASSERT_EQ(run_program({"run", small_scenario(folder), "--trace", trace}).exit_code, 0);
  const auto refused = [&](const std::string& link, const std::vector<std::string>& says) {
    expect_refused(run_program({"describe", trace + link}), says);
  };
  refused("#", {"nothing follows the #"});
  refused("#step=1&seq=7", {"no sequence 7", "one of 0, 1"});
  refused("#step=1&seq=0&row=3", {"no query row 3 of sequence 0", "0 to 2"});
  refused("#step=2&seq=0&row=1", {"no query row 1", "0 to 0"});
  refused("#step=2&seq=0&col=4", {"no key column 4", "0 to 3"});
  refused("#step=1&seq=0&tile=1", {"no key tile 1 of sequence 0", "0 to 0"});
  refused("#step=3&seq=1&row=0", {"sequence 1"});
  refused("#step=1&step=2", {"'step' stands twice"});
  refused("#layer=1", {"does not say of which step"});
  EXPECT_EQ(run_program({"describe", trace + "#step=2&seq=1&row=0&col=0&tile=0"}).exit_code, 0);
}

TEST(BadInput, PicturesOfAnotherKind) {
  const TemporaryFolder folder;
  for (const char* name : {"x.jpg", "x", "x.webp"}) {
    expect_refused(run_program({"still", small_scenario(folder), "-o", folder.file(name)}), {name, ".png"});
    EXPECT_FALSE(fs::exists(folder.file(name)));
  }
}

TEST(CommandLine, CheckSaysWhatThingsAre) {
  EXPECT_NE(run_program({"check", model_dir().string()}).out.find("LlamaForCausalLM"), std::string::npos);
  const ProgramResult scenario = run_program({"check", default_scenario().string()});
  EXPECT_EQ(scenario.exit_code, 0) << scenario.err;
  EXPECT_NE(scenario.out.find("3 requests"), std::string::npos) << scenario.out;
}

TEST(CommandLine, AttendWritesWhatItComputed) {
  const TemporaryFolder folder;
  const std::vector<float> q(2 * 8, 0.5F);
  const std::vector<std::int32_t> lengths{0, 2};
  const auto bytes = [](const auto& values) { return std::as_bytes(std::span(values)); };
  const TensorMap tensors{{"q", {TensorDType::f32, {2, 1, 8}, bytes(q)}},
                          {"k", {TensorDType::f32, {2, 1, 8}, bytes(q)}},
                          {"v", {TensorDType::f32, {2, 1, 8}, bytes(q)}},
                          {"cu_seqlens_q", {TensorDType::i32, {2}, bytes(lengths)}},
                          {"cu_seqlens_k", {TensorDType::i32, {2}, bytes(lengths)}}};
  write_safetensors(folder.file("case.safetensors"), tensors);
  const ProgramResult result = run_program({"attend", folder.file("case.safetensors"), "--op", "prefill",
                                            "--weights", "-o", folder.file("out.safetensors")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const SafetensorsFile out(folder.file("out.safetensors"));
  float o = 0.0F;
  std::memcpy(&o, out.at("o").data.data(), sizeof o);
  EXPECT_FLOAT_EQ(o, 0.5F) << "every value row is 0.5, and so is their mean";
  EXPECT_EQ(out.at("weights").shape, (std::vector<std::int64_t>{1, 2, 2}));
  EXPECT_EQ(run_program({"check", folder.file("case.safetensors")}).exit_code, 0);
  expect_refused(
      run_program({"attend", folder.file("case.safetensors"), "--op", "decode", "-o", folder.file("o2")}),
      {});
  EXPECT_FALSE(fs::exists(folder.file("o2")));
}

TEST(BadInput, TruncatedWeights) {
  const TemporaryFolder folder;
  const std::string model = copy_model(folder);
  fs::resize_file(model + "/model.safetensors", 100'000);
  expect_refused(run_program({"run", small_scenario(folder, model)}), {"model.safetensors"});
  expect_refused(run_program({"check", model}), {"model.safetensors"}, 1);
}

TEST(BadInput, WeightsThatLieAboutTheirLength) {
  const TemporaryFolder folder;
  const std::string model = copy_model(folder);
  std::fstream file(model + "/model.safetensors", std::ios::in | std::ios::out | std::ios::binary);
  const std::uint64_t huge = 1ULL << 62U;
  file.write(reinterpret_cast<const char*>(&huge), sizeof huge);
  file.close();
  expect_refused(run_program({"run", small_scenario(folder, model)}), {"model.safetensors"});
}

TEST(BadInput, UnknownArchitecture) {
  const TemporaryFolder folder;
  const std::string model = copy_model(folder);
  edit_json(model + "/config.json", [](json& config) { config["architectures"] = {"BertModel"}; });
  expect_refused(run_program({"run", small_scenario(folder, model)}), {"BertModel", "LlamaForCausalLM"});
}

TEST(BadInput, TokenizerWithoutMerges) {
  const TemporaryFolder folder;
  const std::string model = copy_model(folder);
  edit_json(model + "/tokenizer.json", [](json& tokenizer) { tokenizer["model"].erase("merges"); });
  expect_refused(run_program({"run", small_scenario(folder, model)}), {"tokenizer.json", "merges"});
}

TEST(BadInput, MisspeltKeyInAScenario) {
  const TemporaryFolder folder;
  write_file(folder.file("s.json"), R"({"engine": {"blok_size": 4}, "requests": [{"prompt": "O"}]})");
  expect_refused(run_program({"run", folder.file("s.json")}), {"blok_size", "s.json:1", "block_size"});
  expect_refused(run_program({"check", folder.file("s.json")}), {"blok_size"}, 1);
}

TEST(BadInput, TokenIdBeyondTheVocabularyIsRejectedAlone) {
  const TemporaryFolder folder;
  const ProgramResult result =
      run_program({"run", small_scenario(folder), "--set", "requests.0.token_ids=[99999]"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(is_one_sentence(result.err)) << result.err;
  EXPECT_NE(result.err.find("99999"), std::string::npos) << result.err;
  EXPECT_NE(result.out.find("[1] B: "), std::string::npos) << "the other request is served: " << result.out;
}

TEST(BadInput, PoolTooSmallForAnyRequest) {
  const TemporaryFolder folder;
  const ProgramResult result = run_program(
      {"run", small_scenario(folder), "--set", "engine.num_blocks=1", "--set", "engine.block_size=1"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("num_blocks"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("every request was rejected"), std::string::npos) << result.err;
}

TEST(BadInput, BlockSizeZero) {
  const TemporaryFolder folder;
  expect_refused(run_program({"run", small_scenario(folder), "--set", "engine.block_size=0"}),
                 {"engine.block_size is 0", "1 or more"});
}

TEST(BadInput, TraceCutInTheMiddleOpensToItsLastWholeStep) {
  const TemporaryFolder folder;
  const std::string path = folder.file("t.attn");
  ASSERT_EQ(run_program({"run", small_scenario(folder), "--trace", path}).exit_code, 0);
  fs::resize_file(path, fs::file_size(path) - 1000);
  const ProgramResult described = run_program({"describe", path});
  EXPECT_EQ(described.exit_code, 0) << described.err;
  EXPECT_NE(described.out.find("2 steps"), std::string::npos) << described.out;
  EXPECT_EQ(run_program({"check", path}).exit_code, 1) << "it is not whole";
  fs::resize_file(path, 5);
  expect_refused(run_program({"describe", path}), {"t.attn"});
}

TEST(BadInput, UnwritableOutput) {
  const TemporaryFolder folder;
  const std::string scenario = small_scenario(folder);
  for (const std::string& target :
       std::vector<std::string>{"/no/such/folder/x", folder.path().string(), "/proc/x"}) {
    expect_refused(run_program({"run", scenario, "--trace", target}), {target});
    expect_refused(run_program({"run", scenario, "--jsonl", target}), {target});
    expect_refused(run_program({"still", scenario, "-o", target}), {target});
  }
}

TEST(BadInput, AFailedRunLeavesTheOldFilesAlone) {
  const TemporaryFolder folder;
  write_file(folder.file("old.attn"), "old");
  write_file(folder.file("old.jsonl"), "old");
  const std::string model = copy_model(folder);
  fs::remove(model + "/model.safetensors");
  const ProgramResult result = run_program({"run", small_scenario(folder, model), "--trace",
                                            folder.file("old.attn"), "--jsonl", folder.file("old.jsonl")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(read_file(folder.file("old.attn")), "old");
  EXPECT_EQ(read_file(folder.file("old.jsonl")), "old");
  EXPECT_FALSE(fs::exists(folder.file("old.jsonl.part")));
}

TEST(BadInput, NoGpu) {
  try {
    make_cuda_device();
    GTEST_SKIP() << "this machine has a GPU";
  } catch (const std::exception&) {
  }
  const TemporaryFolder folder;
  expect_refused(run_program({"run", small_scenario(folder), "--device", "cuda"}), {"CUDA"});
  const ProgramResult automatic = run_program({"run", small_scenario(folder)});
  EXPECT_EQ(automatic.exit_code, 0);
  EXPECT_NE(automatic.err.find("SIMT emulator"), std::string::npos)
      << "says that it fell back: " << automatic.err;
}

TEST(BadInput, NoDisplay) {
  expect_refused(run_program({"view", default_scenario().string()}), {"no display", "attnscope still"});
}

}  // namespace
}  // namespace attn::app::testing
