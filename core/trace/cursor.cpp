#include "core/trace/cursor.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "core/trace/launch_shape.h"

namespace attn::trace {
namespace {

constexpr std::array kBeforeLayers{Stage::schedule, Stage::prepare};
constexpr std::array kAfterLayers{Stage::lm_head, Stage::sample, Stage::commit};

bool in_layer(Stage stage) { return stage >= Stage::qkv_rope && stage <= Stage::out_mlp; }

bool noted(const StepRecord& step, Stage stage) {
  const auto here = [stage](const auto& entry) { return entry.stage == stage; };
  return std::any_of(step.shapes.begin(), step.shapes.end(), here) ||
         std::any_of(step.launches.begin(), step.launches.end(), here);
}

bool always_runs(Stage stage) {
  return stage == Stage::qkv_rope || stage == Stage::attention || stage == Stage::out_mlp;
}

/// Sorts the stages of all layers in the order in which they run.
std::tuple<int, int, Stage> order_of(const StagePlace& place) {
  if (in_layer(place.stage)) return {1, place.layer, place.stage};
  return {place.stage < Stage::qkv_rope ? 0 : 2, 0, place.stage};
}

bool before(const StagePlace& a, const StagePlace& b) { return order_of(a) < order_of(b); }

/// One walk; the step's places are made once.
class Walk {
 public:
  Walk(const Store& store, const Cursor& cursor, Grain grain, TileGrids& grids)
      : store_(store),
        start_(cursor),
        at_(cursor),
        grain_(grain),
        grids_(grids),
        model_(store.manifest().model) {
    at_.index = std::clamp(at_.index, 0, store.num_steps() - 1);
    load();
  }

  Cursor forward() {
    if (grain_ == Grain::step) return next_step();
    if (at_.stage == Stage::attention && grain_ >= Grain::head && next_inside()) return at_;
    if (const auto next = place_after(places_, here())) return enter_first(*next);
    if (at_.index + 1 >= store_.num_steps()) return start_;
    ++at_.index;
    load();
    return enter_first(places_.front());
  }

  Cursor back() {
    const bool inside = at_.tile >= 0 || at_.cell >= 0;
    if (grain_ <= Grain::stage && inside) return outside();
    if (grain_ == Grain::step) return previous_step();
    if (at_.stage == Stage::attention && grain_ >= Grain::head && previous_inside()) return at_;
    const auto first_not_before = std::lower_bound(places_.begin(), places_.end(), here(), before);
    if (first_not_before != places_.begin()) return enter_last(*std::prev(first_not_before));
    if (at_.index == 0) return start_;
    --at_.index;
    load();
    return enter_last(places_.back());
  }

 private:
  StagePlace here() const { return {at_.stage, in_layer(at_.stage) ? at_.layer : -1}; }
  int last_head() const { return std::max(0, model_.num_heads - 1); }
  int last_layer() const { return std::max(0, model_.num_layers - 1); }

  void load() { places_ = stage_places(*store_.step(at_.index), store_.manifest()); }

  Cursor outside() {
    at_.tile = at_.cell = -1;
    return at_;
  }

  Cursor next_step() {
    if (at_.index + 1 >= store_.num_steps()) return start_;
    ++at_.index;
    return outside();
  }

  Cursor previous_step() {
    if (at_.index == 0) return start_;
    --at_.index;
    return outside();
  }

  /// Layer and head outside of layers and of the attention stage: what comes next, or what was passed last.
  void set_stage(const StagePlace& place) {
    at_.stage = place.stage;
    at_.layer = place.layer >= 0 ? place.layer : place.stage < Stage::qkv_rope ? 0 : last_layer();
    if (grain_ >= Grain::head) at_.head = place.stage <= Stage::attention ? 0 : last_head();
    at_.tile = at_.cell = -1;
  }

  Cursor enter_first(const StagePlace& place) {
    set_stage(place);
    return at_;
  }

  Cursor enter_last(const StagePlace& place) {
    set_stage(place);
    if (place.stage != Stage::attention || grain_ < Grain::head) return at_;
    at_.head = last_head();
    enter_last_tile();
    return at_;
  }

  TileGrid grid() {
    if (grain_ < Grain::tile) return {};
    return grids_.grid_of(at_.index, at_.layer);
  }

