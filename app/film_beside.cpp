#include "app/film_beside.h"

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "app/child_process.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace {

namespace fs = std::filesystem;

std::string device_word(DeviceChoice choice) {
  switch (choice) {
    case DeviceChoice::cuda:
      return "cuda";
    case DeviceChoice::simt:
      return "simt";
    default:
      return "auto";
  }
}

struct Report {
  std::string what;
  int done = 0;
  int total = 0;
};

/// "filming 12 of 300"; nothing for any other line.
std::optional<Report> report_in(const std::string& line) {
  Report report;
  int used = 0;
  const std::size_t space = line.find(' ');
  if (space == std::string::npos) return std::nullopt;
  report.what = line.substr(0, space);
  const std::string rest = line.substr(space);
  if (std::sscanf(rest.c_str(), " %d of %d%n", &report.done, &report.total, &used) != 2 ||
      used != static_cast<int>(rest.size()))
    return std::nullopt;
  return report;
}

/// The program's own words without its name before them.
std::string without_name(const std::string& sentence) {
  constexpr std::string_view kName = "attnscope: ";
  return sentence.starts_with(kName) ? sentence.substr(kName.size()) : sentence;
}

}  // namespace

FilmOutcome film_beside(const FilmOrder& order, const std::function<void(std::string what)>& what,
                        Job::Control& control) {
  const fs::path program = order.program.empty() ? fs::path("/proc/self/exe") : order.program;
  ChildProcess film({program.string(), "film", order.scenario.string(), "-o", order.output.string(), "--size",
                     order.size, "--device", device_word(order.device), "--progress-lines"},
                    ChildProcess::Pipe::output);
  {
    const std::stop_callback stop(control.stop_token(), [&film] { film.stop(); });
    for (std::string line; film.read_line(line);) {
      const auto report = report_in(line);
      if (!report) continue;
      what(report->what);
      // How many steps a run will have is not known: only the film itself is counted.
      if (report->what == "filming") control.progress(report->done, report->total);
    }
  }
  const int code = film.wait();
  if (control.stopped()) {
    return {.text = fmt::format("the film was cancelled; recorded again as {}, it goes on where it stopped",
                                order.output.string())};
  }
  if (code == 0) {
    return {true, fmt::format("film: {}; its scenario: {}", order.output.string(), order.scenario.string())};
  }
  const std::string words = film.last_words();
  return {.text = words.empty() ? fmt::format("the film failed with code {}; try `attnscope film {}`", code,
                                              order.scenario.string())
                                : without_name(words)};
}

}  // namespace attn::app
