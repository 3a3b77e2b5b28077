#include <fmt/format.h>

#include <algorithm>

#include "viz/panels/compare_parts.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

std::string mark_name(int side, std::string_view rest) {
  return fmt::format("compare/{}/{}", side == 0 ? "a" : "b", rest);
}

void choose(Ui& ui, const Picked& picked, int side, const trace::Variant& variant) {
  ui.view.compare.open_list = -1;
  ask_compare(ui, side == 0 ? variant : picked.variant[0], side == 0 ? picked.variant[1] : variant);
}

/// Where a side's variant is among the choices; 0 ("as recorded") when it is none of them.
int place_of(const Picked& picked, int side) {
  const auto found = std::find(picked.choices.begin(), picked.choices.end(), picked.variant[side]);
  return found == picked.choices.end() ? 0 : static_cast<int>(found - picked.choices.begin());
}

}  // namespace

Picked::Picked(const Frame& frame, const ViewState& view) : variant{view.compare.a, view.compare.b} {
  if (frame.compare) {
    variant[0] = frame.compare->a.variant;
    variant[1] = frame.compare->b.variant;
  }
  if (frame.step && frame.manifest)
    choices = trace::variants_of(*frame.step, frame.manifest->model, frame.traits);
}

void ask_compare(Ui& ui, const trace::Variant& a, const trace::Variant& b) {
  ui.view.compare.a = a;
  ui.view.compare.b = b;
  Command command;
  command.kind = Command::Kind::compare;
  command.variant_a = a;
  command.variant_b = b;
  ui.commands.push_back(std::move(command));
}

void draw_pick(Ui& ui, const Picked& picked, int side, const Rect& rect) {
  const int count = static_cast<int>(picked.choices.size());
  const float arrow = ui.px(24);
  const float chip = ui.px(22);
  const Rect letter{rect.x, rect.y, chip, rect.h};
  fill(ui, letter, ui[Color::raised], 1.0F, ui.px(3));
  outline(ui, letter, ui[Color::stroke], 1.0F, ui.px(3));
  text_in(ui, FontRole::strong, letter, ui[Color::text], kSideNames[side], Align::center);
  const Rect left{letter.right() + ui.px(4), rect.y, arrow, rect.h};
  const Rect right{rect.right() - arrow, rect.y, arrow, rect.h};
  const Rect middle{left.right() + ui.px(3), rect.y, right.x - left.right() - ui.px(6), rect.h};
  if (middle.w < ui.px(40) || count == 0) return;
  const int at = place_of(picked, side);
  const auto step_to = [&](int by) {
    choose(ui, picked, side, picked.choices[static_cast<std::size_t>((at + by + count) % count)]);
  };
  if (button(ui, mark_name(side, "previous"), left, "\xE2\x97\x82", "variant before", count > 1)) step_to(-1);
  if (button(ui, mark_name(side, "next"), right, "\xE2\x96\xB8", "next variant", count > 1)) step_to(1);
  const std::string text =
      trace::variant_text(picked.variant[side], *ui.frame.step, ui.frame.manifest->model, ui.frame.traits);
  const bool open = ui.view.compare.open_list == side;
  const std::string_view shown = first_fitting(ui, FontRole::strong, middle.w - ui.px(12),
                                               {text, std::string_view(text).substr(0, text.find(','))});
  if (button(ui, mark_name(side, "pick"), middle, shown, text + "; click for the list", true, open))
    ui.view.compare.open_list = open ? -1 : side;
}

void draw_choices(Ui& ui, const Picked& picked, int side, const Rect& rect) {
  fill(ui, rect, ui[Color::raised], 1.0F, ui.px(4));
  const float row = ui.px(26);
  const Rect list{rect.x + ui.px(4), rect.y + ui.px(4), rect.w - ui.px(8), rect.h - ui.px(8)};
  float y = begin_scroll(ui, side == 0 ? "compare/a/choices" : "compare/b/choices", list);
  for (std::size_t i = 0; i < picked.choices.size(); ++i, y += row) {
    const Rect box{list.x, y, list.w - ui.px(12), row};
    const Hit hit = touch(ui, box);
    const bool current = picked.choices[i] == picked.variant[side];
    const std::string text =
        trace::variant_text(picked.choices[i], *ui.frame.step, ui.frame.manifest->model, ui.frame.traits);
    if (current)
      fill(ui, box, ui[Color::accent], 1.0F, ui.px(3));
    else if (hit.hovered)
      fill(ui, box, ui[Color::panel], 1.0F, ui.px(3));
    text_in(ui, FontRole::text, {box.x + ui.px(8), box.y, box.w - ui.px(12), box.h},
            ui[current ? Color::on_accent : Color::text], text, Align::left);
    mark(ui, mark_name(side, fmt::format("choice/{}", i)), box, text, "launched on the recorded inputs");
    if (hit.clicked) choose(ui, picked, side, picked.choices[i]);
  }
  end_scroll(ui, y, row);
}

}  // namespace attn::viz
