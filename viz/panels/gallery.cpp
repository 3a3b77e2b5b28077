#include "viz/panels/gallery.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "viz/keys.h"
#include "viz/widgets/dialog.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr float kWidth = 1320.0F, kHeight = 760.0F;  // of the whole, at most
constexpr float kNarrowest = 270.0F;                 // a card
constexpr float kTallest = 218.0F;                   // ... unless its words need more
constexpr float kPad = 14.0F, kPadAbove = 10.0F;     // around what is in it
constexpr float kTick = 22.0F;                       // of one that is finished
constexpr std::string_view kCardTick = "\xE2\x9C\x93";

struct Grid {
  int columns = 1;
  float w = 0.0F, h = 0.0F;  // of a card
  float gap = 0.0F;
};

/// How the words of a card stand in it. No title is cut: a long one has smaller letters, then more lines.
struct CardWords {
  FontRole title = FontRole::title;
  float number_w = 0.0F, title_w = 0.0F;
  float title_h = 0.0F, about_h = 0.0F, foot_h = 0.0F;
  float between = 0.0F;

  float height() const { return title_h + between + about_h + between + foot_h; }
};

const std::string& about_of(const LessonCard& card) { return card.note.empty() ? card.about : card.note; }

CardWords words_of(const Ui& ui, float width, const LessonCard& card) {
  CardWords words;
  const float inside = width - 2.0F * ui.px(kPad);
  words.between = ui.px(6);
  words.number_w = card.number.empty() ? 0.0F : text_width(ui, FontRole::title, "00") + ui.px(8);
  words.title_w = inside - words.number_w - (card.finished() ? ui.px(kTick + 4) : 0.0F);
  if (text_width(ui, words.title, card.title) > words.title_w) words.title = FontRole::strong;
  words.title_h = std::max(std::round(font_pixels(FontRole::title) * 1.35F),
                           wrapped_height(ui, words.title, words.title_w, card.title));
  words.about_h = wrapped_height(ui, FontRole::text, inside, about_of(card));
  words.foot_h = std::max(ui.px(28), line_step(FontRole::small) + ui.px(9));
  return words;
}

/// As many columns as there is room for, and rows that fill the height: all of them where every card's words
/// fit in them, else as many whole ones as do.
Grid grid_of(const Ui& ui, const Rect& area, const std::vector<LessonCard>& cards) {
  Grid grid;
  grid.gap = ui.px(12);
  const int count = static_cast<int>(cards.size());
  const int most = std::clamp(static_cast<int>((area.w + grid.gap) / (ui.px(kNarrowest) + grid.gap)), 1, 4);
  grid.columns = most;
  const int rows = std::max(1, (count + most - 1) / most);
  grid.w =
      std::floor((area.w - ui.px(11) - grid.gap * static_cast<float>(most - 1)) / static_cast<float>(most));
  float needed = 0.0F;
  for (const LessonCard& card : cards) needed = std::max(needed, words_of(ui, grid.w, card).height());
  needed += 2.0F * ui.px(kPadAbove);
  const auto height_of = [&](float room, int shown) {
    return (room + grid.gap) / static_cast<float>(shown) - grid.gap;
  };
  float fitting = height_of(area.h, rows);
  if (fitting < needed) {
    const float room = area.h - fold_note_height(ui);
    fitting = height_of(room, std::max(1, static_cast<int>((room + grid.gap) / (needed + grid.gap))));
  }
  grid.h = std::floor(std::clamp(fitting, needed, std::max(needed, ui.px(kTallest))));
  return grid;
}

/// Where one goes on: the lesson that was open last, or, when it is finished, the next one that is not.
int first_open(const std::vector<LessonCard>& cards) {
  const auto last = std::ranges::find_if(cards, &LessonCard::last);
  const auto begin = last == cards.end() ? cards.begin() : last;
  const auto unfinished = [](const LessonCard& card) { return !card.finished(); };
  auto open = std::find_if(begin, cards.end(), unfinished);
  if (open == cards.end()) open = std::find_if(cards.begin(), begin, unfinished);
  return unfinished(*open) ? static_cast<int>(open - cards.begin()) : 0;
}

/// Whether opening it goes on in its middle.
bool goes_on(const LessonCard& card) { return card.at > 1 && !card.finished(); }

void move_choice(ShellView& shell, const Grid& grid, int count) {
  const int before = shell.chosen;
  const auto move = [&](int by) {
    const int to = shell.chosen + by;
    if (to >= 0 && to < count) shell.chosen = to;
  };
  if (key_pressed(keys::kRight)) move(1);
  if (key_pressed(keys::kLeft)) move(-1);
  if (key_pressed(keys::kDown)) move(grid.columns);
  if (key_pressed(keys::kUp)) move(-grid.columns);
  if (key_pressed(keys::kHome)) shell.chosen = 0;
  if (key_pressed(keys::kEnd)) shell.chosen = count - 1;
  shell.chosen = std::clamp(shell.chosen, 0, std::max(0, count - 1));
  if (shell.chosen != before) shell.follow = true;
}

