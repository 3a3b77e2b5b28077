// Files of a session: opening, saving, exporting, bookmarks.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/files.h"
#include "app/output_file.h"
#include "app/session.h"
#include "core/trace/export.h"
#include "core/trace/trace_file.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace fs = std::filesystem;

bool Session::apply_file(const viz::Command& command) {
  using Kind = viz::Command::Kind;
  switch (command.kind) {
    case Kind::open_file:
      open_file(command.text);
      return true;
    case Kind::list_folder:
      list_folder(command.text);
      return true;
    case Kind::save_trace:
      save_trace(command.text);
      return true;
    case Kind::export_tensor:
      export_tensor(command.text, command.value);
      return true;
    case Kind::add_bookmark:
    case Kind::edit_bookmark:
    case Kind::remove_bookmark:
    case Kind::go_to_bookmark:
      change_bookmarks(command);
      return true;
    default:  // for the window around the session
      return false;
  }
}

/// Whether opening another file would lose bookmarks; says so the first time that one is asked for.
bool Session::keeps_bookmarks(const std::string& link) {
  const std::size_t count = frame_.bookmarks.size();
  if (bookmarks_saved_ || count == 0 || refused_ == link) return false;
  refused_ = link;
  say(fmt::format("{} bookmark{} in no file: Ctrl+S saves the run with {}; open {} again to go without",
                  count, count == 1 ? " is" : "s are", count == 1 ? "it" : "them",
                  fs::path(link).filename().string()));
  return true;
}

void Session::open_file(const std::string& link) {
  if (keeps_bookmarks(link)) return;
  refused_.clear();
  start_job("opening " + fs::path(link).filename().string(),
            [this, link, choice = choice_](Job::Control& control) -> Job::Finish {
              Subject subject = open_subject(link, choice, {}, control.stop_token());
              return [this, subject = std::move(subject)] {
                const int steps = subject.store ? 1 : steps_to(subject.link, subject.scenario.engine);
                begin({.run = std::make_unique<OpenRun>(subject, choice_, changed_, fs::path{}, steps),
                       .steps = steps,
                       .text = "opening " + subject.title});
              };
            });
}

void Session::opened(const Subject& subject) {
  selection_ = {};
  compare_.reset();
  diff_with_.reset();
  frame_.stopped_at.clear();
  load_bookmarks();
  remember_file(subject.link.path);
  try {
    select(selection_of(subject.link, *open_->store()));
  } catch (const InputError& error) {
    complain(error.what());
  }
  if (!subject.link.step) follow_ = live();
  start_watch();
  if (tell_) begin_lesson();
}

void Session::remember_file(const fs::path& path) {
  constexpr std::size_t kRecent = 12;
  std::error_code error;
  const std::string name = fs::absolute(path, error).lexically_normal().string();
  std::erase(frame_.recent_files, name);
  frame_.recent_files.insert(frame_.recent_files.begin(), name);
  if (frame_.recent_files.size() > kRecent) frame_.recent_files.resize(kRecent);
}

void Session::list_folder(const std::string& path) {
  const fs::path open = open_->subject().link.path;
  frame_.folder = attn::app::list_folder(path.empty() ? open.parent_path() : fs::path(path));
}

namespace {

fs::path whole_path(const fs::path& path) {
  std::error_code error;
  return fs::absolute(path, error).lexically_normal();
}

/// "saved: /home/me/run-2.attn (run.attn is another file and was kept)".
std::string written_text(const char* done, const fs::path& path, const fs::path& wanted) {
  std::string text = fmt::format("{}: {}", done, whole_path(path).string());
  if (path != wanted) text += fmt::format(" ({} was there already and is kept)", wanted.filename().string());
  return text;
}

}  // namespace

/// Where a file goes that is to have that name: where one is that this session neither wrote nor has open, a
/// free name beside it. Nobody's file is lost to Enter in a box that came with a name.
fs::path Session::spare_path(const fs::path& wanted) const {
  std::error_code error;
  if (!fs::exists(wanted, error) || fs::is_directory(wanted, error)) return wanted;
  const Subject& subject = open_->subject();
  const bool open = subject.kind == FileKind::trace && fs::equivalent(wanted, subject.link.path, error);
  if (open || own_files_.contains(whole_path(wanted))) return wanted;
  return free_path(wanted.parent_path(), wanted.stem().string(), wanted.extension().string());
}

