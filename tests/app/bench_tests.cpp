// attnscope bench: what a report says, and what it refuses to read. Times themselves are no subject of tests.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/bench/against.h"
#include "app/bench/problem.h"
#include "app/bench/report.h"
#include "app/bench/run.h"
#include "app/machine.h"
#include "kernels/common/check.h"
#include "tests/app/program.h"

namespace attn::app {
namespace {

using testing::read_file;
using testing::run_program;
using testing::TemporaryFolder;
using testing::write_file;

Ceilings ceilings() {
  return {.read_gbs = 4000.0,
          .copy_gbs = 3000.0,
          .matmul_tflops = 800.0,
          .fp32_tflops = 60.0,
          .exp_tps = 3.8,
          .launch_us = 2.0};
}

/// 4 GB in 2 ms: 2,000 GB/s, half of what a read reaches.
BenchRow decode_row() {
  BenchRow row;
  row.name = "decode B64";
  row.op = "decode";
  row.path = "paged 16";
  row.level = 3;
  row.kernel = "decode_l3_stream_kernel<bf16>";
  row.us = 2000.0;
  row.flop = 16e9;
  row.bytes = row.moved = 4e9;
  row.exps = 1e7;
  row.launches = 1;
  row.error = 2.1e-3;
  return row;
}

BenchRow prefill_row() {
  BenchRow row = decode_row();
  row.name = "prefill B4";
  row.op = "prefill";
  row.level = 4;
  row.ceiling = CeilingKind::matmul;
  row.flop = 1.2e12;  // in 2 ms: 600 TFLOP/s
  return row;
}

BenchReport report() {
  BenchReport report;
  report.device = "a GPU";
  report.ceilings = ceilings();
  report.rows = {prefill_row(), decode_row(), prefill_row()};
  report.rows.back().us = 0.0;
  report.rows.back().error.reset();
  report.rows.back().skipped = "its scores take 34 GB";
  report.engine.push_back({.model = "a model",
                           .batch = 16,
                           .context = 1024,
                           .graphs = true,
                           .step_us = 1000.0,
                           .weight_bytes = 1.2e9,
                           .kv_bytes = 1.2e9});
  return report;
}

std::string refusal_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(BenchReport, RateAndFractionAreOfTheCeilingThatBinds) {
  EXPECT_DOUBLE_EQ(decode_row().rate(), 2000.0);
  EXPECT_DOUBLE_EQ(fraction_of(decode_row(), ceilings()), 0.5);
  EXPECT_DOUBLE_EQ(prefill_row().rate(), 600.0);
  EXPECT_DOUBLE_EQ(fraction_of(prefill_row(), ceilings()), 0.75);
  EXPECT_DOUBLE_EQ(fraction_of(decode_row(), {}), 0.0) << "without a ceiling there is no fraction";
  EXPECT_DOUBLE_EQ(report().engine[0].tokens_per_s(), 16'000.0);
  EXPECT_DOUBLE_EQ(report().engine[0].fraction_of_floor(ceilings()), 0.6) << "2.4 GB take 600 us";
}

TEST(BenchReport, TableSaysLevelRateFractionErrorAndPeer) {
  BenchRow row = decode_row();
  row.peers = {{"cuDNN", 1900.0}, {"torch", 4000.0}};
  const std::string line = table_line(row, ceilings(), true);
  for (const char* part :
       {"decode B64", "paged 16", "l3", "2.000 ms", "2000 GB/s", "0.50 read", "2.1e-03", "0.95x cuDNN"})
    EXPECT_NE(line.find(part), std::string::npos) << part << " in: " << line;
  row.error.reset();
  EXPECT_NE(table_line(row, ceilings(), false).find("WRONG"), std::string::npos);
  const std::string left_out = table_line(report().rows[2], ceilings(), true);
  EXPECT_NE(left_out.find("left out: its scores take 34 GB"), std::string::npos) << left_out;
}

TEST(BenchReport, ComesBackFromItsJson) {
  const BenchReport before = report();
  const BenchReport after = report_from_json(to_json(before).dump(), "bench.json");
  EXPECT_EQ(after.device, before.device);
  EXPECT_EQ(after.ceilings, before.ceilings);
  ASSERT_EQ(after.rows.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(after.rows[i].name, before.rows[i].name);
    EXPECT_EQ(after.rows[i].op, before.rows[i].op);
    EXPECT_EQ(after.rows[i].level, before.rows[i].level);
    EXPECT_EQ(after.rows[i].us, before.rows[i].us);
    EXPECT_EQ(after.rows[i].moved, before.rows[i].moved);
    EXPECT_EQ(after.rows[i].exps, before.rows[i].exps);
    EXPECT_EQ(after.rows[i].ceiling, before.rows[i].ceiling);
    EXPECT_EQ(after.rows[i].error, before.rows[i].error);
    EXPECT_EQ(after.rows[i].skipped, before.rows[i].skipped);
  }
  ASSERT_EQ(after.engine.size(), 1U);
  EXPECT_EQ(after.engine[0].tokens_per_s(), 16'000.0);
  EXPECT_TRUE(after.engine[0].graphs);
}

TEST(BenchReport, RefusesWhatItDidNotWrite) {
  const auto refusal = [](const std::string& text) {
    return refusal_of([&] { report_from_json(text, "x.json"); });
  };
  EXPECT_EQ(refusal("{"), "x.json is not valid JSON (byte 2); the file is damaged or cut short");
  EXPECT_EQ(refusal("{}"), "x.json: it is no report of attnscope bench; run ./attn bench");
  EXPECT_EQ(refusal(R"({"attnscope_bench": 7})"),
            "x.json: it is a report of another version of attnscope; run ./attn bench again");
  nlohmann::json json = to_json(report());
  json["rows"][1]["us"] = -1.0;
  EXPECT_EQ(refusal(json.dump()), "x.json (rows 1): us must be a number from 0");
  json = to_json(report());
  json["ceilings"]["read_gbs"] = "fast";
  EXPECT_EQ(refusal(json.dump()), "x.json (ceilings): read_gbs must be a number from 0");
  json = to_json(report());
  json["engine"] = 3;
  EXPECT_EQ(refusal(json.dump()), "x.json: engine must be a list");
}

constexpr const char* kPeers = R"({"env": {"gpu": "a GPU"}, "rows": [
  {"section": "decode", "case": "B64", "impl": "SDPA FLASH", "ms": 2.0, "err": 0.002},
  {"section": "decode", "case": "B64", "impl": "SDPA CUDNN", "ms": 1.0, "err": 0.002},
  {"section": "decode", "case": "B64", "impl": "fast and wrong", "ms": 0.1, "err": 0.9},
  {"section": "decode", "case": "B64", "impl": "crashed", "error": "crashed or hung"},
  {"section": "cache", "case": "B64", "impl": "gather + FLASH decode", "ms": 5.0},
  {"section": "cache", "case": "B64", "impl": "gather K+V index_select", "ms": 4.0, "err": 0.0}]})";

TEST(BenchAgainst, TakesPeersThatWereMeasuredAndRightFastestFirst) {
  const PeerBench peers = peers_from_json(kPeers, "peers.json");
  EXPECT_EQ(peers.device, "a GPU");
  const std::vector<PeerTime> all = peers_of(peers, {"decode", "B64"});
  ASSERT_EQ(all.size(), 2U) << "neither the wrong one nor the crashed one";
  EXPECT_EQ(all[0].name, "SDPA CUDNN");
  EXPECT_DOUBLE_EQ(all[0].us, 1000.0);
  const std::vector<PeerTime> gather = peers_of(peers, {"cache", "B64", "gather K+V"});
  ASSERT_EQ(gather.size(), 1U);
  EXPECT_DOUBLE_EQ(gather[0].us, 4000.0);
  EXPECT_TRUE(peers_of(peers, {"prefill", "B64"}).empty());
  EXPECT_EQ(
      measured_elsewhere(peers, "another GPU"),
      "the peers ran on a GPU, this is another GPU: the ratios compare two machines; run peer_bench.py on "
      "this one");
}

TEST(BenchAgainst, SaysInOneSentenceWhatIsNoPeerFile) {
  const auto refusal = [](const std::string& text) {
    return refusal_of([&] { peers_from_json(text, "p.json"); });
  };
  EXPECT_EQ(refusal("[1]"), "p.json is not a JSON object but array; check the file");
  EXPECT_EQ(
      refusal(R"({"cases": []})"),
      "p.json: it is no output of peer_bench.py, it has no list 'rows'; give the peer_bench.json that it "
      "wrote");
  EXPECT_EQ(refusal(to_json(report()).dump()),
            "p.json: it is a report of attnscope bench itself; give the peer_bench.json of peer_bench.py");
  EXPECT_EQ(refusal(R"({"rows": [{"ms": "fast"}]})"), "p.json (rows 0): 'ms' must be a positive number");
  EXPECT_EQ(refusal(R"({"rows": [{"ms": 1.0, "section": "decode"}]})"),
            "p.json (rows 0): 'case' is missing; the file is not complete");
}

/// The check must be able to fail: every path is right as it is, and wrong with one key too few.
TEST(BenchProblem, EveryPathIsRight) {
  const auto device = make_simt_device();
  AttentionCase decode{
      .name = "ragged",
      .decode = true,
      .k_lens = {37, 5, 64},
      .heads = 4,
      .kv_heads = 2,
      .dim = 64,
      .paths = {BenchPath::paged, BenchPath::dense, BenchPath::gather, BenchPath::gather_repeat}};
  AttentionCase prefill = decode;
  prefill.decode = false;
  prefill.q_lens = {20, 5, 1};
  prefill.paths = {BenchPath::packed, BenchPath::paged, BenchPath::gather_flatten};
  for (const AttentionCase& c : {decode, prefill}) {
    for (const BenchPath path : c.paths) {
      for (const int level : {1, 2, 3}) {
        AttentionProblem problem(*device, c, path);
        ASSERT_EQ(problem.prepare(level), "");
        const std::optional<double> error = problem.error();
        ASSERT_TRUE(error.has_value()) << path_name(path) << " level " << level;
        EXPECT_LT(*error, 1e-2) << path_name(path) << " level " << level;
        EXPECT_FALSE(problem.launches().empty());
      }
    }
  }
  AttentionProblem hopper(*device, prefill, BenchPath::packed);
  EXPECT_EQ(hopper.prepare(4), "needs a Hopper GPU and a build for it");
}

TEST(Machine, ComesFromAReportThatWasNamed) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "bench.json";
  write_file(file, to_json(report()).dump());
  const Machine machine = read_machine(file);
  ASSERT_NE(machine.view, nullptr);
  EXPECT_EQ(machine.note, "");
  EXPECT_EQ(machine.view->device, "a GPU");
  EXPECT_EQ(machine.view->ceilings, ceilings());
  ASSERT_EQ(machine.view->levels.size(), 2U) << "what was left out is no level";
  EXPECT_EQ(machine.view->levels[0].name, "prefill B4, paged 16");
  EXPECT_FALSE(machine.view->levels[0].decode);
  EXPECT_TRUE(machine.view->levels[1].decode);
  EXPECT_EQ(machine.view->levels[1].level, 3);
}

