#include "viz/panels/code_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/trace/names.h"
#include "viz/lookup.h"
#include "viz/panels/tiles_state.h"

namespace attn::viz {
namespace {

using trace::Stage;

constexpr std::string_view kAttentionPaths = "core/engine/attention_paths.cpp";
constexpr std::string_view kTransformer = "core/model/transformer.cpp";
constexpr std::string_view kScheduler = "core/engine/scheduler.cpp";
constexpr std::array<std::string_view, 5> kTilePhases = {"load_k", "scores", "load_v", "rescale",
                                                         "accumulate"};

struct Host {
  std::string_view path;
  std::string_view marker;
};

Host host_of(const Frame& frame, Stage stage) {
  const trace::StepRecord& step = *frame.step;
  switch (stage) {
    case Stage::schedule:
      return {kScheduler, "schedule"};
    case Stage::prepare:
      return {"core/engine/prepare.cpp", is_prefill(step) ? "prepare_prefill" : "prepare_decode"};
    case Stage::qkv_rope:
      return {kTransformer, "qkv_rope"};
    case Stage::store_kvcache:
      return {kAttentionPaths, "store_kvcache"};
    case Stage::gather:
      return {kAttentionPaths, "gather"};
    case Stage::flatten:
      return {kAttentionPaths, "flatten"};
    case Stage::repeat:
      return {kAttentionPaths, "repeat"};
    case Stage::attention:
      if (step.path == trace::AttentionPath::identity) return {kAttentionPaths, "attention_identity"};
      return {kAttentionPaths, is_prefill(step) ? "attention_prefill" : "attention_decode"};
    case Stage::out_mlp:
      return {kTransformer, "out_mlp"};
    case Stage::lm_head:
      return {kTransformer, "lm_head"};
    case Stage::sample:
      return {"core/engine/model_runner.cpp", "sample"};
    case Stage::commit:
      return {kScheduler, "commit"};
  }
  return {kScheduler, "schedule"};
}

CodeLines lines_at(const SourceText& source, int line) {
  return line < 0 ? CodeLines{} : CodeLines{line, source.end_of(line)};
}

/// The host code of what follows, as text when it is in another file.
void point_at_next(const Frame& frame, const Selection& selection, CodePlace& place) {
  const NextStage next = next_stage(frame, selection.stage, selection.layer);
  if (!next.any) {
    place.elsewhere = frame.manifest->is_tensor_case()
                          ? "nothing: a tensor case is attention alone"
                          : "the step is complete; the next one begins with schedule";
    return;
  }
  const Host host = host_of(frame, next.stage);
  const SourceText* source = find_source(host.path);
  if (source == nullptr) return;
  const int line = source->line_of(host.marker);
  if (source == place.source && !place.source->is_pseudocode()) place.next = lines_at(*source, line);
  const bool other_layer = next.layer != selection.layer && next.stage < Stage::lm_head;
  place.elsewhere =
      fmt::format("{}{}, {}:{}", trace::name_of(next.stage),
                  other_layer ? fmt::format(" of layer {}", next.layer) : "", host.path, line + 1);
}

/// Phases of the tile at the cursor; false when one is not inside the tiles of this text.
bool place_tile(const Frame& frame, const Selection& selection, CodePlace& place) {
  if (selection.stage != Stage::attention || place.source->line_of("load_k") < 0) return false;
  if (!tiles_missing(frame, selection).empty()) return false;
  const TileRow row = tile_row(frame, selection);
  if (row.cursor < 0 || row.finished) return false;
  const TileState& tile = row.now();
  for (const std::string_view phase : kTilePhases) {
    const int line = place.source->line_of(phase);
    if (line < 0 || (!tile.visited && phase != kTilePhases.front())) continue;
    place.ran.push_back(lines_at(*place.source, line));
    if (phase == "scores" || (phase == "rescale" && tile.rescale())) place.focus = line;
  }
  // A split's last tile is followed by its partial result, the row's last by o.
  const bool last = tile.tile + 1 >= static_cast<int>(row.tiles.size()) ||
                    row.tiles[static_cast<std::size_t>(tile.tile) + 1].first;
  place.next = lines_at(*place.source, place.source->line_of(last ? "write_o" : "load_k"));
  return true;
}

void point_at_launch(const LaunchRecord& launch, CodePlace& place) {
  const KernelPlace kernel = find_kernel(launch.kernel);
  if (kernel.source == place.source) place.next = lines_at(*kernel.source, kernel.line);
  place.elsewhere = fmt::format("{}, {}:{}", launch.kernel, kernel.source->path, kernel.line + 1);
}

/// `following`: the launch of ours that the stage has after the one shown, if any.
void place_finished(const Frame& frame, const Selection& selection, CodePlace& place, int begin,
                    const LaunchRecord* following = nullptr) {
  const int write = place.source->line_of("write_o");
  const int line = selection.stage == Stage::attention && write > begin ? write : begin;
  place.ran.push_back(lines_at(*place.source, line));
  place.focus = line;
  if (following != nullptr)
    point_at_launch(*following, place);
  else
    point_at_next(frame, selection, place);
}

CodePlace host_place(const Frame& frame, const Selection& selection) {
  CodePlace place;
  const Host host = host_of(frame, selection.stage);
  place.source = find_source(host.path);
  place.title = std::string(trace::name_of(selection.stage));
  place_finished(frame, selection, place, std::max(0, place.source->line_of(host.marker)));
  return place;
}

std::string pseudo_path(const Frame& frame, Stage stage) {
  const trace::StepRecord& step = *frame.step;
  std::string name(trace::name_of(stage));
  if (stage == Stage::prepare) name += is_prefill(step) ? "_prefill" : "_decode";
  if (stage == Stage::attention) {
    const int level = is_prefill(step) ? step.config.prefill_level : step.config.decode_level;
    if (step.path == trace::AttentionPath::identity)
      name += "_identity";
    else if (level == 1)
      name += "_naive";
  }
  return "viz/code/" + name + ".txt";
}

CodePlace pseudo_place(const Frame& frame, const Selection& selection) {
  CodePlace place;
  place.source = find_source(pseudo_path(frame, selection.stage));
  if (place.source == nullptr) return host_place(frame, selection);
  place.title = fmt::format("{}: pseudocode", trace::name_of(selection.stage));
  if (!place_tile(frame, selection, place)) place_finished(frame, selection, place, 1);
  return place;
}

CodePlace kernel_place(const Frame& frame, const Selection& selection, int launch) {
  const auto kernels = stage_kernels(frame, selection);
  if (kernels.empty()) {
    CodePlace place = host_place(frame, selection);
    place.note = "no kernel of ours runs in this stage: the engine's host code";
    return place;
  }
  const int count = static_cast<int>(kernels.size());
  const int index = launch < 0 || launch >= count ? main_kernel(kernels, selection.stage) : launch;
  const std::string& name = kernels[static_cast<std::size_t>(index)]->kernel;
  const KernelPlace kernel = find_kernel(name);
  CodePlace place;
  place.source = kernel.source;
  place.title = name;
  if (!place_tile(frame, selection, place)) {
    const LaunchRecord* following =
        index + 1 < count ? kernels[static_cast<std::size_t>(index) + 1] : nullptr;
    place_finished(frame, selection, place, kernel.line, following);
  }
  return place;
}

struct WriterEntry {
  std::string_view name;
  std::string_view marker;
};
// Written by a phase of an attention kernel, when the text shown has that phase.
constexpr std::array kPhaseWriters = {WriterEntry{"m", "rescale"},    WriterEntry{"alpha", "rescale"},
                                      WriterEntry{"l", "accumulate"}, WriterEntry{"o", "write_o"},
                                      WriterEntry{"lse", "write_o"},  WriterEntry{"scores", "scores"}};
constexpr std::array<std::string_view, 7> kPrepared = {
    "input_ids", "positions", "slot_mapping", "cu_seqlens_q", "cu_seqlens_k", "context_lens", "block_tables"};

}  // namespace

std::vector<const LaunchRecord*> stage_kernels(const Frame& frame, const Selection& selection) {
  std::vector<const LaunchRecord*> out;
  if (!frame.step) return out;
  for (const trace::LaunchEntry& entry : frame.step->launches) {
    if (entry.stage != selection.stage || (entry.layer >= 0 && entry.layer != selection.layer)) continue;
    if (find_kernel(entry.launch.kernel).source != nullptr) out.push_back(&entry.launch);
  }
  return out;
}

int main_kernel(const std::vector<const LaunchRecord*>& kernels, Stage stage) {
  const std::string_view wanted = stage == Stage::qkv_rope  ? "rope"
                                  : stage == Stage::out_mlp ? "silu_mul"
                                  : stage == Stage::lm_head ? "take_rows"
                                                            : "";
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i]->kernel.starts_with(wanted)) return static_cast<int>(i);
  }
  return 0;
}

