// The text twin: the screen's state in plain sentences, for the clipboard, `describe` and screen readers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/trace/names.h"
#include "core/trace/number_text.h"
#include "kernels/common/mask.h"
#include "viz/describe_run.h"
#include "viz/lookup.h"
#include "viz/panels/mass_bars.h"
#include "viz/pool_facts.h"
#include "viz/roofline_facts.h"
#include "viz/screen.h"

namespace attn::viz {
namespace {

std::string list(const std::vector<std::int32_t>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

std::string text_of(const Frame& frame, const trace::SeqState& seq, std::size_t from, std::size_t to) {
  std::string text;
  for (std::size_t i = from; i < std::min(to, seq.token_ids.size()); ++i) {
    const auto id = static_cast<std::size_t>(seq.token_ids[i]);
    text += id < frame.token_texts.size() && !frame.token_texts[id].empty() ? frame.token_texts[id]
                                                                            : fmt::format("<#{}>", id);
  }
  return text;
}

std::string describe_sequence(const Frame& frame, const trace::SeqState& seq) {
  const trace::StepRecord& step = *frame.step;
  const trace::SeqState* after = find_seq(step.seqs_after, seq.id);
  if (after == nullptr) after = &seq;
  const auto prompt = static_cast<std::size_t>(std::max(0, seq.num_prompt_tokens));
  const BatchRows rows = batch_rows(frame, seq.id);
  std::string out = fmt::format("Sequence {} (id {}), {}: prompt \"{}\"", seq_letter(seq.id), seq.id,
                                rows.batch >= 0 ? "in this step" : trace::name_of(seq.status),
                                text_of(frame, *after, 0, prompt));
  if (after->token_ids.size() > prompt)
    out += fmt::format(", generated \"{}\"", text_of(frame, *after, prompt, after->token_ids.size()));
  out += fmt::format(". {} tokens, {} cached, block_table {}.", after->num_tokens, seq.num_cached_tokens,
                     list(seq.block_table));
  if (rows.batch >= 0) out += fmt::format(" {} queries over {} keys.", rows.q_len, rows.k_len);
  return out + "\n";
}

std::string describe_pool(const Frame& frame) {
  const trace::StepRecord& step = *frame.step;
  const PoolCounts counts = count_blocks(step.blocks);
  if (frame.manifest && frame.manifest->is_tensor_case())
    return step.blocks.empty() ? "No cache: the keys are packed.\n"
                               : fmt::format("Cache: {}.\n", counts_text(counts, false));
  std::string shared;
  for (const trace::BlockState& block : step.blocks) {
    if (block.ref_count > 1)
      shared += fmt::format("{}{} (x{})", shared.empty() ? "" : ", ", block.id, block.ref_count);
  }
  std::vector<std::int32_t> head(step.free_blocks.begin(),
                                 step.free_blocks.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(
                                                                16, step.free_blocks.size())));
  return fmt::format(
      "Pool after the step: {} used, {} free but cached, {} free of {}. Shared blocks: {}. Free queue: "
      "{}{}.\n",
      counts.used, counts.cached_free, counts.free, step.blocks.size(), shared.empty() ? "none" : shared,
      list(head), step.free_blocks.size() > head.size() ? " and more" : "");
}

std::string describe_mask(const Frame& frame, const BatchRows& rows) {
  const MaskAlignment mask = mask_in_force(*frame.step);
  if (!is_prefill(*frame.step))
    return fmt::format(
        "Mask of {}: one query over {} keys{}.\n", seq_letter(rows.seq), rows.k_len,
        rows.pads() > 0 ? fmt::format(" and {} zero pads that are attended", rows.pads()) : "");
  long long allowed = 0;
  for (int i = 0; i < rows.q_len; ++i) allowed += visible_keys(mask, i, rows.q_len, rows.k_len);
  return fmt::format("Mask of {}: {}, {} queries, {} keys, cached_len {}: {} of {} allowed.\n",
                     seq_letter(rows.seq), mask_text(mask), rows.q_len, rows.k_len, rows.cached(), allowed,
                     static_cast<long long>(rows.q_len) * rows.k_len);
}

std::string describe_weights(const Frame& frame, const Selection& selection, const BatchRows& rows) {
  const WeightsInput in =
      weights_input(frame, frame.attention, rows.seq, selection.head, mask_in_force(*frame.step));
  if (const std::string note = weights_missing(frame, in); !note.empty()) return note + "\n";
  const trace::AttentionView& view = *frame.attention;
  const bool selected = selection.q_row >= in.row_from && selection.q_row < in.row_to;
  const int q = selected ? selection.q_row : in.row_to - 1;
  const int row = rows.q0 + q;
  int best = -1;
  for (int k = 0; k < in.part().looked(q); ++k) {
    if (best < 0 || view.weight(in.head, row, k) > view.weight(in.head, row, best)) best = k;
  }
  const Mass mass = measure_mass(in, q);
  std::string out =
      fmt::format("Softmax weights of {}, layer {}, head {}, query {} ({}): ", seq_letter(rows.seq),
                  view.layer, selection.head, row - rows.q0, with_probe_note(frame, view.kernel, ", "));
  out += best < 0
             ? "no visible key"
             : fmt::format("largest {:.4f} at key {}", num(view.weight(selection.head, row, best)), best);
  out += fmt::format(", mass on real keys {:.6f}", num(mass.real));
  if (mass.pads.pads > 0)
    out += fmt::format(", stolen by {} zero pads {:.6f} (predicted P/(Z+P) {:.6f})", mass.pads.pads,
                       num(mass.pads.measured), num(mass.pads.predicted));
  out += ".\n";
  if (!std::isnan(view.max_abs_diff_o))
    out +=
        fmt::format("Check: inspector's output against the recorded one, max|diff| {:.2e}, max|o| {:.2e}.\n",
                    num(view.max_abs_diff_o), num(view.max_abs_o));
  return out;
}

std::string describe_step(const Frame& frame) {
  const trace::StepRecord& step = *frame.step;
  std::string out = fmt::format("Step {} of {}: {}, attention path {}, {} query rows of {} sequences.\n",
                                step.step, step_number(frame, frame.num_steps - 1), trace::name_of(step.kind),
                                trace::name_of(step.path), step.input_ids.size(), step.num_scheduled);
  out += fmt::format("cu_seqlens_q {}, cu_seqlens_k {}, slot_mapping {}.\n", list(step.cu_seqlens_q),
                     list(step.cu_seqlens_k), list(step.slot_mapping));
  if (step.context_lens) out += fmt::format("context_lens {}.\n", list(*step.context_lens));
  for (const trace::SeqState& seq : step.seqs) out += describe_sequence(frame, seq);
  for (const trace::Sampled& sampled : step.sampled)
    out += fmt::format("Sampled for {}: \"{}\" (id {}){}.\n", seq_letter(sampled.seq_id), sampled.text,
                       sampled.token_id,
                       sampled.discarded ? ", discarded because the chunk is not the prompt's last" : "");
  for (const trace::Rejected& rejected : step.rejected)
    out += fmt::format("Rejected {}: {}.\n", seq_letter(rejected.id), rejected.reason);
  for (const trace::Event& event : step.events) {
    if (!event.text.empty()) out += fmt::format("Event: {}\n", event.text);
  }
  return out + describe_pool(frame);
}

/// What is covered on screen is not told here either.
std::string describe_question(const LessonNow& lesson) {
  std::string out = fmt::format("{}, stop {} of {}. Guess first: {}\n", lesson.title, lesson.stop + 1,
                                lesson.num_stops, lesson.question);
  if (!lesson.choices.empty()) out += fmt::format("One of: {}.\n", fmt::join(lesson.choices, ", "));
  return out + "The state is told once the question is answered (Space).\n";
}

}  // namespace

std::string describe_screen(const Frame& frame, const Selection& selection) {
  if (frame.lesson && frame.lesson->asking) return describe_question(*frame.lesson);
  std::string out;
  if (frame.manifest != nullptr) {
    const trace::ModelShape& model = frame.manifest->model;
    out += fmt::format("Scenario {}, model {} ({} layers, {} heads, {} KV heads, head_dim {}).\n",
                       frame.manifest->scenario_name, model.name, model.num_layers, model.num_heads,
                       model.num_kv_heads, model.head_dim);
  }
  if (!frame.step) return out + "No step has been recorded yet.\n";
  out += describe_step(frame) + describe_run(frame, selection);
  const BatchRows rows = batch_rows(frame, focus_seq(frame, selection));
  if (frame.step->path == trace::AttentionPath::identity)
    return out + "No attention in this step: the output is q itself.\n";
  if (rows.batch >= 0) {
    out += describe_mask(frame, rows);
    out += frame.attention ? describe_weights(frame, selection, rows)
                           : fmt::format("Softmax weights: {}.\n",
                                         frame.attention_note.empty() ? "not loaded" : frame.attention_note);
  }
  if (!frame.device.empty()) out += fmt::format("Device: {}.\n", frame.device);
  if (!frame.status.empty()) out += fmt::format("Status: {}\n", frame.status);
  return out;
}

}  // namespace attn::viz
