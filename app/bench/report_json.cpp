// A benchmark's report as JSON, and back for the viewer.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/bench/report.h"
#include "core/model/json_fields.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;
constexpr std::array kCeilingNames = {"read", "copy", "matmul"};

/// Calls visit(key, field) for every number of a row.
template <class Row, class Visit>
void row_numbers(Row& row, Visit&& visit) {
  visit("us", row.us);
  visit("flop", row.flop);
  visit("bytes", row.bytes);
  visit("moved_bytes", row.moved);
  visit("exps", row.exps);
}

template <class C, class Visit>
void ceiling_numbers(C& ceilings, Visit&& visit) {
  visit("read_gbs", ceilings.read_gbs);
  visit("copy_gbs", ceilings.copy_gbs);
  visit("matmul_tflops", ceilings.matmul_tflops);
  visit("fp32_tflops", ceilings.fp32_tflops);
  visit("exp_tps", ceilings.exp_tps);
  visit("launch_us", ceilings.launch_us);
}

template <class Row, class Visit>
void engine_numbers(Row& row, Visit&& visit) {
  visit("step_us", row.step_us);
  visit("weight_bytes", row.weight_bytes);
  visit("kv_bytes", row.kv_bytes);
}

Json json_of(const BenchRow& row, const Ceilings& ceilings) {
  Json json{{"case", row.name},
            {"op", row.op},
            {"path", row.path},
            {"level", row.level},
            {"kernel", row.kernel},
            {"launches", row.launches},
            {"ceiling", kCeilingNames[static_cast<std::size_t>(row.ceiling)]}};
  row_numbers(row, [&](const char* key, double value) { json[key] = value; });
  if (!row.skipped.empty()) {
    json["skipped"] = row.skipped;
    return json;
  }
  json["rate"] = row.rate();
  json["unit"] = row.counts_flop() ? "TFLOP/s" : "GB/s";
  json["fraction"] = fraction_of(row, ceilings);
  json["error"] = row.error ? Json(*row.error) : Json();
  Json peers = Json::array();
  for (const PeerTime& peer : row.peers)
    peers.push_back({{"name", peer.name}, {"us", peer.us}, {"ratio", peer.us / row.us}});
  if (!peers.empty()) json["peers"] = std::move(peers);
  return json;
}

Json json_of(const EngineRow& row, const Ceilings& ceilings) {
  Json json{{"model", row.model}, {"batch", row.batch}, {"context", row.context}, {"graphs", row.graphs}};
  engine_numbers(row, [&](const char* key, double value) { json[key] = value; });
  if (!row.skipped.empty()) {
    json["skipped"] = row.skipped;
    return json;
  }
  json["tokens_per_s"] = row.tokens_per_s();
  json["fraction_of_floor"] = row.fraction_of_floor(ceilings);
  return json;
}

/// A number that is finite and not negative.
double number(const JsonFields& fields, const char* key) {
  const Json& value = fields.at(key);
  const double number = value.is_number() ? value.get<double>() : -1.0;
  if (!(number >= 0.0) || std::isinf(number)) fields.fail(fmt::format("{} must be a number from 0", key));
  return number;
}

const Json& list(const JsonFields& fields, const char* key) {
  const Json& value = fields.at(key);
  if (!value.is_array()) fields.fail(fmt::format("{} must be a list", key));
  return value;
}

BenchRow row_from(const Json& json, const std::string& where) {
  const JsonFields fields(json, where);
  BenchRow row;
  row.name = fields.text("case");
  row.op = fields.text("op");
  row.path = fields.text("path");
  row.kernel = fields.text("kernel");
  row.level = static_cast<int>(fields.integer("level", 0, 9));
  row.launches = static_cast<int>(fields.integer("launches", 0, 1000));
  row.skipped = fields.text_or("skipped", "");
  const std::string ceiling = fields.text("ceiling");
  const auto known = std::find(kCeilingNames.begin(), kCeilingNames.end(), ceiling);
  if (known == kCeilingNames.end()) fields.fail("ceiling must be read, copy or matmul");
  row.ceiling = static_cast<CeilingKind>(known - kCeilingNames.begin());
  row_numbers(row, [&](const char* key, double& value) { value = number(fields, key); });
  if (fields.find("error") != nullptr) row.error = number(fields, "error");
  return row;
}

EngineRow engine_from(const Json& json, const std::string& where) {
  const JsonFields fields(json, where);
  EngineRow row;
  row.model = fields.text("model");
  row.batch = static_cast<int>(fields.integer("batch", 1, 1'000'000));
  row.context = static_cast<int>(fields.integer("context", 1, 100'000'000));
  row.graphs = fields.boolean_or("graphs", false);
  row.skipped = fields.text_or("skipped", "");
  engine_numbers(row, [&](const char* key, double& value) { value = number(fields, key); });
  return row;
}

}  // namespace

Json to_json(const BenchReport& report) {
  Json ceilings = Json::object();
  ceiling_numbers(report.ceilings, [&](const char* key, double value) { ceilings[key] = value; });
  Json rows = Json::array(), engine = Json::array();
  for (const BenchRow& row : report.rows) rows.push_back(json_of(row, report.ceilings));
  for (const EngineRow& row : report.engine) engine.push_back(json_of(row, report.ceilings));
  Json json{{"attnscope_bench", kVersion}, {"device", report.device}, {"quick", report.quick},
            {"ceilings", ceilings},        {"rows", std::move(rows)}, {"engine", std::move(engine)}};
  if (!report.peers_device.empty()) json["peers_device"] = report.peers_device;
  return json;
}

BenchReport report_from_json(const std::string& text, const std::string& source) {
  const Json json = parse_json_object(text, source);
  const JsonFields fields(json, source);
  if (!fields.has("attnscope_bench")) fields.fail("it is no report of attnscope bench; run ./attn bench");
  if (fields.integer("attnscope_bench", 0, 1'000'000) != kVersion)
    fields.fail("it is a report of another version of attnscope; run ./attn bench again");
  BenchReport report;
  report.device = fields.text("device");
  report.quick = fields.boolean_or("quick", false);
  report.peers_device = fields.text_or("peers_device", "");
  const JsonFields ceilings = fields.object("ceilings");
  ceiling_numbers(report.ceilings, [&](const char* key, double& value) { value = number(ceilings, key); });
  for (const Json& row : list(fields, "rows"))
    report.rows.push_back(row_from(row, fmt::format("{} (rows {})", source, report.rows.size())));
  for (const Json& row : list(fields, "engine"))
    report.engine.push_back(engine_from(row, fmt::format("{} (engine {})", source, report.engine.size())));
  return report;
}

}  // namespace attn::app
