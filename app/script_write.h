// Writing scenarios: what the window shows as the keys that script_read reads.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/script.h"
#include "viz/screen.h"

namespace attn::app {

/// The document of a scenario whose relative paths count from `folder`, so that it means the same wherever it
/// is put: paths are made absolute, names of bundled models stay. It names no schema.
nlohmann::json movable(nlohmann::json document, const std::filesystem::path& folder);

/// Where one stands in a recording. A sequence that the step does not have, or a row or key that it does not
/// have, is not said.
Place place_of(const viz::Selection& selection, const trace::Store& store);
/// What of the window a script can say. `compare`: what stage "compare" compares.
Shown shown_of(const viz::ViewState& view,
               const std::optional<std::pair<trace::Variant, trace::Variant>>& compare);

/// The keys goto and select, put into `object` where they say something.
void write_place(const Place& place, nlohmann::json& object);
/// The keys view, side, panel, compare and annotate.
void write_shown(const Shown& shown, nlohmann::json& object);

}  // namespace attn::app
