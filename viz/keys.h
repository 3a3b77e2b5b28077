// The one table of keys: it drives the handler, the help overlay and the tests. Off while text is typed.
#pragma once

#include <array>
#include <string_view>

#include "viz/frame.h"
#include "viz/screen.h"

namespace attn::viz {

enum class KeyAction : unsigned char {
  play,
  step_back,
  step_forward,
  first,
  last,
  stage_back,
  stage_forward,
  layer_up,
  layer_down,
  head_down,
  head_up,
  select_seq,  // 1 .. 6
  unselect,
  next_page,
  next_stage_view,
  next_side_view,
  log_scale,
  theme,
  larger,
  smaller,
  normal_size,
  help
};

struct KeyBinding {
  KeyAction action;
  int named;               // ImGuiKey_*, or -1: `typed` decides
  std::string_view typed;  // characters that trigger it, in order of their argument
  std::string_view label;  // as help writes it
  std::string_view text;   // what it does
};

inline constexpr int kNumKeys = 22;
const std::array<KeyBinding, kNumKeys>& key_table();

/// Turns this frame's keys into commands and view changes. Does nothing while a text field has the keyboard.
void handle_keys(const Frame& frame, const Selection& selection, ViewState& view, Commands& commands);
/// What one key does; `argument` is the place of the character in KeyBinding::typed.
void run_key(KeyAction action, int argument, const Frame& frame, const Selection& selection, ViewState& view,
             Commands& commands);

}  // namespace attn::viz
