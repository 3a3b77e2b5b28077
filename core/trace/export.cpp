#include "core/trace/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ostream>
#include <string>

#include "core/model/replace_file.h"
#include "core/model/safetensors.h"
#include "core/trace/input_check.h"
#include "core/trace/names.h"
#include "core/trace/record_check.h"
#include "core/trace/tensor_values.h"

namespace attn::trace {
namespace {

/// What is written: values with their place in the batch.
struct Selected {
  std::string name;
  const StepRecord* step = nullptr;
  TensorRecord tensor;
  int first_row = 0;
};

Selected select_tensor(const StepRecord& step, const LayerRecord& layer, std::string_view name,
                       const AttentionView* view) {
  Selected selected{std::string(name), &step, {}, 0};
  if (name == "weights" || name == "scores") {
    ATTN_INPUT(view != nullptr && view->step == step.step && view->layer == layer.layer,
               "the {} of step {}, layer {} are not there yet; wait until they are shown", name, step.step,
               layer.layer);
    ATTN_INPUT(!view->weights.empty(), "step {} has no {}: {}", step.step, name, view->kernel);
    selected.first_row = view->first_row;
    selected.tensor = float_tensor({view->num_heads, view->num_q, view->max_k},
                                   name == "weights" ? view->weights : view->scores);
    return selected;
  }
  const TensorRecord* tensor = name == "q"     ? &layer.q
                               : name == "k"   ? &layer.k
                               : name == "v"   ? &layer.v
                               : name == "o"   ? &layer.o
                               : name == "lse" ? &layer.lse
                                               : nullptr;
  ATTN_INPUT(tensor != nullptr, "there is no tensor '{}'; choose q, k, v, o, lse, weights or scores", name);
  ATTN_INPUT(!tensor->shape.empty(), "layer {} of step {} did not record {}", layer.layer, step.step, name);
  selected.tensor = *tensor;
  return selected;
}

/// "row,seq,position"; empty where a row belongs to no query (a tensor case may bring more K rows).
std::string row_text(const StepRecord& step, std::int64_t row) {
  const auto next = std::upper_bound(step.cu_seqlens_q.begin(), step.cu_seqlens_q.end(), row);
  const auto b = static_cast<std::size_t>(next - step.cu_seqlens_q.begin()) - 1;
  if (next == step.cu_seqlens_q.end() || b >= step.seqs.size()) return fmt::format("{},,", row);
  return fmt::format("{},{},{}", row, step.seqs[b].id, step.positions[static_cast<std::size_t>(row)]);
}

/// Leaves replace_file without a file.
struct NotWanted {};

void check_wanted(const GoOn& go_on, std::int64_t row, std::int64_t rows) {
  if (go_on && !go_on(static_cast<int>(row), static_cast<int>(rows))) throw NotWanted{};
}

void write_rows(std::ostream& out, const Selected& selected, const std::vector<float>& values,
                const GoOn& go_on) {
  const std::int64_t rows = selected.tensor.shape[0], heads = selected.tensor.shape[1];
  const std::int64_t width = selected.tensor.shape[2];
  std::string line = "row,seq,position,head";
  for (std::int64_t d = 0; d < width; ++d) fmt::format_to(std::back_inserter(line), ",d{}", d);
  out << line << '\n';
  for (std::int64_t row = 0; row < rows; ++row) {
    check_wanted(go_on, row, rows);
    for (std::int64_t head = 0; head < heads; ++head) {
      line = fmt::format("{},{}", row_text(*selected.step, row), head);
      for (std::int64_t d = 0; d < width; ++d) {
        fmt::format_to(std::back_inserter(line), ",{}",
                       values[static_cast<std::size_t>((row * heads + head) * width + d)]);
      }
      out << line << '\n';
    }
  }
}

/// [H, rows] or [H, rows, keys]; `last` names the value.
void write_per_head(std::ostream& out, const Selected& selected, const std::vector<float>& values,
                    std::string_view last, const GoOn& go_on) {
  const bool keyed = selected.tensor.shape.size() == 3;
  const std::int64_t heads = selected.tensor.shape[0], rows = selected.tensor.shape[1];
  const std::int64_t keys = keyed ? selected.tensor.shape[2] : 1;
  out << "row,seq,position,head," << (keyed ? "key," : "") << last << '\n';
  for (std::int64_t row = 0; row < rows; ++row) {
    check_wanted(go_on, row, rows);
    const std::string place = row_text(*selected.step, selected.first_row + row);
    for (std::int64_t head = 0; head < heads; ++head) {
      for (std::int64_t key = 0; key < keys; ++key) {
        const float value = values[static_cast<std::size_t>((head * rows + row) * keys + key)];
        if (keyed && std::isnan(value)) continue;  // not looked at
        out << place << ',' << head;
        if (keyed) out << ',' << key;
        out << fmt::format(",{}\n", value);
      }
    }
  }
}

void write_csv(const std::filesystem::path& path, const Selected& selected, const GoOn& go_on) {
  const std::vector<float> values = to_floats(selected.tensor);
  replace_file(path, [&](std::ostream& out) {
    const bool per_head = selected.name == "lse" || selected.name == "weights" || selected.name == "scores";
    if (!per_head) return write_rows(out, selected, values, go_on);
    const std::string_view last = selected.name == "weights"  ? "weight"
                                  : selected.name == "scores" ? "score"
                                                              : "lse";
    write_per_head(out, selected, values, last, go_on);
  });
}

/// The kernel that made `o` in the recorded run, for what is not read from a view.
std::string recorded_kernel(const StepRecord& step, int layer) {
  for (const LaunchEntry& entry : step.launches) {
    if (entry.stage == Stage::attention && entry.layer == layer) return entry.launch.kernel;
  }
  return "not recorded";
}

}  // namespace

bool export_tensor(const std::filesystem::path& path, const Store& store, int index, int layer,
                   std::string_view tensor, const AttentionView* view, const GoOn& go_on) {
  const std::string ending = path.extension().string();
  ATTN_INPUT(ending == ".safetensors" || ending == ".csv",
             "'{}' ends in neither .safetensors nor .csv; choose one of them", path.string());
  const auto step = store.step(index);
  const auto record = std::find_if(step->layers.begin(), step->layers.end(),
                                   [&](const LayerRecord& found) { return found.layer == layer; });
  ATTN_INPUT(record != step->layers.end(), "layer {} of step {} is not recorded; choose one that is", layer,
             step->step);
  const Selected selected = select_tensor(*step, *record, tensor, view);
  if (ending == ".csv") {
    try {
      write_csv(path, selected, go_on);
      return true;
    } catch (const NotWanted&) {
      return false;
    }
  }
  const bool inspected = tensor == "weights" || tensor == "scores";
  const Manifest& manifest = store.manifest();
  write_safetensors(
      path,
      {{selected.name, {tensor_dtype(selected.tensor.dtype), selected.tensor.shape, selected.tensor.data}}},
      {{"step", fmt::format("{}", step->step)},
       {"layer", fmt::format("{}", layer)},
       {"path", std::string(name_of(step->path))},
       {"kernel", inspected ? view->kernel : recorded_kernel(*step, layer)},
       {"device", inspected ? view->device : manifest.device},
       {"scenario", manifest.scenario_name},
       {"model", manifest.model.name},
       {"first_row", fmt::format("{}", selected.first_row)}});
  return true;
}

}  // namespace attn::trace
