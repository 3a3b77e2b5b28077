#include "viz/panels/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "viz/lookup.h"
#include "viz/panels/prompt_box.h"
#include "viz/pool_facts.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

// Token texts measured per frame: enough to read on, bounded for prompts of thousands.
constexpr int kTokensOfSelected = 600;
constexpr int kTokensOfOthers = 48;
// With more requests than this, only the selected one shows its tokens; the others are a line with a bar.
constexpr int kWithTokens = 8;

enum class Chip : unsigned char { cached, pending, computed, waiting, generated, sampled, newest, past };

struct Request {
  int id = 0;
  const trace::SeqState* ran = nullptr;    // as the step ran
  const trace::SeqState* shown = nullptr;  // at the moment shown: with the token sampled by then
  int ended_in = -1;  // step of the recording, before this one: no longer in the record, its text stays
  bool ended() const { return ended_in >= 0; }
};

std::string label_of(const Frame& frame, int id) {
  if (frame.manifest == nullptr) return {};
  const auto& labels = frame.manifest->request_labels;
  return id >= 0 && static_cast<std::size_t>(id) < labels.size() ? labels[static_cast<std::size_t>(id)]
                                                                 : std::string{};
}

/// What the request is doing in this step, in the reader's words.
std::string status_of(const Frame& frame, const Request& request, const trace::Moment& moment) {
  if (request.ended()) return "finished";
  const trace::StepRecord& step = *frame.step;
  const auto has = [&](const std::vector<int>& ids) {
    return std::find(ids.begin(), ids.end(), request.id) != ids.end();
  };
  if (moment.committed && has(step.finished)) return "finished";
  if (has(step.preempted)) return "preempted";
  if (batch_rows(frame, request.id).batch >= 0) return is_prefill(step) ? "prefill" : "decode";
  return request.ran->status == trace::SeqStatus::waiting ? "waiting" : "not in this step";
}

Chip chip_of(const Request& request, int pos, const trace::Moment& moment) {
  const trace::SeqState& ran = *request.ran;
  if (pos >= ran.num_tokens) return moment.committed ? Chip::newest : Chip::sampled;
  const bool scheduled =
      pos >= ran.num_cached_tokens && pos < ran.num_cached_tokens + ran.num_scheduled_tokens;
  if (scheduled && !moment.stored && !request.ended()) return Chip::pending;
  if (pos >= ran.num_prompt_tokens) return Chip::generated;
  if (request.ended()) return Chip::past;
  if (pos < ran.num_cached_tokens) return Chip::cached;
  return scheduled ? Chip::computed : Chip::waiting;
}

const char* chip_text(Chip chip) {
  switch (chip) {
    case Chip::cached:
      return "prompt, K/V already in the cache";
    case Chip::pending:
      return "in this step, K/V not stored yet";
    case Chip::computed:
      return "prompt, computed in this step";
    case Chip::waiting:
      return "prompt, not computed yet";
    case Chip::generated:
      return "generated";
    case Chip::sampled:
      return "sampled in this step, appended at commit";
    case Chip::newest:
      return "sampled in this step";
    case Chip::past:
      return "prompt of a finished request";
  }
  return "";
}

/// Of the record, that the tokens shown are of.
std::string_view array_of(const Request& request) {
  return request.shown == request.ran && !request.ended() ? "seqs" : "seqs_after";
}

