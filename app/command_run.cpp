// `run SCENARIO`: every step without a window, into a trace and JSON lines. `record` is its short form for a
// trace alone.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/commands.h"
#include "app/engine_host.h"
#include "app/output_file.h"
#include "app/progress.h"
#include "core/trace/jsonl.h"
#include "core/trace/trace_file.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace {

struct RunOptions {
  std::string scenario;
  std::string trace;
  std::string jsonl;
  std::string device = "auto";
  std::vector<std::string> overrides;
};

/// Where JSON lines go: nowhere (""), standard output ("-") or a file.
class JsonLines {
 public:
  explicit JsonLines(const std::string& target) : to_stdout_(target == "-") {
    if (!target.empty() && !to_stdout_) file_.emplace(target);
  }
  void write(const trace::StepRecord& record) {
    if (!file_ && !to_stdout_) return;
    const std::string line = trace::to_json_line(record) + "\n";
    if (file_) return file_->write(line);
    if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() || std::fflush(stdout) != 0) {
      throw InputError("standard output cannot be written (--jsonl -); is whoever reads it still there?");
    }
  }
  void finish() {
    if (file_) file_->commit();
  }

 private:
  bool to_stdout_;
  std::optional<OutputFile> file_;
};

/// What became of each request, by id.
struct Outcome {
  std::vector<std::int32_t> token_ids;  // generated
  std::string rejection;                // "" = not rejected
};

std::vector<Outcome> outcomes_of(const trace::Store& store) {
  std::vector<Outcome> outcomes(store.manifest().request_labels.size());
  for (int i = 0; i < store.num_steps(); ++i) {
    const auto record = store.step(i);
    for (const trace::Sampled& sample : record->sampled) {
      if (!sample.discarded)
        outcomes.at(static_cast<std::size_t>(sample.seq_id)).token_ids.push_back(sample.token_id);
    }
    for (const trace::Rejected& rejected : record->rejected) {
      outcomes.at(static_cast<std::size_t>(rejected.id)).rejection = rejected.reason;
    }
  }
  return outcomes;
}

/// What a person wants to know afterwards. Throws InputError when not one request could be served.
void report(const EngineHost& host, std::FILE* out) {
  const trace::Store& store = *host.recording();
  const std::vector<Outcome> outcomes = outcomes_of(store);
  for (std::size_t id = 0; id < outcomes.size(); ++id) {
    const std::string& label = store.manifest().request_labels[id];
    if (outcomes[id].rejection.empty()) {
      fmt::print(out, "[{}] {}: {}\n", id, label, host.decode(outcomes[id].token_ids));
    } else {
      fmt::print(stderr, "attnscope: request {} is rejected: {}\n", label, outcomes[id].rejection);
    }
  }
  if (std::ranges::all_of(outcomes, [](const Outcome& outcome) { return !outcome.rejection.empty(); })) {
    throw InputError("every request was rejected; change them as said above");
  }
}

int run_scenario(const RunOptions& options) {
  const Scenario scenario = load_scenario(options.scenario, options.overrides);
  if (!scenario.recorded.empty()) {
    throw InputError(fmt::format(
        "the scenario holds what is recorded already, not a model ({}); use `attnscope view` or `film`",
        options.scenario));
  }
  if (!options.trace.empty()) require_writable(options.trace);
  JsonLines lines(options.jsonl);
  EngineHost host(scenario, device_choice(options.device));
  if (!host.note().empty()) fmt::print(stderr, "attnscope: {}\n", host.note());
  if (!options.trace.empty()) host.record_to(options.trace);

  Progress progress("running", scenario.max_steps);
  int steps = 0;
  while (host.has_work() && steps < scenario.max_steps) {
    lines.write(*host.step());
    progress.update(++steps);
  }
  progress.finish();
  lines.finish();
  std::FILE* out = options.jsonl == "-" ? stderr : stdout;
  report(host, out);
  fmt::print(out, "{} steps on {}{}\n", steps, host.device().name(),
             host.has_work() ? fmt::format(", stopped by max_steps = {}", scenario.max_steps) : "");
  if (!options.trace.empty()) fmt::print(out, "trace: {}\n", options.trace);
  return 0;
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("run", "run a scenario to its end without a window");
  auto options = std::make_shared<RunOptions>();
  command->add_option("scenario", options->scenario, "scenario file (JSON)")->required();
  command->add_option("--trace", options->trace, "record every step into this .attn file");
  command->add_option("--jsonl", options->jsonl,
                      "one JSON object per step into this file, or - for standard output");
  add_set_option(*command, options->overrides);
  add_device_option(*command, options->device);
  command->callback([options, &action] { action = [options] { return run_scenario(*options); }; });
}

void add_record_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("record", "run a scenario to its end and keep every step in a trace");
  auto options = std::make_shared<RunOptions>();
  command->add_option("scenario", options->scenario, "scenario file (JSON)")->required();
  command->add_option("-o,--output", options->trace, "trace (.attn)")->required();
  add_set_option(*command, options->overrides);
  add_device_option(*command, options->device);
  command->callback([options, &action] { action = [options] { return run_scenario(*options); }; });
}

}  // namespace attn::app
