// Long work of a session: searches, and runs repeated with other switches.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/session.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace {

/// Has step `index` made and waits for it; false when there will be none, or the job is cancelled.
bool reach(LiveEngine& engine, int index, const Job::Control& control) {
  return engine.make_steps(index + 1, [&] { return control.stopped(); });
}

}  // namespace

void Session::start_job(std::string text, Job::Work work) {
  cancel();
  job_ = std::make_unique<Job>(std::move(text), std::move(work), changed_);
}

void Session::finish_job() {
  if (!job_ || !job_->done()) return;
  const std::unique_ptr<Job> done = std::move(job_);
  try {
    done->finish();
  } catch (const std::exception& error) {
    complain(error.what());
  }
}

void Session::cancel() {
  if (job_) job_->cancel();
  bin_.put(std::move(job_));
  if (next_) bin_.put(std::move(next_->run));
  next_.reset();
  waiting_move_.reset();
  if (live()) open_->engine()->halt();
}

/// What the user cancels is not finished either.
void Session::stop_working() {
  cancel();
  if (live()) open_->engine()->cancel();
  if (setting_out()) lesson_->fail("cancelled on the way to this stop");
}

void Session::find(std::vector<trace::Condition> conditions, int by, std::string text, bool to_the_end) {
  if (num_steps() == 0) return;
  SearchRequest request{.store = open_->store(),
                        .conditions = std::move(conditions),
                        .from = selection_.step,
                        .by = by,
                        .layer = selection_.layer,
                        .device = choice_};
  if (live() && by > 0) {
    request.make_step = [engine = open_->engine()](int index, const Job::Control& control) {
      return reach(*engine, index, control);
    };
  }
  if (right_) {
    request.right_step = [engine = right_->engine()](int index, const Job::Control& control) {
      return reach(*engine, index, control) ? engine->status().recording->step(index) : nullptr;
    };
  }
  follow_ = false;  // the picture stays until something is found
  start_job("looking for: " + text,
            [this, request = std::move(request), text, by, to_the_end](Job::Control& control) -> Job::Finish {
              return [this, result = search(request, control), text, by, to_the_end] {
                found(result, text, by, to_the_end);
              };
            });
}

void Session::found(const SearchResult& result, const std::string& text, int by, bool to_the_end) {
  frame_.num_steps = num_steps();
  if (result.index < 0) {
    if (to_the_end && result.last >= 0) seek(result.last);
    if (!to_the_end || !frame_.breakpoints.empty()) {
      say(fmt::format("{} {}: not found", by > 0 ? "later" : "earlier", text));
    }
    return;
  }
  show_hit(result.index, result.condition, result.hit);
}

/// What was looked for, or stopped playing, is selected and seen where it is drawn.
void Session::show_hit(int index, const trace::Condition& condition, const trace::ConditionHit& hit) {
  viz::Selection s = selection_;
  s.step = index;
  s.tile = hit.tile;
  if (hit.head >= 0) s.head = hit.head;
  if (hit.block >= 0) s.block = hit.block;
  if (hit.q_row >= 0) {
    const auto step = open_->store()->step(index);
    const auto after = std::ranges::upper_bound(step->cu_seqlens_q, hit.q_row);
    const auto b = static_cast<std::size_t>(after - step->cu_seqlens_q.begin()) - 1;
    if (b < step->seqs.size()) {
      s.seq = step->seqs[b].id;
      s.q_row = hit.q_row - step->cu_seqlens_q[b];
    }
    s.stage = trace::Stage::attention;
  }
  select(s);
  // A rescale is seen where its tiles are.
  if (condition.kind == trace::ConditionKind::rescale) show_next_ = viz::StageView::tiles;
  frame_.stopped_at = trace::condition_text(condition) + ": " + hit.text;
}

std::optional<Recipe> Session::recipe() {
  // Of what is on its way rather than of what is open: two switches in a row both count.
  const OpenRun& run = next_ && next_->arrival == Arrival::repeated ? *next_->run : *open_;
  if (!run.engine()) return recipe_;
  const bool started = run.num_steps() > 0;
  return Recipe{run.subject().scenario, started ? run.engine()->added() : run.subject().added};
}

void Session::set_switch(const std::string& name, const std::string& value) {
  const std::optional<Recipe> before = recipe();
  if (!before) return say("the switches cannot be changed: " + frame_.switches_note);
  try {
    run_again({with_switch(before->scenario, name, value), before->added}, name + " = " + value);
  } catch (const InputError& error) {
    complain(error.what());
  }
}

void Session::run_again(const Recipe& recipe, const std::string& text) {
  Subject subject = open_->subject();
  subject.store = nullptr;
  subject.scenario = recipe.scenario;
  subject.added = recipe.added;
  cancel();
  const int steps = selection_.step + 1;
  begin({.run =
             std::make_unique<OpenRun>(std::move(subject), choice_, changed_, std::filesystem::path{}, steps),
         .steps = steps,
         .text = "running again with " + text,
         .arrival = Arrival::repeated});
}

void Session::begin(Next next) {
  next_ = std::move(next);
  take_next();
}

void Session::take_next() {
  if (!next_) return;
  OpenRun& run = *next_->run;
  run.refresh();
  const LiveEngine::Status& status = run.status();
  const bool none = run.engine() && run.num_steps() == 0 && next_->steps > 0;
  if (status.startup_error || (none && !status.busy)) {
    try {
      if (status.startup_error) std::rethrow_exception(status.startup_error);
      complain(status.error.empty() ? "the run has no steps" : status.error);
    } catch (const std::exception& error) {
      complain(error.what());
    }
    bin_.put(std::move(next_->run));
    return next_.reset();
  }
  if ((run.num_steps() < next_->steps || !run.store()) && status.busy) return;
  Next next = std::move(*next_);
  next_.reset();
  if (next.arrival == Arrival::opened) {
    save_clicks();
    end_lesson();
  }
  put_in_place(std::move(next.run));
  if (next.arrival == Arrival::repeated) {
    seek(selection_.step);
    forget_loop_ = false;
  }
  if (next.arrival == Arrival::opened) opened(open_->subject());
}

/// What was open is kept while its script is told: one comes back to it at once.
void Session::put_in_place(std::unique_ptr<OpenRun> run) {
  constexpr std::size_t kMostParked = 12;  // a slider may stand for nine
  std::unique_ptr<OpenRun> before = std::exchange(open_, std::move(run));
  if (lesson_ && !recorded_) {
    parked_.push_back(std::move(before));
    if (parked_.size() > kMostParked) {
      bin_.put(std::move(parked_.front()));
      parked_.erase(parked_.begin());
    }
  } else {
    bin_.put(std::move(before));
  }
  attached_ = nullptr;
  runs_here_of_ = nullptr;
  clicks_run_of_ = {};
  forget_loop_ = true;
  recorded_ = false;
  saved_steps_ = 0;
  follow_ = false;
  frame_.step = frame_.previous = nullptr;
  frame_.num_steps = num_steps();
  selection_.step = std::clamp(selection_.step, 0, std::max(0, last_index()));
}

}  // namespace attn::app
