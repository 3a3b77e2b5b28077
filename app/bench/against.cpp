#include "app/bench/against.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/model/json_fields.h"

namespace attn::app {
namespace {

using Json = nlohmann::json;

/// From which on peer_bench.py itself calls an answer wrong.
constexpr double kWrong = 1.5e-2;

/// Whether the row has a time and no sign that its answer is wrong.
bool usable(const JsonFields& row) {
  const Json* ms = row.find("ms");
  if (ms == nullptr) return false;  // it says why in "error"
  if (!ms->is_number() || !(ms->get<double>() > 0.0) || !std::isfinite(ms->get<double>()))
    row.fail("'ms' must be a positive number");
  const Json* error = row.find("err");
  return error == nullptr || (error->is_number() && error->get<double>() < kWrong);
}

}  // namespace

PeerBench peers_from_json(const std::string& text, const std::string& source) {
  const Json json = parse_json_object(text, source);
  const JsonFields fields(json, source);
  const Json* rows = fields.find("rows");
  const bool ours = fields.has("attnscope_bench");
  if (rows == nullptr || !rows->is_array() || ours)
    fields.fail(ours ? "it is a report of attnscope bench itself; give the peer_bench.json of peer_bench.py"
                     : "it is no output of peer_bench.py, it has no list 'rows'; give the peer_bench.json "
                       "that it wrote");
  PeerBench bench;
  if (fields.has("env")) bench.device = fields.object("env").text_or("gpu", "");
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const JsonFields row((*rows)[i], fmt::format("{} (rows {})", source, i));
    if (!usable(row)) continue;
    bench.rows.push_back(
        {row.text("section"), row.text("case"), row.text("impl"), row.at("ms").get<double>()});
  }
  return bench;
}

std::string measured_elsewhere(const PeerBench& bench, const std::string& device) {
  return fmt::format(
      "the peers ran on {}, this is {}: the ratios compare two machines; run peer_bench.py on this one",
      bench.device.empty() ? "a GPU that their file does not name" : bench.device, device);
}

std::vector<PeerTime> peers_of(const PeerBench& bench, const PeerKey& key) {
  std::vector<PeerTime> times;
  for (const PeerRow& row : bench.rows) {
    if (row.section == key.section && row.name == key.name &&
        row.implementation.starts_with(key.implementation))
      times.push_back({row.implementation, row.ms * 1e3});
  }
  std::ranges::stable_sort(times, {}, &PeerTime::us);
  return times;
}

}  // namespace attn::app
