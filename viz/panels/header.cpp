#include "viz/panels/header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/trace/names.h"
#include "viz/graph_facts.h"
#include "viz/keys.h"
#include "viz/lookup.h"
#include "viz/panels/menus.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr float kPickerGap = 12.0F;  // px at scale 1

/// How much the pickers of layer and head say: "< layer 2 (0-3) >", "< L2 >", "L2".
enum class Pickers : unsigned char { full, brief, bare };

/// What of the selection a picker changes.
struct Picker {
  const char* name;
  int value;
  int count;
  int Selection::*field;

  std::string text(bool brief) const {
    if (brief) return fmt::format("{:c}{}", std::toupper(name[0]), value);
    return count == 1 ? fmt::format("{} {}", name, value) : counted_text(name, value, count);
  }
  /// Of its label; with two digits, so that it stays where it is.
  float width(const Ui& ui, bool brief) const {
    const float least = brief ? text_width(ui, FontRole::strong, "L00") : ui.px(72);
    return std::max(least, text_width(ui, FontRole::strong, text(brief))) + ui.px(14);
  }
};

Picker layer_picker(const Ui& ui) {
  return {"layer", ui.selection.layer, num_layers(ui.frame), &Selection::layer};
}
Picker head_picker(const Ui& ui) {
  return {"head", ui.selection.head, num_heads(ui.frame), &Selection::head};
}

/// Right-aligned at `right`; returns its left edge.
float draw_stepper(Ui& ui, float right, const Picker& picker, bool brief) {
  const auto& [name, value, count, field] = picker;
  const Rect bar = ui.body;
  const float side = ui.px(28);
  const float y = bar.y + std::floor((bar.h - side) * 0.5F);
  const std::string text = picker.text(brief);
  const float width = picker.width(ui, brief);
  const Rect next{right - side, y, side, side};
  const Rect label{next.x - width, y, width, side};
  const Rect previous{label.x - side, y, side, side};
  if (ui.view.picture.still) {
    const Rect alone{right - width, y, width, side};
    mark(ui, fmt::format("header/{}", name), alone, text, "selection; model shape from the manifest");
    text_in(ui, FontRole::strong, alone, ui[Color::text], text, Align::right);
    return alone.x - ui.px(kPickerGap);
  }
  const std::string prefix = fmt::format("header/{}", name);
  const auto go = [&ui, member = field](int to) { select(ui, [&](Selection& s) { s.*member = to; }); };
  if (button(ui, prefix + "/previous", previous, "\xE2\x80\xB9", fmt::format("previous {}", name), value > 0))
    go(value - 1);
  if (button(ui, prefix + "/next", next, "\xE2\x80\xBA", fmt::format("next {}", name), value + 1 < count))
    go(value + 1);
  mark(ui, prefix, label, counted_text(name, value, count), "selection; model shape from the manifest");
  text_in(ui, FontRole::strong, label, ui[Color::text], text, Align::center);
  return previous.x - ui.px(kPickerGap);
}

/// While the mouse draws; false where there is no room.
bool draw_pen_chip(Ui& ui, float x, float right) {
  const std::string_view says = "pen   I ends";
  const Rect chip{x, ui.body.y + (ui.body.h - ui.px(24)) * 0.5F,
                  text_width(ui, FontRole::strong, says) + ui.px(18), ui.px(24)};
  if (chip.right() > right) return false;
  fill(ui, chip, ui[Color::alarm], 1.0F, ui.px(4));
  text_in(ui, FontRole::strong, chip, ui[Color::on_alarm], says, Align::center);
  mark(ui, "header/pen", chip, "the mouse draws; I ends it");
  return true;
}

