// One tensor of a step into a file of the user's: safetensors for programs, CSV for tables.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "core/trace/attention_view.h"
#include "core/trace/store.h"

namespace attn::trace {

/// `tensor`: "q", "k", "v" (rows of the step, as recorded), "o", "lse", "weights" or "scores". The last two
/// come from `view`, which must be of that step and layer (of a large batch it holds a window of rows:
/// first_row); the others do not need it.
///
/// A path ending in .safetensors gets the tensor under its name, in the recorded element type, with step,
/// layer, path, kernel, device, scenario, model and first_row as metadata; NaN where the kernel did not look.
/// A path ending in .csv gets a header line and then
///   q, k, v, o: row, seq, position, head, d0 .. dD-1     one line per row and head
///   lse:        row, seq, position, head, lse
///   weights:    row, seq, position, head, key, weight    only keys that the kernel looked at (scores alike)
/// where row is packed over the batch. The file is there whole or not at all. Throws InputError for another
/// name or ending, a layer that is not recorded, a missing view, or a place that cannot be written to.
/// `go_on` hears how many of all rows of a CSV are written; when it says no, nothing is there and the answer
/// is false.
using GoOn = std::function<bool(int done, int total)>;
bool export_tensor(const std::filesystem::path& path, const Store& store, int index, int layer,
                   std::string_view tensor, const AttentionView* view, const GoOn& go_on = {});

}  // namespace attn::trace
