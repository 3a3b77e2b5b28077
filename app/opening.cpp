#include "app/opening.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "core/trace/launch_shape.h"
#include "core/trace/names.h"
#include "core/trace/tensor_case.h"
#include "core/trace/trace_file.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace fs = std::filesystem;
namespace {

struct LinkPart {
  std::string_view name;
  std::optional<int> Link::*value;
};
constexpr std::array<LinkPart, 8> kLinkParts = {{{"step", &Link::step},
                                                 {"layer", &Link::layer},
                                                 {"head", &Link::head},
                                                 {"seq", &Link::seq},
                                                 {"row", &Link::row},
                                                 {"col", &Link::col},
                                                 {"tile", &Link::tile},
                                                 {"stop", &Link::stop}}};

/// Throws where the link names a sequence, or a query, key or tile of one, that the step does not have.
void check_place(const Link& link, const trace::StepRecord& step, const trace::ModelShape& model) {
  if (!link.seq && !link.row && !link.col && !link.tile) return;
  const auto refuse = [&](const std::string& what) {
    throw InputError(fmt::format("step {} has {} ({})", step.step, what, link.path.string()));
  };
  std::vector<int> ids;
  for (const trace::SeqState& seq : step.seqs) ids.push_back(seq.id);
  const auto found = link.seq ? std::ranges::find(ids, *link.seq) : ids.begin();
  if (found == ids.end()) {
    refuse(ids.empty() ? "no sequences"
                       : fmt::format("no sequence {}; choose one of {}", *link.seq, fmt::join(ids, ", ")));
  }
  if (!link.row && !link.col && !link.tile) return;
  const auto b = static_cast<std::size_t>(found - ids.begin());
  if (b >= static_cast<std::size_t>(step.num_scheduled)) {
    refuse(fmt::format("no rows of sequence {}: it does not run in it; choose another step", *found));
  }
  const auto check = [&](const std::optional<int>& wanted, int count, const char* what) {
    if (!wanted || *wanted < count) return;
    refuse(count == 0
               ? fmt::format("no {} of sequence {}", what, *found)
               : fmt::format("no {} {} of sequence {}; choose 0 to {}", what, *wanted, *found, count - 1));
  };
  check(link.row, step.cu_seqlens_q[b + 1] - step.cu_seqlens_q[b], "query row");
  check(link.col, trace::attended_columns(step, b), "key column");
  const bool kernel = step.path != trace::AttentionPath::identity;
  check(link.tile, kernel ? trace::planned_grid(step, model, b, link.row.value_or(-1)).tiles() : 0,
        "key tile");
}

/// The stage of that name; throws naming all when there is none.
trace::Stage stage_named(const std::string& name, const std::string& text) {
  const auto stage = trace::from_name<trace::Stage>(name);
  if (!stage)
    throw InputError(fmt::format("there is no stage '{}' ({}); choose one of {}", name, text,
                                 trace::all_names<trace::Stage>()));
  return *stage;
}

}  // namespace

Link parse_link(const std::string& text) {
  Link link;
  const std::size_t hash = text.find('#');
  link.path = text.substr(0, hash);
  if (hash == std::string::npos) return link;
  if (hash + 1 == text.size()) {
    throw InputError(
        fmt::format("nothing follows the # ({}); write FILE#step=12&layer=0&head=2, or FILE alone", text));
  }
  std::stringstream parts(text.substr(hash + 1));
  for (std::string part; std::getline(parts, part, '&');) {
    const std::size_t equals = part.find('=');
    const std::string key = part.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
    if (key == "stage") {
      if (link.stage) throw InputError(fmt::format("'stage' stands twice ({}); write it once", text));
      link.stage = stage_named(value, text);
      continue;
    }
    int number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number < 0) {
      throw InputError(
          fmt::format("'{}' is not key=number ({}); write FILE#step=12&layer=0&head=2", part, text));
    }
    const auto part_of_link = std::ranges::find(kLinkParts, key, &LinkPart::name);
    if (part_of_link == kLinkParts.end()) {
      std::vector<std::string> known;
      for (const LinkPart& one : kLinkParts) known.emplace_back(one.name);
      known.emplace_back("stage");
      throw InputError(
          fmt::format("unknown part '{}' after # ({}); known: {}", key, text, fmt::join(known, ", ")));
    }
    if (link.*part_of_link->value)
      throw InputError(fmt::format("'{}' stands twice ({}); write it once", key, text));
    link.*part_of_link->value = number;
  }
  if (link.stop && link.has_place())
    throw InputError(fmt::format("a stop is a place already ({}); write #stop={} alone", text, *link.stop));
  return link;
}

FileKind kind_of(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    if (fs::exists(path / "config.json")) return FileKind::model;
    throw InputError(fmt::format(
        "the folder has no config.json ({}); give a model directory, a scenario or a trace", path.string()));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(fmt::format("cannot read the file ({}); check the path", path.string()));
  std::array<char, 64> start{};
  file.read(start.data(), start.size());
  const std::string_view head(start.data(), static_cast<std::size_t>(file.gcount()));
  if (path.extension() == ".attn" || head.starts_with("\x8a"
                                                      "attn"))
    return FileKind::trace;
  if (path.extension() == ".safetensors") return FileKind::tensor_case;
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (path.extension() == ".json" || (first != std::string_view::npos && head[first] == '{'))
    return FileKind::scenario;
  throw InputError(fmt::format("not a scenario (.json), a trace (.attn) or a tensor case (.safetensors) ({})",
                               path.string()));
}

