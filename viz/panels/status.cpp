#include "viz/panels/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/trace/number_text.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

// What the inspector's output may differ from the recorded one before the number turns red, relative to the
// largest |o|: float kernels agree far better, half and bfloat16 outputs are rounded when stored.
constexpr double kCheckTolerance = 1e-5;
constexpr double kCheckToleranceHalf = 1e-2;

struct Check {
  std::string text;
  std::string brief = {};  // where `text` has no room
  bool known = false;
  bool good = false;
};

Check last_check(const Frame& frame) {
  if (!frame.attention || std::isnan(frame.attention->max_abs_diff_o)) return {.text = "check: none yet"};
  const trace::AttentionView& view = *frame.attention;
  const bool f32 = frame.manifest == nullptr || frame.manifest->model.dtype == DType::f32;
  const double limit = (f32 ? kCheckTolerance : kCheckToleranceHalf) * std::max(view.max_abs_o, 1e-30);
  return {fmt::format("inspector vs recorded max|\xCE\x94| = {:.1e}", num(view.max_abs_diff_o)),
          fmt::format("max|\xCE\x94| {:.1e}", num(view.max_abs_diff_o)), true, view.max_abs_diff_o <= limit};
}

/// Each draws at the right end of `bar` and takes its room off it.
void draw_check(Ui& ui, Rect& bar) {
  const Check check = last_check(ui.frame);
  const float most = bar.w * 0.45F - ui.px(4);
  const std::string_view shown = first_fitting(ui, FontRole::mono, most, {check.text, check.brief, ""});
  const float w = text_width(ui, FontRole::mono, shown) + ui.px(4);
  const Rect box{bar.right() - w, bar.y, w, bar.h};
  const Color color = !check.known ? Color::muted : check.good ? Color::ok : Color::error;
  text_in(ui, FontRole::mono, box, ui[color], shown, Align::right);
  if (ui.frame.attention) {
    const trace::AttentionView& view = *ui.frame.attention;
    mark(ui, "status/check", box, fmt::format("{}, max|o| = {:.3e}", check.text, num(view.max_abs_o)),
         fmt::format("{} on {} against LayerRecord.o of step {}, layer {}", view.checked_kernel(),
                     view.device, view.step, view.layer));
  }
  bar.w -= w + ui.px(16);
}

Hit draw_quiet(Ui& ui, Rect& bar, const char* name, const std::string& text, const std::string& source,
               Color color = Color::text) {
  const float w = text_width(ui, FontRole::small, text) + ui.px(4);
  if (text.empty() || w > bar.w * 0.4F) return {};
  const Rect box{bar.right() - w, bar.y, w, bar.h};
  text_in(ui, FontRole::small, box, ui[color], text, Align::right);
  bar.w -= w + ui.px(16);
  return mark(ui, name, box, text, source);
}

/// What goes on beside everything else: the rest of the bar stays as it is.
void draw_recording(Ui& ui, Rect& bar) {
  const FilmNow& film = ui.frame.film;
  std::string text;
  if (film.running) {
    text =
        film.fraction >= 0.0F ? fmt::format("film {:.0f} %", film.fraction * 100.0F) : "film: " + film.text;
    if (film.seconds_left >= 0.0F) text += ", " + time_left_text(film.seconds_left);
  }
  if (draw_quiet(ui, bar, "status/film", text, "a film is being made; click or Ctrl+R to see more or cancel",
                 Color::accent)
          .clicked)
    ui.view.shell.open(Overlay::film);
  if (ui.frame.clicks < 0) return;
  draw_quiet(ui, bar, "status/clicks",
             fmt::format("recording clicks: {} stop{}", ui.frame.clicks, ui.frame.clicks == 1 ? "" : "s"),
             "every place you go to becomes a stop; Ctrl+Shift+R saves them", Color::error);
}