std::string counted(int count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string progress_text(const LessonCard& card) {
  if (card.finished()) return "finished";
  if (card.seen == 0 && card.done == 0)
    return counted(card.stops, "stop") + ", " + counted(card.tasks, "task");
  return fmt::format("stop {} of {}, {} of {} tasks", goes_on(card) ? card.at : card.seen, card.stops,
                     card.done, card.tasks);
}

constexpr const char* kFromStart = "From stop 1";

/// In the lower right of a card whose lesson would go on in its middle.
Rect from_start_box(const Ui& ui, const Rect& card) {
  const float w = text_width(ui, FontRole::strong, kFromStart) + ui.px(18);
  return {card.right() - ui.px(12) - w, card.bottom() - ui.px(20) - ui.px(24), w, ui.px(24)};
}

/// What was done of it, as a bar; a tick when it is finished.
/// `text_w`: as much of the row is its words'.
void draw_progress(const Ui& ui, const Rect& row, float text_w, const LessonCard& card) {
  const int whole = card.stops + card.tasks;
  const float share =
      whole == 0 ? 0.0F : static_cast<float>(card.seen + card.done) / static_cast<float>(whole);
  text_in(ui, FontRole::small, {row.x, row.y, text_w, row.h - ui.px(9)},
          ui[card.finished() ? Color::ok : Color::muted], progress_text(card), Align::left);
  const Rect track{row.x, row.bottom() - ui.px(5), row.w, ui.px(5)};
  fill(ui, track, ui[Color::border], 1.0F, ui.px(2));
  if (share > 0.0F)
    fill(ui, {track.x, track.y, std::max(ui.px(4), track.w * share), track.h},
         ui[card.finished() ? Color::ok : Color::accent], 1.0F, ui.px(2));
}

void draw_card(const Ui& ui, const Rect& box, const LessonCard& card, bool chosen) {
  fill(ui, box, ui[Color::raised], 1.0F, ui.px(6));
  outline(ui, box, ui[chosen ? Color::accent : Color::border],
          chosen ? std::max(2.0F, ui.px(2.5F)) : std::max(1.0F, ui.px(1)), ui.px(6));
  const CardWords words = words_of(ui, box.w, card);
  const float pad = ui.px(kPad), above = ui.px(kPadAbove);
  const Rect in{box.x + pad, box.y + above, box.w - 2.0F * pad, box.h - 2.0F * above};
  const float line_h = std::round(font_pixels(FontRole::title) * 1.35F);
  text_in(ui, FontRole::title, {in.x, in.y, words.number_w, line_h}, ui[Color::accent], card.number,
          Align::left);
  // One line stands beside its number, several begin there.
  const float step = line_step(words.title);
  const float from = wrapped_height(ui, words.title, words.title_w, card.title) > step
                         ? std::max(0.0F, std::floor((line_h - step) * 0.5F))
                         : std::floor((words.title_h - step) * 0.5F);
  text_wrapped(ui, words.title, {in.x + words.number_w, in.y + from, words.title_w, words.title_h},
               ui[Color::text], card.title);
  if (card.finished()) {
    const float side = ui.px(kTick);
    const Rect tick{in.right() - side, in.y + std::floor((line_h - side) * 0.5F), side, side};
    fill(ui, tick, ui[Color::ok], 1.0F, side * 0.5F);
    text_in(ui, FontRole::strong, tick, ui[Color::panel], kCardTick, Align::center);
  }
  const Rect foot{in.x, in.bottom() - words.foot_h, in.w, words.foot_h};
  text_wrapped(ui, FontRole::text, {in.x, in.y + words.title_h + words.between, in.w, words.about_h},
               ui[card.note.empty() ? Color::text : Color::error], about_of(card));
  const float button_w = chosen && goes_on(card) ? from_start_box(ui, box).w + ui.px(6) : 0.0F;
  draw_progress(ui, foot, foot.w - button_w, card);
}

/// The card that was chosen, and from where its lesson is told.
struct PickedLesson {
  const LessonCard* card = nullptr;  // null: none was
  bool from_start = false;
};

void open_lesson(Ui& ui, const PickedLesson& choice) {
  const LessonCard& card = *choice.card;
  Command open;
  open.kind = Command::Kind::open_file;
  open.text = card.path;
  if (!choice.from_start && goes_on(card)) open.text += fmt::format("#stop={}", card.at);
  ui.commands.push_back(std::move(open));
  ui.view.shell.close();
}

PickedLesson draw_cards(Ui& ui, const Rect& area) {
  ShellView& shell = ui.view.shell;
  const std::vector<LessonCard>& cards = ui.frame.lessons;
  const Grid grid = grid_of(ui, area, cards);
  move_choice(shell, grid, static_cast<int>(cards.size()));
  const bool enter = key_pressed(keys::kEnter, false) || key_pressed(keys::kKeypadEnter, false);
  int entered = enter ? shell.chosen : -1;
  bool from_start = enter && ImGui::GetIO().KeyShift;
  const ImVec2 moved = ImGui::GetIO().MouseDelta;
  const float top = begin_scroll(ui, "gallery/list", area);
  float bottom = top;
  for (std::size_t i = 0; i < cards.size(); ++i) {
    const int place = static_cast<int>(i);
    const Rect box{area.x + (grid.w + grid.gap) * static_cast<float>(place % grid.columns),
                   top + (grid.h + grid.gap) * static_cast<float>(place / grid.columns), grid.w, grid.h};
    bottom = box.bottom();
    const bool here = place == shell.chosen;
    if (here && shell.follow) ImGui::SetScrollFromPosY(box.y - ImGui::GetWindowPos().y, 0.3F);
    if (visible_part(ui, box).w <= 0.0F) continue;
    const std::string name = std::filesystem::path(cards[i].path).stem().string();
    ui.marks.add("gallery/" + name, visible_part(ui, box), cards[i].title, cards[i].path);
    const Hit hit = touch(ui, box);
    if (hit.hovered && (moved.x != 0.0F || moved.y != 0.0F)) shell.chosen = place;
    if (hit.clicked) entered = place;
    draw_card(ui, box, cards[i], here);
    if (here && goes_on(cards[i]) &&
        button(ui, "gallery/from_start", from_start_box(ui, box), kFromStart,
               "tell it from its beginning (Shift+Enter)"))
      from_start = true;
  }
  end_scroll(ui, bottom, grid.h + grid.gap);
  shell.follow = false;
  if (entered < 0 || entered >= std::ssize(cards)) return {};
  return {&cards[static_cast<std::size_t>(entered)], from_start};
}

}  // namespace

