#include "app/film.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <system_error>

#include "app/child_process.h"
#include "app/engine_host.h"
#include "app/film_parts.h"
#include "app/film_text.h"
#include "app/output_file.h"
#include "app/picture_options.h"
#include "app/place.h"
#include "core/model/json_fields.h"
#include "kernels/common/check.h"
#include "viz/lookup.h"

namespace attn::app {
namespace fs = std::filesystem;
namespace {

constexpr std::pair kGifSize{960, 540};
constexpr int kGifFps = 10;
constexpr int kMostFps = 120;
constexpr std::size_t kLongestFilm = 3600;              // seconds
constexpr std::uintmax_t kLargestHashes = 128U << 20U;  // bytes; of the longest film at the highest rate

Subject open_source(const FilmOptions& options) {
  Subject subject = open_subject(options.source, options.device, options.overrides);
  if (options.trace.empty()) return subject;
  if (subject.store) {
    throw InputError(fmt::format("--trace gives the run of a scenario ({} is none); leave it out",
                                 subject.link.path.string()));
  }
  subject.store = open_store(options.trace, options.device);
  subject.kind = FileKind::trace;
  return subject;
}

Coding coding_of(const FilmOptions& options, const Script& script) {
  if (options.output.empty() && !options.check_only)
    throw InputError("the film has no name; write -o NAME.mp4, NAME.webm, NAME.gif or a folder NAME/");
  Coding coding{.format = film_format(options.output)};
  if (coding.format != FilmFormat::pictures) require_writable(options.output);
  const bool gif = coding.format == FilmFormat::gif;
  const std::pair scripted{script.size[0], script.size[1]};
  const auto [width, height] = options.size.value_or(gif ? kGifSize : scripted);
  coding.width = width;
  coding.height = height;
  require_window_size(width, height);
  coding.fps = options.fps.value_or(gif ? kGifFps : script.fps);
  if (width % 2 != 0 || height % 2 != 0)
    throw InputError(fmt::format("a film of {}x{} has an odd side; use even numbers", width, height));
  if (coding.fps < 1 || coding.fps > kMostFps)
    throw InputError(fmt::format("{} frames a second is out of range; use 1 to {}", coding.fps, kMostFps));
  return coding;
}

FilmLook look_of(const FilmOptions& options, const Script& script, const Coding& coding) {
  FilmLook look;
  look.width = coding.width;
  look.height = coding.height;
  look.mode = options.mode.value_or(script.mode);
  const bool present = look.mode == viz::ScreenMode::present;
  const viz::ViewState of_mode;
  look.theme = options.theme.value_or(script.theme.value_or(present ? of_mode.present_theme : of_mode.theme));
  look.panel = options.panel;
  look.stage = options.stage;
  look.side = options.side;
  look.caption = options.caption;
  look.provenance = options.provenance;
  return look;
}

/// Of an earlier film in the same folder: they would be taken for the end of this one.
void refuse_other_pictures(const fs::path& folder, int frames) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool numbered =
        name.size() == 10 && entry.path().extension() == ".png" && name.find_first_not_of("0123456789") == 6;
    if (numbered && std::stoi(name) >= frames) {
      throw InputError(fmt::format("{} is not of this film of {} frames; give an empty folder",
                                   entry.path().string(), frames));
    }
  }
}

/// One film being made.
class FilmMaker {
 public:
  FilmMaker(const FilmOptions& options, const FilmReport& report);
  FilmResult make();

 private:
  void check();
  EditList edit();
  FrameRange range() const;
  void note_facts();
  void choose_format();
  void paint();
  void paint_section(const Section& section);
  void join(const std::vector<fs::path>& parts, const fs::path& output, const std::vector<Voice>& voices);
  std::vector<Voice> voices_of(int first_frame, int last_frame) const;
  void write_clips();
  void write_texts();
  fs::path beside(const char* extension) const;
  bool pictures() const { return coding_.format == FilmFormat::pictures; }

  const FilmOptions& options_;
  const FilmReport& report_;
  Footage footage_;
  const Script& script_;
  Coding coding_;
  const FilmLook look_;
  EditList list_;
  FrameRange range_;
  fs::path output_;  // the film, or the folder of its pictures
  std::unique_ptr<FilmParts> parts_;
  std::unique_ptr<FilmPainter> painter_;
  FilmFacts facts_;
  FilmResult result_;
  int done_ = 0;  // frames
  std::string hashes_;
  std::vector<fs::path> part_files_;  // by section that has frames
  std::vector<int> part_sections_;    // its number in the edit list
};

FilmMaker::FilmMaker(const FilmOptions& options, const FilmReport& report)
    : options_(options),
      report_(report),
      footage_(open_source(options), options.device,
               [&report](int steps, int at_most) { return report.progress("running", steps, at_most); }),
      script_(footage_.script()),
      coding_(coding_of(options, script_)),
      look_(look_of(options, script_, coding_)),
      output_(options.output) {}

