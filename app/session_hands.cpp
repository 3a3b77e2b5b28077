// What a lesson lets the learner turn and send: switches, runs and launches by one click, and the requests of
// a run that is started over.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/rerun.h"
#include "app/session.h"
#include "core/engine/switches.h"

namespace attn::app {
namespace {

const Control* control_named(const Stop& stop, const std::string& name) {
  const auto found = std::ranges::find(stop.controls, name, &Control::name);
  return found == stop.controls.end() ? nullptr : &*found;
}

/// The same scenario with nothing asked of it yet.
Scenario without_requests(Scenario scenario) {
  nlohmann::json document = nlohmann::json::parse(scenario.json);
  document["requests"] = nlohmann::json::array();
  scenario.json = document.dump(2);
  scenario.requests.clear();
  return scenario;
}

}  // namespace

bool Session::apply_hands(const viz::Command& command, viz::ViewState& view) {
  using Kind = viz::Command::Kind;
  if (!lesson_) return false;
  switch (command.kind) {
    case Kind::turn_handle:
      if (const Control* control = control_named(lesson_->stop(), command.text)) {
        const auto label = std::ranges::find(control->labels, command.value);
        if (label != control->labels.end())
          turn(*control, static_cast<std::size_t>(label - control->labels.begin()), view);
      }
      return true;
    case Kind::start_over:
      start_over();
      return true;
    case Kind::send_request:
      send_request();
      return true;
    default:
      return false;
  }
}

void Session::turn(const Control& control, std::size_t to, viz::ViewState& view) {
  // A slider that is held asks again with every frame.
  const bool on_its_way = job_ || next_;
  if (std::exchange(turning_, {control.name, to}) == std::pair(control.name, to) && on_its_way) return;
  if (!control.values.empty()) return set_switch(control.engine_switch, control.values[to]);
  if (!control.compare.empty()) {
    view.stage = viz::StageView::compare;
    if (num_steps() == 0) return;
    const auto step = open_->store()->step(selection_.step);
    compare_ = {control.compare[to], step->kind == trace::StepKind::decode};
    return;
  }
  cancel();
  const std::string& run = control.runs[to];
  show_run(scenario_of(lesson_->scenario(), run), run, selection_.step + 1);
}

/// The run of the stop from its beginning, before anything was sent.
void Session::start_over() {
  const Scenario& wanted = scenario_of(lesson_->scenario(), lesson_->run());
  if (!lesson_->stop().send || wanted.requests.empty()) return say("nothing is sent at this stop");
  cancel();
  outbox_ = wanted.requests;
  sent_ = 0;
  Subject subject = lesson_subject_;
  subject.store = nullptr;
  subject.kind = FileKind::scenario;
  subject.scenario = without_requests(wanted);
  begin({.run = std::make_unique<OpenRun>(std::move(subject), choice_, changed_, std::filesystem::path{}, 0),
         .steps = 0,
         .text = "starting over",
         .arrival = Arrival::of_stop});
}

/// Whether what is open was started over: its requests are those that were sent.
bool Session::by_hand() const {
  return lesson_ && live() && !outbox_.empty() && open_->subject().scenario.requests.empty();
}

void Session::send_request() {
  if (!by_hand()) return say("start over first: what runs here came with its requests");
  if (sent_ == outbox_.size()) return say("all requests of this stop are sent");
  ScenarioRequest request = outbox_[sent_++];
  request.at_step = -1;  // with the next step
  open_->engine()->add_request(std::move(request));
  seek(last_index());
}

/// Of the run that is open, with the steps after which they were taken in.
std::vector<SentRequest> Session::sent_requests() const {
  std::vector<SentRequest> sent;
  if (!by_hand()) return sent;
  for (const ScenarioRequest& request : open_->engine()->added())
    sent.emplace_back(request.id, request.at_step);
  return sent;
}

/// Whether that run of the script is open as it is. Looked up once for each run that is open.
bool Session::runs_here(const std::string& run) {
  const trace::Store* store = open_->store().get();
  if (std::exchange(runs_here_of_, store) != store) runs_here_.clear();
  const auto found = runs_here_.find(run);
  if (found != runs_here_.end()) return found->second;
  const bool here = is_run(*open_, scenario_of(lesson_->scenario(), run));
  return runs_here_.emplace(run, here).first->second;
}

/// Which of a control's values is in force; -1: none of them.
int Session::value_of(const Control& control, const viz::ViewState& view) {
  const auto is_on = [&](std::size_t i) {
    if (!control.values.empty())
      return switch_value(open_->store()->manifest().config, control.engine_switch) == control.values[i];
    if (!control.runs.empty()) return runs_here(control.runs[i]);
    return view.stage == viz::StageView::compare && variants_here() == control.compare[i];
  };
  for (std::size_t i = 0; i < control.labels.size(); ++i) {
    if (is_on(i)) return static_cast<int>(i);
  }
  return -1;
}

/// What can be turned and sent, where nothing is asked and nothing is broken by the lesson.
void Session::fill_hands(const viz::ViewState& view) {
  handles_.clear();
  outbox_now_.reset();
  if (!lesson_ || !open_->store() || lesson_->now().asking || lesson_->broken() || !lesson_->arrived())
    return;
  for (const Control& control : lesson_->stop().controls)
    handles_.push_back({control.name, control.labels, value_of(control, view)});
  if (!lesson_->stop().send) return;
  outbox_now_.emplace();
  for (const ScenarioRequest& request : scenario_of(lesson_->scenario(), lesson_->run()).requests)
    outbox_now_->labels.push_back(request.id);
  if (!by_hand()) return;
  const int steps = num_steps() == 0 ? 0 : open_->store()->step(last_index())->step;
  const std::vector<SentRequest> sent = sent_requests();
  outbox_now_->sent = static_cast<int>(sent_);
  outbox_now_->waiting =
      static_cast<int>(sent_ - std::min(sent_, sent.size())) +
      static_cast<int>(std::ranges::count_if(sent, [&](const SentRequest& s) { return s.second >= steps; }));
}

}  // namespace attn::app
