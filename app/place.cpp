#include "app/place.h"

#include <fmt/format.h>

#include "kernels/common/check.h"

namespace attn::app {

viz::Selection selection_of(const Place& place, const trace::Store& store, const std::string& where) {
  const Link link{.path = where,
                  .step = place.step,
                  .layer = place.layer,
                  .head = place.head,
                  .seq = place.seq,
                  .row = place.row,
                  .col = place.col,
                  .tile = place.tile};
  viz::Selection selection = selection_of(link, store);
  if (place.stage) selection.stage = *place.stage;
  if (place.block) {
    const int blocks = store.manifest().config.num_blocks;
    if (*place.block >= blocks) {
      throw InputError(fmt::format("there is no block {} ({}); the pool has blocks 0 to {}", *place.block,
                                   where, blocks - 1));
    }
    selection.block = *place.block;
  }
  return selection;
}

Place place_of(const Link& link) {
  Place place;
  place.step = link.step;
  place.stage = link.stage;
  place.layer = link.layer;
  place.head = link.head;
  place.tile = link.tile;
  place.seq = link.seq;
  place.row = link.row;
  place.col = link.col;
  return place;
}

Place over(const Place& base, const Place& more) {
  Place place = more;
  const auto take = [](auto& value, const auto& otherwise) {
    if (!value) value = otherwise;
  };
  take(place.step, base.step);
  take(place.stage, base.stage);
  take(place.layer, base.layer);
  take(place.head, base.head);
  take(place.tile, base.tile);
  take(place.seq, base.seq);
  take(place.row, base.row);
  take(place.col, base.col);
  take(place.block, base.block);
  return place;
}

trace::Cursor cursor_of(const viz::Selection& s) {
  return {.index = s.step,
          .stage = s.stage,
          .layer = s.layer,
          .head = s.head,
          .tile = s.tile,
          .cell = s.tile >= 0 ? s.k_col : -1};
}

viz::Selection moved_to(viz::Selection selection, const trace::Cursor& cursor) {
  const bool was_at_cell = cursor_of(selection).cell >= 0;
  selection.step = cursor.index;
  selection.stage = cursor.stage;
  selection.layer = cursor.layer;
  selection.head = cursor.head;
  selection.tile = cursor.tile;
  if (cursor.cell >= 0 || was_at_cell) selection.k_col = cursor.cell;
  return selection;
}

}  // namespace attn::app