/// A film whose numbers are not those that its script expects is not made.
void FilmMaker::check() {
  for (const Stop& stop : script_.stops) {
    for (const Failure& failure : footage_.runs().check_told(stop))
      result_.wrong.push_back(fmt::format("{} ({})", failure.text, failure.where));
    std::vector<Proof>& proofs = facts_.proofs.emplace_back();
    for (const Expectation& one : stop.expect)
      proofs.push_back({one.fact, footage_.runs().value_text(one.fact, stop), one.value});
  }
}

EditList FilmMaker::edit() {
  Pace pace;
  if (coding_.format == FilmFormat::gif)
    pace.tween = 0.0;  // every frame between two pictures costs a GIF dear
  const Material material{
      .store = [this](std::string_view run) -> const trace::Store& { return *footage_.store(run); },
      .fill = [this](const std::string& text,
                     const Stop& stop) { return footage_.runs().fill_in(text, stop); }};
  const Place place = over(script_.begin, place_of(footage_.subject().link));
  const viz::Selection begin = selection_of(place, *footage_.store(""), options_.source);
  EditList list = edit_film(script_, material, pace, coding_.fps, begin);
  if (static_cast<std::size_t>(list.frames) > kLongestFilm * static_cast<std::size_t>(coding_.fps)) {
    throw InputError(
        fmt::format("the film would be {} minutes long ({}); film part of it with --frames, or a "
                    "scenario with fewer steps",
                    list.frames / coding_.fps / 60, options_.source));
  }
  return list;
}

FrameRange FilmMaker::range() const {
  FrameRange all{0, list_.frames - 1};
  if (const auto& stop = footage_.subject().link.stop) {
    const auto section = std::ranges::find(list_.sections, *stop - 1, &Section::stop);
    all = {section->first, section->first + section->frames - 1};
  }
  if (!options_.frames) return all;
  const auto [first, last] = *options_.frames;
  if (first < all.first || last < first || last > all.last) {
    throw InputError(fmt::format("--frames {}:{} is out of range; the film has frames {}:{}", first, last,
                                 all.first, all.last));
  }
  return {first, last};
}

void FilmMaker::note_facts() {
  const trace::Manifest& manifest = footage_.store("")->manifest();
  facts_.title = footage_.title();
  facts_.provenance = fmt::format("{}, {}, {}, trace {}", manifest.model.name, manifest.device, build_text(),
                                  viz::hash_tag(footage_.hash("")));
  const fs::path named = fs::absolute(output_).lexically_normal();
  facts_.file = (named.has_filename() ? named : named.parent_path()).filename().string();
  facts_.width = coding_.width;
  facts_.height = coding_.height;
  facts_.first = range_.first;
  facts_.last = range_.last;
  facts_.numbered_from = pictures() ? range_.first : 0;
  facts_.clips.resize(list_.sections.size());
}

/// Without ffmpeg the pictures are made all the same.
void FilmMaker::choose_format() {
  if (!pictures() && !find_program("ffmpeg")) {
    const Coding wanted =
        std::exchange(coding_, {FilmFormat::pictures, coding_.width, coding_.height, coding_.fps});
    output_.replace_extension("");
    output_ += "-frames";
    result_.missing = fmt::format(
        "ffmpeg is not installed, so {} is not made: its pictures are in {}; with ffmpeg this makes it: {}",
        options_.output.string(), output_.string(),
        shell_text(encode_pictures(wanted, output_, range_.first, options_.output)));
  }
  if (!pictures()) return;
  std::error_code error;
  fs::create_directories(output_, error);
  require_writable(output_ / "sections.json");
  refuse_other_pictures(output_, list_.frames);
}

void FilmMaker::paint_section(const Section& section) {
  const FrameRange part{std::max(range_.first, section.first),
                        std::min(range_.last, section.first + section.frames - 1)};
  if (part.first > part.last) return;
  const std::string key =
      part_key(section, part, list_, script_, footage_, look_, coding_, painter_->renderer());
  const fs::path file = parts_->part(key), hash_file = parts_->hashes(key);
  const bool there = pictures() ? parts_->has_pictures(part.first, key) : fs::exists(file);
  const bool hashed = options_.hashes.empty() || fs::exists(hash_file);
  const int frames = part.last - part.first + 1;
  part_files_.push_back(file);
  part_sections_.push_back(static_cast<int>(&section - list_.sections.data()));
  if (there && hashed) {
    result_.reused += frames;
  } else {
    std::string hashes;
    std::unique_ptr<FrameSink> sink;
    if (pictures()) {
      parts_->forget_pictures(part.first);
      sink = std::make_unique<PictureSink>(output_, part.first);
    } else {
      sink = std::make_unique<PartSink>(coding_, file);
    }
    painter_->paint(section, part, *sink, options_.hashes.empty() ? nullptr : &hashes, [&](int written) {
      return report_.progress("filming", done_ + written, range_.last - range_.first + 1);
    });
    sink->finish();
    if (!options_.hashes.empty()) write_text_file(hash_file, hashes);
    if (pictures()) parts_->note_pictures(part.first, key);
  }
  if (!options_.hashes.empty()) hashes_ += read_text_file(hash_file, kLargestHashes);
  done_ += frames;
}

