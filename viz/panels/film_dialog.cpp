#include "viz/panels/film_dialog.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string_view>

#include "viz/lookup.h"
#include "viz/widgets/dialog.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

struct FilmFormat {
  std::string_view name;  // of its mark
  std::string_view label;
  std::string_view ending;  // of the path
  std::string_view tip;
};
constexpr std::array<FilmFormat, 4> kFilmFormats = {
    {{"mp4", "MP4", ".mp4", "H.264, for slides and courses"},
     {"webm", "WebM", ".webm", "VP9, for the web"},
     {"gif", "GIF", ".gif", "for a README or a chat: 10 frames a second"},
     {"png", "PNG files", "/", "a picture for every frame, in a folder, for editing"}}};

struct FilmSize {
  std::string_view name;
  std::string_view label;
};
constexpr std::string_view kGifSize = "960x540", kFilmSize = "1080p";
constexpr std::array<FilmSize, 7> kFilmSizes = {{{kGifSize, "960x540"},
                                                 {"720p", "720p"},
                                                 {kFilmSize, "1080p"},
                                                 {"1440p", "1440p"},
                                                 {"4k", "4K"},
                                                 {"square", "1:1"},
                                                 {"vertical", "9:16"}}};

const FilmFormat* format_of(const std::string& path) {
  const auto found = std::ranges::find_if(kFilmFormats, [&](const FilmFormat& one) {
    return path.size() > one.ending.size() && path.ends_with(one.ending);
  });
  return found == kFilmFormats.end() ? nullptr : &*found;
}

/// The path with another ending. A small size is the usual one of a GIF, and of nothing else.
void choose_format(ShellView& shell, const FilmFormat& format) {
  const FilmFormat* before = format_of(shell.text);
  if (before != nullptr) shell.text.resize(shell.text.size() - before->ending.size());
  shell.text += format.ending;
  const bool gif = format.ending == ".gif";
  if (gif) shell.film_size = kGifSize;
  if (!gif && shell.film_size == kGifSize) shell.film_size = kFilmSize;
}

/// Buttons side by side in one row; returns the place of the one that was clicked, else -1.
int choice_row(Ui& ui, const Rect& row, const std::string& group, std::span<const Choice> choices) {
  const float gap = ui.px(4);
  const auto count = static_cast<float>(choices.size());
  const float w = std::floor((row.w - gap * (count - 1.0F)) / count);
  int clicked = -1;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const Choice& one = choices[i];
    const Rect box{row.x + (w + gap) * static_cast<float>(i), row.y, w, row.h};
    if (button(ui, fmt::format("film/{}/{}", group, one.name), box, one.title, one.tip, true, one.checked))
      clicked = static_cast<int>(i);
  }
  return clicked;
}

/// Lines of the card, one below the other.
struct FilmRows {
  Ui& ui;
  Rect rest;

  Rect next(float height, float gap = 8.0F) {
    const Rect row{rest.x, rest.y, rest.w, ui.px(height)};
    rest.y += row.h + ui.px(gap);
    rest.h -= row.h + ui.px(gap);
    return row;
  }
  /// A quiet word at the left, what is to be chosen to the right of it.
  Rect labelled(std::string_view label, float height) {
    Rect row = next(height);
    const float w = ui.px(76);
    text_in(ui, FontRole::text, {row.x, row.y, w, row.h}, ui[Color::muted], label, Align::left);
    return {row.x + w, row.y, row.w - w, row.h};
  }
};

void draw_film_formats(Ui& ui, const Rect& row) {
  ShellView& shell = ui.view.shell;
  std::array<Choice, kFilmFormats.size()> choices;
  for (std::size_t i = 0; i < kFilmFormats.size(); ++i) {
    const FilmFormat& one = kFilmFormats[i];
    choices[i] = {.name = std::string(one.name),
                  .title = std::string(one.label),
                  .tip = std::string(one.tip),
                  .checked = format_of(shell.text) == &one};
  }
  if (const int chosen = choice_row(ui, row, "format", choices); chosen >= 0)
    choose_format(shell, kFilmFormats[static_cast<std::size_t>(chosen)]);
}

