#include "viz/graph_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace attn::viz {
namespace {

using trace::GraphRecord;

/// Values of the real rows, a bar, those of the padding rows.
std::string rows_text(const std::vector<std::int32_t>& values, int real) {
  const std::span<const std::int32_t> all(values);
  const auto cut = static_cast<std::size_t>(std::clamp(real, 0, static_cast<int>(all.size())));
  if (cut == all.size()) return fmt::format("{}", fmt::join(all, " "));
  return fmt::format("{} | {}", fmt::join(all.first(cut), " "), fmt::join(all.subspan(cut), " "));
}

GraphLine input(const char* name, const std::vector<std::int32_t>& values, int real, const char* padding) {
  return {fmt::format("graph {}", name), fmt::format("[{}]", values.size()), rows_text(values, real),
          fmt::format("static input of the graph, behind the bar the padding rows: {}", padding)};
}

std::string rows_and_padding(const GraphRecord& graph) {
  const int padding = graph.bucket - graph.fresh_rows;
  return padding == 0 ? "all real" : fmt::format("{} real, {} padding", graph.fresh_rows, padding);
}

GraphLine tables_line(const GraphRecord& graph) {
  const std::size_t columns = graph.block_tables.empty() ? 0 : graph.block_tables.front().size();
  const bool stale = static_cast<std::size_t>(graph.fresh_columns) < columns;
  return {
      "graph block_tables", fmt::format("[{}, {}]", graph.bucket, columns),
      stale ? fmt::format("from column {} on stale", graph.fresh_columns) : "every column is of this step",
      "the step writes the columns that its own block_tables have; behind them, and in padding rows, stands "
      "what earlier steps left. context_lens keeps it from being read"};
}

}  // namespace

std::vector<GraphLine> graph_lines(const trace::StepRecord& step) {
  if (!step.graph) return {};
  const GraphRecord& graph = *step.graph;
  const std::string captured =
      fmt::format("graphs were captured for {} rows", fmt::join(graph.buckets, ", "));
  if (graph.bucket == 0) return {{"CUDA graph", "none", graph.eager_reason, captured}};
  const int real = graph.fresh_rows;
  return {{"CUDA graph", fmt::format("{} rows", graph.bucket), rows_and_padding(graph), captured},
          input("input_ids", graph.input_ids, real, "what an earlier step left"),
          input("positions", graph.positions, real, "what an earlier step left"),
          input("slot_mapping", graph.slot_mapping, real, "-1, nothing is stored"),
          input("context_lens", graph.context_lens, real, "0, no key is attended"),
          tables_line(graph)};
}

std::string graph_text(const trace::StepRecord& step) {
  if (!step.graph) return {};
  if (step.graph->bucket == 0) return "eager, no CUDA graph";
  return fmt::format("CUDA graph of {} rows", step.graph->bucket);
}

}  // namespace attn::viz
