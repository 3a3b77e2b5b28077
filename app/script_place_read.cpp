#include "app/script_place_read.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "app/view_names.h"
#include "viz/layout/panel_names.h"
#include "viz/mark_names.h"

namespace attn::app {
namespace {

/// A member that must be 0 or more.
void read_index(ObjectReader& object, const char* key, std::optional<int>& value) {
  int number = 0;
  if (!object.read(key, number)) return;
  if (number < 0) object.fail(key, fmt::format("{} is {}", object.path(key), number), "use 0 or more");
  value = number;
}

template <class E>
void read_view(ObjectReader& object, const char* key, std::optional<E>& value) {
  std::string name;
  if (!object.read(key, name)) return;
  value = view_named<E>(name);
  if (!value) {
    object.fail(key, fmt::format("{} is '{}'", object.path(key), name), suggest(name, view_names<E>()));
  }
}

/// A request by its label, or by its number.
int read_request_id(ObjectReader& object, const char* key, const Scenario& scenario) {
  if (!object.raw(key)->is_string()) {
    std::optional<int> id;
    read_index(object, key, id);
    return *id;
  }
  std::string label;
  object.read(key, label);
  const auto found = std::ranges::find(scenario.requests, label, &ScenarioRequest::id);
  if (found == scenario.requests.end()) {
    std::vector<std::string> labels;
    for (const ScenarioRequest& request : scenario.requests) labels.push_back(request.id);
    object.fail(key, fmt::format("there is no request '{}'", label), suggest(label, labels));
  }
  return static_cast<int>(found - scenario.requests.begin());
}

template <class T>
void read_optional(ObjectReader& object, const char* key, std::optional<T>& value) {
  T read{};
  if (object.read(key, read)) value = read;
}

trace::Variant read_variant(ObjectReader& compare, const char* side) {
  trace::Variant variant;
  auto object = compare.object(side);
  if (!object) return variant;  // as recorded
  read_optional(*object, "path", variant.path);
  read_optional(*object, "level", variant.level);
  read_optional(*object, "mask", variant.mask);
  read_optional(*object, "head_map", variant.head_map);
  read_optional(*object, "k_tile", variant.k_tile);
  read_optional(*object, "num_splits", variant.num_splits);
  object->finish();
  return variant;
}

}  // namespace

void read_moment(ObjectReader& object, Place& place) {
  read_index(object, "step", place.step);
  trace::Stage stage{};
  if (object.read("stage", stage)) place.stage = stage;
  read_index(object, "layer", place.layer);
  read_index(object, "head", place.head);
  read_index(object, "tile", place.tile);
}

void read_place(ObjectReader& object, const Scenario& scenario, Place& place) {
  if (auto moment = object.object("goto")) {
    read_moment(*moment, place);
    moment->finish();
  }
  if (auto select = object.object("select")) {
    if (select->raw("seq") != nullptr) place.seq = read_request_id(*select, "seq", scenario);
    read_index(*select, "row", place.row);
    read_index(*select, "col", place.col);
    read_index(*select, "block", place.block);
    select->finish();
  }
}

std::pair<trace::Variant, trace::Variant> read_comparison(ObjectReader& object) {
  std::pair<trace::Variant, trace::Variant> sides{read_variant(object, "a"), read_variant(object, "b")};
  object.finish();
  return sides;
}

void read_shown(ObjectReader& object, Shown& shown, std::vector<std::string>& annotate_where) {
  if (auto compare = object.object("compare")) {
    shown.compare = read_comparison(*compare);
    shown.stage = viz::StageView::compare;
  }
  read_view(object, "view", shown.stage);
  read_view(object, "side", shown.side);
  std::string panel;
  if (object.read("panel", panel)) {
    shown.panel = viz::panel_named(panel);
    if (viz::panel_title(*shown.panel).empty()) {
      std::vector<std::string> names;
      for (int i = 0; i < viz::kNumPanels; ++i) {
        const auto id = static_cast<viz::PanelId>(i);
        if (!viz::panel_title(id).empty()) names.emplace_back(viz::panel_name(id));
      }
      object.fail("panel", fmt::format("{} is '{}'", object.path("panel"), panel), suggest(panel, names));
    }
  }
  read_marks(object, "annotate", shown.annotate, annotate_where);
}

bool read_marks(ObjectReader& object, const char* key, std::vector<std::string>& names,
                std::vector<std::string>& where) {
  if (!object.read(key, names)) return false;
  where.clear();
  for (std::size_t i = 0; i < names.size(); ++i) where.push_back(object.where(fmt::format("{}/{}", key, i)));
  for (const std::string& name : names) {
    if (!viz::is_mark_name(name))
      object.fail(key, fmt::format("no panel or mark is called '{}'", name),
                  suggest(name, viz::mark_names_like(name)));
  }
  return true;
}

}  // namespace attn::app
