#include "viz/widgets/scroll_fade.h"

#include <algorithm>
#include <cmath>

#include "viz/widgets/paint.h"

namespace attn::viz {

void end_scroll_faded(Ui& ui, float bottom) {
  const ImVec2 low = ui.draw->GetClipRectMin();
  const ImVec2 high = ui.draw->GetClipRectMax();
  if (bottom > high.y + ui.px(2) && high.y > low.y) {
    const float h = std::min(ui.px(26), (high.y - low.y) * 0.25F);
    const float solid = std::round(h * 0.5F);  // a text line's lower half alone cannot be read: it goes whole
    const ImU32 ground = rgba(ui[Color::panel]);
    const ImU32 clear = rgba(ui[Color::panel], 0.0F);
    ui.draw->AddRectFilledMultiColor({low.x, high.y - h}, {high.x, high.y - solid}, clear, clear, ground,
                                     ground);
    ui.draw->AddRectFilled({low.x, high.y - solid}, high, ground);
  }
  end_scroll(ui, bottom);
}

}  // namespace attn::viz