void draw_gallery(Ui& ui, const Rect& screen) {
  ShellView& shell = ui.view.shell;
  const std::vector<LessonCard>& cards = ui.frame.lessons;
  if (shell.fresh) {
    send(ui, Command::Kind::list_lessons);
    shell.chosen = -1;
  }
  shell.fresh = false;
  if (shell.chosen < 0 && !cards.empty()) {
    shell.chosen = first_open(cards);
    shell.follow = true;
  }
  begin_card(ui, "gallery", card_on(ui, screen, kWidth, kHeight), screen, true);
  const float title_h = std::round(font_pixels(FontRole::title) * 1.5F);
  const Rect head{ui.body.x, ui.body.y, ui.body.w, title_h};
  const float used = text_in(ui, FontRole::title, head, ui[Color::text], "Lessons", Align::left);
  text_in(ui, FontRole::text, {head.x + used + ui.px(16), head.y, head.w - used - ui.px(16), head.h},
          ui[Color::muted],
          first_fitting(ui, FontRole::text, head.w - used - ui.px(16),
                        {"do it with your own hands, and a number proves what you saw",
                         "do it, and a number proves it", ""}),
          Align::left);
  const float foot_h = ui.px(34);
  const Rect foot{ui.body.x, ui.body.bottom() - foot_h, ui.body.w, foot_h};
  const Rect area{ui.body.x, head.bottom() + ui.px(8), ui.body.w,
                  foot.y - ui.px(10) - head.bottom() - ui.px(8)};
  const PickedLesson chosen = cards.empty() ? PickedLesson{} : draw_cards(ui, area);
  if (cards.empty()) {
    text_in(ui, FontRole::text, area, ui[Color::muted], "looking for lessons\xE2\x80\xA6", Align::center);
  }
  const float free_w = text_width(ui, FontRole::strong, "Free play") + ui.px(32);
  const bool free = button(ui, "gallery/free", {foot.x, foot.y, free_w, foot.h}, "Free play",
                           "close this and look at what runs behind it (Esc)");
  const Rect hint{foot.x + free_w + ui.px(14), foot.y, foot.w - free_w - ui.px(14), foot.h};
  text_in(
      ui, FontRole::small, hint, ui[Color::muted],
      first_fitting(ui, FontRole::small, hint.w,
                    {"Arrows and Enter choose a lesson   Shift+Enter: from stop 1   Esc: free play   Ctrl+L "
                     "opens this again",
                     "Arrows and Enter choose   Shift+Enter: from stop 1   Esc: free play",
                     "Arrows and Enter choose   Esc: free play", "Enter   Esc", ""}),
      Align::right);
  if (chosen.card != nullptr) {
    open_lesson(ui, chosen);
  } else if (free) {
    shell.close();
  }
  end_panel(ui);
}

}  // namespace attn::viz
