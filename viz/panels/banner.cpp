#include "viz/panels/banner.h"

#include <fmt/format.h>

#include <cmath>

#include "core/trace/number_text.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

std::string measured_text(const Broken& broken) {
  if (std::isnan(broken.max_abs_diff_o)) return broken.note.empty() ? "not compared" : broken.note;
  return fmt::format("o differs by max|\xCE\x94| = {:.2e}{}", num(broken.max_abs_diff_o),
                     broken.note.empty() ? "" : fmt::format(" ({})", broken.note));
}

std::string token_text(const Broken& broken) {
  if (broken.first_wrong_step < 0) return "no token differs so far";
  return fmt::format("first wrong token in step {}", broken.first_wrong_step);
}

}  // namespace

void draw_banner(Ui& ui, const Rect& rect) {
  if (!ui.frame.broken) return;
  if (!begin_panel(ui, "banner", rect, {}, {}, PanelLook::bar)) return;
  const Broken& broken = *ui.frame.broken;
  fill(ui, rect, ui[Color::alarm]);
  const Rgb ink = ui[Color::on_alarm];
  const Rect line{ui.body.x, rect.y, ui.body.w, rect.h};
  const std::string what = fmt::format("\xE2\x96\xB2  Broken on purpose: {}", fmt::join(broken.titles, ", "));
  const std::string measured = fmt::format("{}   {}", measured_text(broken), token_text(broken));
  const float wanted = text_width(ui, FontRole::strong, what) + ui.px(16);
  const float measured_w = std::min(text_width(ui, FontRole::text, measured) + ui.px(4), line.w * 0.5F);
  const float what_w = std::min(wanted, line.w - measured_w);
  text_in(ui, FontRole::strong, {line.x, line.y, what_w, line.h}, ink, what, Align::left);
  const Rect right{line.right() - measured_w, line.y, measured_w, line.h};
  text_in(ui, FontRole::text, right, ink, measured, Align::right);
  mark(ui, "banner/what", {line.x, line.y, what_w, line.h}, what, "engine switches; Break it menu");
  mark(ui, "banner/measured", right, measured,
       "o and sampled tokens of this run against a second run of the same scenario with nothing broken");
  end_panel(ui);
}

}  // namespace attn::viz
