#include "app/machine.h"

#include <fmt/format.h>

#include <system_error>

#include "app/bench/report.h"
#include "core/model/json_fields.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestReport = 16U << 20U;

Machine machine_of(const BenchReport& report, const fs::path& file) {
  if (!report.ceilings.measured())
    return {nullptr,
            fmt::format("measured on {}, which has no ceilings; run ./attn bench where there is a GPU",
                        report.device)};
  viz::MachineView view{
      .device = report.device, .file = file.string(), .ceilings = report.ceilings, .levels = {}};
  for (const BenchRow& row : report.rows) {
    if (!row.skipped.empty() || row.level == 0) continue;
    view.levels.push_back({.name = fmt::format("{}, {}", row.name, row.path),
                           .decode = row.op == "decode",
                           .level = row.level,
                           .us = row.us,
                           .flop = row.flop,
                           .bytes = row.moved,
                           .exps = row.exps,
                           .launches = row.launches});
  }
  return {std::make_shared<const viz::MachineView>(std::move(view)), ""};
}

}  // namespace

Machine read_machine(const fs::path& given) {
  const fs::path file = given.empty() ? kept_report_path() : given;
  std::error_code error;
  if (given.empty() && (file.empty() || !fs::exists(file, error))) return {};
  try {
    return machine_of(report_from_json(read_text_file(file, kLargestReport), file.string()), file);
  } catch (const InputError& problem) {
    if (!given.empty()) throw;
    return {nullptr, problem.what()};
  }
}

}  // namespace attn::app