void Session::save_trace(const std::string& name) {
  if (num_steps() == 0) return say("there is no step to save yet");
  try {
    const fs::path wanted = output_path(name, open_->subject().link.path.stem().string(), ".attn");
    const fs::path path = spare_path(wanted);
    require_writable(path);
    trace::Manifest manifest = open_->store()->manifest();
    if (const auto from = recipe(); from && live()) manifest.scenario_json = text_with_added(*from);
    start_job("saving " + path.filename().string(),
              [this, path, wanted, manifest = std::move(manifest), store = open_->store(),
               steps = num_steps(), bookmarks = frame_.bookmarks](Job::Control& control) -> Job::Finish {
                write_trace(path, manifest, *store, steps, bookmarks, control);
                if (control.stopped()) return [this] { say("nothing was saved"); };
                return [this, path, wanted, steps, store, marks = bookmarks.size()] {
                  say(written_text("saved", path, wanted));
                  own_files_.insert(whole_path(path));
                  if (store != open_->store()) return;
                  saved_steps_ = steps;
                  bookmarks_saved_ = marks == frame_.bookmarks.size();
                  remember_file(path);
                };
              });
  } catch (const InputError& error) {
    complain(error.what());
  }
}

void Session::export_tensor(const std::string& name, const std::string& what) {
  if (!frame_.step) return say("there is no step to export yet");
  const fs::path wanted = output_path(name, fmt::format("{}-{}", still_stem(frame_), what), ".safetensors");
  const fs::path path = spare_path(wanted);
  start_job("exporting " + path.filename().string(),
            [this, path, wanted, what, store = open_->store(), index = selection_.step,
             layer = selection_.layer, view = frame_.attention](Job::Control& control) -> Job::Finish {
              const auto go_on = [&](int done, int total) {
                control.progress(done, total);
                return !control.stopped();
              };
              if (!trace::export_tensor(path, *store, index, layer, what, view.get(), go_on))
                return [this] { say("nothing was exported"); };
              return [this, path, wanted] {
                say(written_text("exported", path, wanted));
                own_files_.insert(whole_path(path));
              };
            });
}

void Session::change_bookmarks(const viz::Command& command) {
  using Kind = viz::Command::Kind;
  std::vector<trace::Bookmark>& marks = frame_.bookmarks;
  if (command.kind == Kind::add_bookmark) {
    if (num_steps() == 0) return;
    marks.push_back({.cursor = cursor(), .seq = selection_.seq, .note = command.text});
    return store_bookmarks();
  }
  if (command.a < 0 || command.a >= std::ssize(marks)) return;
  const auto mark = marks.begin() + command.a;
  if (command.kind == Kind::go_to_bookmark) {
    set_cursor(mark->cursor);
    selection_.seq = mark->seq;
    return;
  }
  if (command.kind == Kind::edit_bookmark) mark->note = command.text;
  if (command.kind == Kind::remove_bookmark) marks.erase(mark);
  store_bookmarks();
}

/// Those of the file that is open, however it was opened: what is added later is saved with them, not
/// instead.
void Session::load_bookmarks() {
  frame_.bookmarks.clear();
  bookmarks_saved_ = true;
  const Subject& subject = open_->subject();
  if (subject.kind != FileKind::trace) return;
  try {
    frame_.bookmarks = trace::read_bookmarks(subject.link.path);
  } catch (const InputError& error) {
    complain(error.what());
  }
}

/// At once into the trace that is open; those of a live run are kept until it is saved.
void Session::store_bookmarks() {
  bookmarks_saved_ = false;
  const Subject& subject = open_->subject();
  if (live() || subject.kind != FileKind::trace) return;
  try {
    trace::save_bookmarks(subject.link.path, frame_.bookmarks);
    bookmarks_saved_ = true;
  } catch (const InputError& error) {
    complain(error.what());
  }
}

void go_to_link(Session& session, const Link& link) {
  session.wait_idle();
  const viz::Frame& frame = session.frame();
  if (!frame.step) {
    throw InputError(fmt::format("there is no step to show ({}){}", link.path.string(),
                                 frame.status.empty() ? "; run the scenario again" : ": " + frame.status));
  }
  session.run_to_step(steps_to(link, frame.manifest->config));
  session.wait_idle();
  session.select(selection_of(link, session.store()));
  session.wait_idle();
}

}  // namespace attn::app