  void enter_last_tile() {
    const TileGrid tiles = grid();
    at_.tile = tiles.tiles() - 1;  // -1 when there are none
    at_.cell = grain_ == Grain::cell && at_.tile >= 0 ? tiles.num_keys - 1 : -1;
  }

  /// A tile or cell that this row does not have (a cursor from elsewhere) stands for the last one.
  void clamp_to(const TileGrid& tiles) {
    if (grain_ < Grain::tile) return;
    at_.tile = std::min(at_.tile, tiles.tiles() - 1);
    if (at_.cell < 0) return;
    const int first = std::max(0, at_.tile) * tiles.k_tile;
    at_.cell =
        at_.tile < 0 ? -1 : std::clamp(at_.cell, first, std::min(first + tiles.k_tile, tiles.num_keys) - 1);
  }

  /// Onwards within an attention stage; false when its last place was passed.
  bool next_inside() {
    const TileGrid tiles = grid();
    clamp_to(tiles);
    if (grain_ == Grain::cell && at_.tile >= 0) {
      const int next = std::max(at_.cell + 1, at_.tile * tiles.k_tile);
      if (next < std::min((at_.tile + 1) * tiles.k_tile, tiles.num_keys)) {
        at_.cell = next;
        return true;
      }
    }
    at_.cell = -1;
    if (grain_ >= Grain::tile && at_.tile + 1 < tiles.tiles()) {
      ++at_.tile;
      return true;
    }
    at_.tile = -1;
    if (at_.head >= last_head()) return false;
    ++at_.head;
    return true;
  }

  /// Back within an attention stage; false when one stood at its first place.
  bool previous_inside() {
    const TileGrid tiles = grid();
    if (grain_ == Grain::head && (at_.tile >= 0 || at_.cell >= 0)) {
      outside();
      return true;
    }
    clamp_to(tiles);
    if (at_.cell >= 0) {
      const int first = at_.tile * tiles.k_tile;
      at_.cell = grain_ == Grain::cell && at_.cell > first ? at_.cell - 1 : -1;
      return true;
    }
    if (at_.tile >= 0) {
      --at_.tile;
      if (grain_ == Grain::cell && at_.tile >= 0) {
        at_.cell = std::min((at_.tile + 1) * tiles.k_tile, tiles.num_keys) - 1;
      }
      return true;
    }
    if (at_.head <= 0) return false;
    --at_.head;
    enter_last_tile();
    return true;
  }

  const Store& store_;
  const Cursor start_;
  Cursor at_;
  const Grain grain_;
  TileGrids& grids_;
  const ModelShape& model_;
  std::vector<StagePlace> places_;
};

}  // namespace

std::vector<StagePlace> stage_places(const StepRecord& step, const Manifest& manifest) {
  const bool engine = !manifest.is_tensor_case();
  std::vector<Stage> per_layer;
  for (auto s = static_cast<int>(Stage::qkv_rope); s <= static_cast<int>(Stage::out_mlp); ++s) {
    const auto stage = static_cast<Stage>(s);
    if ((engine && always_runs(stage)) || noted(step, stage)) per_layer.push_back(stage);
  }
  std::vector<StagePlace> places;
  if (engine) {
    for (const Stage stage : kBeforeLayers) places.push_back({stage, -1});
  }
  for (int layer = 0; layer < manifest.model.num_layers; ++layer) {
    for (const Stage stage : per_layer) places.push_back({stage, layer});
  }
  if (engine) {
    for (const Stage stage : kAfterLayers) places.push_back({stage, -1});
  }
  return places;
}

std::optional<StagePlace> place_after(const std::vector<StagePlace>& places, const StagePlace& place) {
  const auto next = std::upper_bound(places.begin(), places.end(), place, before);
  return next == places.end() ? std::nullopt : std::optional(*next);
}

TileGrid PlannedGrids::grid_of(int index, int) {
  const auto step = store_.step(index);
  if (step->num_scheduled == 0 || step->path == AttentionPath::identity) return {};
  std::size_t b = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(step->num_scheduled); ++i) {
    if (step->seqs[i].id == seq_) b = i;
  }
  return planned_grid(*step, store_.manifest().model, b, row_);
}

Cursor move_cursor(const Store& store, const Cursor& cursor, Grain grain, int by, TileGrids& grids) {
  if (store.num_steps() == 0 || by == 0) return cursor;
  Walk walk(store, cursor, grain, grids);
  return by > 0 ? walk.forward() : walk.back();
}

}  // namespace attn::trace
