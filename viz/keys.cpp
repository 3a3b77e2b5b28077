#include "viz/keys.h"

#include <imgui.h>

#include <algorithm>

#include "core/trace/enum_range.h"
#include "viz/lookup.h"

namespace attn::viz {
namespace {

constexpr float kSmallestScale = 0.75F;
constexpr float kLargestScale = 2.5F;
constexpr float kScaleStep = 1.1F;

constexpr std::array<KeyBinding, kNumKeys> kKeys = {{
    {KeyAction::play, ImGuiKey_Space, "", "Space", "play or pause"},
    {KeyAction::step_back, ImGuiKey_LeftArrow, "", "\xE2\x86\x90  Shift+\xE2\x86\x90",
     "one engine step back"},
    {KeyAction::step_forward, ImGuiKey_RightArrow, "", "\xE2\x86\x92  Shift+\xE2\x86\x92",
     "one engine step forward; at the end, run one more"},
    {KeyAction::first, ImGuiKey_Home, "", "Home", "first step"},
    {KeyAction::last, ImGuiKey_End, "", "End", "last step"},
    {KeyAction::stage_back, -1, ",", ",", "previous stage of the step"},
    {KeyAction::stage_forward, -1, ".", ".", "next stage of the step"},
    {KeyAction::layer_up, ImGuiKey_UpArrow, "", "\xE2\x86\x91", "previous layer"},
    {KeyAction::layer_down, ImGuiKey_DownArrow, "", "\xE2\x86\x93", "next layer"},
    {KeyAction::head_down, -1, "[", "[", "previous head"},
    {KeyAction::head_up, -1, "]", "]", "next head"},
    {KeyAction::select_seq, -1, "123456", "1 to 6", "select the first to sixth sequence"},
    {KeyAction::unselect, ImGuiKey_Escape, "", "Esc", "clear the selection; close this help"},
    {KeyAction::next_page, -1, "xX", "X", "next group of panels, in a small window"},
    {KeyAction::next_stage_view, -1, "vV", "V", "next view of the middle: weights, tiles, heads, compare"},
    {KeyAction::next_side_view, -1, "sS", "S", "next view of the lower right: code, stages, costs, changes"},
    {KeyAction::log_scale, -1, "lL", "L", "weights on a linear, logarithmic or rank scale"},
    {KeyAction::theme, -1, "tT", "T", "dark, light, high-contrast or print theme"},
    {KeyAction::larger, -1, "+=", "+", "larger text and drawings"},
    {KeyAction::smaller, -1, "-", "\xE2\x88\x92", "smaller text and drawings"},
    {KeyAction::normal_size, -1, "0", "0", "normal size"},
    {KeyAction::help, -1, "?", "?", "show or hide these keys"},
}};

bool pressed(int named) {
#if IMGUI_VERSION_NUM < 18700
  return ImGui::IsKeyPressed(ImGui::GetKeyIndex(named));
#else
  return ImGui::IsKeyPressed(static_cast<ImGuiKey>(named));
#endif
}

void push(Commands& commands, Command::Kind kind) {
  Command command;
  command.kind = kind;
  commands.push_back(std::move(command));
}

void push_selection(Commands& commands, const Selection& before, const Selection& after) {
  if (after == before) return;
  Command command;
  command.kind = Command::Kind::select;
  command.selection = after;
  commands.push_back(std::move(command));
}

/// The next stage in direction `by` that this step went through.
trace::Stage neighbour_stage(const Frame& frame, trace::Stage stage, int by) {
  if (!frame.step) return stage;
  const auto occurs = [&](trace::Stage s) {
    const auto& shapes = frame.step->shapes;
    const auto& launches = frame.step->launches;
    return std::any_of(shapes.begin(), shapes.end(), [s](const auto& shape) { return shape.stage == s; }) ||
           std::any_of(launches.begin(), launches.end(),
                       [s](const auto& launch) { return launch.stage == s; });
  };
  for (int s = static_cast<int>(stage) + by; s >= 0 && s <= static_cast<int>(trace::kLastOf<trace::Stage>);
       s += by) {
    if (occurs(static_cast<trace::Stage>(s))) return static_cast<trace::Stage>(s);
  }
  return stage;
}

void resize(ViewState& view, float factor) {
  view.scale = std::clamp(view.scale * factor, kSmallestScale, kLargestScale);
}

/// Keys that change what is selected.
Selection moved(KeyAction action, int argument, const Frame& frame, Selection s) {
  switch (action) {
    case KeyAction::stage_back:
      s.stage = neighbour_stage(frame, s.stage, -1);
      break;
    case KeyAction::stage_forward:
      s.stage = neighbour_stage(frame, s.stage, 1);
      break;
    case KeyAction::layer_up:
      s.layer = std::max(0, s.layer - 1);
      break;
    case KeyAction::layer_down:
      s.layer = std::min(num_layers(frame) - 1, s.layer + 1);
      break;
    case KeyAction::head_down:
      s.head = std::max(0, s.head - 1);
      break;
    case KeyAction::head_up:
      s.head = std::min(num_heads(frame) - 1, s.head + 1);
      break;
    case KeyAction::select_seq: {
      const std::vector<int> ids = alive_seqs(frame);
      if (static_cast<std::size_t>(argument) < ids.size()) s.seq = ids[static_cast<std::size_t>(argument)];
      break;
    }
    case KeyAction::unselect:
      s.seq = s.q_row = s.k_col = s.block = -1;
      break;
    default:
      break;
  }
  return s;
}

}  // namespace

const std::array<KeyBinding, kNumKeys>& key_table() { return kKeys; }

void run_key(KeyAction action, int argument, const Frame& frame, const Selection& selection, ViewState& view,
             Commands& commands) {
  switch (action) {
    case KeyAction::play:
      return push(commands, Command::Kind::toggle_play);
    case KeyAction::step_back:
      return push(commands, Command::Kind::step_back);
    case KeyAction::step_forward:
      return push(commands, Command::Kind::step_forward);
    case KeyAction::first:
      return push(commands, Command::Kind::first);
    case KeyAction::last:
      return push(commands, Command::Kind::last);
    case KeyAction::next_page:
      ++view.page;
      return;
    case KeyAction::next_stage_view:
      view.stage = static_cast<StageView>((static_cast<int>(view.stage) + 1) % 4);
      return;
    case KeyAction::next_side_view:
      view.side = static_cast<SideView>((static_cast<int>(view.side) + 1) % 4);
      return;
    case KeyAction::log_scale:
      view.weight_scale = next_scale(view.weight_scale);
      return;
    case KeyAction::theme:
      theme_to_change(view) = next_theme(theme_in_use(view));
      return;
    case KeyAction::larger:
      return resize(view, kScaleStep);
    case KeyAction::smaller:
      return resize(view, 1.0F / kScaleStep);
    case KeyAction::normal_size:
      view.scale = 1.0F;
      return;
    case KeyAction::help:
      if (view.shell.overlay == Overlay::help) return view.shell.close();
      return view.shell.open(Overlay::help);
    case KeyAction::unselect:
      view.shell.close();
      break;
    default:
      break;
  }
  push_selection(commands, selection, moved(action, argument, frame, selection));
}

void handle_keys(const Frame& frame, const Selection& selection, ViewState& view, Commands& commands) {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.WantTextInput) return;
  for (const KeyBinding& key : kKeys) {
    if (key.named >= 0) {
      if (pressed(key.named)) run_key(key.action, 0, frame, selection, view, commands);
      continue;
    }
    for (const ImWchar typed : io.InputQueueCharacters) {
      const std::size_t place =
          typed < 128 ? key.typed.find(static_cast<char>(typed)) : std::string_view::npos;
      if (place != std::string_view::npos)
        run_key(key.action, static_cast<int>(place), frame, selection, view, commands);
    }
  }
}

}  // namespace attn::viz
