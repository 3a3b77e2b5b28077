// `run SCENARIO`: every step without a window, into a trace and JSON lines.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/commands.h"
#include "app/engine_host.h"
#include "app/image_write.h"
#include "app/progress.h"
#include "core/trace/jsonl.h"
#include "core/trace/names.h"
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

/// Where JSON lines go: nowhere, standard output ("-") or a file.
class JsonLines {
 public:
  explicit JsonLines(const std::string& target) : wanted_(!target.empty()) {
    if (!wanted_ || target == "-") return;
    require_writable(target);
    file_.open(target);
    if (!file_) throw InputError(fmt::format("cannot write the JSON lines ({}); check the path", target));
  }
  void write(const trace::StepRecord& record) {
    if (!wanted_) return;
    const std::string line = trace::to_json_line(record) + "\n";
    if (file_.is_open()) {
      file_ << line << std::flush;
      if (!file_) throw InputError("the JSON lines could not be written; is the disk full?");
    } else {
      std::fwrite(line.data(), 1, line.size(), stdout);
    }
  }

 private:
  bool wanted_;
  std::ofstream file_;
};

/// What a person wants to know afterwards: each request's text.
void print_texts(const trace::Store& store, std::FILE* out) {
  std::vector<std::string> texts(store.manifest().request_labels.size());
  std::vector<std::string> rejected(texts.size());
  for (int i = 0; i < store.num_steps(); ++i) {
    const auto record = store.step(i);
    for (const trace::Sampled& sample : record->sampled) {
      if (!sample.discarded) texts.at(static_cast<std::size_t>(sample.seq_id)) += sample.text;
    }
    for (const trace::Rejected& r : record->rejected) rejected.at(static_cast<std::size_t>(r.id)) = r.reason;
  }
  for (std::size_t id = 0; id < texts.size(); ++id) {
    const std::string& label = store.manifest().request_labels[id];
    if (!rejected[id].empty()) {
      fmt::print(out, "[{}] {}: rejected: {}\n", id, label, rejected[id]);
    } else {
      fmt::print(out, "[{}] {}: {}\n", id, label, texts[id]);
    }
  }
}

int run_scenario(const RunOptions& options) {
  const Scenario scenario = load_scenario(options.scenario, options.overrides);
  if (!scenario.tensors.empty()) {
    throw InputError(fmt::format(
        "the scenario holds tensors, not a model ({}); use `attnscope view` or `attend`", options.scenario));
  }
  if (!options.trace.empty()) require_writable(options.trace);
  JsonLines lines(options.jsonl);
  EngineHost host(scenario, device_choice(options.device));
  if (!host.note().empty()) fmt::print(stderr, "attnscope: {}\n", host.note());
  std::optional<trace::Writer> writer;
  if (!options.trace.empty()) writer.emplace(options.trace, host.recording()->manifest());

  Progress progress("running", scenario.max_steps);
  int steps = 0;
  while (host.has_work() && steps < scenario.max_steps) {
    const std::shared_ptr<const trace::StepRecord> record = host.step();
    ++steps;
    if (writer) writer->append(*record);
    lines.write(*record);
    progress.update(steps);
  }
  progress.finish();
  std::FILE* out = options.jsonl == "-" ? stderr : stdout;
  print_texts(*host.recording(), out);
  fmt::print(out, "{} steps on {}{}\n", steps, host.device().name(),
             host.has_work() ? fmt::format(", stopped by max_steps = {}", scenario.max_steps) : "");
  if (!options.trace.empty()) fmt::print(out, "trace: {}\n", options.trace);
  return 0;
}

}  // namespace

void add_device_option(CLI::App& command, std::string& name) {
  command.add_option("--device", name, "where kernels run: auto, cuda or simt (the emulator)")
      ->check(CLI::IsMember({"auto", "cuda", "simt"}))
      ->capture_default_str();
}

DeviceChoice device_choice(const std::string& name) {
  if (name == "cuda") return DeviceChoice::cuda;
  return name == "simt" ? DeviceChoice::simt : DeviceChoice::automatic;
}

void add_run_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("run", "run a scenario to its end without a window");
  auto options = std::make_shared<RunOptions>();
  command->add_option("scenario", options->scenario, "scenario file (JSON)")->required();
  command->add_option("--trace", options->trace, "record every step into this .attn file");
  command->add_option("--jsonl", options->jsonl,
                      "one JSON object per step into this file, or - for standard output");
  command->add_option("--set", options->overrides, "change a value of the scenario: engine.block_size=4");
  add_device_option(*command, options->device);
  command->callback([options, &action] { action = [options] { return run_scenario(*options); }; });
}

}  // namespace attn::app
