#include "viz/panels/header.h"

#include <fmt/format.h>

#include <algorithm>

#include "viz/lookup.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

/// "layer < 2 / 4 >", right-aligned at `right`; returns its left edge.
float draw_stepper(Ui& ui, float right, const char* name, int value, int count, int Selection::*field) {
  const Rect bar = ui.body;
  const float side = ui.px(26);
  const float y = bar.y + (bar.h - side) * 0.5F;
  const std::string text = fmt::format("{} {} of {}", name, value, count);
  const float width = std::max(ui.px(86), text_width(ui, FontRole::strong, text) + ui.px(14));
  const Rect next{right - side, y, side, side};
  const Rect label{next.x - width, y, width, side};
  const Rect previous{label.x - side, y, side, side};
  const std::string prefix = fmt::format("header/{}", name);
  const auto go = [&](int to) { select(ui, [&](Selection& s) { s.*field = to; }); };
  if (button(ui, prefix + "/previous", previous, "\xE2\x80\xB9", fmt::format("previous {}", name), value > 0))
    go(value - 1);
  if (button(ui, prefix + "/next", next, "\xE2\x80\xBA", fmt::format("next {}", name), value + 1 < count))
    go(value + 1);
  mark(ui, prefix, label, fmt::format("{} {} (0 to {})", name, value, count - 1),
       "selection; model shape from the manifest");
  text_in(ui, FontRole::strong, label, ui[Color::text], text, Align::center);
  return previous.x - ui.px(12);
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
  fill(ui, badge, ui[Color::accent], 1.0F, ui.px(4));
  text_in(ui, FontRole::strong, badge, ui[Color::on_accent], kind, Align::center);
  mark(ui, "header/kind", badge, fmt::format("{} step", kind), "StepRecord.kind");

  const std::string count = fmt::format("step {} of {}", ui.frame.index + 1, ui.frame.num_steps);
  const Rect number{
      badge.right() + ui.px(10), bar.y,
      std::min(text_width(ui, FontRole::strong, count) + 1.0F, right - badge.right() - ui.px(10)), bar.h};
  if (number.w <= 0.0F) return;
  text_in(ui, FontRole::strong, number, ui[Color::text], count, Align::left);
  mark(ui, "header/step", number, fmt::format("{}, engine step {}", count, step.step), "StepRecord.step");

  const Rect path{number.right() + ui.px(14), bar.y, right - number.right() - ui.px(14), bar.h};
  if (path.w < ui.px(60)) return;
  const std::string text = fmt::format("attention: {}", path_text(step.path));
  text_in(ui, FontRole::text, path, ui[Color::muted], text, Align::left);
  mark(ui, "header/path", path, text, fmt::format("StepRecord.path, paged = {}", step.paged));
}

}  // namespace

void draw_header(Ui& ui, const ScreenLayout& layout) {
  if (!begin_panel(ui, "header", layout[PanelId::header], {}, {}, PanelLook::bar)) return;
  const Rect bar = ui.body;
  const float side = ui.px(26);
  const float y = bar.y + (bar.h - side) * 0.5F;
  float right = bar.right() - side;
  if (button(ui, "header/help", {right, y, side, side}, "?", "keys (?)")) {
    ui.view.shell.open(Overlay::help);
  }
  right -= ui.px(6) + side;
  if (button(ui, "header/theme", {right, y, side, side}, "\xE2\x97\x90",
             "dark, light, high-contrast or print theme (T)")) {
    theme_to_change(ui.view) = next_theme(theme_in_use(ui.view));
  }
  right -= ui.px(12);
  if (layout.pages > 1) {
    const std::string text = fmt::format("view {}/{}  X", layout.page + 1, layout.pages);
    const float width = text_width(ui, FontRole::strong, text) + ui.px(16);
    right -= width;
    if (button(ui, "header/page", {right, y, width, side}, text,
               "the window is too small for every panel at once: next group of panels (X)")) {
      ++ui.view.page;
    }
    right -= ui.px(12);
  }
  right = draw_stepper(ui, right, "head", ui.selection.head, num_heads(ui.frame), &Selection::head);
  right = draw_stepper(ui, right, "layer", ui.selection.layer, num_layers(ui.frame), &Selection::layer);

  float x = bar.x;
  const std::string title = ui.frame.manifest == nullptr ? "attnscope" : ui.frame.manifest->scenario_name;
  const float title_w = std::min(text_width(ui, FontRole::title, title) + 1.0F, (right - x) * 0.3F);
  text_in(ui, FontRole::title, {x, bar.y, title_w, bar.h}, ui[Color::text], title, Align::left);
  x += title_w + ui.px(12);
  if (ui.frame.manifest != nullptr && right - x > ui.px(420)) {
    const trace::ModelShape& model = ui.frame.manifest->model;
    const Rect box{x, bar.y, std::min(text_width(ui, FontRole::text, model.name) + 1.0F, ui.px(220)), bar.h};
    text_in(ui, FontRole::text, box, ui[Color::muted], model.name, Align::left);
    mark(ui, "header/model", box,
         fmt::format("{} ({}): {} layers, H {}, Hkv {}, D {}, vocabulary {}, {}", model.name,
                     model.architecture, model.num_layers, model.num_heads, model.num_kv_heads,
                     model.head_dim, model.vocab_size, dtype_name(model.dtype)),
         "Manifest.model");
    x += box.w + ui.px(16);
  }
  draw_step(ui, x, right);
  end_panel(ui);
}

}  // namespace attn::viz
