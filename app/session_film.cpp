// Films of a session: what the window shows, written as a scenario and filmed beside it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "app/files.h"
#include "app/film_coding.h"
#include "app/output_file.h"
#include "app/picture_options.h"
#include "app/place.h"
#include "app/rerun.h"
#include "app/script_write.h"
#include "app/session.h"
#include "app/view_names.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

/// Where the film goes: a folder keeps its slash.
fs::path film_path(const std::string& wanted, const std::string& stem) {
  const fs::path path = wanted.ends_with('/') ? fs::path(wanted) : output_path(wanted, stem, ".mp4");
  const fs::path whole = fs::absolute(path).lexically_normal();
  if (film_format(whole) != FilmFormat::pictures) require_writable(whole);
  return whole;
}

/// Beside the film, in the place of nothing that is there.
fs::path scenario_beside(const fs::path& film) {
  const fs::path name = film.has_filename() ? film : film.parent_path();
  const fs::path path = free_path(name.parent_path(), name.stem().string(), ".film.json");
  require_writable(path);
  return path;
}

}  // namespace

/// The run that is open, typed prompts and switches included, as a scenario without a script. `again`: of a
/// recording that can be run again what makes it, so that other runs can be changes of it.
std::string Session::run_text(bool again) {
  const Subject& subject = open_->subject();
  const fs::path folder = subject.link.path.parent_path();
  if (const auto run = live() ? recipe() : again ? recipe_ : std::nullopt)
    return movable(Json::parse(text_with_added(*run)), folder).dump(2);
  if (!subject.scenario.json.empty()) return movable(Json::parse(subject.scenario.json), folder).dump(2);
  const Json recorded = {
      {"version", 1},
      {subject.kind == FileKind::trace ? "trace" : "tensors", fs::absolute(subject.link.path).string()}};
  return recorded.dump(2);
}

/// A script that is told is filmed as it is, unless what runs now is wanted; anything else step by step, as
/// it is looked at.
std::string Session::film_text(const viz::Command& command, const viz::ViewState& view) {
  Json document;
  const bool told = lesson_ && command.a == 0;
  if (told) {
    const fs::path folder = lesson_subject_.link.path.parent_path();
    document = movable(Json::parse(lesson_->scenario().text), folder);
  } else {
    document = Json::parse(run_text(false));
    Place place = place_of(selection_, *open_->store());
    if (command.a != 1) place.step.reset();
    Json begin = Json::object();
    write_place(place, begin);
    write_shown(shown_of(view, variants_here()), begin);
    document["begin"] = std::move(begin);
  }
  document["name"] = told ? lesson_->scenario().name : open_->subject().title;
  const auto [width, height] = parse_size(command.value);
  document["size"] = {width, height};
  document["theme"] = std::string(viz::theme_of(viz::theme_in_use(view)).name);
  document["mode"] = std::string(view_name(view.mode));
  return document.dump(2) + "\n";
}

void Session::record_film(const viz::Command& command, const viz::ViewState& view) {
  if (films_.running()) return say("a film is being made already; Ctrl+R shows how far it is");
  if (num_steps() == 0) return say("there is no step to film yet");
  try {
    const std::string text = film_text(command, view);
    const fs::path output = spare_path(film_path(command.text, frame_.film.stem));
    own_files_.insert(output);
    const fs::path scenario = scenario_beside(output);
    write_text_file(scenario, text);
    films_.start({.program = program_,
                  .scenario = scenario,
                  .output = output,
                  .size = command.value,
                  .device = choice_});
  } catch (const InputError& error) {
    films_.refuse(error.what());
    complain(error.what());
  }
}

void Session::finish_film() {
  if (films_.finish()) say(films_.last().text);
}

void Session::fill_film() {
  frame_.film = films_.now();
  frame_.film.stem = open_->subject().link.path.stem().string();
  frame_.film.whole = lesson_ != nullptr;
  frame_.film.what = lesson_ ? fmt::format("'{}' as it is told", lesson_->scenario().name) : "this run";
  if (!lesson_ || !open_->store()) return;
  frame_.film.by_hand = lesson_->arrived() && !runs_here(lesson_->run());
  frame_.film.run = frame_.film.by_hand ? "what you made of it" : "this run alone";
}

}  // namespace attn::app
