#include "app/lesson_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "app/script_runs.h"
#include "core/trace/fact_words.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace {

using trace::FactSource;

/// Stores with an inspector each, made when a fact asks for them.
class Sources {
 public:
  Sources(const LessonQuestion& question, RecordedRuns& runs, DeviceChoice choice,
          const Job::Control& control)
      : question_(question), runs_(runs), control_(control), device_(make_device(choice)) {
    device_.device->context().stop = control.stop_token();
  }

  /// `whole`: the question's own run, too, recorded to its end.
  trace::FactRuns runs(bool whole) {
    return [this, whole](std::string_view name) {
      const std::string run = name.empty() ? question_.run : std::string(name);
      return name.empty() && !whole && question_.open ? source(question_.open)
                                                      : source(runs_.get(run, control_));
    };
  }

 private:
  FactSource source(const std::shared_ptr<const trace::Store>& store) {
    std::unique_ptr<trace::Inspector>& inspector = inspectors_[store.get()];
    if (!inspector) inspector = std::make_unique<trace::Inspector>(*device_.device, store);
    return {store, inspector.get()};
  }

  const LessonQuestion& question_;
  RecordedRuns& runs_;
  const Job::Control& control_;
  DevicePick device_;
  std::map<const trace::Store*, std::unique_ptr<trace::Inspector>> inspectors_;
};

/// `read` with what is open, and where that has not come far enough with the whole run.
template <class Read>
auto open_or_whole(Sources& sources, bool of_whole_run, Read read) {
  if (of_whole_run) return read(sources.runs(true));
  try {
    return read(sources.runs(false));
  } catch (const InputError&) {
    return read(sources.runs(true));
  }
}

/// "slots of A: [12]": how a fact and its value are shown.
void check(const Expectation& expectation, const LessonQuestion& question, Sources& sources,
           LessonAnswer& answer) {
  try {
    const trace::FactCall call = trace::parse_fact(expectation.fact);
    const trace::FactValue value = open_or_whole(
        sources, call.of_whole_run(),
        [&](const trace::FactRuns& runs) { return trace::evaluate(call, question.place, runs); });
    const nlohmann::json wanted = nlohmann::json::parse(expectation.value);
    const std::string is = fmt::format("{}: {}", trace::words_of(call, kMainRun), trace::text_of(value));
    if (trace::meets(value, wanted)) {
      answer.right.push_back(is);
    } else {
      answer.wrong.push_back(fmt::format("{}, and {} was expected", is,
                                         wanted.is_string() ? wanted.get<std::string>() : wanted.dump()));
    }
  } catch (const InputError& error) {
    answer.wrong.push_back(fmt::format("{}: {}", expectation.fact, error.what()));
  }
}

}  // namespace

std::shared_ptr<const trace::Store> RecordedRuns::get(const std::string& run, const Job::Control& control) {
  const std::lock_guard lock(mutex_);
  if (const auto found = runs_.find(run); found != runs_.end()) return found->second;
  const auto unless_left = [&](int, int) {
    if (control.stopped()) throw Stopped();
  };
  auto store = run_to_end(scenario_of(*scenario_, run), choice_, unless_left, control.stop_token());
  return runs_.emplace(run, std::move(store)).first->second;
}

trace::FactPlace fact_place(const viz::Selection& s, int step,
                            std::optional<std::pair<trace::Variant, trace::Variant>> compare) {
  return {.step = step,
          .layer = s.layer,
          .head = s.head,
          .seq = s.seq,
          .row = s.q_row,
          .col = s.k_col,
          .tile = s.tile,
          .block = s.block,
          .compare = std::move(compare)};
}

LessonAnswer answer(const LessonQuestion& question, RecordedRuns& runs, DeviceChoice choice,
                    const Job::Control& control) {
  LessonAnswer answer;
  try {
    Sources sources(question, runs, choice, control);
    for (const std::string& text : question.texts) {
      try {
        const bool whole = std::ranges::any_of(trace::facts_in(text), &trace::FactCall::of_whole_run);
        answer.texts.push_back(open_or_whole(sources, whole, [&](const trace::FactRuns& from) {
          return trace::fill_in(text, question.place, from);
        }));
      } catch (const InputError& error) {
        answer.texts.push_back(fmt::format("{} ({})", text, error.what()));
      }
    }
    for (const Expectation& expectation : question.expect) check(expectation, question, sources, answer);
  } catch (const Stopped&) {  // the lesson was left meanwhile
    return {};
  }
  return answer;
}

}  // namespace attn::app
