#include "core/engine/poison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/trace/tensor_values.h"

namespace attn {
namespace {

using trace::EventKind;
using trace::LayerRecord;
using trace::StepRecord;

struct Place {
  int layer;
  int row;  // of the batch
  int head;
};

/// Where in o [N, H, D] the first NaN of each sequence stands; `found` keeps what earlier layers had.
void search(const LayerRecord& layer, const StepRecord& record, std::vector<std::optional<Place>>& found) {
  const std::vector<float> o = trace::to_floats(layer.o);
  const auto heads = static_cast<std::size_t>(layer.o.shape[1]);
  const std::size_t row_size = heads * static_cast<std::size_t>(layer.o.shape[2]);
  for (std::size_t b = 0; b < found.size(); ++b) {
    if (found[b]) continue;
    const auto begin = o.begin() + static_cast<std::ptrdiff_t>(record.cu_seqlens_q[b] * row_size);
    const auto end = o.begin() + static_cast<std::ptrdiff_t>(record.cu_seqlens_q[b + 1] * row_size);
    const auto nan = std::find_if(begin, end, [](float x) { return std::isnan(x); });
    if (nan == end) continue;
    const auto at = static_cast<std::size_t>(nan - o.begin());
    found[b] = {layer.layer, static_cast<int>(at / row_size),
                static_cast<int>(at % row_size * heads / row_size)};
  }
}

}  // namespace

void note_poison(const StepRecord& record, StepLog& log) {
  std::vector<std::optional<Place>> found(static_cast<std::size_t>(record.num_scheduled));
  for (const LayerRecord& layer : record.layers) search(layer, record, found);
  for (std::size_t b = 0; b < found.size(); ++b) {
    const int seq_id = record.seqs[b].id;
    const bool in_logits = b < record.sampled.size() &&
                           std::ranges::any_of(record.sampled[b].top_logits,
                                               [](const auto& entry) { return std::isnan(entry.second); });
    if (!found[b] && !in_logits) continue;
    const std::string logits =
        in_logits ? fmt::format("; its logits are NaN and token {} is taken", record.sampled[b].token_id)
                  : "";
    if (found[b]) {
      log.add(EventKind::poison, seq_id, -1,
              fmt::format("NaN in o of layer {} for sequence {}, first at position {} in head {}{}.",
                          found[b]->layer, seq_id, record.positions[static_cast<std::size_t>(found[b]->row)],
                          found[b]->head, logits));
    } else {
      log.add(EventKind::poison, seq_id, -1,
              fmt::format("NaN in the logits of sequence {}: token {} is taken.", seq_id,
                          record.sampled[b].token_id));
    }
  }
}

}  // namespace attn
