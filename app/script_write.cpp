#include "app/script_write.h"

#include <array>
#include <string>
#include <system_error>
#include <utility>

#include "app/place.h"
#include "app/view_names.h"
#include "core/trace/names.h"
#include "kernels/common/check.h"
#include "viz/layout/panel_names.h"

namespace attn::app {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::json;

/// `always`: even where nothing of that name is there, so that a message names the right place.
void make_absolute(Json& object, const std::string& key, const fs::path& folder, bool always) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return;
  std::error_code error;
  const fs::path path = fs::absolute(folder / found->get<std::string>(), error).lexically_normal();
  if (always || fs::exists(path, error)) *found = path.string();
}

/// Voices of stops, nested ones too.
void move_voices(Json& stops, const fs::path& folder) {
  if (!stops.is_array()) return;
  for (Json& stop : stops) {
    if (!stop.is_object()) continue;
    make_absolute(stop, "hold", folder, true);
    if (const auto sub = stop.find("sub"); sub != stop.end()) move_voices(*sub, folder);
  }
}

template <class T>
void write_said(const std::optional<T>& value, const char* key, Json& object) {
  if (!value) return;
  if constexpr (std::is_enum_v<T>) {
    object[key] = std::string(trace::name_of(*value));
  } else {
    object[key] = *value;
  }
}

/// Nothing for a variant that is as recorded.
Json variant_json(const trace::Variant& variant) {
  Json object = Json::object();
  write_said(variant.path, "path", object);
  write_said(variant.level, "level", object);
  write_said(variant.mask, "mask", object);
  write_said(variant.head_map, "head_map", object);
  write_said(variant.k_tile, "k_tile", object);
  write_said(variant.num_splits, "num_splits", object);
  return object;
}

bool is_there(const Place& place, const trace::Store& store) {
  try {
    selection_of(place, store, "");
    return true;
  } catch (const InputError&) {
    return false;
  }
}

std::optional<int> unless_none(int value) { return value < 0 ? std::nullopt : std::optional(value); }

}  // namespace

Json movable(Json document, const fs::path& folder) {
  // A bare model name is looked up among the bundled ones where there is no such folder.
  make_absolute(document, "model", folder, false);
  for (const char* key : {"tensors", "trace"}) make_absolute(document, key, folder, true);
  document.erase("$schema");  // for editors, and beside no other file
  if (const auto runs = document.find("runs"); runs != document.end() && runs->is_array()) {
    for (Json& run : *runs) {
      if (!run.is_object()) continue;
      make_absolute(run, "tensors", folder, true);
      if (const auto set = run.find("set"); set != run.end() && set->is_object())
        make_absolute(*set, "model", folder, false);
    }
  }
  if (const auto film = document.find("film"); film != document.end()) move_voices(*film, folder);
  return document;
}

Place place_of(const viz::Selection& s, const trace::Store& store) {
  Place place;
  place.step = store.step(s.step)->step;
  place.stage = s.stage;
  place.layer = s.layer;
  place.head = s.head;
  place.tile = unless_none(s.tile);
  place.seq = unless_none(s.seq);
  place.row = unless_none(s.q_row);
  place.col = unless_none(s.k_col);
  place.block = unless_none(s.block);
  for (std::optional<int>* part : {&place.row, &place.col, &place.tile, &place.seq}) {
    if (!is_there(place, store)) *part = std::nullopt;
  }
  return place;
}

Shown shown_of(const viz::ViewState& view,
               const std::optional<std::pair<trace::Variant, trace::Variant>>& compare) {
  Shown shown;
  shown.stage = view.stage;
  shown.side = view.side;
  if (view.maximised != viz::PanelId::count_ && !viz::panel_title(view.maximised).empty())
    shown.panel = view.maximised;
  if (view.stage == viz::StageView::compare) shown.compare = compare;
  return shown;
}

void write_place(const Place& place, Json& object) {
  Json moment = Json::object(), select = Json::object();
  write_said(place.step, "step", moment);
  write_said(place.stage, "stage", moment);
  write_said(place.layer, "layer", moment);
  write_said(place.head, "head", moment);
  write_said(place.tile, "tile", moment);
  write_said(place.seq, "seq", select);
  write_said(place.row, "row", select);
  write_said(place.col, "col", select);
  write_said(place.block, "block", select);
  if (!moment.empty()) object["goto"] = std::move(moment);
  if (!select.empty()) object["select"] = std::move(select);
}

void write_shown(const Shown& shown, Json& object) {
  if (shown.compare) {
    object["compare"] = {{"a", variant_json(shown.compare->first)},
                         {"b", variant_json(shown.compare->second)}};
  }
  if (shown.stage) object["view"] = std::string(view_name(*shown.stage));
  if (shown.side) object["side"] = std::string(view_name(*shown.side));
  if (shown.panel) object["panel"] = std::string(viz::panel_name(*shown.panel));
  if (!shown.annotate.empty()) object["annotate"] = shown.annotate;
}

}  // namespace attn::app
