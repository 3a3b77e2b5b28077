#include "viz/panels/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "viz/lookup.h"
#include "viz/panels/prompt_box.h"
#include "viz/widgets/paint.h"
#include "viz/widgets/scroll_fade.h"

namespace attn::viz {
namespace {

// Token texts measured per frame: enough to read on, bounded for prompts of thousands.
constexpr int kTokensOfSelected = 600;
constexpr int kTokensOfOthers = 48;
// With more requests than this, only the selected one shows its tokens; the others are a line with a bar.
constexpr int kWithTokens = 8;

enum class Chip : unsigned char { cached, computed, waiting, generated, newest, past };

struct Request {
  int id = 0;
  const trace::SeqState* ran = nullptr;    // as the step ran
  const trace::SeqState* after = nullptr;  // after commit, with the sampled token
  bool ended = false;                      // in an earlier step: no longer in the record, its text stays
};

std::string label_of(const Frame& frame, int id) {
  if (frame.manifest == nullptr) return {};
  const auto& labels = frame.manifest->request_labels;
  return id >= 0 && static_cast<std::size_t>(id) < labels.size() ? labels[static_cast<std::size_t>(id)]
                                                                 : std::string{};
}

/// What the request is doing in this step, in the reader's words.
std::string status_of(const Frame& frame, const Request& request) {
  if (request.ended) return "finished";
  const trace::StepRecord& step = *frame.step;
  const auto has = [&](const std::vector<int>& ids) {
    return std::find(ids.begin(), ids.end(), request.id) != ids.end();
  };
  if (has(step.finished)) return "finished";
  if (has(step.preempted)) return "preempted";
  if (batch_rows(frame, request.id).batch >= 0) return is_prefill(step) ? "prefill" : "decode";
  return request.ran->status == trace::SeqStatus::waiting ? "waiting" : "not in this step";
}

Chip chip_of(const Request& request, int pos) {
  const trace::SeqState& ran = *request.ran;
  if (pos >= ran.num_tokens) return Chip::newest;
  if (pos >= ran.num_prompt_tokens) return Chip::generated;
  if (request.ended) return Chip::past;
  if (pos < ran.num_cached_tokens) return Chip::cached;
  return pos < ran.num_cached_tokens + ran.num_scheduled_tokens ? Chip::computed : Chip::waiting;
}

const char* chip_text(Chip chip) {
  switch (chip) {
    case Chip::cached:
      return "prompt, K/V already in the cache";
    case Chip::computed:
      return "prompt, computed in this step";
    case Chip::waiting:
      return "prompt, not computed yet";
    case Chip::generated:
      return "generated";
    case Chip::newest:
      return "sampled in this step";
    case Chip::past:
      return "prompt of a finished request";
  }
  return "";
}

void draw_chip(const Ui& ui, const Rect& box, int seq, Chip chip, std::string_view text) {
  const float round = ui.px(3);
  switch (chip) {
    case Chip::cached:
      fill(ui, box, tint_of(ui, seq), 1.0F, round);
      line(ui, box.x + round, box.bottom() - 1.0F, box.right() - round, box.bottom() - 1.0F, hue_of(ui, seq),
           ui.px(2));
      break;
    case Chip::computed:
      fill(ui, box, tint_of(ui, seq), 1.0F, round);
      outline(ui, box, hue_of(ui, seq), 1.0F, round);
      break;
    case Chip::waiting:
      dotted(ui, box, ui[Color::unwritten]);
      break;
    case Chip::generated:
      fill(ui, box, ui[Color::raised], 1.0F, round);
      break;
    case Chip::newest:
      fill(ui, box, hue_of(ui, seq), 1.0F, round);
      break;
    case Chip::past:
      fill(ui, box, tint_of(ui, seq), 1.0F, round);
      break;
  }
  const Rgb ink = chip == Chip::newest    ? on_hue_of(ui, seq)
                  : chip == Chip::waiting ? ui[Color::muted]
                                          : ui[Color::text];
  text_in(ui, FontRole::mono, box, ink, text, Align::center);
}

/// The first token of the last ones that fill about `lines` lines `width` wide.
int first_of_lines(const Ui& ui, const Request& request, int first, float lines, float width) {
  const auto& ids = request.after->token_ids;
  float room = lines * width;
  int at = static_cast<int>(ids.size());
  for (; at > first; --at) {
    const std::string text = token_label(ui.frame, ids[static_cast<std::size_t>(at) - 1]);
    room -= std::min(text_width(ui, FontRole::mono, text) + ui.px(6 + 3), width);
    if (room < 0.0F) break;
  }
  return at;
}

/// Chips in lines; returns the y below the last line. With `many` requests a third of the list has to do.
float draw_tokens(Ui& ui, const Request& request, float x0, float y, float right, bool many) {
  const trace::SeqState& state = *request.after;
  const int count = static_cast<int>(state.token_ids.size());
  const bool selected = request.id == focus_seq(ui.frame, ui.selection);
  const float h = ui.px(20);
  const float gap = ui.px(3);
  int first = std::max(0, count - (selected ? kTokensOfSelected : kTokensOfOthers));
  if (many) {
    const float lines = std::max(2.0F, std::floor(ImGui::GetWindowHeight() * 0.34F / (h + gap)) - 1.0F);
    first = first_of_lines(ui, request, first, lines, right - x0);
  }
  float x = x0;
  if (first > 0) {
    const std::string note = fmt::format("{} earlier tokens \xE2\x80\xA6", first);
    x += text_in(ui, FontRole::small, {x, y, right - x, h}, ui[Color::muted], note, Align::left) + gap;
  }
  for (int pos = first; pos < count; ++pos) {
    const std::string text = token_label(ui.frame, state.token_ids[static_cast<std::size_t>(pos)]);
    const float w = std::min(text_width(ui, FontRole::mono, text) + ui.px(6), right - x0);
    if (x + w > right && x > x0) {
      x = x0;
      y += h + gap;
    }
    const Rect box{x, y, w, h};
    x += w + gap;
    if (visible_part(ui, box).w <= 0.0F) continue;
    const Chip chip = chip_of(request, pos);
    draw_chip(ui, box, request.id, chip, text);
    const bool lit = ui.view.hover.seq == request.id && ui.view.hover.k_col == pos;
    if (lit) outline(ui, box, ui[Color::selection], ui.px(2), ui.px(3));
    const std::int32_t id = state.token_ids[static_cast<std::size_t>(pos)];
    const Hit hit =
        mark(ui, fmt::format("requests/token/{}/{}", request.id, pos), box,
             fmt::format("{} \xC2\xB7 position {} \xC2\xB7 id {}: {}", text, pos, id, chip_text(chip)),
             fmt::format("seqs_after[id {}].token_ids[{}] I32", request.id, pos));
    if (hit.hovered) {
      ui.view.next_hover.seq = request.id;
      ui.view.next_hover.k_col = pos;
    }
    if (hit.clicked) {
      select(ui, [&](Selection& s) {
        s.seq = request.id;
        s.k_col = pos;
        s.block = block_of(*request.ran, pos, ui.frame.step->config.block_size);
      });
    }
  }
  return count == 0 ? y : y + h;
}

/// One line instead of the tokens, as shares of them all: cached (prompt, then generated), computed in this
/// step, and the rest to come.
void draw_progress(Ui& ui, const Request& request, const Rect& box) {
  const trace::SeqState& ran = *request.ran;
  const float total = static_cast<float>(std::max(1, request.after->num_tokens));
  fill(ui, box, ui[Color::raised], 1.0F, ui.px(2));
  const auto part = [&](int from, int to, Rgb color) {
    const float x0 = std::round(
        box.x + box.w * static_cast<float>(std::clamp(from, 0, request.after->num_tokens)) / total);
    const float x1 =
        std::round(box.x + box.w * static_cast<float>(std::clamp(to, 0, request.after->num_tokens)) / total);
    fill(ui, {x0, box.y, x1 - x0, box.h}, color);
  };
  if (request.ended) {
    part(0, request.after->num_tokens, tint_of(ui, request.id));
    return;
  }
  part(0, ran.num_cached_tokens, tint_of(ui, request.id));
  if (ran.num_cached_tokens > ran.num_prompt_tokens)
    part(ran.num_prompt_tokens, ran.num_cached_tokens,
         mix(tint_of(ui, request.id), hue_of(ui, request.id), 0.5));
  part(ran.num_cached_tokens, ran.num_cached_tokens + ran.num_scheduled_tokens, hue_of(ui, request.id));
}

/// `many`: there are more requests than can show their tokens; `brief`: this one is a line with a bar.
float draw_request(Ui& ui, const Request& request, float x, float y, float right, bool many, bool brief) {
  const float head = ui.px(26);
  const Rect line_box{x, y, right - x, head};
  const bool selected = request.id == ui.selection.seq;
  if (selected && ui.view.data.requests.shown_seq != request.id) {  // brought into view once
    ui.view.data.requests.shown_seq = request.id;
    const Rect seen = visible_part(ui, line_box);
    if (seen.w <= 0.0F || seen.h < head)
      ImGui::SetScrollY(std::max(0.0F, y - std::floor(ImGui::GetCursorScreenPos().y) - ui.px(30)));
  }
  if (brief && visible_part(ui, line_box).w <= 0.0F) return line_box.bottom() + ui.px(2);
  const std::string status = status_of(ui.frame, request);
  const std::string count =
      fmt::format("{} + {}", request.after->num_prompt_tokens,
                  std::max(0, request.after->num_tokens - request.after->num_prompt_tokens));
  const Hit hit =
      mark(ui, fmt::format("requests/seq/{}", request.id), line_box,
           fmt::format("sequence {} ({}): {} prompt + {} generated tokens, {} cached, {}",
                       seq_letter(request.id), request.id, request.after->num_prompt_tokens,
                       request.after->num_tokens - request.after->num_prompt_tokens,
                       request.ran->num_cached_tokens, status),
           fmt::format("seqs_after[id {}], StepRecord of step {}", request.id, ui.frame.step->step));
  if (selected || hit.hovered) fill(ui, line_box, ui[Color::raised], 1.0F, ui.px(4));
  const Rect chip{x + ui.px(3), y + ui.px(3), ui.px(22), ui.px(20)};
  letter_chip(ui, chip, request.id);
  if (selected) outline(ui, line_box, ui[Color::selection], 1.0F, ui.px(4));
  const float count_w = text_width(ui, FontRole::mono, count) + ui.px(6);
  const float status_x = chip.right() + ui.px(8);
  const std::string label = label_of(ui.frame, request.id);
  const bool named = !label.empty() && label != seq_letter(request.id);
  const std::string words = named && !brief ? fmt::format("{}  \xC2\xB7  {}", status, label) : status;
  const bool alarm = status == "preempted";
  const float words_w = right - count_w - status_x;
  const float used = text_in(ui, FontRole::strong, {status_x, y, words_w, head},
                             ui[alarm ? Color::error : Color::text], words, Align::left);
  text_in(ui, FontRole::mono, {right - count_w, y, count_w - ui.px(4), head}, ui[Color::muted], count,
          Align::right);
  if (hit.clicked) {
    select(ui, [&](Selection& s) {
      s.seq = request.id;
      s.q_row = s.k_col = -1;
    });
  }
  if (brief) {
    const float from = std::max(used, ui.px(76)) + ui.px(8);
    if (words_w > from + ui.px(20))
      draw_progress(ui, request,
                    {status_x + from, y + ui.px(9), words_w - from - ui.px(8), head - ui.px(18)});
    return line_box.bottom() + ui.px(2);
  }
  return draw_tokens(ui, request, x + ui.px(3), y + head + ui.px(4), right - ui.px(3), many) + ui.px(12);
}

/// Requests that cannot run, with the engine's sentence.
float draw_rejected(Ui& ui, float x, float y, float right) {
  for (const trace::Rejected& rejected : ui.frame.step->rejected) {
    const std::string text = fmt::format("{} rejected: {}", seq_letter(rejected.id), rejected.reason);
    const float h = text_wrapped(ui, FontRole::small, {x, y, right - x, 0.0F}, ui[Color::error], text);
    mark(ui, fmt::format("requests/rejected/{}", rejected.id), {x, y, right - x, h}, text,
         "StepRecord.rejected");
    y += h + ui.px(6);
  }
  return y;
}

/// Requests that finished in a step before this one, the latest first.
std::vector<const trace::SeqState*> ended_before(const Frame& frame) {
  std::vector<const trace::SeqState*> ended;
  if (!frame.history) return ended;
  const int known = std::min(frame.index, static_cast<int>(frame.history->size()));
  for (int i = known - 1; i >= 0; --i) {
    for (const trace::SeqState& state : (*frame.history)[static_cast<std::size_t>(i)].ended) {
      ended.push_back(&state);
    }
  }
  return ended;
}

}  // namespace

void draw_requests(Ui& ui, const Rect& rect) {
  std::string caption = "prompt + generated";
  std::vector<const trace::SeqState*> ended;
  std::vector<int> alive;
  if (ui.frame.step) {
    ended = ended_before(ui.frame);
    alive = alive_seqs(ui.frame);
    const int running = ui.frame.step->num_scheduled;
    const int waiting = static_cast<int>(alive.size()) - running;
    if (alive.size() + ended.size() > kWithTokens)
      caption = fmt::format("{} run, {} wait, {} done", running, waiting, ended.size());
  }
  if (!begin_panel(ui, "requests", rect, "Requests", caption)) return;
  // In low panels the requests come first: prompts are then added where the window is larger.
  const float wanted = prompt_box_height(ui);
  const float box_h = ui.body.h >= wanted + ui.px(60) ? wanted : 0.0F;
  const Rect list{ui.body.x, ui.body.y, ui.body.w, std::max(ui.px(20), ui.body.h - box_h - ui.px(8))};
  if (!ui.frame.step) {
    const Rect body = ui.body;
    ui.body = list;
    empty_note(ui, "Requests and their text appear here when the first step has run.");
    ui.body = body;
  } else {
    const float top = begin_scroll(ui, "requests/list", list);
    const float right = list.right() - ui.px(12);
    const bool many = alive.size() + ended.size() > kWithTokens;
    const int focus = focus_seq(ui.frame, ui.selection);
    float y = draw_rejected(ui, list.x, top, right);
    for (const int id : alive) {
      Request request{id, find_seq(ui.frame.step->seqs, id), find_seq(ui.frame.step->seqs_after, id)};
      if (request.after == nullptr) request.after = request.ran;
      y = draw_request(ui, request, list.x, y, right, many, many && id != focus);
    }
    for (const trace::SeqState* state : ended)
      y = draw_request(ui, {state->id, state, state, true}, list.x, y, right, many,
                       many && state->id != ui.selection.seq);
    end_scroll_faded(ui, y);
  }
  if (box_h > 0.0F) draw_prompt_box(ui, {ui.body.x, ui.body.bottom() - box_h, ui.body.w, box_h});
  end_panel(ui);
}

}  // namespace attn::viz
