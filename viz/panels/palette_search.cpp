#include "viz/panels/palette_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "viz/lookup.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr std::size_t kMostHits = 100;

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

template <class Number>
std::optional<Number> parsed(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// An entry that changes the selection.
template <class Change>
MenuEntry jump(std::string name, std::string title, std::string right, Change change) {
  return {{.name = std::move(name), .title = std::move(title), .right = std::move(right)},
          [change](Ui& ui) { select(ui, change); }};
}

void find_numbers(const Ui& ui, int number, std::vector<MenuEntry>& out) {
  if (number >= 0 && static_cast<std::size_t>(number) < ui.frame.step->blocks.size()) {
    out.push_back(jump(fmt::format("block {}", number), fmt::format("block {}", number), "pool",
                       [number](Selection& s) { s.block = number; }));
  }
  const int index = index_of_step(ui.frame, number);
  if (index < 0 || index >= ui.frame.num_steps) return;
  out.push_back(
      {{.name = fmt::format("step {}", number), .title = fmt::format("step {}", number), .right = "timeline"},
       [index](Ui& now) { send(now, Command::Kind::seek, index); }});
}

/// The visible weight of the selected head and sequence that is nearest to `value`.
void find_weight(const Ui& ui, float value, std::vector<MenuEntry>& out) {
  if (!ui.frame.attention) return;
  const trace::AttentionView& view = *ui.frame.attention;
  const BatchRows rows = batch_rows(ui.frame, focus_seq(ui.frame, ui.selection));
  if (rows.batch < 0 || ui.selection.head >= view.num_heads) return;
  int row = -1;
  int col = -1;
  float best = INFINITY;
  for (int q = 0; q < rows.q_len; ++q) {
    if (!view.has_row(rows.q0 + q)) continue;
    for (int k = 0; k < std::min(rows.attended, view.max_k); ++k) {
      const float off = std::abs(view.weight(ui.selection.head, rows.q0 + q, k) - value);
      if (!(off < best)) continue;
      best = off;
      row = q;
      col = k;
    }
  }
  if (row < 0) return;
  const float weight = view.weight(ui.selection.head, rows.q0 + row, col);
  out.push_back(jump(
      "weight", fmt::format("weight {:.6f}: query {} of {}, key {}", weight, row, seq_letter(rows.seq), col),
      fmt::format("head {}", ui.selection.head), [seq = rows.seq, row, col](Selection& s) {
        s.seq = seq;
        s.q_row = row;
        s.k_col = col;
      }));
}

/// The tokens of one sequence; `index` is the step to go to, where it is last seen.
void find_in(const Ui& ui, const trace::SeqState& seq, int index, const std::string& wanted,
             std::vector<MenuEntry>& out) {
  const bool here = index == ui.frame.index;
  for (std::size_t i = 0; i < seq.token_ids.size() && out.size() < kMostHits; ++i) {
    const std::string label = token_label(ui.frame, seq.token_ids[i]);
    if (lowered(label).find(wanted) == std::string::npos) continue;
    out.push_back(
        jump(fmt::format("token {} {}", seq.id, i),
             fmt::format("\"{}\"  {} position {}{}", label, seq_letter(seq.id), i,
                         here ? "" : fmt::format(", finished in step {}", step_number(ui.frame, index))),
             fmt::format("id {}", seq.token_ids[i]), [id = seq.id, i, here, index](Selection& s) {
               s.seq = id;
               s.k_col = static_cast<int>(i);
               if (!here) s.step = index;
             }));
  }
}

/// In the sequences of this step, then in those that finished before it, the latest first.
void find_tokens(const Ui& ui, const std::string& typed, std::vector<MenuEntry>& out) {
  const std::string wanted = lowered(typed);
  for (const trace::SeqState& seq : ui.frame.step->seqs_after) find_in(ui, seq, ui.frame.index, wanted, out);
  if (!ui.frame.history) return;
  const std::vector<StepSummary>& history = *ui.frame.history;
  for (int i = std::min(ui.frame.index, static_cast<int>(history.size())) - 1; i >= 0; --i) {
    for (const trace::SeqState& seq : history[static_cast<std::size_t>(i)].ended)
      find_in(ui, seq, i, wanted, out);
  }
}

/// Better matches first, of equal ones what was used most, then by the alphabet. Before anything is typed:
/// what was used, then as in the menus.
std::vector<MenuEntry> ranked(const Ui& ui, std::vector<MenuEntry> all, const std::string& typed) {
  struct Place {
    int score = 0;
    int uses = 0;
    std::size_t at = 0;
  };
  const auto& used = ui.view.shell.used;
  std::vector<Place> order;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Choice& choice = all[i].choice;
    int score = typed.empty() ? 0 : command_score(typed, choice.title);
    if (!typed.empty() && !all[i].words.empty()) score = std::max(score, command_score(typed, all[i].words));
    // A switch is also found by what the engine calls it.
    if (score < 0) score = fuzzy_score(typed, fmt::format("{} {}", choice.title, choice.right));
    const auto found = used.find(choice.name);
    if (score >= 0) order.push_back({score, found == used.end() ? 0 : found->second, i});
  }
  std::ranges::stable_sort(order, [&](const Place& a, const Place& b) {
    if (a.score != b.score) return a.score > b.score;
    if (a.uses != b.uses) return a.uses > b.uses;
    return !typed.empty() && all[a.at].choice.title < all[b.at].choice.title;
  });
  std::vector<MenuEntry> out;
  for (const Place& place : order) out.push_back(std::move(all[place.at]));
  return out;
}

}  // namespace

