// The attention launch of a recorded step as launcher parameters without their pointers: what plans, grids
// and the launch itself start from, so that they cannot disagree.
#pragma once

#include "core/trace/cursor.h"
#include "core/trace/step_record.h"
#include "kernels/common/launch.h"
#include "kernels/common/params.h"

namespace attn::trace {

bool reads_cache(AttentionPath path);  // keys come through block_tables
bool is_decode(AttentionPath path);    // one query per sequence

/// The mask as the kernels get it. One query against its whole context: of the alignments only top_left (a
/// "break it" switch) matters to a decode.
MaskAlignment launched_mask(const StepRecord& step);
/// Columns that attention goes over for sequence `b`: its keys, and the zero pads where they are attended.
int attended_columns(const StepRecord& step, std::size_t b);
/// Of these, what some query of `b` sees: under top_left no more than there are queries.
int columns_seen(const StepRecord& step, std::size_t b);
/// (query, key) pairs that the mask lets through, of one head and all sequences.
std::int64_t visible_pairs(const StepRecord& step);

PagedKv cache_shape(const StepRecord& step, const ModelShape& model);
/// PRECOND: the path is one of the op. Everything but pointers, workspace and probe.
PrefillParams prefill_shape(const StepRecord& step, const ModelShape& model);
DecodeParams decode_shape(const StepRecord& step, const ModelShape& model);

/// The level at which the launch of that step runs on such a device, without a probe: what the shape or the
/// device does not allow falls back.
int launched_level(const StepRecord& step, const ModelShape& model, const DeviceTraits& device);

/// How the inspected launch cuts the keys of query row `row` (-1 or out of range: the last) of sequence `b`:
/// the same on every device, as its probe knows only levels 1 and 2.
TileGrid planned_grid(const StepRecord& step, const ModelShape& model, std::size_t b, int row);

}  // namespace attn::trace
