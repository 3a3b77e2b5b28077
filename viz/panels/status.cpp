#include "viz/panels/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

// What the inspector's output may differ from the recorded one before the number turns red, relative to the
// largest |o|: float kernels agree far better, half and bfloat16 outputs are rounded when stored.
constexpr double kCheckTolerance = 1e-5;
constexpr double kCheckToleranceHalf = 1e-2;

struct Check {
  std::string text;
  bool known = false;
  bool good = false;
};

Check last_check(const Frame& frame) {
  if (!frame.attention || std::isnan(frame.attention->max_abs_diff_o))
    return {"check: none yet", false, false};
  const trace::AttentionView& view = *frame.attention;
  const bool f32 = frame.manifest == nullptr || frame.manifest->model.dtype == DType::f32;
  const double limit = (f32 ? kCheckTolerance : kCheckToleranceHalf) * std::max(view.max_abs_o, 1e-30);
  return {fmt::format("inspector vs recorded max|\xCE\x94| = {:.1e}", view.max_abs_diff_o), true,
          view.max_abs_diff_o <= limit};
}

}  // namespace

void draw_status(Ui& ui, const Rect& rect) {
  if (!begin_panel(ui, "status", rect, {}, {}, PanelLook::bar)) return;
  const Rect bar{ui.body.x, rect.y, ui.body.w, rect.h};
  const Check check = last_check(ui.frame);
  const float check_w = std::min(text_width(ui, FontRole::mono, check.text) + ui.px(4), bar.w * 0.45F);
  const Rect check_box{bar.right() - check_w, bar.y, check_w, bar.h};
  text_in(ui, FontRole::mono, check_box,
          ui[!check.known ? Color::muted
             : check.good ? Color::ok
                          : Color::error],
          check.text, Align::right);
  if (ui.frame.attention) {
    mark(ui, "status/check", check_box,
         fmt::format("{}, max|o| = {:.3e}", check.text, ui.frame.attention->max_abs_o),
         fmt::format("{} on {} against LayerRecord.o of step {}, layer {}", ui.frame.attention->kernel,
                     ui.frame.attention->device, ui.frame.attention->step, ui.frame.attention->layer));
  }
  float right = check_box.x - ui.px(16);
  if (!ui.frame.device.empty()) {
    const float w =
        std::min(text_width(ui, FontRole::small, ui.frame.device) + ui.px(4), (right - bar.x) * 0.35F);
    const Rect box{right - w, bar.y, w, bar.h};
    text_in(ui, FontRole::small, box, ui[Color::text], ui.frame.device, Align::right);
    mark(ui, "status/device", box, ui.frame.device, "device of the engine");
    right = box.x - ui.px(16);
  }
  const std::string hints =
      "Space play   \xE2\x86\x90 \xE2\x86\x92 step   \xE2\x86\x91 \xE2\x86\x93 layer   [ ] head   1-6 "
      "sequence   ? keys";
  const std::string text = ui.frame.status.empty() ? hints : ui.frame.status;
  const Rect box{bar.x, bar.y, right - bar.x, bar.h};
  text_in(ui, FontRole::small, box, ui[ui.frame.status.empty() ? Color::muted : Color::text], text,
          Align::left);
  if (box.w > 0.0F) mark(ui, "status/text", box, text);
  end_panel(ui);
}

}  // namespace attn::viz