void draw_film_sizes(Ui& ui, const Rect& row) {
  ShellView& shell = ui.view.shell;
  std::array<Choice, kFilmSizes.size()> choices;
  for (std::size_t i = 0; i < kFilmSizes.size(); ++i) {
    choices[i] = {.name = std::string(kFilmSizes[i].name),
                  .title = std::string(kFilmSizes[i].label),
                  .tip = "size of the picture",
                  .checked = shell.film_size == kFilmSizes[i].name};
  }
  if (const int chosen = choice_row(ui, row, "size", choices); chosen >= 0)
    shell.film_size = kFilmSizes[static_cast<std::size_t>(chosen)].name;
}

void draw_film_begin(Ui& ui, const Rect& row) {
  ShellView& shell = ui.view.shell;
  const std::array<Choice, 2> choices = {
      {{.name = "first", .title = "the first step", .tip = "the whole run", .checked = !shell.film_from_here},
       {.name = "here",
        .title = fmt::format("this step, {}", step_number(ui.frame, ui.frame.index)),
        .tip = "from here to the end",
        .checked = shell.film_from_here}}};
  const int chosen = choice_row(ui, row, "from", choices);
  if (chosen >= 0) shell.film_from_here = chosen == 1;
}

/// Of a lesson: the whole of it, or only what runs now.
void draw_film_subject(Ui& ui, const Rect& row) {
  ShellView& shell = ui.view.shell;
  const FilmNow& film = ui.frame.film;
  const std::array<Choice, 2> choices = {
      {{.name = "told", .title = "the lesson", .tip = film.what, .checked = !shell.film_run},
       {.name = "run",
        .title = film.run,
        .tip = "what you turned and sent, step by step, without the stops",
        .checked = shell.film_run}}};
  const int chosen = choice_row(ui, row, "of", choices);
  if (chosen >= 0) shell.film_run = chosen == 1;
}

bool films_run(const Ui& ui) { return !ui.frame.film.whole || ui.view.shell.film_run; }

/// What is wrong with the path; "" when it can be used.
std::string wrong_with_film(const Ui& ui) {
  if (format_of(ui.view.shell.text) == nullptr) return "the path ends in .mp4, .webm, .gif or /";
  return {};
}

void draw_film_wishes(Ui& ui, FilmRows& rows, bool fresh) {
  ShellView& shell = ui.view.shell;
  if (ui.frame.film.whole) draw_film_subject(ui, rows.labelled("Film of", 28.0F));
  const Rect formats = rows.labelled("Format", 28.0F);
  draw_film_sizes(ui, rows.labelled("Size", 28.0F));
  if (films_run(ui)) draw_film_begin(ui, rows.labelled("Begins at", 28.0F));
  const bool entered = text_line(ui, "film/path", rows.labelled("File", 32.0F), shell.text,
                                 "NAME.mp4, NAME.webm, NAME.gif or NAME/", fresh);
  // Behind the text field, which else would write its own text over the new one.
  draw_film_formats(ui, formats);
  const std::string wrong = wrong_with_film(ui);
  const Rect row = rows.next(30.0F);
  const float w = ui.px(84);
  const Rect cancel{row.right() - w, row.y, w, row.h};
  const Rect record{cancel.x - ui.px(8) - w, row.y, w, row.h};
  text_in(ui, FontRole::small, {row.x, row.y, record.x - row.x - ui.px(8), row.h}, ui[Color::muted],
          wrong.empty() ? "Its scenario is written beside it." : wrong, Align::left);
  const bool go = button(ui, "film/record", record, "Record", wrong, wrong.empty(), wrong.empty());
  if (button(ui, "film/close", cancel, "Cancel", "Esc")) shell.close();
  if (!(go || entered) || !wrong.empty()) return;
  Command command;
  command.kind = Command::Kind::record_film;
  command.text = shell.text;
  command.value = shell.film_size;
  if (films_run(ui)) command.a = shell.film_from_here ? 1 : 2;
  ui.commands.push_back(std::move(command));
}

