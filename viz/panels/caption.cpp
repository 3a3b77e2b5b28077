#include "viz/panels/caption.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "viz/lookup.h"
#include "viz/panels/lesson.h"
#include "viz/pool_facts.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr std::size_t kNamed = 6;  // more sequences are counted, not named

/// "A, B and C" of the batch, or "12 sequences".
std::string batch_names(const trace::StepRecord& step) {
  const auto count = static_cast<std::size_t>(std::max(0, step.num_scheduled));
  const std::size_t known = std::min(count, step.seqs.size());
  if (known == 0 || known > kNamed) return fmt::format("{} sequences", count);
  std::string names;
  for (std::size_t i = 0; i < known; ++i) {
    names += i == 0 ? "" : i + 1 == known ? " and " : ", ";
    names += seq_letter(step.seqs[i].id);
  }
  return names;
}

std::string prefill_sentence(const trace::StepRecord& step) {
  const std::size_t rows = step.input_ids.size();
  const int keys = step.cu_seqlens_k.empty() ? 0 : step.cu_seqlens_k.back();
  const int cached = keys - static_cast<int>(rows);
  std::string out =
      fmt::format("Prefill: {} new tokens of {} go through the model at once", rows, batch_names(step));
  if (cached > 0) return out + fmt::format(", and see {} keys that the cache already holds.", cached);
  const MaskAlignment mask = mask_in_force(step);
  if (mask != MaskAlignment::bottom_right) return out + fmt::format("; mask: {}.", mask_text(mask));
  return out + "; each one sees itself and what stands before it.";
}

std::string decode_sentence(const trace::StepRecord& step) {
  const int keys = step.cu_seqlens_k.empty() ? 0 : step.cu_seqlens_k.back();
  return fmt::format("Decode: one new token each for {}; {} {} {} keys of the cache.", batch_names(step),
                     step.num_scheduled, step.num_scheduled == 1 ? "query reads" : "queries read", keys);
}

std::string sampled_sentence(const Frame& frame) {
  const trace::StepRecord& step = *frame.step;
  std::string out;
  std::size_t count = 0;
  for (const trace::Sampled& sampled : step.sampled) {
    if (sampled.discarded || ++count > kNamed) continue;
    out += fmt::format("{}{}: \"{}\"", count == 1 ? " Sampled  " : "   ", seq_letter(sampled.seq_id),
                       token_label(frame, sampled.token_id));
  }
  return count > kNamed ? out + fmt::format("  and {} more.", count - kNamed) : out;
}

/// The step in as few words as there are.
std::string brief_sentence(const trace::StepRecord& step) {
  const int keys = step.cu_seqlens_k.empty() ? 0 : step.cu_seqlens_k.back();
  return fmt::format("{} of {}: {} {}, {} keys.", is_prefill(step) ? "Prefill" : "Decode", batch_names(step),
                     step.input_ids.size(), is_prefill(step) ? "new tokens" : "queries", keys);
}

/// What may be said, the most first.
std::vector<std::string> variants_of(const Ui& ui) {
  const Frame& frame = ui.frame;
  if (frame.work.active()) return {frame.work.text};
  if (!ui.view.picture.caption.empty()) return {ui.view.picture.caption};
  std::vector<std::string> out;
  // Before a token is sampled there is none to tell.
  if (moment_shown(frame, ui.selection, ui.view.grain).sampled) out.push_back(step_sentence(frame));
  if (frame.step) {
    out.push_back(is_prefill(*frame.step) ? prefill_sentence(*frame.step) : decode_sentence(*frame.step));
    out.push_back(brief_sentence(*frame.step));
  }
  if (frame.stopped_at.empty()) return out;
  const std::string stopped = fmt::format("Stopped: {}.", frame.stopped_at);
  for (std::string& sentence : out) sentence = stopped + " " + sentence;
  out.push_back(stopped);
  return out;
}

/// That letters are smaller than asked for, at the foot; what is left above it.
Rect draw_scale_note(Ui& ui, const Rect& rect) {
  const std::string note = scale_note(ui.view);
  const float h = ui.px(22);
  if (note.empty() || rect.h < 2.0F * h) return rect;
  const Rect foot{rect.x + ui.px(14), rect.bottom() - h, rect.w - ui.px(28), h - ui.px(4)};
  ui.draw = ImGui::GetBackgroundDrawList();
  text_in(ui, FontRole::small, foot, ui[Color::warning], note, Align::left);
  ui.draw = nullptr;
  ui.marks.add("scale_note", foot, note, "larger letters would leave no room for what they say");
  return {rect.x, rect.y, rect.w, rect.h - h};
}

}  // namespace

std::string step_sentence(const Frame& frame) {
  if (!frame.step) return "No step has been run yet.";
  const trace::StepRecord& step = *frame.step;
  const std::string what = is_prefill(step) ? prefill_sentence(step) : decode_sentence(step);
  return what + sampled_sentence(frame);
}

void draw_caption(Ui& ui, const Rect& whole) {
  if (whole.h <= 0.0F) return;
  const Rect rect = draw_scale_note(ui, whole);
  // A stop that is told takes the place of the step's own sentence; long work is said first.
  if (ui.frame.lesson && !ui.frame.work.active()) return draw_lesson(ui, "caption", rect);
  if (!begin_panel(ui, "caption", rect, {}, {}, PanelLook::bar)) return;
  Rect body{ui.body.x + ui.px(4), rect.y, ui.body.w - ui.px(8), rect.h};
  // There is no status bar in mode present: long work, and why a run stopped, are told here.
  const Work& work = ui.frame.work;
  if (work.can_cancel) {
    const Rect cancel{body.right() - ui.px(90), rect.y + std::floor((rect.h - ui.px(34)) * 0.5F), ui.px(90),
                      ui.px(34)};
    if (button(ui, "caption/cancel", cancel, "Cancel", "stop this work (Esc)"))
      send(ui, Command::Kind::cancel);
    body.w -= cancel.w + ui.px(12);
  }
  // The longest that its lines hold; the tooltip has it all.
  const std::vector<std::string> variants = variants_of(ui);
  const FontRole role = caption_role(ui.view);
  const float line_h = line_step(role);
  const int lines = std::max(1, static_cast<int>(rect.h / line_h));
  const auto lines_of = [&](const std::string& text) {
    return static_cast<int>(std::lround(wrapped_height(ui, role, body.w, text) / line_h));
  };
  const auto fits = std::ranges::find_if(variants, [&](const auto& text) { return lines_of(text) <= lines; });
  const std::string& shown = fits == variants.end() ? variants.back() : *fits;
  const float used = line_h * static_cast<float>(std::min(lines, lines_of(shown)));
  text_wrapped(ui, role, {body.x, rect.y + (rect.h - used) * 0.5F, body.w, rect.h}, ui[Color::text], shown,
               Align::left, lines);
  mark(ui, "caption/step", body, variants.front(), "StepRecord of the current step");
  end_panel(ui);
}

}  // namespace attn::viz