/// Those that begin between two frames, timed from the first. A voice is as long as its stop is held, so it
/// begins where the last picture of the stop does.
std::vector<Voice> FilmMaker::voices_of(int first_frame, int last_frame) const {
  std::vector<Voice> voices;
  for (const Section& section : list_.sections) {
    if (section.stop < 0 || section.num_shots == 0) continue;
    const Stop& stop = script_.stops[static_cast<std::size_t>(section.stop)];
    const Shot& held = list_.shots[static_cast<std::size_t>(section.first_shot + section.num_shots - 1)];
    if (stop.voice.empty() || held.first < first_frame || held.first > last_frame) continue;
    voices.push_back({stop.voice, static_cast<double>(held.first - first_frame) / list_.fps});
  }
  return voices;
}

void FilmMaker::join(const std::vector<fs::path>& parts, const fs::path& output,
                     const std::vector<Voice>& voices) {
  std::string list;
  for (const fs::path& part : parts) list += list_line(part);
  const fs::path list_file = parts_->file("list.txt"), metadata = parts_->file("metadata.txt");
  write_text_file(list_file, list);
  write_text_file(metadata, ffmpeg_metadata(list_, facts_));
  PartFile part(output);
  ChildProcess ffmpeg(join_parts(coding_, list_file, metadata, part.path(), voices),
                      ChildProcess::Pipe::none);
  ffmpeg.finish();
  part.commit();
  result_.files.push_back(output);
}

fs::path FilmMaker::beside(const char* extension) const {
  fs::path path = pictures() ? output_ / "film" : output_;
  return path.replace_extension(extension);
}

void FilmMaker::write_clips() {
  if (!options_.sections || pictures()) return;
  const fs::path folder = beside("sections");
  std::error_code error;
  fs::create_directories(folder, error);
  for (std::size_t i = 0; i < part_files_.size(); ++i) {
    const int section = part_sections_[i];
    fs::path clip = folder / clip_stem(list_, section);
    clip += output_.extension();
    const Section& part = list_.sections[static_cast<std::size_t>(section)];
    const std::vector<Voice> voices =
        voices_of(std::max(range_.first, part.first), std::min(range_.last, part.first + part.frames - 1));
    if (coding_.format == FilmFormat::gif || !voices.empty()) {
      join({part_files_[i]}, clip, voices);
    } else {
      require_writable(clip);
      fs::copy_file(part_files_[i], clip, fs::copy_options::overwrite_existing, error);
      if (error) throw InputError(fmt::format("cannot write {} ({})", clip.string(), error.message()));
      result_.files.push_back(clip);
    }
    facts_.clips[static_cast<std::size_t>(section)] = (folder.filename() / clip.filename()).string();
  }
}

void FilmMaker::write_texts() {
  const auto write = [&](bool wanted, const fs::path& path, const std::string& text) {
    if (!wanted) return;
    write_text_file(path, text);
    result_.files.push_back(path);
  };
  write(true, pictures() ? output_ / "sections.json" : beside("sections.json"), sections_json(list_, facts_));
  write(options_.srt, beside("srt"), subrip(list_, facts_));
  write(options_.vtt, beside("vtt"), web_vtt(list_, facts_));
  write(options_.transcript, beside("txt"), transcript(list_, facts_));
  write(!options_.hashes.empty(), options_.hashes, hashes_);
}

FilmResult FilmMaker::make() {
  check();
  if (!result_.wrong.empty()) return std::move(result_);
  list_ = edit();
  range_ = range();
  result_.frames = range_.last - range_.first + 1;
  result_.seconds = static_cast<double>(result_.frames) / list_.fps;
  if (options_.check_only) return std::move(result_);
  if (!options_.hashes.empty()) require_writable(options_.hashes);
  choose_format();
  note_facts();
  painter_ = std::make_unique<FilmPainter>(footage_, script_, list_, look_);
  result_.renderer = painter_->renderer();
  parts_ = std::make_unique<FilmParts>(output_, coding_);
  for (const Section& section : list_.sections) paint_section(section);
  if (pictures()) {
    result_.files.push_back(output_);
  } else {
    if (!report_.progress("joining", 0, 1)) throw Footage::Cancelled{};
    join(part_files_, output_, voices_of(range_.first, range_.last));
  }
  write_clips();
  write_texts();
  if (!options_.keep_parts) parts_->remove();
  result_.made = true;
  return std::move(result_);
}

}  // namespace

FilmResult make_film(const FilmOptions& options, const FilmReport& report) {
  try {
    return FilmMaker(options, report).make();
  } catch (const Footage::Cancelled&) {
    return {};
  }
}

}  // namespace attn::app
