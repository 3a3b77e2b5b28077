// Questions every panel asks of a Frame: which sequence is meant, what a token looks like, where a number
// comes from. Nothing here computes what the engine or a kernel should have said.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "viz/frame.h"

namespace attn::viz {

/// A sequence's part of the packed batch of one step.
struct BatchRows {
  int batch = -1;  // -1: not in this step
  int seq = -1;
  int q0 = 0;  // first packed query row
  int q_len = 0;
  int k_len = 0;
  int attended = 0;  // columns attention went over: k_len, or more when zero pads are attended
  int cached() const { return k_len - q_len; }
  int pads() const { return attended - k_len; }
};

/// The query row that is meant: the selected one, else the last of the sequence.
int focus_q_row(const BatchRows& rows, const Selection& selection);

/// "A" .. "F", then "AA" .. "FA", "AB" ..; hue index is id % 6. Warm-up sequences (-1, -2, ..) are "W", "W2".
std::string seq_letter(int id);
/// "sequence A", "warm-up sequence W".
std::string seq_words(int id);

/// Steps are called by the engine's own number everywhere: the first is 1, a recorded warm-up before it 0.
/// The numbers of a recording run without gaps, whatever it begins with.
int step_number(const Frame& frame, int index);
/// Layers, heads, tiles, queries and launches count from 0 as in the engine's arrays: "tile 1 (0-3)", with
/// the range of what there is; "tile 0, the only one".
std::string counted_text(std::string_view what, int index, int count);
/// The index in the recording of the step with that number, in or out of range.
int index_of_step(const Frame& frame, int number);
/// "step 3 of 41", the last number recorded.
std::string step_of_text(const Frame& frame, int index);
const trace::SeqState* find_seq(const std::vector<trace::SeqState>& seqs, int id);
/// The selected sequence when it is alive in the step, else the first of the batch; -1 without a step.
int focus_seq(const Frame& frame, const Selection& selection);
BatchRows batch_rows(const Frame& frame, int seq);
/// Ids alive in the step, ascending (keys 1-6 count in this order).
std::vector<int> alive_seqs(const Frame& frame);

bool is_prefill(const trace::StepRecord& step);
/// Whether attention read keys through the cache (all but packed prefill and identity).
bool reads_cache(const trace::StepRecord& step);
/// The mask alignment that the attention kernel of this step was launched with.
MaskAlignment mask_in_force(const trace::StepRecord& step);
std::string_view path_text(trace::AttentionPath path);
std::string_view kind_text(trace::StepKind kind);
std::string_view mask_text(MaskAlignment mask);

/// Token as chips show it: space as a middle dot, newline as a return arrow, "#17" when its text is unknown.
std::string token_label(const Frame& frame, std::int32_t id);
/// Physical block of position `pos`, -1 when the table does not reach it.
int block_of(const trace::SeqState& seq, int pos, int block_size);
int num_layers(const Frame& frame);
int num_heads(const Frame& frame);
/// "weights[2, 5, 1] F32, decode_l2_tiled_kernel".
std::string weight_source(const trace::AttentionView& view, int head, int row, int col);
/// First 4 hex digits of a hash.
std::string hash_tag(std::uint64_t hash);
/// 1,536 B, 24.0 KiB, ...
std::string bytes_text(std::uint64_t bytes);

}  // namespace attn::viz