TEST(Machine, OfTheEmulatorHasNoCeilingsAndADamagedReportIsRefused) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "bench.json";
  BenchReport emulator = report();
  emulator.device = "SIMT emulator";
  emulator.ceilings = {};
  write_file(file, to_json(emulator).dump());
  EXPECT_EQ(read_machine(file).view, nullptr);
  EXPECT_EQ(read_machine(file).note,
            "measured on SIMT emulator, which has no ceilings; run ./attn bench where there is a GPU");
  write_file(file, "{");
  EXPECT_NE(refusal_of([&] { read_machine(file); }).find("is not valid JSON"), std::string::npos);
  EXPECT_NE(refusal_of([&] { read_machine(folder.path() / "none.json"); }).find("cannot read"),
            std::string::npos);
}

TEST(BenchProgram, WithoutAGpuSaysSoAndMeasuresTheEmulator) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "bench.json").string();
  const auto result = run_program({"bench", "--device", "simt", "--case", "store", "--json", file});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("The emulator shows what kernels do, not how fast they are"), std::string::npos);
  EXPECT_NE(result.out.find("exact"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("not kept for the viewer's roofline"), std::string::npos);
  const BenchReport written = report_from_json(read_file(file), file);
  ASSERT_EQ(written.rows.size(), 1U);
  EXPECT_GT(written.rows[0].us, 0.0);
  EXPECT_FALSE(written.ceilings.measured());
}

TEST(BenchProgram, CopiesEveryKvHeadForItsQueryHeads) {
  const auto result = run_program({"bench", "--device", "simt", "--case", "repeat 256"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("repeat_kv"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("exact"), std::string::npos) << result.out;
}

TEST(BenchProgram, SaysThatPeersRanOnAnotherMachine) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "peers.json").string();
  write_file(file, kPeers);
  const auto result = run_program({"bench", "--device", "simt", "--case", "store", "--against", file});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("the peers ran on a GPU, this is SIMT emulator"), std::string::npos)
      << result.err;
}

TEST(BenchProgram, RefusesAWrongNameAndAWrongPeerFile) {
  const auto unknown = run_program({"bench", "--device", "simt", "--case", "nothing like it"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_TRUE(testing::is_one_sentence(unknown.err)) << unknown.err;
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "peers.json").string();
  write_file(file, "{}");
  const auto peers = run_program({"bench", "--device", "simt", "--against", file});
  EXPECT_EQ(peers.exit_code, 2);
  EXPECT_TRUE(testing::is_one_sentence(peers.err)) << peers.err;
}

}  // namespace
}  // namespace attn::app