void draw_film_running(Ui& ui, FilmRows& rows) {
  const FilmNow& film = ui.frame.film;
  const Rect track = rows.next(12.0F);
  fill(ui, track, ui[Color::raised], 1.0F, ui.px(6));
  outline(ui, track, ui[Color::stroke], 1.0F, ui.px(6));
  const float share = std::clamp(film.fraction, 0.0F, 1.0F);
  if (share > 0.0F) fill(ui, {track.x, track.y, track.w * share, track.h}, ui[Color::accent], 1.0F, ui.px(6));
  std::string text = film.text;
  if (film.fraction >= 0.0F) text += fmt::format("   {:.0f} %", film.fraction * 100.0F);
  if (film.seconds_left >= 0.0F) text += ", " + time_left_text(film.seconds_left);
  const Rect says = rows.next(24.0F);
  text_in(ui, FontRole::text, says, ui[Color::text], text, Align::left);
  mark(ui, "film/progress", says, text);
  const Rect row = rows.next(30.0F);
  const float w = ui.px(84);
  const Rect hide{row.right() - w, row.y, w, row.h};
  const Rect stop{hide.x - ui.px(8) - w, row.y, w, row.h};
  if (button(ui, "film/cancel", stop, "Cancel", "what is drawn by now is kept, and goes on from there"))
    send(ui, Command::Kind::cancel_film);
  if (button(ui, "film/hide", hide, "Hide", "go on with something else meanwhile (Esc)"))
    ui.view.shell.close();
}

/// What became of the last film: the card is as high as that needs.
void draw_film_outcome(Ui& ui, FilmRows& rows, float height) {
  const FilmNow& film = ui.frame.film;
  const float w = ui.px(64);
  const Rect box = rows.next(height / std::max(0.01F, ui.scale));
  const Rect text{box.x, box.y, box.w - w - ui.px(12), box.h};
  text_wrapped(ui, FontRole::text, text, ui[film.failed ? Color::error : Color::ok], film.text);
  mark(ui, "film/outcome", text, film.text);
  if (button(ui, "film/copy", {box.right() - w, box.y, w, ui.px(28)}, "Copy",
             "this text into the clipboard")) {
    Command copy;
    copy.kind = Command::Kind::copy_text;
    copy.text = film.text;
    ui.commands.push_back(std::move(copy));
  }
}

}  // namespace

void draw_film_dialog(Ui& ui, const Rect& screen) {
  ShellView& shell = ui.view.shell;
  const FilmNow& film = ui.frame.film;
  const bool fresh = std::exchange(shell.fresh, false);
  if (fresh) {
    shell.text = film.stem + (shell.film_size == kGifSize ? ".gif" : ".mp4");
    shell.film_run = film.by_hand;
  }
  constexpr float kWidth = 640.0F;
  const float outcome =
      film.running || film.text.empty()
          ? 0.0F
          : std::max(ui.px(28), wrapped_height(ui, FontRole::text, ui.px(kWidth - 100.0F), film.text));
  float height = film.running ? 148.0F : film.whole && films_run(ui) ? 282.0F : 246.0F;
  if (outcome > 0.0F) height += outcome / std::max(0.01F, ui.scale) + 8.0F;
  begin_card(ui, "film", card_on(ui, screen, kWidth, height), screen, true);
  FilmRows rows{ui, ui.body};
  text_in(ui, FontRole::strong, rows.next(26.0F), ui[Color::text],
          film.running
              ? "Recording a film"
              : fmt::format("Record a film of {}", film.whole && films_run(ui) ? film.run : film.what),
          Align::left);
  if (film.running) {
    draw_film_running(ui, rows);
  } else {
    if (outcome > 0.0F) draw_film_outcome(ui, rows, outcome);
    draw_film_wishes(ui, rows, fresh);
  }
  end_panel(ui);
}

}  // namespace attn::viz
