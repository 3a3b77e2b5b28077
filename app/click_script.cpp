#include "app/click_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "app/rerun.h"
#include "app/scenario.h"
#include "app/script_write.h"
#include "app/view_names.h"
#include "core/trace/names.h"
#include "viz/layout/panel_names.h"
#include "viz/lookup.h"

namespace attn::app {
namespace {

using Json = nlohmann::json;

constexpr double kShortestStay = 0.8, kLongestStay = 6.0;  // seconds

double hold_of(ClickScript::Clock::duration stood) {
  const double seconds = std::chrono::duration<double>(stood).count();
  return std::clamp(std::round(seconds * 10.0) / 10.0, kShortestStay, kLongestStay);
}

/// Braces are facts in a caption.
std::string without_facts(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '{' || c == '}') out += c;
  }
  return out;
}

/// "k tile 8, level 1"; a variant without changes is "as recorded".
std::string variant_words(const Json& variant) {
  std::string words;
  for (const auto& [key, value] : variant.items()) {
    if (!words.empty()) words += ", ";
    words += fmt::format("{} {}", key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  std::ranges::replace(words, '_', ' ');
  return words.empty() ? "as recorded" : words;
}

/// What changed between two stops, in a list of words.
class ChangeWords {
 public:
  /// `run`: name of the run that came on, "" when it is the same.
  ChangeWords(const ClickScript::Seen& was, const ClickScript::Seen& is, const std::string& run) {
    if (!run.empty()) add(run);
    note_place(was.place, is.place);
    note_shown(was.shown, is.shown);
  }
  /// "Now layer 1, head 5."
  std::string sentence() const { return fmt::format("Now {}.", words_); }

 private:
  void add(const std::string& word) { words_ += (words_.empty() ? "" : ", ") + word; }
  void note(const std::optional<int>& was, const std::optional<int>& is, const char* what) {
    if (was != is) add(is ? fmt::format("{} {}", what, *is) : fmt::format("no {}", what));
  }
  void note_place(const Place& was, const Place& is) {
    note(was.step, is.step, "step");
    if (was.stage != is.stage && is.stage) add(fmt::format("stage {}", trace::name_of(*is.stage)));
    note(was.layer, is.layer, "layer");
    note(was.head, is.head, "head");
    if (was.seq != is.seq) add(is.seq ? viz::seq_words(*is.seq) : "no sequence");
    note(was.row, is.row, "query");
    note(was.col, is.col, "key");
    note(was.tile, is.tile, "tile");
    note(was.block, is.block, "block");
  }
  void note_shown(const Shown& was, const Shown& is) {
    if (was.stage != is.stage && is.stage) add(fmt::format("{} in the middle", view_name(*is.stage)));
    if (was.side != is.side && is.side) add(fmt::format("{} at the side", view_name(*is.side)));
    if (was.panel != is.panel)
      add(is.panel ? fmt::format("{} alone", viz::panel_title(*is.panel)) : "all panels");
    if (was.compare == is.compare || !is.compare) return;
    Json shown = Json::object();
    write_shown(is, shown);
    const Json& compare = shown["compare"];
    add(fmt::format("A ({}) against B ({})", variant_words(compare["a"]), variant_words(compare["b"])));
  }

  std::string words_;
};

/// Whether `more` is `less` with prompts that were typed later.
bool is_beginning_of(const Json& less, const Json& more) {
  if (!less.contains("requests") || !more.contains("requests")) return less == more;
  const Json& few = less["requests"];
  const Json& many = more["requests"];
  if (few.size() > many.size() || !std::equal(few.begin(), few.end(), many.begin())) return false;
  Json a = less, b = more;
  a.erase("requests");
  b.erase("requests");
  return a == b;
}

/// The runs that were seen, each once: one with fewer prompts is the beginning of another.
class SeenRuns {
 public:
  /// Its place among them.
  std::size_t add(const std::string& text) {
    Json run = Json::parse(text);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (is_beginning_of(runs_[i], run)) {
        runs_[i] = std::move(run);
        return i;
      }
      if (is_beginning_of(run, runs_[i])) return i;
    }
    runs_.push_back(std::move(run));
    return runs_.size() - 1;
  }

  const Json& base() const { return runs_.front(); }
  std::string name(std::size_t i) const { return fmt::format("run {}", i + 1); }

  /// All but the first, as changes of it.
  Json changes() const {
    Json list = Json::array();
    const Scenario from = parse_scenario(base().dump(), "run.json");
    for (std::size_t i = 1; i < runs_.size(); ++i) {
      const Json& run = runs_[i];
      Json set = engine_changes(from.engine, parse_scenario(run.dump(), "run.json").engine);
      Json entry = {{"name", name(i)}};
      if (run.contains("model") && run.value("model", "") != base().value("model", ""))
        set["model"] = run["model"];
      for (const char* key : {"requests", "tensors", "max_steps"}) {
        if (run.contains(key) && (!base().contains(key) || base()[key] != run[key])) entry[key] = run[key];
      }
      if (!set.empty()) entry["set"] = std::move(set);
      list.push_back(std::move(entry));
    }
    return list;
  }

 private:
  std::vector<Json> runs_;
};

}  // namespace

bool ClickScript::Seen::answers(const Seen& question) const {
  if (!question.asking || asking) return false;
  Seen before = question;
  before.place.seq = place.seq;
  before.place.row = place.row;
  before.place.col = place.col;
  before.place.block = place.block;
  return same_as(before);
}

void ClickScript::look(const Seen& seen, Clock::time_point now) {
  if (last_ && (seen.same_as(*last_) || seen.answers(*last_))) {
    last_ = seen;
    return;
  }
  if (last_ && (stops_.empty() || now - since_ >= kPassing))
    stops_.push_back({*last_, hold_of(now - since_)});
  last_ = seen;
  since_ = now;
}

std::string ClickScript::text(const std::string& name, Clock::time_point now) const {
  std::vector<Stop> stops = stops_;
  stops.push_back({*last_, hold_of(now - since_)});
  SeenRuns runs;
  std::vector<std::size_t> run_of;
  for (const Stop& stop : stops) run_of.push_back(runs.add(stop.seen.run));
  Json film = Json::array();
  for (std::size_t i = 0; i < stops.size(); ++i) {
    const Seen& seen = stops[i].seen;
    std::string caption = seen.caption;
    if (i > 0 && caption == stops[i - 1].seen.caption) {
      const std::string run = run_of[i] == run_of[i - 1] ? "" : runs.name(run_of[i]);
      const ChangeWords changes(stops[i - 1].seen, seen, run);
      caption += fmt::format("{} {}", caption.ends_with('.') ? "" : ".", changes.sentence());
    }
    Json stop = {{"stop", fmt::format("{}: {}", i + 1, seen.name)},
                 {"caption", without_facts(caption)},
                 {"hold", stops[i].hold}};
    if (run_of[i] > 0) stop["run"] = runs.name(run_of[i]);
    write_place(seen.place, stop);
    write_shown(seen.shown, stop);
    film.push_back(std::move(stop));
  }
  Json document = runs.base();
  document["name"] = name;
  if (Json others = runs.changes(); !others.empty()) document["runs"] = std::move(others);
  document["film"] = std::move(film);
  // Texts of tokens may be cut inside a letter.
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace attn::app
