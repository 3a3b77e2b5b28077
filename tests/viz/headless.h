// ImGui without a window or a renderer: the screen is laid out and drawn into lists that nobody rasterises.
#pragma once

#include <imgui.h>

#include <functional>
#include <limits>
#include <string>

#include "viz/frame.h"
#include "viz/keys.h"
#include "viz/marks.h"
#include "viz/screen.h"
#include "viz/widgets/ui.h"

namespace attn::viz {

class Headless {
 public:
  Headless(float width, float height, float scale = 1.0F);
  ~Headless();
  Headless(const Headless&) = delete;
  Headless& operator=(const Headless&) = delete;

  /// One frame; commands of earlier frames are dropped.
  void draw(const Frame& frame);
  /// The cheapest of so many frames in milliseconds of this program's processor time, which other programs
  /// of a busy machine do not add to.
  double cheapest_draw_ms(const Frame& frame, int frames);
  /// The letters follow where the window limits their size.
  void resize(float width, float height);
  /// Moves the mouse to the middle of a mark, presses and releases. Fails the test when there is none.
  void click(const Frame& frame, const std::string& mark);
  void hover(const Frame& frame, const std::string& mark);
  void press(const Frame& frame, int named_key);
  /// A key with its modifiers, as the table of keys has them.
  void chord(const Frame& frame, const Chord& chord);
  void type(const Frame& frame, const std::string& text);
  /// Everything that scrolls, to a share of its way: 0 its beginning, 1 its end.
  void scroll_to(const Frame& frame, float share);
  int vertices() const;
  /// Largest vertex count of one draw list; 16-bit indices end at 65,535.
  int largest_list() const;

  Selection selection;
  ViewState view;
  Marks marks;
  Commands commands;

 private:
  void restyle();
  void press_with(const Frame& frame, const std::function<void(bool)>& set);

  ImGuiContext* context_ = nullptr;
  StyleKey style_;
};

/// The value of a mark; "no mark NAME" when nothing of that name was drawn.
inline std::string value_of(const Headless& screen, const std::string& name) {
  const auto mark = screen.marks.get(name);
  return mark ? mark->value : "no mark " + name;
}

inline bool inside(const Rect& outer, const Rect& inner) {
  return inner.x >= outer.x - 0.01F && inner.y >= outer.y - 0.01F && inner.right() <= outer.right() + 0.01F &&
         inner.bottom() <= outer.bottom() + 0.01F;
}

/// Window sizes in pixels, from too small to 4K, wide and upright.
struct WindowSize {
  float w, h;
};
constexpr WindowSize kWindowSizes[] = {{640, 480},   {800, 600},   {1024, 640},  {1280, 720},
                                       {1366, 768},  {1440, 900},  {1600, 900},  {1920, 1080},
                                       {2560, 1080}, {2560, 1440}, {1200, 1920}, {3840, 2160}};

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// What panels get, without a panel being drawn.
Ui ui_of(const Frame& frame, Headless& screen);

}  // namespace attn::viz