/// Kind badge, "step 3 of 41", and the path attention took.
void draw_step(Ui& ui, float x, float right) {
  const Rect bar = ui.body;
  if (!ui.frame.step) {
    text_in(ui, FontRole::text, {x, bar.y, right - x, bar.h}, ui[Color::muted], "no step recorded yet",
            Align::left);
    return;
  }
  const trace::StepRecord& step = *ui.frame.step;
  const std::string_view kind = kind_text(step.kind);
  const float badge_h = ui.px(24);
  const Rect badge{x, bar.y + (bar.h - badge_h) * 0.5F, text_width(ui, FontRole::strong, kind) + ui.px(18),
                   badge_h};
  if (badge.right() > right) return;
  fill(ui, badge, ui[Color::accent], 1.0F, ui.px(4));
  text_in(ui, FontRole::strong, badge, ui[Color::on_accent], kind, Align::center);
  mark(ui, "header/kind", badge, fmt::format("{} step, attention: {}", kind, path_text(step.path)),
       "StepRecord.kind");

  const std::string count = step_of_text(ui.frame, ui.frame.index);
  const Rect number{
      badge.right() + ui.px(10), bar.y,
      std::min(text_width(ui, FontRole::strong, count) + 1.0F, right - badge.right() - ui.px(10)), bar.h};
  if (number.w < text_width(ui, FontRole::strong, count)) return;
  text_in(ui, FontRole::strong, number, ui[Color::text], count, Align::left);
  mark(ui, "header/step", number, count, "StepRecord.step; the last step recorded so far");

  if (ui.view.teach.pen && draw_pen_chip(ui, number.right() + ui.px(14), right)) return;
  const Rect path{number.right() + ui.px(14), bar.y, right - number.right() - ui.px(14), bar.h};
  std::string brief = fmt::format("attention: {}", path_text(step.path));
  if (step.config.scores != Scores::computed)
    brief += fmt::format(", every score set to {}", trace::name_of(step.config.scores));
  const std::string full = step.graph ? fmt::format("{}, {}", brief, graph_text(step)) : brief;
  const std::string text(first_fitting(ui, FontRole::text, path.w, {full, brief, ""}));
  if (text.empty()) return;
  text_in(ui, FontRole::text, path, ui[Color::muted], text, Align::left);
  mark(ui, "header/path", path, text, fmt::format("StepRecord.path, paged = {}", step.paged));
}

/// The buttons at the right end; returns their left edge.
float draw_buttons(Ui& ui, const ScreenLayout& layout, float right) {
  const float side = ui.px(28);
  const float y = ui.body.y + std::floor((ui.body.h - side) * 0.5F);
  const bool present = ui.view.mode == ScreenMode::present;
  right -= side;
  if (button(ui, "header/help", {right, y, side, side}, "?", "keys (?)")) ui.view.shell.open(Overlay::help);
  right -= ui.px(4) + side;
  if (button(ui, "header/theme", {right, y, side, side}, "\xE2\x97\x90",
             "dark, light, high-contrast or print theme (T)"))
    theme_to_change(ui.view) = next_theme(theme_in_use(ui.view));
  const std::string_view mode = present ? "Explore" : "Present";
  const float mode_w = text_width(ui, FontRole::strong, mode) + ui.px(16);
  right -= ui.px(4) + mode_w;
  if (button(ui, "header/present", {right, y, mode_w, side}, mode,
             present ? "every panel again (P)" : "for a projector: large letters and a caption (P)"))
    run_key(KeyAction::present, 0, ui.frame, ui.selection, ui.view, ui.commands);
  if (layout.pages > 1 && ui.view.maximised == PanelId::count_) {
    const std::string text = fmt::format("{}/{}  X", layout.page + 1, layout.pages);
    const float width = text_width(ui, FontRole::strong, text) + ui.px(16);
    if (right - width < ui.body.x + ui.px(72)) return right - ui.px(12);  // the menus' button is at the left
    right -= ui.px(4) + width;
    if (button(ui, "header/page", {right, y, width, side}, text, "next group of panels (X)")) ++ui.view.page;
  }
  return right - ui.px(12);
}

std::string run_title(const Ui& ui) {
  if (!ui.view.picture.title.empty()) return ui.view.picture.title;
  return ui.frame.manifest == nullptr ? "attnscope" : ui.frame.manifest->scenario_name;
}

/// Name of the scenario, which opens another one, and of the model where there is room; returns the x behind.
float draw_names(Ui& ui, float x, float room) {
  const Rect bar = ui.body;
  const std::string title = run_title(ui);
  const bool unsaved = !ui.frame.saved;
  const float title_w = std::min(text_width(ui, FontRole::title, title) + 1.0F, room);
  const Rect box{x, bar.y, title_w, bar.h};
  const Hit hit = mark(ui, "header/title", box, unsaved ? title + " (not saved)" : title,
                       ui.frame.file.empty() ? "click: open another file (Ctrl+O)" : ui.frame.file);
  text_in(ui, FontRole::title, box, ui[hit.hovered ? Color::accent : Color::text], title, Align::left);
  if (hit.clicked) run_key(KeyAction::open, 0, ui.frame, ui.selection, ui.view, ui.commands);
  x += title_w;
  if (ui.frame.manifest == nullptr) return x;
  const trace::ModelShape& model = ui.frame.manifest->model;
  const float model_w = text_width(ui, FontRole::text, model.name) + 1.0F;
  if (title_w + ui.px(14) + model_w > room) return x;
  const Rect name{x + ui.px(14), bar.y, model_w, bar.h};
  text_in(ui, FontRole::text, name, ui[Color::muted], model.name, Align::left);
  mark(ui, "header/model", name,
       fmt::format("{} ({}): {} layers, H {}, Hkv {}, D {}, vocabulary {}, {}", model.name,
                   model.architecture, model.num_layers, model.num_heads, model.num_kv_heads, model.head_dim,
                   model.vocab_size, dtype_name(model.dtype)),
       "Manifest.model");
  return name.right();
}

