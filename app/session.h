// What the window and the headless pictures share: what is open (a live run or a recording), the cursor in
// it, and the work done beside it. Commands in, Frame out; never blocks, and nothing it is asked for can lose
// what is open.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/click_script.h"
#include "app/file_watch.h"
#include "app/film_recorder.h"
#include "app/job.h"
#include "app/lesson.h"
#include "app/lesson_facts.h"
#include "app/machine.h"
#include "app/open_run.h"
#include "app/right_run.h"
#include "app/search.h"
#include "viz/frame.h"
#include "viz/screen.h"

namespace attn::app {

/// Used by one thread.
class Session {
 public:
  using Clock = std::chrono::steady_clock;

  /// A live engine runs the first step at once: the first window is never empty. Of a recording everything is
  /// there already. `changed` is called from other threads when there is something new to draw. With a
  /// `trace` path a live run is written there.
  Session(Subject subject, DeviceChoice choice, std::function<void()> changed,
          const std::filesystem::path& trace = {});
  ~Session();

  /// Carries out what the panels asked for; returns false when that was to quit.
  bool apply(const viz::Commands& commands, viz::ViewState& view);
  /// Playing: moves on when it is time (see kStepTime). Call once per frame.
  void tick(viz::ViewState& view, Clock::time_point now);
  /// The picture's data at the cursor, from whatever is ready now. Rethrows what kept the first run from
  /// starting. Valid until the next call.
  const viz::Frame& frame();
  const viz::Selection& selection() const { return selection_; }
  /// PRECOND: wait_idle() came back and frame() has a step.
  const trace::Store& store() const { return *open_->store(); }
  void select(const viz::Selection& selection);
  /// A live run goes on until that many steps are recorded; a recording has what it has.
  void run_to_step(int steps);
  /// False while a long trace is still being read into the timeline: draw again soon.
  bool complete() const { return complete_; }
  /// One sentence for the status line, until the next command.
  void say(std::string sentence) {
    message_ = std::move(sentence);
    message_is_error_ = false;
  }
  /// The same of what went wrong.
  void complain(std::string sentence) {
    message_ = std::move(sentence);
    message_is_error_ = true;
  }
  /// What the bench measured on this machine.
  void set_machine(Machine machine) {
    frame_.machine = std::move(machine.view);
    frame_.machine_note = std::move(machine.note);
  }
  void set_recent_files(std::vector<std::string> files) { frame_.recent_files = std::move(files); }
  /// Scripts are told from now on: that of what is open, and those of what is opened later. Without this a
  /// scenario with stops is run as any other.
  void tell_scripts(LessonsProgress progress);
  /// As it was given to tell_scripts, with what was seen and done since.
  const LessonsProgress& lessons_progress() const { return lessons_progress_; }
  /// How many scripts were begun: another number is another lesson, or the same one opened again.
  int lessons_told() const { return lessons_told_; }
  /// Null while no script is told.
  const Lesson* lesson() const { return lesson_.get(); }
  /// The program that films are made with; this one unless told otherwise.
  void set_program(std::filesystem::path program) { program_ = std::move(program); }
  /// From now on a scenario is read again when its file is written, looked for that often.
  void watch_file(std::chrono::milliseconds every = std::chrono::milliseconds(500));
  /// Puts what is open first among them.
  void remember_open_file() { remember_file(open_->subject().link.path); }
  const std::vector<std::string>& recent_files() const { return frame_.recent_files; }
  /// Something goes on beside the window whose progress is shown.
  bool working() const {
    return open_->status().busy || job_ != nullptr || next_.has_value() || facts_job_ != nullptr ||
           setting_out() || films_.running();
  }

  /// For stills and tests: waits for the engine to finish what it was asked, for long work and for the
  /// inspector; frame() has everything then.
  void wait_idle();

  static constexpr std::chrono::milliseconds kStepTime{800};  // one step while playing at speed 1

 private:
  enum class Arrival : unsigned char {
    opened,    // another file: everything starts anew
    repeated,  // the same requests again: cursor and bookmarks stay
    of_stop    // a run of the script: the stop says where to stand
  };
  /// What stays as it is when a stop is come to.
  enum class Keep : unsigned char { nothing, place, place_and_view };
  /// What will take the place of what is open, once it has something to show.
  struct Next {
    std::unique_ptr<OpenRun> run;
    int steps = 1;     // it is waited for that many
    std::string text;  // for the screen
    Arrival arrival = Arrival::opened;
  };
  /// A move that waits for the engine's next step.
  struct WaitingMove {
    trace::Grain grain;
    int by;
    int num_steps;  // when it was asked
  };