int fuzzy_score(std::string_view typed, std::string_view text) {
  int score = 0;
  std::size_t at = 0;
  bool run = false;
  for (const char wanted : typed) {
    if (wanted == ' ' && at < text.size() && text[at] != ' ') continue;
    std::size_t found = at;
    while (found < text.size() && lower(text[found]) != lower(wanted)) ++found;
    if (found == text.size()) return -1;
    run = found == at && at > 0;
    const bool word = found == 0 || text[found - 1] == ' ';
    score += 1 + (run ? 4 : 0) + (word ? 3 : 0);
    at = found + 1;
  }
  return score;
}

int command_score(std::string_view typed, std::string_view title) {
  int score = fuzzy_score(typed, title);
  if (score < 0) return score;
  // Titles are "Menu: what it does". Words as they were typed count more than letters here and there, at the
  // start of what it does the most.
  constexpr int kWhole = 100, kStart = 100, kWord = 50;
  const std::string text = lowered(title), wanted = lowered(typed);
  const std::size_t colon = text.find(": ");
  const std::size_t action = colon == std::string::npos ? 0 : colon + 2;
  if (text.find(wanted) != std::string::npos) score += kWhole;
  if (text.compare(action, wanted.size(), wanted) == 0)
    score += kStart;
  else if (text.find(" " + wanted) != std::string::npos || text.starts_with(wanted))
    score += kWord;
  return score;
}

std::vector<MenuEntry> find_entries(const Ui& ui, const std::string& typed) {
  std::vector<MenuEntry> out;
  if (typed.empty() || !ui.frame.step) return out;
  if (const auto number = parsed<int>(typed)) find_numbers(ui, *number, out);
  if (const auto value = parsed<float>(typed); value && typed.find_first_of(".e") != std::string::npos)
    find_weight(ui, *value, out);
  find_tokens(ui, typed, out);
  return out;
}

void draw_palette(Ui& ui, const Rect& screen) {
  ShellView& shell = ui.view.shell;
  const bool find = shell.overlay == Overlay::find;
  begin_card(ui, "palette", card_on(ui, screen, 640.0F, 460.0F), screen, true);
  const float row = ui.px(32);
  text_line(ui, "palette/text", {ui.body.x, ui.body.y, ui.body.w, row}, shell.text,
            find ? "a token's text, the number of a block or step, a weight such as 0.25"
                 : "a few letters of a command",
            shell.fresh);
  shell.fresh = false;
  if (shell.listed != shell.text) shell.chosen = 0;
  shell.listed = shell.text;
  const std::vector<MenuEntry> entries =
      find ? find_entries(ui, shell.text) : ranked(ui, palette_entries(ui), shell.text);
  std::vector<Choice> choices;
  for (const MenuEntry& entry : entries) choices.push_back(entry.choice);
  const Rect list{ui.body.x, ui.body.y + row + ui.px(8), ui.body.w, ui.body.h - row - ui.px(8)};
  const int chosen = choose(ui, "palette", list, choices);
  if (choices.empty()) {
    text_in(ui, FontRole::text, {list.x, list.y, list.w, row}, ui[Color::muted],
            shell.text.empty() ? "type what to look for: in this step, and in what has finished"
                               : "nothing like that",
            Align::left);
  }
  if (chosen >= 0) {
    shell.close();
    if (!find) ++shell.used[entries[static_cast<std::size_t>(chosen)].choice.name];
    if (entries[static_cast<std::size_t>(chosen)].run) entries[static_cast<std::size_t>(chosen)].run(ui);
  }
  end_panel(ui);
}

}  // namespace attn::viz
