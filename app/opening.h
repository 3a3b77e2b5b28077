// Finding out what a path is and opening it: scenario, trace, tensor case or model directory.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/scenario.h"
#include "core/trace/store.h"
#include "kernels/device.h"
#include "viz/frame.h"

namespace attn::app {

enum class FileKind { scenario, trace, tensor_case, model };

/// FILE[#step=12&stage=attention&layer=0&head=2&seq=1&row=3&col=2&tile=0]: `step` is the engine's step number
/// as the window shows it, row and col count within the sequence; with a stage one stands inside the step. Or
/// LESSON#stop=3: a stop of its script, from 1.
struct Link {
  std::filesystem::path path;
  std::optional<int> step, layer, head, seq, row, col, tile;
  std::optional<trace::Stage> stage = {};
  std::optional<int> stop = {};  // alone: it is a place already
  bool has_place() const { return step || layer || head || seq || row || col || tile || stage; }
};
/// Throws InputError for an unknown or malformed part after '#'.
Link parse_link(const std::string& text);

/// By what is in it, not by its name. Throws InputError when it is none of them or cannot be read.
FileKind kind_of(const std::filesystem::path& path);

/// A trace, or a tensor case run through its kernel on the device of that choice; of a tensor case `engine`
/// picks path, level, mask and tiles,
/// and `title` is what it is called on screen ("" = as its file). Throws Stopped once `stop` says so.
std::shared_ptr<const trace::Store> open_store(const std::filesystem::path& path, DeviceChoice choice,
                                               const EngineConfig& engine = {}, const std::string& title = {},
                                               const std::stop_token& stop = {});

/// Something to look at: a scenario to run live, or a store that has everything.
struct Subject {
  Link link;
  std::string title;
  Scenario scenario;                          // when there is no store
  std::vector<std::string> overrides;         // of the scenario
  std::vector<ScenarioRequest> added;         // typed in an earlier run of it, with their steps
  std::shared_ptr<const trace::Store> store;  // null: live
  FileKind kind = FileKind::scenario;         // of what the store was read from
};
/// Throws InputError for whatever can be known to be wrong before anything runs.
Subject open_subject(const std::string& link, DeviceChoice choice,
                     const std::vector<std::string>& overrides = {}, const std::stop_token& stop = {});

/// Throws InputError when the link names a stop that the script does not have.
void check_stop(const Link& link, const Script& script);

/// The link's cursor in a store. Throws InputError naming what exists when a part is out of range.
viz::Selection selection_of(const Link& link, const trace::Store& store);
/// How many steps a run of that configuration has recorded when it stands where the link points.
int steps_to(const Link& link, const EngineConfig& config);

}  // namespace attn::app