  struct Comparison {
    InspectorThread::Variants variants;
    bool of_decode;  // the kind of step that they were picked in
  };

  // session.cpp: the cursor
  void apply(const viz::Command& command, viz::ViewState& view);
  bool apply_run(const viz::Command& command);
  bool apply_file(const viz::Command& command);
  void refresh();
  void attach();
  void seek(int index);
  void step_forward();
  void move(trace::Grain grain, int by);
  void retry_move();
  trace::Cursor cursor() const;
  void set_cursor(const trace::Cursor& cursor);
  int num_steps() const { return open_->num_steps(); }
  int last_index() const { return num_steps() - 1; }
  bool live() const { return open_->engine() != nullptr; }
  void play_on(viz::ViewState& view);
  bool go_round(const viz::ViewState& view);
  bool knows_breakpoints() const;
  void stop_playing_at_breakpoint(viz::ViewState& view);

  // session_frame.cpp: what the panels see
  InspectorThread::Place place() const;
  std::optional<InspectorThread::Variants> variants_here() const;
  void fill_attention();
  void fill_compare();
  void fill_changes();
  void fill_switches();
  void fill_work();
  bool is_saved() const;
  std::string status_text() const;

  // session_runs.cpp: searches, runs repeated with other switches
  void start_job(std::string text, Job::Work work);
  void finish_job();
  void cancel();
  void stop_working();
  void find(std::vector<trace::Condition> conditions, int by, std::string text, bool to_the_end);
  void found(const SearchResult& result, const std::string& text, int by, bool to_the_end);
  void show_hit(int index, const trace::Condition& condition, const trace::ConditionHit& hit);
  void set_switch(const std::string& name, const std::string& value);
  void run_again(const Recipe& recipe, const std::string& text);
  void begin(Next next);
  void take_next();
  void put_in_place(std::unique_ptr<OpenRun> run);
  void watch_right_run();
  std::optional<Recipe> recipe();

  // session_lesson.cpp: the script that is told
  void apply_lesson(const viz::Command& command, viz::ViewState& view);
  void answered(const viz::ViewState& view);
  void begin_lesson();
  void end_lesson();
  void leave_stop();
  void show_run(const Scenario& wanted, const std::string& name, int steps);
  void follow_lesson(viz::ViewState& view);
  void arrive(viz::ViewState& view);
  void say_missing_marks();
  void stand(const Place& place, viz::ViewState& view);
  bool steps_are_there(int steps);
  int steps_wanted(const EngineConfig& config) const;
  void ask_of_stop();
  void ask_of_next();
  void ask_of_task(const Standing& now);
  void ask(std::vector<std::string> texts, const Exercise* exercise, const trace::FactPlace& place,
           std::function<void(const LessonAnswer&)> done);
  void start_facts(LessonQuestion question, std::function<void(const LessonAnswer&)> done);
  void finish_facts();
  Standing standing(const viz::ViewState& view);
  bool setting_out() const { return lesson_ && !lesson_->arrived(); }
  void keep_progress();

  // session_hands.cpp: what the lesson lets one turn and send
  bool apply_hands(const viz::Command& command, viz::ViewState& view);
  void turn(const Control& control, std::size_t to, viz::ViewState& view);
  void start_over();
  void send_request();
  bool by_hand() const;
  std::vector<SentRequest> sent_requests() const;
  bool runs_here(const std::string& run);
  int value_of(const Control& control, const viz::ViewState& view);
  void fill_hands(const viz::ViewState& view);

  // session_files.cpp
  bool keeps_bookmarks(const std::string& link);
  void open_file(const std::string& link);
  void opened(const Subject& subject);
  void remember_file(const std::filesystem::path& path);
  void list_folder(const std::string& path);
  std::filesystem::path spare_path(const std::filesystem::path& wanted) const;
  void save_trace(const std::string& path);
  void export_tensor(const std::string& path, const std::string& what);
  void change_bookmarks(const viz::Command& command);
  void store_bookmarks();
  void load_bookmarks();