/// Width of badge and step count, which are never cut.
float step_width(const Ui& ui) {
  if (!ui.frame.step) return ui.px(170);
  return text_width(ui, FontRole::strong, kind_text(ui.frame.step->kind)) + ui.px(18) + ui.px(10) +
         text_width(ui, FontRole::strong, step_of_text(ui.frame, ui.frame.index)) + ui.px(4);
}

/// "L3 H0" where the steppers have no room; returns the left edge.
float draw_place(Ui& ui, float right, float least) {
  const std::string layer = layer_picker(ui).text(true);
  const std::string head = head_picker(ui).text(true);
  const float layer_w = text_width(ui, FontRole::strong, layer) + ui.px(6);
  const float head_w = text_width(ui, FontRole::strong, head) + ui.px(2);
  const float x = right - layer_w - head_w;
  if (x < least) return right;
  const Rect first{x, ui.body.y, layer_w, ui.body.h};
  const Rect second{x + layer_w, ui.body.y, head_w, ui.body.h};
  text_in(ui, FontRole::strong, first, ui[Color::muted], layer, Align::left);
  text_in(ui, FontRole::strong, second, ui[Color::muted], head, Align::left);
  mark(ui, "header/layer", first, counted_text("layer", ui.selection.layer, num_layers(ui.frame)),
       "selection; the keys for it are in the help (?)");
  mark(ui, "header/head", second, counted_text("head", ui.selection.head, num_heads(ui.frame)),
       "selection; the keys for it are in the help (?)");
  return x - ui.px(12);
}

/// The time of day for whoever stands in front of it; "" where it has no place.
std::string clock_text(const Ui& ui) {
  const std::string& clock = ui.view.teach.clock;
  if (ui.view.mode != ScreenMode::present || ui.view.picture.still || ui.body.w < ui.px(1200)) return "";
  return clock.substr(0, clock.find(' '));
}

float clock_width(const Ui& ui) {
  const std::string time = clock_text(ui);
  return time.empty() ? 0.0F : text_width(ui, FontRole::strong, time) + 1.0F + ui.px(18);
}

/// Returns the left edge.
float draw_time(Ui& ui, float right) {
  const std::string time = clock_text(ui);
  if (time.empty()) return right;
  const float width = clock_width(ui) - ui.px(18);
  const Rect box{right - width, ui.body.y, width, ui.body.h};
  text_in(ui, FontRole::strong, box, ui[Color::muted], time, Align::right);
  mark(ui, "header/time", box, time, "clock of this computer");
  return box.x - ui.px(18);
}

/// The fullest pickers that leave the title its whole width. `room` lies between menus and buttons.
Pickers pickers_for(const Ui& ui, float room) {
  if (ui.body.w < ui.px(700)) return Pickers::bare;
  const float names = text_width(ui, FontRole::title, run_title(ui)) + 1.0F;
  const float rest = room - names - step_width(ui) - ui.px(18) - clock_width(ui);
  const auto width = [&](bool brief) {
    const float buttons = ui.view.picture.still ? 0.0F : 4.0F * ui.px(28);
    return layer_picker(ui).width(ui, brief) + head_picker(ui).width(ui, brief) + buttons +
           2.0F * ui.px(kPickerGap);
  };
  return width(false) <= rest ? Pickers::full : width(true) <= rest ? Pickers::brief : Pickers::bare;
}

}  // namespace

void draw_header(Ui& ui, const ScreenLayout& layout) {
  if (!begin_panel(ui, "header", layout[PanelId::header], {}, {}, PanelLook::bar)) return;
  const Rect bar = ui.body;
  const bool still = ui.view.picture.still;
  float right = still ? bar.right() : draw_buttons(ui, layout, bar.right());
  const bool titles = ui.view.mode == ScreenMode::explore && bar.w >= ui.px(1240);
  float x = still
                ? bar.x
                : draw_menu_titles(ui, bar.x - (titles ? ui.px(9) : 0.0F), titles ? bar.w : 0.0F) + ui.px(14);
  const float needed = step_width(ui);
  const Pickers pickers = pickers_for(ui, right - x);
  if (pickers == Pickers::bare) {
    right = draw_place(ui, right, x + needed + ui.px(12));
  } else {
    right = draw_stepper(ui, right, head_picker(ui), pickers == Pickers::brief);
    right = draw_stepper(ui, right, layer_picker(ui), pickers == Pickers::brief);
  }
  right = draw_time(ui, right);
  const float room = right - x - needed - ui.px(18);
  if (room >= ui.px(90)) x = draw_names(ui, x, room) + ui.px(18);
  draw_step(ui, x, right);
  end_panel(ui);
}

}  // namespace attn::viz
