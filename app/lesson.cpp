#include "app/lesson.h"

#include <algorithm>

#include "app/place.h"
#include "core/engine/switches.h"
#include "viz/layout/panel_names.h"

namespace attn::app {
namespace {

/// Where nothing is asked everything fits.
template <class T>
bool fits(const std::optional<T>& wanted, const T& is) {
  return !wanted || *wanted == is;
}
template <class T>
bool fits(const std::optional<T>& wanted, const std::optional<T>& is) {
  return !wanted || wanted == is;
}

bool fits(const Place& place, const viz::Selection& s, const trace::Store& store) {
  return fits(place.step, store.step(s.step)->step) && fits(place.stage, s.stage) &&
         fits(place.layer, s.layer) && fits(place.head, s.head) && fits(place.tile, s.tile) &&
         fits(place.seq, s.seq) && fits(place.row, s.q_row) && fits(place.col, s.k_col) &&
         fits(place.block, s.block);
}

bool fits(const trace::Variant& wanted, const trace::Variant& is) {
  return fits(wanted.path, is.path) && fits(wanted.level, is.level) && fits(wanted.mask, is.mask) &&
         fits(wanted.head_map, is.head_map) && fits(wanted.k_tile, is.k_tile) &&
         fits(wanted.num_splits, is.num_splits);
}

bool fits(const Shown& shown, const Standing& now) {
  const bool compares = !shown.compare || (now.compare && fits(shown.compare->first, now.compare->first) &&
                                           fits(shown.compare->second, now.compare->second));
  return compares && fits(shown.stage, now.stage) && fits(shown.side, now.side) &&
         fits(shown.panel, now.maximised);
}

/// `top` where it says something, else `base`.
template <class T>
void lay_over(std::optional<T>& base, const std::optional<T>& top) {
  if (top) base = top;
}

bool asks_nothing(const Exercise& exercise) {
  return exercise.place == Place{} && exercise.switches.empty() && !exercise.shown.stage &&
         !exercise.shown.side && !exercise.shown.panel && !exercise.shown.compare && !exercise.asks_run &&
         exercise.sent.empty() && exercise.way.empty() && !exercise.true_memory;
}

/// Sequences are numbered in the order in which they were sent; the file lists them by when and by name.
bool same_requests(std::vector<SentRequest> a, std::vector<SentRequest> b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  return a == b;
}

/// Whether the stop itself lets one turn what breaks it: whoever does has not broken the lesson.
bool offers(const Stop& stop, const Exercise& break_it) {
  return std::ranges::any_of(break_it.switches, [&](const auto& wanted) {
    return std::ranges::find(stop.controls, wanted.first, &Control::engine_switch) != stop.controls.end();
  });
}

/// What the stop brings up or points at: the page that has it is turned to. In mode explore the lower right
/// is beside the stage wherever there is room for both, and does not take its place elsewhere.
viz::PanelId wanted(const Shown& shown, viz::ScreenMode mode) {
  if (shown.side && mode == viz::ScreenMode::present) return viz::side_panel(*shown.side);
  if (shown.annotate.empty()) return viz::PanelId::count_;
  const std::string& first = shown.annotate.front();
  return viz::panel_named(first.substr(0, first.find('/')));
}

/// What a question hides, and what it will point at unless that lies under it.
std::vector<std::string> covered(const Stop& stop) {
  std::vector<std::string> names = stop.hide;
  for (const std::string& name : stop.shown.annotate) {
    const std::string panel = name.substr(0, name.find('/'));
    const bool under = std::ranges::any_of(
        stop.hide, [&](const std::string& hidden) { return hidden == panel || hidden == name; });
    if (!under) names.push_back(name);
  }
  return names;
}

}  // namespace

bool switched(const Exercise& exercise, const EngineConfig& config) {
  return std::ranges::all_of(exercise.switches, [&](const auto& wanted) {
    return switch_value(config, wanted.first) == wanted.second;
  });
}

bool stands(const Exercise& exercise, const Standing& standing) {
  return fits(exercise.place, standing.selection, *standing.store) && fits(exercise.shown, standing) &&
         fits(exercise.true_memory, standing.true_memory) && (!exercise.asks_run || standing.run_open) &&
         (exercise.sent.empty() || same_requests(exercise.sent, standing.sent)) &&
         switched(exercise, standing.store->manifest().config);
}

void show(const Shown& shown, viz::ViewState& view) {
  view.stage = shown.stage.value_or(viz::StageView::weights);
  view.side = shown.side.value_or(viz::SideView::stages);
  view.maximised = shown.panel.value_or(viz::PanelId::count_);
  if (view.mode == viz::ScreenMode::present) view.page = 0;
  view.wanted = wanted(shown, view.mode);
}

int stop_at(const Scenario& scenario, const Place& place) {
  const int first = scenario.engine.warmup ? 0 : 1;
  const int step = place.step.value_or(first);
  const auto agree = [](const auto& a, const auto& b) { return !a || !b || *a == *b; };
  int last_before = 0, best = -1;
  for (int i = 0; i < std::ssize(scenario.script.stops); ++i) {
    const Stop& stop = scenario.script.stops[static_cast<std::size_t>(i)];
    if (!stop.run.empty()) continue;
    const Place& there = stop.place;
    const int at = there.step.value_or(first);
    if (at <= step) last_before = i;
    const bool here = at == step && agree(there.layer, place.layer) && agree(there.head, place.head) &&
                      agree(there.seq, place.seq) && agree(there.row, place.row) &&
                      agree(there.col, place.col) && agree(there.tile, place.tile);
    if (here && best < 0) best = i;
  }
  return best >= 0 ? best : last_before;
}

Lesson::Lesson(std::shared_ptr<const Scenario> scenario, LessonProgress progress)
    : scenario_(std::move(scenario)), progress_(std::move(progress)) {
  go(0);
}

const Stop* Lesson::next_stop() const {
  const std::size_t next = static_cast<std::size_t>(at_) + 1;
  return next < script().stops.size() ? &script().stops[next] : nullptr;
}

void Lesson::go(int stop) {
  at_ = std::clamp(stop, 0, static_cast<int>(script().stops.size()) - 1);
  broken_ = false;
  now_ = {};
  now_.asking = !this->stop().predict.empty();
  fill();
}

bool Lesson::next(int by) {
  if (by > 0 && now_.asking) {
    answer();
    return true;
  }
  const int to = std::clamp(at_ + by, 0, static_cast<int>(script().stops.size()) - 1);
  if (to == at_) return false;
  go(to);
  return true;
}

void Lesson::answer(int guess) {
  now_.asking = false;
  now_.guessed = guess < std::ssize(now_.choices) ? guess : -1;
  judge_guess();
}

/// Once the right answer is known and one was picked.
void Lesson::judge_guess() {
  if (now_.guessed >= 0 && now_.guessed == now_.right) note_stop(progress_.done, guess_key(stop()));
}

void Lesson::set_broken(bool broken) {
  if (!now_.break_it || broken == now_.break_it->on) return;
  broken_ = broken;
  now_.ready = false;
  now_.asking = false;
}

const std::string& Lesson::run() const { return broken_ ? stop().break_it->run : stop().run; }

Place Lesson::place() const {
  Place place = broken_ ? over(stop().place, stop().break_it->place) : stop().place;
  if (now_.asking) place.seq = place.row = place.col = place.block = std::nullopt;
  return place;
}

Shown Lesson::shown() const {
  Shown shown = stop().shown;
  if (!broken_) return shown;
  const Shown& top = stop().break_it->shown;
  lay_over(shown.stage, top.stage);
  lay_over(shown.side, top.side);
  lay_over(shown.panel, top.panel);
  lay_over(shown.compare, top.compare);
  if (!top.annotate.empty()) shown.annotate = top.annotate;
  return shown;
}

void Lesson::fill() {
  const Stop& stop = this->stop();
  now_.title = scenario_->name;
  now_.stop = at_;
  now_.num_stops = static_cast<int>(script().stops.size());
  now_.name = stop.name;
  now_.question = stop.predict;
  now_.where = stop.where;
  if (const Stop* next = next_stop()) now_.next = next->name;
  now_.choices = stop.choices;
  task_texts_.clear();
  now_.num_tasks = static_cast<int>(stop.tasks.size());
  const auto noted = [&](const std::string& key) {
    return std::ranges::find(progress_.done, key) != progress_.done.end();
  };
  const auto done = [&](std::size_t i) { return noted(task_key(stop, i)); };
  std::size_t first_open = 0;
  for (std::size_t i = 0; i < stop.tasks.size(); ++i) now_.tasks_done += done(i) ? 1 : 0;
  while (first_open < stop.tasks.size() && done(first_open)) ++first_open;
  if (!stop.tasks.empty()) {
    hand_task(std::min(first_open, stop.tasks.size() - 1));
    now_.task->done = first_open == stop.tasks.size();
  }
  if (stop.break_it) {
    now_.break_it.emplace();
    now_.break_it->text = stop.break_it->text;
    now_.break_it->done = noted(break_key(stop));
  }
}

void Lesson::hand_task(std::size_t i) {
  at_task_ = i;
  now_.task.emplace();
  now_.task->text = i < task_texts_.size() ? task_texts_[i] : stop().tasks[i].text;
  now_.task->places = static_cast<int>(stop().tasks[i].way.size());
}

void Lesson::arrive(const Standing& standing) {
  now_.ready = true;
  now_.rings = now_.asking ? covered(stop()) : shown().annotate;
  since_ = standing;
  moved_ = false;
  was_done_ = task() != nullptr && stands(*task(), standing);
  armed_ = task() != nullptr && !was_done_;
  note_stop(progress_.seen, stop().name);
  progress_.at = stop().name;
}

void Lesson::fail(const std::string& why) {
  now_.ready = true;
  now_.caption = why;
  since_.reset();
}

bool Lesson::watch(const Standing& standing) {
  if (now_.break_it) {
    // A tensor case has no engine whose switches could be looked at: there the run itself tells.
    const bool there = broken_ && since_ && since_->store == standing.store;
    const Exercise& breaks = *stop().break_it;
    const bool by_hand = !offers(stop(), breaks) && switched(breaks, standing.store->manifest().config);
    now_.break_it->on = !breaks.switches.empty() && (there || by_hand);
  }
  if (!since_ || task() == nullptr || now_.task->done) return false;
  const Exercise& task = *this->task();
  const bool through = come_along(task, standing);
  if (!moved_ && *since_ == standing) return false;
  moved_ = true;
  if (asks_nothing(task)) armed_ = true;
  const bool done = through && stands(task, standing);
  const bool just_now = done && !std::exchange(was_done_, done) && armed_;
  was_done_ = done;
  if (!done) armed_ = true;
  return just_now || (done && asks_nothing(task));
}

/// Looks whether one stands at the next place of a walk; true when there is none left.
bool Lesson::come_along(const Exercise& task, const Standing& standing) {
  const auto& way = task.way;
  while (now_.task->passed < now_.task->places &&
         fits(way[static_cast<std::size_t>(now_.task->passed)], standing.selection, *standing.store))
    ++now_.task->passed;
  return now_.task->passed == now_.task->places;
}

void Lesson::task_checked(const std::string& proof, const std::string& missed, const Standing& standing) {
  if (!now_.task || now_.task->done) return;
  now_.task->missed = missed;
  if (!missed.empty()) return;
  now_.task->proof = now_.task_proof = proof;
  ++now_.tasks_done;
  note_stop(progress_.done, task_key(stop(), at_task_));
  if (at_task_ + 1 < stop().tasks.size()) {
    hand_task(at_task_ + 1);
    since_ = standing;
    moved_ = false;
    was_done_ = stands(*task(), standing);
    armed_ = !was_done_;
  } else {
    now_.task->done = true;
  }
}

void Lesson::broken_proved(std::string proof, bool right) {
  now_.break_it->proof = std::move(proof);
  if (!right) return;
  now_.break_it->done = true;
  note_stop(progress_.done, break_key(stop()));
}

std::vector<std::string> Lesson::texts() const {
  const Stop& stop = this->stop();
  std::vector<std::string> texts{stop.caption, stop.notes, stop.break_it ? stop.break_it->text : "",
                                 stop.right, stop.predict};
  texts.insert(texts.end(), stop.choices.begin(), stop.choices.end());
  for (const Exercise& task : stop.tasks) texts.push_back(task.text);
  return texts;
}

void Lesson::told(const std::vector<std::string>& texts) {
  if (texts.size() != this->texts().size()) return;
  now_.caption = texts[0];
  now_.notes = texts[1];
  if (now_.break_it) now_.break_it->text = texts[2];
  now_.question = texts[4];
  const auto choices = texts.begin() + 5;
  const auto tasks = choices + std::ssize(stop().choices);
  now_.choices.assign(choices, tasks);
  task_texts_.assign(tasks, texts.end());
  if (now_.task) now_.task->text = task_texts_[at_task_];
  const auto right = std::ranges::find(now_.choices, texts[3]);
  if (right != now_.choices.end()) now_.right = static_cast<int>(right - now_.choices.begin());
  judge_guess();
}

}  // namespace attn::app