void draw_chip(const Ui& ui, const Rect& box, int seq, Chip chip, std::string_view text) {
  const float round = ui.px(3);
  switch (chip) {
    case Chip::cached:
      fill(ui, box, tint_of(ui, seq), 1.0F, round);
      line(ui, box.x + round, box.bottom() - 1.0F, box.right() - round, box.bottom() - 1.0F, hue_of(ui, seq),
           ui.px(2));
      break;
    case Chip::pending:
    case Chip::sampled:
      dotted(ui, box, hue_of(ui, seq));
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
  const auto& ids = request.shown->token_ids;
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
  const trace::Moment moment = moment_shown(ui.frame, ui.selection, ui.view.grain);
  const trace::SeqState& state = *request.shown;
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
    if (!row_in_sight(ui, box)) continue;
    const Chip chip = chip_of(request, pos, moment);
    draw_chip(ui, box, request.id, chip, text);
    const bool lit = ui.view.hover.seq == request.id && ui.view.hover.k_col == pos;
    if (lit) outline(ui, box, ui[Color::selection], ui.px(2), ui.px(3));
    const std::int32_t id = state.token_ids[static_cast<std::size_t>(pos)];
    const Hit hit =
        mark(ui, fmt::format("requests/token/{}/{}", request.id, pos), box,
             fmt::format("{} \xC2\xB7 position {} \xC2\xB7 id {}: {}", text, pos, id, chip_text(chip)),
             fmt::format("{}[id {}].token_ids[{}] I32", array_of(request), request.id, pos));
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
  const float total = static_cast<float>(std::max(1, request.shown->num_tokens));
  fill(ui, box, ui[Color::raised], 1.0F, ui.px(2));
  const auto part = [&](int from, int to, Rgb color) {
    const float x0 = std::round(
        box.x + box.w * static_cast<float>(std::clamp(from, 0, request.shown->num_tokens)) / total);
    const float x1 =
        std::round(box.x + box.w * static_cast<float>(std::clamp(to, 0, request.shown->num_tokens)) / total);
    fill(ui, {x0, box.y, x1 - x0, box.h}, color);
  };
  if (request.ended()) {
    part(0, request.shown->num_tokens, tint_of(ui, request.id));
    return;
  }
  part(0, ran.num_cached_tokens, tint_of(ui, request.id));
  if (ran.num_cached_tokens > ran.num_prompt_tokens)
    part(ran.num_prompt_tokens, ran.num_cached_tokens,
         mix(tint_of(ui, request.id), hue_of(ui, request.id), 0.5));
  part(ran.num_cached_tokens, ran.num_cached_tokens + ran.num_scheduled_tokens, hue_of(ui, request.id));
}

/// Brings the selected request into view, else the first of the batch: once, so that the wheel still scrolls.
/// Rows keep their places, so what runs may be below what has finished.
void follow_request(Ui& ui, const Request& request, const Rect& line_box) {
  const int wanted = ui.selection.seq >= 0 ? ui.selection.seq : focus_seq(ui.frame, ui.selection);
  int& shown = ui.view.data.requests.shown_seq;
  if (request.id != wanted || shown == wanted) return;
  shown = wanted;
  const Rect seen = visible_part(ui, line_box);
  if (seen.w <= 0.0F || seen.h < line_box.h)
    ImGui::SetScrollY(std::max(0.0F, line_box.y - std::floor(ImGui::GetCursorScreenPos().y) - ui.px(30)));
}

/// Of a selected request that is gone: since when, and which one the other panels show in its place.
std::string ended_text(const Frame& frame, const Request& request, const Selection& selection) {
  const int other = focus_seq(frame, selection);
  return fmt::format("finished in step {}{}", step_number(frame, request.ended_in),
                     other < 0 ? "" : fmt::format("  \xC2\xB7  panels show {}", seq_letter(other)));
}

/// `many`: there are more requests than can show their tokens; `brief`: this one is a line with a bar.
float draw_request(Ui& ui, const Request& request, float x, float y, float right, bool many, bool brief) {
  const float head = ui.px(26);
  const Rect line_box{x, y, right - x, head};
  const bool selected = request.id == ui.selection.seq;
  follow_request(ui, request, line_box);
  if (brief && !row_in_sight(ui, line_box)) return line_box.bottom() + ui.px(2);
  const trace::Moment moment = moment_shown(ui.frame, ui.selection, ui.view.grain);
  const bool gone = selected && request.ended();
  const std::string status =
      gone ? ended_text(ui.frame, request, ui.selection) : status_of(ui.frame, request, moment);
  const std::string count =
      fmt::format("{} + {}", request.shown->num_prompt_tokens,
                  std::max(0, request.shown->num_tokens - request.shown->num_prompt_tokens));
  const Hit hit =
      mark(ui, fmt::format("requests/seq/{}", request.id), line_box,
           fmt::format("sequence {} ({}): {} prompt + {} generated tokens, {} cached, {}",
                       seq_letter(request.id), request.id, request.shown->num_prompt_tokens,
                       request.shown->num_tokens - request.shown->num_prompt_tokens,
                       request.ran->num_cached_tokens, status),
           fmt::format("{}[id {}], StepRecord of step {}", array_of(request), request.id,
                       request.ended() ? step_number(ui.frame, request.ended_in) : ui.frame.step->step));
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
                             ui[alarm  ? Color::error
                                : gone ? Color::warning
                                       : Color::text],
                             words, Align::left);
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

/// Those alive in the step and those that finished in one before it, by id: a row keeps its place when its
/// request ends.
std::vector<Request> requests_of(const Frame& frame, const trace::Moment& moment) {
  std::vector<Request> out;
  for (const trace::SeqState& ran : frame.step->seqs) {
    Request request{ran.id, &ran, &ran};
    const trace::SeqState* after = moment.sampled ? find_seq(frame.step->seqs_after, ran.id) : nullptr;
    if (after != nullptr) request.shown = after;
    out.push_back(request);
  }
  const int known = frame.history ? std::min(frame.index, static_cast<int>(frame.history->size())) : 0;
  for (int i = 0; i < known; ++i) {
    for (const trace::SeqState& state : (*frame.history)[static_cast<std::size_t>(i)].ended)
      out.push_back({state.id, &state, &state, i});
  }
  // Warm-up ids fall from -1; they come first.
  std::ranges::sort(out, {}, &Request::id);
  return out;
}

/// "prompt + generated", or how many there are of each kind; first of it the moment, where it is inside a
/// step.
std::string caption_of(const Ui& ui, const std::vector<Request>& requests) {
  const bool inside = !moment_shown(ui.frame, ui.selection, ui.view.grain).committed;
  const std::string when =
      inside ? moment_text(ui.frame, ui.selection, ui.view.grain) + "  \xC2\xB7  " : std::string();
  if (requests.size() <= kWithTokens) return when + "prompt + generated";
  const std::vector<trace::SeqState>& seqs = inside ? ui.frame.step->seqs : ui.frame.step->seqs_after;
  const auto count = [&](trace::SeqStatus status) {
    return static_cast<int>(std::ranges::count(seqs, status, &trace::SeqState::status));
  };
  const int running = count(trace::SeqStatus::running), waiting = count(trace::SeqStatus::waiting);
  return when + fmt::format("{} run, {} wait, {} done", running, waiting,
                            static_cast<int>(requests.size()) - running - waiting);
}

}  // namespace

void draw_requests(Ui& ui, const Rect& rect) {
  const trace::Moment moment = moment_shown(ui.frame, ui.selection, ui.view.grain);
  const std::vector<Request> requests =
      ui.frame.step ? requests_of(ui.frame, moment) : std::vector<Request>();
  if (!begin_panel(ui, "requests", rect, "Requests",
                   ui.frame.step ? caption_of(ui, requests) : "prompt + generated"))
    return;
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
    const bool many = requests.size() > kWithTokens;
    const int focus = focus_seq(ui.frame, ui.selection);
    float y = draw_rejected(ui, list.x, top, right);
    for (const Request& request : requests) {
      const bool brief = many && request.id != focus && request.id != ui.selection.seq;
      y = draw_request(ui, request, list.x, y, right, many, brief);
    }
    end_scroll(ui, y);
  }
  if (box_h > 0.0F) draw_prompt_box(ui, {ui.body.x, ui.body.bottom() - box_h, ui.body.w, box_h});
  end_panel(ui);
}

}  // namespace attn::viz
