// ImGui without a window or a renderer: the screen is laid out and drawn into lists that nobody rasterises.
#pragma once

#include <imgui.h>

#include <functional>
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
  void resize(float width, float height) { ImGui::GetIO().DisplaySize = {width, height}; }
  /// Moves the mouse to the middle of a mark, presses and releases. Fails the test when there is none.
  void click(const Frame& frame, const std::string& mark);
  void hover(const Frame& frame, const std::string& mark);
  void press(const Frame& frame, int named_key);
  /// A key with its modifiers, as the table of keys has them.
  void chord(const Frame& frame, const Chord& chord);
  void type(const Frame& frame, const std::string& text);
  int vertices() const;
  /// Largest vertex count of one draw list; 16-bit indices end at 65,535.
  int largest_list() const;

  Selection selection;
  ViewState view;
  Marks marks;
  Commands commands;

 private:
  void press_with(const Frame& frame, const std::function<void(bool)>& set);

  ImGuiContext* context_ = nullptr;
};

/// What panels get, without a panel being drawn.
Ui ui_of(const Frame& frame, Headless& screen);

}  // namespace attn::viz