std::shared_ptr<const trace::Store> open_store(const fs::path& path, DeviceChoice choice,
                                               const EngineConfig& engine, const std::string& title,
                                               const std::stop_token& stop) {
  if (kind_of(path) == FileKind::trace) return trace::open_trace(path);
  const trace::TensorCase tensors = trace::load_tensor_case(path);
  trace::AttendOptions options = trace::default_options(tensors);
  const bool prefill = options.op == trace::AttendOp::prefill;
  options.level = prefill ? engine.prefill_level : engine.decode_level;
  options.k_tile = engine.k_tile;
  options.num_splits = engine.num_splits;
  options.title = title;
  if (prefill) options.mask = trace::name_of(engine.mask_alignment);
  if (prefill && engine.prefill_path != PrefillPath::paged)
    options.path = trace::name_of(engine.prefill_path);
  if (!prefill && engine.decode_path != DecodePath::paged) options.path = trace::name_of(engine.decode_path);
  const DevicePick pick = make_device(choice);
  pick.device->context().stop = stop;
  return trace::attend(*pick.device, tensors, options).store;
}

namespace {

/// A model alone: a short prompt to begin with, or drawn tokens where it has no tokenizer. More is typed.
Scenario scenario_of_model(const fs::path& model, const std::vector<std::string>& overrides) {
  const fs::path folder = fs::canonical(model);
  nlohmann::ordered_json request{{"id", "A"}};
  if (fs::exists(folder / "tokenizer.json")) {
    request["prompt"] = "Once upon a time";
  } else {
    request["prompt_tokens"] = 8;
  }
  request["max_tokens"] = 16;
  const nlohmann::ordered_json scenario{{"version", 1},
                                        {"name", folder.filename().string()},
                                        {"model", folder.string()},
                                        {"requests", nlohmann::ordered_json::array({std::move(request)})}};
  return parse_scenario(scenario.dump(2), folder / "(a model alone)", overrides);
}

}  // namespace

void check_stop(const Link& link, const Script& script) {
  if (!link.stop) return;
  const std::size_t stops = script.stops.size();
  if (stops == 0) {
    throw InputError(
        fmt::format("nothing is told here ({}), so there is no stop; leave out #stop={}, or open a lesson",
                    link.path.string(), *link.stop));
  }
  if (*link.stop < 1 || *link.stop > static_cast<int>(stops)) {
    throw InputError(
        fmt::format("there is no stop {} ({}); it has stops 1 to {}", *link.stop, link.path.string(), stops));
  }
}

Subject open_subject(const std::string& link, DeviceChoice choice, const std::vector<std::string>& overrides,
                     const std::stop_token& stop) {
  Subject subject;
  subject.link = parse_link(link);
  const fs::path& path = subject.link.path;
  subject.title = path.filename().string();
  const FileKind kind = kind_of(path);
  if (kind != FileKind::scenario) check_stop(subject.link, {});
  if (kind == FileKind::model) {
    subject.scenario = scenario_of_model(path, overrides);
    subject.title = subject.scenario.name;
    return subject;
  }
  if (kind != FileKind::scenario) {
    if (!overrides.empty()) {
      throw InputError(fmt::format("--set changes scenarios ({} is none); leave it out", path.string()));
    }
    subject.store = open_store(path, choice, {}, {}, stop);
    subject.kind = kind;
    return subject;
  }
  subject.scenario = load_scenario(path, overrides);
  check_stop(subject.link, subject.scenario.script);
  subject.overrides = overrides;
  subject.title = subject.scenario.name;
  const fs::path& recorded = subject.scenario.recorded;
  if (!recorded.empty()) {
    subject.store = open_store(recorded, choice, subject.scenario.engine, subject.scenario.name, stop);
    subject.kind = FileKind::tensor_case;  // of a trace too: its bookmarks are not of this file
  }
  return subject;
}

viz::Selection selection_of(const Link& link, const trace::Store& store) {
  viz::Selection selection;
  const int steps = store.num_steps();
  if (steps == 0) return selection;
  if (link.step) {
    const int first = store.step(0)->step;
    selection.step = *link.step - first;
    if (selection.step < 0 || selection.step >= steps) {
      throw InputError(fmt::format("there is no step {} ({}); it has steps {} to {}", *link.step,
                                   link.path.string(), first, first + steps - 1));
    }
  }
  const auto pick = [&](const std::optional<int>& wanted, int count, const char* what) {
    if (wanted && *wanted >= count) {
      throw InputError(fmt::format("there is no {} {} ({}); it has {} 0 to {}", what, *wanted,
                                   link.path.string(), what, count - 1));
    }
    return wanted.value_or(0);
  };
  selection.layer = pick(link.layer, store.manifest().model.num_layers, "layer");
  selection.head = pick(link.head, store.manifest().model.num_heads, "head");
  check_place(link, *store.step(selection.step), store.manifest().model);
  selection.seq = link.seq.value_or(-1);
  selection.q_row = link.row.value_or(-1);
  selection.k_col = link.col.value_or(-1);
  selection.tile = link.tile.value_or(-1);
  selection.stage = link.stage.value_or(selection.stage);
  return selection;
}

int steps_to(const Link& link, const EngineConfig& config) {
  return std::max(1, link.step.value_or(1) + (config.warmup ? 1 : 0));
}

}  // namespace attn::app
