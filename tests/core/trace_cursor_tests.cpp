// Walking a recording: every place is visited once and in order, and every step back undoes the step forward.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <tuple>

#include "core/trace/cursor.h"
#include "core/trace/inspector.h"
#include "core/trace/launch_shape.h"
#include "core/trace/names.h"
#include "kernels/common/check.h"
#include "tests/core/trace_random.h"
#include "tests/core/trace_runs.h"

namespace attn::trace::test {
namespace {

constexpr Grain kGrains[] = {Grain::step, Grain::stage, Grain::head, Grain::tile, Grain::cell};

std::string text_of(const Cursor& c) {
  return fmt::format("{} {} layer {} head {} tile {} cell {}", c.index, name_of(c.stage), c.layer, c.head,
                     c.tile, c.cell);
}

std::tuple<int, int, int, int, int, int, int> order_of(const Cursor& c) {
  const bool in_layer = c.stage >= Stage::qkv_rope && c.stage <= Stage::out_mlp;
  const int part = in_layer ? 1 : c.stage < Stage::qkv_rope ? 0 : 2;
  const bool attention = c.stage == Stage::attention;
  return {c.index, part,  in_layer ? c.layer : 0, static_cast<int>(c.stage), attention ? c.head : 0,
          c.tile,  c.cell};
}

/// Small tiles, so that a handful of keys has several.
class SmallGrids : public TileGrids {
 public:
  explicit SmallGrids(const Store& store) : planned_(store, -1, -1) {}
  TileGrid grid_of(int index, int layer) override {
    TileGrid grid = planned_.grid_of(index, layer);
    grid.k_tile = 3;
    return grid;
  }