NextStage next_stage(const Frame& frame, Stage stage, int layer) {
  const bool in_layer = stage >= Stage::qkv_rope && stage <= Stage::out_mlp;
  const auto next =
      trace::place_after(trace::stage_places(*frame.step, *frame.manifest), {stage, in_layer ? layer : -1});
  if (!next) return {};
  return {next->stage, next->layer >= 0 ? next->layer : layer, true};
}

CodePlace code_place(const Frame& frame, const Selection& selection, CodeTab tab, int launch) {
  switch (tab) {
    case CodeTab::host:
      return host_place(frame, selection);
    case CodeTab::kernel:
      return kernel_place(frame, selection, launch);
    case CodeTab::pseudo:
      return pseudo_place(frame, selection);
  }
  return host_place(frame, selection);
}

Writer writer_of(const Frame& frame, const CodePlace& shown, std::string_view name) {
  for (const WriterEntry& entry : kPhaseWriters) {
    if (entry.name != name) continue;
    const int here = shown.source->line_of(entry.marker);
    if (here >= 0) return {shown.source, here};
    // Not this text: the attention kernel of the step.
    for (const trace::LaunchEntry& launch : frame.step->launches) {
      if (launch.stage != Stage::attention) continue;
      const KernelPlace kernel = find_kernel(launch.launch.kernel);
      if (kernel.source == nullptr) continue;
      const int line = kernel.source->line_of(entry.marker);
      if (line >= 0) return {kernel.source, line};
    }
    return {};
  }
  if (std::find(kPrepared.begin(), kPrepared.end(), name) != kPrepared.end()) {
    const SourceText* prepare = find_source("core/engine/prepare.cpp");
    return {prepare, prepare->line_of(name)};
  }
  if (name == "k_cache" || name == "v_cache") {
    const KernelPlace kernel = find_kernel("store_kvcache_kernel");
    if (kernel.source != nullptr) return {kernel.source, kernel.line};
  }
  if (name == "q") {
    const SourceText* transformer = find_source(kTransformer);
    return {transformer, transformer->line_of("qkv_rope")};
  }
  return {};
}

}  // namespace attn::viz
