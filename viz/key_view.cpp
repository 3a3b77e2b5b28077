#include "viz/key_view.h"

#include <imgui.h>

#include <algorithm>

#include "viz/lookup.h"
#include "viz/widgets/splitters.h"

namespace attn::viz {
namespace {

constexpr float kSmallestScale = 0.75F;
constexpr float kLargestScale = 2.5F;
constexpr float kScaleStep = 1.1F;
constexpr float kSlowest = 0.25F;
constexpr float kFastest = 4.0F;
constexpr float kGapStep = 24.0F;  // pixels at scale 1 a key moves a gap

/// The gap beside the ringed panel: sideways its column's, up and down the one above or below it.
Split gap_beside(PanelId panel, bool sideways) {
  switch (panel) {
    case PanelId::requests:
      return sideways ? Split::left : Split::bottom;
    case PanelId::mask:
    case PanelId::weights:
      return sideways ? Split::stage : Split::bottom;
    case PanelId::pool:
    case PanelId::free_queue:
    case PanelId::tables:
    case PanelId::code:
    case PanelId::stages:
    case PanelId::costs:
    case PanelId::changes:
      return sideways ? Split::right : Split::side;
    default:
      return sideways ? Split::right : Split::bottom;
  }
}

ScreenLayout layout_now(const Frame& frame, const ViewState& view) {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  return layout_screen(layout_input(view, frame, size.x, size.y));
}

void open_entry(ViewState& view, Entry entry) {
  view.shell.open(Overlay::entry);
  view.shell.entry = entry;
}

}  // namespace

trace::Grain shifted(trace::Grain grain, int by) {
  return static_cast<trace::Grain>(
      std::clamp(static_cast<int>(grain) + by, 0, static_cast<int>(trace::Grain::cell)));
}

bool closed_something(ViewState& view) {
  if (view.shell.overlay != Overlay::none) {
    view.shell.close();
  } else if (view.teach.pen || view.teach.blank) {
    view.teach.pen = view.teach.blank = false;
    view.teach.strokes.clear();
  } else if (view.maximised != PanelId::count_) {
    view.maximised = PanelId::count_;
  } else if (view.shell.focused != PanelId::count_) {
    view.shell.focused = PanelId::count_;
  } else {
    return false;
  }
  return true;
}

/// Where the window limits the scale, larger asks for no more and smaller begins with what is seen.
bool change_size(KeyAction action, ViewState& view) {
  const float seen = view.scale * screen_scale(view) / asked_scale(view);
  switch (action) {
    case KeyAction::larger:
      if (seen >= view.scale) view.scale = std::clamp(seen * kScaleStep, kSmallestScale, kLargestScale);
      return true;
    case KeyAction::smaller:
      view.scale = std::clamp(seen / kScaleStep, kSmallestScale, kLargestScale);
      return true;
    case KeyAction::normal_size:
      view.scale = 1.0F;
      return true;
    default:
      return false;
  }
}

bool change_view(KeyAction action, int argument, const Frame& frame, ViewState& view) {
  switch (action) {
    case KeyAction::present:
      view.mode = view.mode == ScreenMode::present ? ScreenMode::explore : ScreenMode::present;
      view.page = 0;
      return true;
    case KeyAction::pen:
      view.teach.pen = !view.teach.pen;
      view.teach.strokes.clear();
      return true;
    case KeyAction::notes:
      view.teach.notes = !view.teach.notes;
      return true;
    case KeyAction::next_page:
      ++view.page;
      return true;
    case KeyAction::next_stage_view:
      view.stage = static_cast<StageView>((static_cast<int>(view.stage) + 1) % kNumStageViews);
      return true;
    case KeyAction::next_side_view:
      show_side(view, static_cast<SideView>((static_cast<int>(view.side) + 1) % kNumSideViews));
      return true;
    case KeyAction::side_alone:
      view.maximised = is_side_panel(view.maximised) ? PanelId::count_ : side_panel(view.side);
      return true;
    case KeyAction::focus:
      view.shell.focused = next_panel(layout_now(frame, view), view.shell.focused, argument);
      return true;
    case KeyAction::maximise:
      view.maximised = view.maximised == PanelId::count_ ? view.shell.focused : PanelId::count_;
      return true;
    case KeyAction::move_gap:
      move_splitter(view, layout_now(frame, view), gap_beside(view.shell.focused, argument < 2),
                    argument % 2 == 0 ? -kGapStep : kGapStep);
      return true;
    case KeyAction::reset_gaps:
      splits_to_change(view) = {};
      return true;
    case KeyAction::theme:
      theme_to_change(view) = next_theme(theme_in_use(view));
      return true;
    case KeyAction::weight_scale:
      view.weight_scale = next_scale(view.weight_scale);
      return true;
    case KeyAction::reduced_motion:
      view.reduced_motion = !view.reduced_motion;
      return true;
    case KeyAction::slower:
      view.speed = std::clamp(view.speed * 0.5F, kSlowest, kFastest);
      return true;
    case KeyAction::faster:
      view.speed = std::clamp(view.speed * 2.0F, kSlowest, kFastest);
      return true;
    case KeyAction::loop_from:
      if (frame.num_steps > 0) view.loop = begun_at(view.loop, frame.index, frame.num_steps);
      return true;
    case KeyAction::loop_to:
      if (frame.num_steps > 0) view.loop = ended_at(view.loop, frame.index);
      return true;
    case KeyAction::loop_off:
      view.loop = {};
      return true;
    case KeyAction::finer:
      view.grain = shifted(view.grain, 1);
      return true;
    case KeyAction::coarser:
      view.grain = shifted(view.grain, -1);
      return true;
    default:
      return change_size(action, view);
  }
}

bool open_overlay(KeyAction action, ViewState& view) {
  switch (action) {
    case KeyAction::help:
      if (view.shell.overlay == Overlay::help) {
        view.shell.close();
      } else {
        view.shell.open(Overlay::help);
      }
      return true;
    case KeyAction::palette:
      view.shell.open(Overlay::palette);
      return true;
    case KeyAction::find:
      view.shell.open(Overlay::find);
      return true;
    case KeyAction::lessons:
      view.shell.open(Overlay::lessons);
      return true;
    case KeyAction::film:
      view.shell.open(Overlay::film);
      return true;
    case KeyAction::menus:
      view.shell.open(Overlay::menu);
      return true;
    case KeyAction::go_to_step:
      open_entry(view, Entry::go_to_step);
      return true;
    case KeyAction::bookmark:
      open_entry(view, Entry::bookmark_note);
      return true;
    case KeyAction::save:
      open_entry(view, Entry::save_trace);
      return true;
    case KeyAction::export_tensor:
      open_entry(view, Entry::export_tensor);
      return true;
    default:
      return false;
  }
}

}  // namespace attn::viz