/// What is being worked on, how far it is, and the way to stop it.
void draw_work(Ui& ui, const Rect& bar) {
  const Work& work = ui.frame.work;
  float x = bar.x;
  if (work.can_cancel) {
    const Rect cancel{x, bar.y + ui.px(2), ui.px(64), bar.h - ui.px(4)};
    if (button(ui, "status/cancel", cancel, "Cancel", "stop this work (Esc)"))
      send(ui, Command::Kind::cancel);
    x = cancel.right() + ui.px(10);
  }
  if (work.fraction >= 0.0F) {
    const Rect track{x, bar.y + std::floor(bar.h * 0.5F) - ui.px(4), ui.px(120), ui.px(8)};
    fill(ui, track, ui[Color::raised], 1.0F, ui.px(4));
    outline(ui, track, ui[Color::stroke], 1.0F, ui.px(4));
    fill(ui, {track.x, track.y, track.w * std::clamp(work.fraction, 0.0F, 1.0F), track.h}, ui[Color::accent],
         1.0F, ui.px(4));
    x = track.right() + ui.px(10);
  }
  std::string text =
      work.fraction >= 0.0F ? fmt::format("{}  {:.0f} %", work.text, work.fraction * 100.0F) : work.text;
  if (work.seconds_left >= 0.0F) text += ", " + time_left_text(work.seconds_left);
  const Rect box{x, bar.y, bar.right() - x, bar.h};
  text_in(ui, FontRole::small, box, ui[Color::text], text, Align::left);
  if (box.w > 0.0F) mark(ui, "status/work", box, text);
}

void draw_message(Ui& ui, const Rect& bar) {
  const std::string all =
      "? keys  \xC2\xB7  Space play  \xC2\xB7  \xE2\x86\x90 \xE2\x86\x92 step  \xC2\xB7  \xE2\x86\x91 "
      "\xE2\x86\x93 "
      "grain  \xC2\xB7  Ctrl+K commands  \xC2\xB7  1-6 sequence";
  const std::string hints(whole_parts(ui, FontRole::small, bar.w, all));
  const bool stopped = !ui.frame.stopped_at.empty();
  const std::string scale = scale_note(ui.view);
  if (!stopped && ui.frame.status.empty() && !scale.empty()) {
    const std::size_t number = scale.find(": ") + 2, end = scale.find(" this window");
    const std::string_view fits = std::string_view(scale).substr(number, end - number);  // "1.6 fits"
    text_in(ui, FontRole::small, bar, ui[Color::warning],
            first_fitting(ui, FontRole::small, bar.w, {scale, fits, ""}), Align::left);
    mark(ui, "status/scale", bar, scale,
         "larger letters would leave no room for what they say; a larger window has it");
    return;
  }
  const std::string text = stopped                   ? fmt::format("Stopped: {}", ui.frame.stopped_at)
                           : ui.frame.status.empty() ? hints
                                                     : ui.frame.status;
  const Color color = stopped                    ? Color::accent
                      : ui.frame.status.empty()  ? Color::muted
                      : ui.frame.status_is_error ? Color::error
                                                 : Color::text;
  text_in(ui, FontRole::small, bar, ui[color], text, Align::left);
  if (bar.w > 0.0F) mark(ui, "status/text", bar, text, color == Color::error ? "this went wrong" : "");
}

std::string_view grain_text(trace::Grain grain) {
  switch (grain) {
    case trace::Grain::step:
      return "step";
    case trace::Grain::stage:
      return "stage";
    case trace::Grain::head:
      return "head";
    case trace::Grain::tile:
      return "tile";
    case trace::Grain::cell:
      return "cell";
  }
  return "?";
}

}  // namespace

void draw_status(Ui& ui, const Rect& rect) {
  if (!begin_panel(ui, "status", rect, {}, {}, PanelLook::bar)) return;
  Rect bar{ui.body.x, rect.y, ui.body.w, rect.h};
  draw_check(ui, bar);
  draw_quiet(ui, bar, "status/device", ui.frame.device, "device of the engine");
  draw_quiet(ui, bar, "status/grain",
             fmt::format("\xE2\x86\x90 \xE2\x86\x92 by {}", grain_text(ui.view.grain)),
             "grain of the arrow keys; \xE2\x86\x91 \xE2\x86\x93 change it");
  draw_recording(ui, bar);
  if (ui.frame.work.active()) {
    draw_work(ui, bar);
  } else {
    draw_message(ui, bar);
  }
  end_panel(ui);
}

}  // namespace attn::viz
