// What the menus say of an action before it is done.
#include "viz/keys.h"

namespace attn::viz {

std::string_view why_not(KeyAction action, const Frame& frame, const Selection& selection,
                         const ViewState& view) {
  const bool any = frame.num_steps > 0;
  switch (action) {
    case KeyAction::save:
    case KeyAction::still:
    case KeyAction::bookmark:
    case KeyAction::film:
    case KeyAction::record_clicks:
    case KeyAction::diff:
    case KeyAction::go_to_step:
    case KeyAction::loop_from:
    case KeyAction::loop_to:
      return any ? "" : "no step has been recorded yet";
    case KeyAction::loop_off:
      return view.loop.on() ? "" : "there is no loop";
    case KeyAction::export_tensor:
      return frame.attention ? "" : "no attention is loaded for this step and layer";
    case KeyAction::run_to:
      return selection.block >= 0 || view.shell.has_condition ? "" : "select a block first";
    case KeyAction::run:
    case KeyAction::run_back:
      return frame.breakpoints.empty() ? "there is no break point yet" : "";
    case KeyAction::cancel:
      return frame.work.can_cancel || frame.film.running ? "" : "nothing is being worked on";
    case KeyAction::go_to_bookmark:
      return frame.bookmarks.empty() ? "there is no bookmark yet" : "";
    case KeyAction::next_stop:
      return frame.lesson ? "" : "no lesson is open";
    case KeyAction::break_lesson:
      return frame.lesson && frame.lesson->break_it ? "" : "no lesson with something to break is open";
    case KeyAction::notes:
      return frame.lesson ? "" : "notes belong to the stops of a lesson";
    case KeyAction::larger:
      return screen_scale(view) < asked_scale(view) ? "this window has no room for larger letters" : "";
    case KeyAction::maximise:
      return view.shell.focused != PanelId::count_ || view.maximised != PanelId::count_
                 ? ""
                 : "choose a panel with Tab first";
    case KeyAction::repair:
      return frame.broken ? "" : "nothing is broken";
    default:
      return "";
  }
}

bool is_on(KeyAction action, const Frame& frame, const ViewState& view) {
  switch (action) {
    case KeyAction::present:
      return view.mode == ScreenMode::present;
    case KeyAction::blank:
      return view.teach.blank;
    case KeyAction::pen:
      return view.teach.pen;
    case KeyAction::notes:
      return view.teach.notes;
    case KeyAction::record_clicks:
      return frame.clicks >= 0;
    case KeyAction::break_lesson:
      return frame.lesson && frame.lesson->break_it && frame.lesson->break_it->on;
    case KeyAction::reduced_motion:
      return view.reduced_motion;
    case KeyAction::play:
      return view.playing;
    case KeyAction::maximise:
      return view.maximised != PanelId::count_;
    case KeyAction::compare:
      return view.stage == StageView::compare;
    case KeyAction::diff:
      return frame.diff != nullptr;
    default:
      return false;
  }
}

}  // namespace attn::viz
