// `bench`: how fast kernels and engine are on this machine, and how far from what it can do.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "app/bench/problem.h"
#include "app/bench/run.h"
#include "app/commands.h"
#include "app/output_file.h"
#include "core/engine/config.h"
#include "core/model/json_fields.h"
#include "kernels/common/check.h"
#include "kernels/measure.h"

namespace attn::app {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestPeerFile = 64U << 20U;

struct BenchCommand {
  BenchOptions options;
  std::string json;
  std::string against;
  std::string device = "auto";
};

void print_line(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void require_wanted(const BenchOptions& options, bool gpu) {
  const std::vector<std::string> names = case_names(gpu, options.quick);
  for (const std::string& name : names) {
    if (options.wants(name)) return;
  }
  throw InputError(fmt::format("no case has '{}' in its name (--case); the cases are: {}", options.case_part,
                               fmt::join(names, "; ")));
}

void run_cases(Device& device, const BenchOptions& options, BenchReport& report) {
  const bool with_peers = options.peers.has_value();
  bool head = false;
  const RowSink row_sink = [&](BenchRow row) {
    if (!std::exchange(head, true)) print_line("\n" + table_head(with_peers));
    print_line(table_line(row, report.ceilings, with_peers));
    report.rows.push_back(std::move(row));
  };
  bench_attention(device, options, row_sink);
  bench_cache(device, options, row_sink);
  head = false;
  bench_engine(device, options, [&](EngineRow row) {
    if (!std::exchange(head, true)) print_line("\n" + engine_head());
    print_line(engine_line(row, report.ceilings));
    report.engine.push_back(std::move(row));
  });
}

/// The viewer's roofline shows the last whole run of a GPU.
void keep(const BenchCommand& command, const BenchReport& report, const std::string& text) {
  if (!report.ceilings.measured())
    return print_line("\nnot kept for the viewer's roofline: its ceilings are a GPU's");
  if (!command.options.case_part.empty() || command.options.level != 0)
    return print_line("\nnot kept for the viewer's roofline: with --case or --level it is a part only");
  const fs::path path = kept_report_path();
  if (path.empty())
    return print_line("\nnot kept for the viewer's roofline: neither HOME nor XDG_CONFIG_HOME is set");
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  write_text_file(path, text);
  print_line(fmt::format("\nkept for the viewer's roofline: {}", path.string()));
}

int run_bench(BenchCommand& command) {
  BenchOptions& options = command.options;
  if (!command.json.empty()) require_writable(command.json);
  if (!command.against.empty())
    options.peers = peers_from_json(read_text_file(command.against, kLargestPeerFile), command.against);
  const DevicePick pick = make_device(device_choice(command.device));
  Device& device = *pick.device;
  const bool gpu = device.kind() == DeviceKind::cuda;
  if (!pick.note.empty()) fmt::print(stderr, "attnscope: {}\n", pick.note);
  if (!gpu)
    fmt::print(
        "The emulator shows what kernels do, not how fast they are: small cases, by the wall clock.\n");
  require_wanted(options, gpu);

  BenchReport report;
  report.device = device.name();
  report.quick = options.quick;
  if (options.peers) report.peers_device = options.peers->device;
  if (options.peers && options.peers->device != report.device)
    fmt::print(stderr, "attnscope: {}\n", measured_elsewhere(*options.peers, report.device));
  report.ceilings = measure_ceilings(device);
  print_line(ceilings_line(report));
  run_cases(device, options, report);

  const std::string text = to_json(report).dump(1) + "\n";
  if (!command.json.empty()) {
    write_text_file(command.json, text);
    print_line(fmt::format("report: {}", command.json));
  }
  keep(command, report, text);
  return 0;
}

}  // namespace

void add_bench_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("bench", "measure kernels and engine beside what this machine can do");
  command->footer(fmt::format(
      "GPU times are medians of CUDA graph replays between events, inputs rotated beyond the L2; ceilings "
      "are\n"
      "measured in the same run, and a rate is a fraction of the one that binds (decode: read, prefill:\n"
      "matmul, cache: copy). Errors are the largest of {} sampled rows against float64, of copies {} rows\n"
      "value by value.\n"
      "What is left out says why. Without a GPU, --device auto says so and measures small cases on the\n"
      "emulator; --device cuda ends with exit code 2.",
      kCheckedRows, kCheckedCopyRows));
  auto state = std::make_shared<BenchCommand>();
  command->add_option("--case", state->options.case_part,
                      "only cases with this in their name: decode, D64, engine");
  command->add_option("--level", state->options.level, "only this level of the attention kernels")
      ->check(CLI::Range(1, kPrefillLevels));
  command->add_flag("--quick", state->options.quick,
                    "one path a case, nothing that takes over 0.1 s a call, fewer engine steps");
  command->add_option("--json", state->json, "the report, into this file too");
  command->add_option(
      "--against", state->against,
      "peer_bench.json of peer_bench.py, run on this machine: how many times as fast as the best peer");
  add_device_option(*command, state->device);
  command->callback([state, &action] { action = [state] { return run_bench(*state); }; });
}

}  // namespace attn::app
