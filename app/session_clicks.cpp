// "Record my clicks": what the window stands at becomes a stop, and in the end a scenario.
#include <fmt/format.h>

#include <utility>

#include "app/files.h"
#include "app/output_file.h"
#include "app/place.h"
#include "app/script_write.h"
#include "app/session.h"
#include "core/trace/names.h"
#include "kernels/common/check.h"
#include "viz/panels/caption.h"

namespace attn::app {

void Session::record_clicks(const viz::ViewState& view) {
  if (clicks_) return save_clicks();
  if (num_steps() == 0) return say("there is no step to begin at yet");
  clicks_ = std::make_unique<ClickScript>();
  clicks_run_of_ = {};
  look_at_clicks(view);
  const std::string what = live()    ? ""
                           : recipe_ ? " to be run again from this trace's scenario"
                                     : ", which names this file: it cannot be run again here";
  say(fmt::format("every place you go to becomes a stop; Ctrl+Shift+R saves them{}{}",
                  what.empty() ? "" : " in a scenario", what));
}

/// What runs, as a text: written once for each run, and again when a prompt was typed into it.
const std::string& Session::clicks_run() {
  const std::pair now{open_->store().get(), live() ? open_->engine()->added().size() : 0};
  if (std::exchange(clicks_run_of_, now) != now) clicks_run_ = run_text(true);
  return clicks_run_;
}

/// Nothing is noted while something is on its way.
void Session::look_at_clicks(const viz::ViewState& view) {
  if (!clicks_ || job_ || next_ || waiting_move_ || setting_out() || open_->status().busy) return;
  const viz::Frame& frame = this->frame();
  if (!frame.step) return;
  clicks_->look({.run = clicks_run(),
                 .place = place_of(selection_, *open_->store()),
                 .shown = shown_of(view, variants_here()),
                 .name = fmt::format("step {}, {}", frame.step->step, trace::name_of(selection_.stage)),
                 .caption = viz::step_sentence(frame),
                 .asking = lesson_ && lesson_->now().asking},
                now_);
}

void Session::save_clicks() {
  if (!clicks_) return;
  const std::unique_ptr<ClickScript> clicks = std::move(clicks_);
  if (clicks->num_stops() == 0) return say("nothing was recorded");
  try {
    const Subject& subject = open_->subject();
    const auto path = output_path("", subject.link.path.stem().string() + "-clicks", ".json");
    write_text_file(path, clicks->text(subject.title + ", recorded", now_));
    say(fmt::format("{} stops are saved: {}", clicks->num_stops(), path.string()));
  } catch (const InputError& error) {
    complain(error.what());
  }
}

}  // namespace attn::app