 private:
  PlannedGrids planned_;
};

/// Gather paths, so that every stage occurs.
const TightRun& real_run() {
  static const TightRun run([] {
    EngineConfig config = tight_config();
    config.prefill_path = PrefillPath::gather_flatten;
    config.decode_path = DecodePath::gather_padded;
    return config;
  }());
  return run;
}

TEST(TraceCursor, StagesAreTheOnesThatRan) {
  const Recording& recording = *real_run().recording;
  std::map<Stage, int> seen;
  for (int i = 0; i < recording.num_steps(); ++i) {
    const auto step = recording.step(i);
    const auto places = stage_places(*step, recording.manifest());
    EXPECT_EQ(places.front(), (StagePlace{Stage::schedule, -1}));
    EXPECT_EQ(places.back(), (StagePlace{Stage::commit, -1}));
    for (const StagePlace& place : places) ++seen[place.stage];
    const auto has = [&](Stage stage) {
      return std::find(places.begin(), places.end(), StagePlace{stage, 1}) != places.end();
    };
    EXPECT_EQ(has(Stage::repeat), is_decode(step->path));
    EXPECT_EQ(has(Stage::flatten), step->path == AttentionPath::prefill_gather_flatten);
  }
  EXPECT_EQ(seen[Stage::attention], 2 * recording.num_steps());
  EXPECT_EQ(seen[Stage::lm_head], recording.num_steps());
  EXPECT_GT(seen[Stage::gather], 0);
}

TEST(TraceCursor, ForwardsVisitsEveryPlaceOnceInOrderAndBackwardsTheSamePlaces) {
  const Recording& recording = *real_run().recording;
  SmallGrids grids(recording);
  std::map<Grain, std::size_t> counts;
  for (const Grain grain : kGrains) {
    std::vector<Cursor> forwards{{}};
    for (;;) {
      const Cursor next = move_cursor(recording, forwards.back(), grain, 1, grids);
      if (next == forwards.back()) break;
      ASSERT_LT(order_of(forwards.back()), order_of(next)) << text_of(forwards.back());
      forwards.push_back(next);
    }
    counts[grain] = forwards.size();
    EXPECT_EQ(forwards.back().index, recording.num_steps() - 1);
    for (std::size_t i = forwards.size(); i-- > 1;) {
      const Cursor back = move_cursor(recording, forwards[i], grain, -1, grids);
      ASSERT_EQ(back, forwards[i - 1]) << text_of(forwards[i]) << " went back to " << text_of(back);
    }
    EXPECT_EQ(move_cursor(recording, forwards[0], grain, -1, grids), forwards[0]);
  }
  EXPECT_EQ(counts[Grain::step], static_cast<std::size_t>(recording.num_steps()));
  std::size_t stages = 0, heads = 0, tiles = 0, cells = 0;
  for (int i = 0; i < recording.num_steps(); ++i) {
    const TileGrid grid = grids.grid_of(i, 0);
    stages += stage_places(*recording.step(i), recording.manifest()).size();
    heads += 2 * (4 - 1);
    tiles += static_cast<std::size_t>(2 * 4 * grid.tiles());
    cells += static_cast<std::size_t>(2 * 4 * grid.num_keys);
  }
  EXPECT_EQ(counts[Grain::stage], stages);
  EXPECT_EQ(counts[Grain::head], stages + heads);
  EXPECT_EQ(counts[Grain::tile], stages + heads + tiles);
  EXPECT_EQ(counts[Grain::cell], stages + heads + tiles + cells);
}

TEST(TraceCursor, BackUndoesForwardOnRandomWalksOfMixedGrains) {
  const Recording& recording = *real_run().recording;
  SmallGrids grids(recording);
  std::mt19937 random(5);
  const auto pick = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  int checked = 0;
  for (int walk = 0; walk < 300; ++walk) {
    Cursor at{.index = pick(recording.num_steps()),
              .stage = static_cast<Stage>(pick(12)),
              .layer = pick(2),
              .head = pick(4)};
    for (int i = 0; i < 30; ++i) {
      const Grain grain = kGrains[pick(5)];
      const Cursor reached = move_cursor(recording, at, grain, 1, grids);
      if (reached == at) break;
      const Cursor next = move_cursor(recording, reached, grain, 1, grids);
      if (next != reached) {
        ASSERT_EQ(move_cursor(recording, next, grain, -1, grids), reached)
            << text_of(reached) << " then " << text_of(next) << " at grain " << static_cast<int>(grain);
        ++checked;
      }
      at = pick(4) == 0 ? move_cursor(recording, reached, kGrains[pick(5)], -1, grids) : reached;
    }
  }
  EXPECT_GT(checked, 3000);
}

TEST(TraceCursor, AStepEnteredBackwardsIsEnteredFinished) {
  const Recording& recording = *real_run().recording;
  SmallGrids grids(recording);
  const Cursor begin{.index = 3};
  EXPECT_EQ(move_cursor(recording, begin, Grain::stage, -1, grids),
            (Cursor{.index = 2, .stage = Stage::commit, .layer = 1}));
  const Cursor attention{.index = 3, .stage = Stage::attention, .layer = 1, .head = 2, .tile = 1, .cell = 4};
  EXPECT_EQ(move_cursor(recording, attention, Grain::tile, -1, grids),
            (Cursor{3, Stage::attention, 1, 2, 1, -1}));
  EXPECT_EQ(move_cursor(recording, attention, Grain::head, -1, grids),
            (Cursor{3, Stage::attention, 1, 2, -1, -1}));
  EXPECT_EQ(move_cursor(recording, attention, Grain::head, 1, grids),
            (Cursor{3, Stage::attention, 1, 3, -1, -1}));
  EXPECT_EQ(move_cursor(recording, attention, Grain::stage, 1, grids),
            (Cursor{3, Stage::out_mlp, 1, 2, -1, -1}));
  EXPECT_EQ(move_cursor(recording, attention, Grain::step, 1, grids),
            (Cursor{4, Stage::attention, 1, 2, -1, -1}));
  const int last_key = grids.grid_of(3, 1).num_keys - 1;
  EXPECT_EQ(move_cursor(recording, {3, Stage::out_mlp, 1, 0, -1, -1}, Grain::cell, -1, grids),
            (Cursor{3, Stage::attention, 1, 3, last_key / 3, last_key}));
}

TEST(TraceCursor, StaleTilesAndCellsAreBroughtBackInRange) {
  const Recording& recording = *real_run().recording;
  SmallGrids grids(recording);
  const int tiles = grids.grid_of(3, 1).tiles();
  const Cursor stale{3, Stage::attention, 1, 2, 500, 9000};
  for (const Grain grain : kGrains) {
    for (const int by : {-1, 1}) {
      const Cursor moved = move_cursor(recording, stale, grain, by, grids);
      EXPECT_LT(moved.tile, tiles);
      EXPECT_LT(moved.cell, grids.grid_of(3, 1).num_keys);
    }
  }
  EXPECT_EQ(move_cursor(recording, {.index = 5000}, Grain::step, 1, grids).index, 5000);  // at the end
}

TEST(TraceCursor, AnEmptyRecordingHasNowhereToGo) {
  const Recording empty(small_manifest());
  PlannedGrids grids(empty, -1, -1);
  for (const Grain grain : kGrains) {
    EXPECT_EQ(move_cursor(empty, {}, grain, 1, grids), Cursor{});
    EXPECT_EQ(move_cursor(empty, {}, grain, -1, grids), Cursor{});
  }
}

TEST(TraceCursor, PlannedTilesAreTheOnesTheKernelVisited) {
  const TightRun& run = real_run();
  Inspector inspector(*run.device, run.recording);
  for (int index = 0; index < run.recording->num_steps(); ++index) {
    const auto step = run.recording->step(index);
    const auto view = inspector.inspect(index, 1);
    for (std::size_t b = 0; b < static_cast<std::size_t>(step->num_scheduled); ++b) {
      const TileGrid grid = planned_grid(*step, run.recording->manifest().model, b, -1);
      EXPECT_EQ(grid.k_tile, view->k_tile);
      const int row = step->cu_seqlens_q[b + 1] - 1;
      int visited = 0;
      for (int tile = 0; tile < view->num_tiles; ++tile) {
        visited += std::isnan(view->tile_m[view->tile_at(0, row, tile)]) ? 0 : 1;
      }
      EXPECT_EQ(grid.tiles(), visited) << "step " << index << " sequence " << b;
    }
  }
}

}  // namespace
}  // namespace attn::trace::test
