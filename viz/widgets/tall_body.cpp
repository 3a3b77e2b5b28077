#include "viz/widgets/tall_body.h"

namespace attn::viz {

TallBody::TallBody(Ui& ui, const char* id, float needed)
    : ui_(ui), before_(ui.body), scrolls_(needed > ui.body.h + 0.5F && ui.body.h > 0.0F) {
  if (!scrolls_) return;
  const float edge = ui.px(8);  // the bar stands in what the panel keeps free at its right
  const float top = begin_scroll(ui, id, {before_.x, before_.y, before_.w + edge, before_.h});
  ui.body = {before_.x, top, before_.w - ui.px(5), needed};
}

TallBody::~TallBody() {
  if (scrolls_) end_scroll(ui_, ui_.body.bottom());
  ui_.body = before_;
}

}  // namespace attn::viz
