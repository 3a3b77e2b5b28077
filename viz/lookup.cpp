#include "viz/lookup.h"

#include <fmt/format.h>

#include <algorithm>

namespace attn::viz {

using trace::AttentionPath;

std::string seq_letter(int id) {
  if (id < 0) return id == -1 ? "W" : fmt::format("W{}", -id);
  std::string letter(1, static_cast<char>('A' + id % 6));
  const int round = id / 6;
  if (round > 26) return letter + std::to_string(round);
  if (round > 0) letter += static_cast<char>('A' + round - 1);
  return letter;
}

std::string seq_words(int id) {
  return fmt::format("{}sequence {}", id < 0 ? "warm-up " : "", seq_letter(id));
}

int step_number(const Frame& frame, int index) {
  return frame.step ? frame.step->step + index - frame.index : index + 1;
}

std::string counted_text(std::string_view what, int index, int count) {
  return count == 1 ? fmt::format("{} {}, the only one", what, index)
                    : fmt::format("{} {} (0\xE2\x80\x93{})", what, index, count - 1);
}

int index_of_step(const Frame& frame, int number) { return number - step_number(frame, 0); }

std::string step_of_text(const Frame& frame, int index) {
  return fmt::format("step {} of {}", step_number(frame, index), step_number(frame, frame.num_steps - 1));
}

const trace::SeqState* find_seq(const std::vector<trace::SeqState>& seqs, int id) {
  const auto it =
      std::find_if(seqs.begin(), seqs.end(), [id](const trace::SeqState& seq) { return seq.id == id; });
  return it == seqs.end() ? nullptr : &*it;
}

int focus_seq(const Frame& frame, const Selection& selection) {
  if (!frame.step || frame.step->seqs.empty()) return -1;
  if (find_seq(frame.step->seqs, selection.seq) != nullptr) return selection.seq;
  return frame.step->seqs.front().id;
}

int focus_q_row(const BatchRows& rows, const Selection& selection) {
  return selection.q_row >= 0 && selection.q_row < rows.q_len ? selection.q_row : rows.q_len - 1;
}

BatchRows batch_rows(const Frame& frame, int seq) {
  BatchRows rows;
  rows.seq = seq;
  if (!frame.step) return rows;
  const trace::StepRecord& step = *frame.step;
  const auto limit =
      std::min<std::size_t>(step.seqs.size(), static_cast<std::size_t>(std::max(0, step.num_scheduled)));
  for (std::size_t b = 0; b < limit; ++b) {
    if (step.seqs[b].id != seq) continue;
    if (b + 1 >= step.cu_seqlens_q.size() || b + 1 >= step.cu_seqlens_k.size()) return rows;
    rows.batch = static_cast<int>(b);
    rows.q0 = step.cu_seqlens_q[b];
    rows.q_len = step.cu_seqlens_q[b + 1] - step.cu_seqlens_q[b];
    rows.k_len = step.cu_seqlens_k[b + 1] - step.cu_seqlens_k[b];
    rows.attended = step.path == AttentionPath::decode_gather_padded ? std::max(rows.k_len, step.max_seqlen_k)
                                                                     : rows.k_len;
    if (frame.attention && b < frame.attention->attended.size()) {
      rows.attended = std::max(rows.k_len, frame.attention->attended[b]);
    }
    return rows;
  }
  return rows;
}

std::vector<int> alive_seqs(const Frame& frame) {
  std::vector<int> ids;
  if (!frame.step) return ids;
  for (const trace::SeqState& seq : frame.step->seqs) ids.push_back(seq.id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

bool is_prefill(const trace::StepRecord& step) { return step.kind != trace::StepKind::decode; }

bool reads_cache(const trace::StepRecord& step) {
  return step.path != AttentionPath::identity && step.path != AttentionPath::prefill_packed;
}

MaskAlignment mask_in_force(const trace::StepRecord& step) {
  if (is_prefill(step)) return step.config.mask_alignment;
  // One query hangs at the last column either way; only the top-left fault changes what it sees.
  return step.config.mask_alignment == MaskAlignment::top_left ? MaskAlignment::top_left
                                                               : MaskAlignment::none;
}

std::string_view path_text(AttentionPath path) {
  switch (path) {
    case AttentionPath::identity:
      return "identity (no context)";
    case AttentionPath::prefill_packed:
      return "packed K/V";
    case AttentionPath::prefill_paged:
      return "paged K/V";
    case AttentionPath::prefill_gather_flatten:
      return "gather \xE2\x86\x92 flatten";
    case AttentionPath::decode_paged:
      return "paged K/V";
    case AttentionPath::decode_gather_masked:
      return "gather, pads masked";
    case AttentionPath::decode_gather_padded:
      return "gather, pads attended";
  }
  return "?";
}

std::string_view kind_text(trace::StepKind kind) {
  switch (kind) {
    case trace::StepKind::warmup:
      return "WARM-UP";
    case trace::StepKind::prefill:
      return "PREFILL";
    case trace::StepKind::decode:
      return "DECODE";
  }
  return "?";
}

std::string_view mask_text(MaskAlignment mask) {
  switch (mask) {
    case MaskAlignment::bottom_right:
      return "bottom-right";
    case MaskAlignment::top_left:
      return "top-left (wrong corner)";
    case MaskAlignment::none:
      return "none";
  }
  return "?";
}

std::string token_label(const Frame& frame, std::int32_t id) {
  const bool known = id >= 0 && static_cast<std::size_t>(id) < frame.token_texts.size() &&
                     !frame.token_texts[static_cast<std::size_t>(id)].empty();
  if (!known) return fmt::format("#{}", id);
  std::string label;
  for (const char c : frame.token_texts[static_cast<std::size_t>(id)]) {
    if (c == ' ') {
      label += "\xC2\xB7";
    } else if (c == '\n') {
      label += "\xE2\x86\xB5";
    } else if (c == '\t') {
      label += "\xE2\x86\x92";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      label += fmt::format("<0x{:02X}>", static_cast<unsigned char>(c));
    } else {
      label += c;
    }
  }
  return label;
}

int block_of(const trace::SeqState& seq, int pos, int block_size) {
  if (pos < 0 || block_size <= 0) return -1;
  const auto index = static_cast<std::size_t>(pos / block_size);
  return index < seq.block_table.size() ? seq.block_table[index] : -1;
}

int num_layers(const Frame& frame) {
  return frame.manifest == nullptr ? 1 : std::max(1, frame.manifest->model.num_layers);
}
int num_heads(const Frame& frame) {
  return frame.manifest == nullptr ? 1 : std::max(1, frame.manifest->model.num_heads);
}

std::string weight_source(const trace::AttentionView& view, int head, int row, int col) {
  return fmt::format("weights[{}, {}, {}] F32, {}", head, row, col, view.kernel);
}

std::string hash_tag(std::uint64_t hash) { return fmt::format("{:016x}", hash).substr(0, 4); }

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024.0;
  const char* unit = "KiB";
  for (const char* larger : {"MiB", "GiB", "TiB"}) {
    if (value < 1024.0) break;
    value /= 1024.0;
    unit = larger;
  }
  return fmt::format("{:.1f} {}", value, unit);
}

}  // namespace attn::viz