  // session_film.cpp
  std::string run_text(bool again);
  std::string film_text(const viz::Command& command, const viz::ViewState& view);
  void record_film(const viz::Command& command, const viz::ViewState& view);
  void finish_film();
  void fill_film();

  // session_clicks.cpp: what the user does, as a script
  void record_clicks(const viz::ViewState& view);
  void look_at_clicks(const viz::ViewState& view);
  void save_clicks();
  const std::string& clicks_run();

  // session_reload.cpp: the file of what is open was written again
  void start_watch();
  void look_at_file();
  void read_again();
  void written_again(const Subject& fresh);
  void run_file();
  void tell_again(const Subject& fresh);

  const std::function<void()> changed_;
  const DeviceChoice choice_;
  std::filesystem::path program_;  // "" = this one
  FilmRecorder films_;
  std::unique_ptr<OpenRun> open_;  // never null
  std::optional<Next> next_;
  std::unique_ptr<Job> job_;
  std::unique_ptr<RightRun> right_;  // while something is broken and can be run again
  std::optional<Recipe> recipe_;     // of a recording; of a live run see recipe()

  viz::Frame frame_;
  viz::Selection selection_;
  const trace::Store* attached_ = nullptr;  // the store that frame_ belongs to
  std::string texts_of_;                    // model that frame_.token_texts belong to
  bool follow_ = false;  // the cursor is at the end of a live recording and moves on with it
  bool complete_ = true;
  bool quit_ = false;
  std::string message_;
  bool message_is_error_ = false;
  std::optional<WaitingMove> waiting_move_;
  std::optional<Comparison> compare_;
  std::optional<int> diff_with_;
  std::pair<int, int> diff_at_{-1, -1};  // that frame_.diff belongs to
  int changes_at_ = -1;                  // index that frame_.changes belongs to
  int costs_at_ = -1;
  int saved_steps_ = 0;  // of a live run, in a file
  bool bookmarks_saved_ = true;
  std::set<std::filesystem::path> own_files_;  // written by this session, absolute
  std::string refused_;                        // file that was not opened because bookmarks are in none
  bool recorded_ = false;                      // a live run is written to a file as it goes
  Clock::time_point next_play_{};
  bool forget_loop_ = false;                 // it was of another run
  std::optional<viz::StageView> show_next_;  // what a search found is seen there

  bool tell_ = false;
  int lessons_told_ = 0;
  LessonsProgress lessons_progress_;
  std::unique_ptr<Lesson> lesson_;
  Keep keep_ = Keep::nothing;                     // when it arrives the next time
  Subject lesson_subject_;                        // that the script belongs to
  std::vector<std::unique_ptr<OpenRun>> parked_;  // runs of the script that are not shown now, oldest first
  std::shared_ptr<RecordedRuns> recorded_runs_;   // for its facts
  std::unique_ptr<Job> facts_job_;
  std::vector<ScenarioRequest> outbox_;  // of a run that was started over
  std::size_t sent_ = 0;                 // of them
  std::vector<viz::Handle> handles_;     // as they stand
  std::optional<viz::Outbox> outbox_now_;
  std::pair<std::string, std::size_t> turning_;         // control and value that were asked for last
  std::map<std::string, bool, std::less<>> runs_here_;  // by run of the script: whether it is open
  const trace::Store* runs_here_of_ = nullptr;          // the store for which that was looked up
  bool next_asked_ = false;                             // for the caption of the stop after this one

  std::unique_ptr<ClickScript> clicks_;                        // while clicks are recorded
  std::string clicks_run_;                                     // what runs, as their scenario has it ...
  std::pair<const trace::Store*, std::size_t> clicks_run_of_;  // ... of that run, with so many typed prompts
  Clock::time_point now_{};                                    // of the last tick
  std::chrono::milliseconds watch_every_{0};
  std::unique_ptr<FileWatch> watch_;
  Subject file_subject_;    // of the scenario that is open, as its file was read last
  std::string file_error_;  // why it could not be read again; said until it can
  Bin bin_;                 // last: what lies in it may use what stands above
};

/// Whether that is what runs there, with nothing typed by hand.
bool is_run(const OpenRun& run, const Scenario& wanted);

/// Waits until the session stands where the link points; a live run is run up to there. Throws InputError
/// when there is no such place.
void go_to_link(Session& session, const Link& link);

}  // namespace attn::app
