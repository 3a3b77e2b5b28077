#include "app/film_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

namespace attn::app {
namespace {

struct Cue {
  int first = 0;  // frame of the film
  int frames = 0;
  std::string text;
};

/// The part [first, last] of a section or shot that is in the film; frames = 0: none.
Cue part_of(int first, int frames, const FilmFacts& film) {
  const int begin = std::max(first, film.first), end = std::min(first + frames, film.last + 1);
  return {begin - film.first, std::max(0, end - begin), {}};
}

std::vector<Cue> cues_of(const EditList& list, const FilmFacts& film) {
  std::vector<Cue> cues;
  for (const Shot& shot : list.shots) {
    Cue cue = part_of(shot.first, shot.frames, film);
    if (cue.frames == 0 || shot.caption.empty()) continue;
    const bool goes_on = !cues.empty() && cues.back().text == shot.caption &&
                         cues.back().first + cues.back().frames == cue.first;
    if (goes_on) {
      cues.back().frames += cue.frames;
    } else {
      cue.text = shot.caption;
      cues.push_back(std::move(cue));
    }
  }
  return cues;
}

/// "00:01:02,345" of a frame.
std::string clock(int frame, int fps, char point) {
  const long ms = std::lround(1000.0 * frame / fps);
  return fmt::format("{:02}:{:02}:{:02}{}{:03}", ms / 3'600'000, ms / 60'000 % 60, ms / 1000 % 60, point,
                     ms % 1000);
}

std::string cue_lines(const EditList& list, const FilmFacts& film, char point, bool numbered) {
  std::string out;
  int number = 0;
  for (const Cue& cue : cues_of(list, film)) {
    if (numbered) out += fmt::format("{}\n", ++number);
    out += fmt::format("{} --> {}\n{}\n\n", clock(cue.first, list.fps, point),
                       clock(cue.first + cue.frames, list.fps, point), cue.text);
  }
  return out;
}

/// WebVTT reads markup in cues.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

/// ffmpeg's metadata gives these a meaning.
std::string metadata_value(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("=;#\\\n").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

bool is_ascii_letter_or_digit(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x80 && std::isalnum(byte) != 0;
}

/// Whether the "-" there makes a number negative, as in "scores of -2", and joins no words or range.
bool is_minus(std::string_view name, std::size_t at) {
  const bool before_digit = at + 1 < name.size() && name[at + 1] >= '0' && name[at + 1] <= '9';
  return name[at] == '-' && before_digit && (at == 0 || !is_ascii_letter_or_digit(name[at - 1]));
}

}  // namespace

std::string subrip(const EditList& list, const FilmFacts& film) { return cue_lines(list, film, ',', true); }

std::string web_vtt(const EditList& list, const FilmFacts& film) {
  EditList safe = list;
  for (Shot& shot : safe.shots) shot.caption = escaped(shot.caption);
  return "WEBVTT\n\n" + cue_lines(safe, film, '.', false);
}

std::string transcript(const EditList& list, const FilmFacts& film) {
  std::string out = film.title + "\n";
  for (const Section& section : list.sections) {
    if (part_of(section.first, section.frames, film).frames == 0) continue;
    out += fmt::format("\n{}\n", section.name);
    std::string before;
    for (int i = 0; i < section.num_shots; ++i) {
      const std::string& said = list.shots[static_cast<std::size_t>(section.first_shot + i)].caption;
      if (said != before && !said.empty()) out += said + "\n";
      before = said;
    }
  }
  return out;
}

std::string sections_json(const EditList& list, const FilmFacts& film) {
  using Json = nlohmann::ordered_json;
  Json sections = Json::array();
  for (std::size_t i = 0; i < list.sections.size(); ++i) {
    const Section& section = list.sections[i];
    const Cue part = part_of(section.first, section.frames, film);
    if (part.frames == 0) continue;
    Json row = {{"name", section.name},
                {"first_frame", film.numbered_from + part.first},
                {"last_frame", film.numbered_from + part.first + part.frames - 1},
                {"fps", list.fps},
                {"duration", static_cast<double>(part.frames) / list.fps},
                {"caption", section.caption}};
    if (i < film.clips.size() && !film.clips[i].empty()) row["clip"] = film.clips[i];
    row["numbers"] = Json::array();
    if (i < film.proofs.size()) {
      for (const Proof& proof : film.proofs[i])
        row["numbers"].push_back(
            {{"fact", proof.fact}, {"value", proof.value}, {"expected", proof.expected}});
    }
    sections.push_back(std::move(row));
  }
  const int frames = film.last - film.first + 1;
  const Json root = {{"film", film.file},
                     {"title", film.title},
                     {"provenance", film.provenance},
                     {"size", {film.width, film.height}},
                     {"fps", list.fps},
                     {"frames", frames},
                     {"duration", static_cast<double>(frames) / list.fps},
                     {"sections", std::move(sections)}};
  return root.dump(2) + "\n";
}

std::string ffmpeg_metadata(const EditList& list, const FilmFacts& film) {
  std::string out = fmt::format(";FFMETADATA1\ntitle={}\ncomment={}\n", metadata_value(film.title),
                                metadata_value(film.provenance));
  for (const Section& section : list.sections) {
    const Cue part = part_of(section.first, section.frames, film);
    if (part.frames == 0) continue;
    out += fmt::format("[CHAPTER]\nTIMEBASE=1/{}\nSTART={}\nEND={}\ntitle={}\n", list.fps, part.first,
                       part.first + part.frames, metadata_value(section.name));
  }
  return out;
}

std::string clip_stem(const EditList& list, int section) {
  constexpr std::size_t kLongest = 40;  // bytes of the name
  const std::string& name = list.sections[static_cast<std::size_t>(section)].name;
  std::string stem;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (is_ascii_letter_or_digit(c)) {
      stem += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      continue;
    }
    if (!stem.empty() && stem.back() != '-') stem += '-';
    if (is_minus(name, i)) stem += "minus-";
  }
  if (stem.size() > kLongest) stem.resize(kLongest);
  while (!stem.empty() && stem.back() == '-') stem.pop_back();
  return fmt::format("{:02}{}{}", section + 1, stem.empty() ? "" : "-", stem);
}

}  // namespace attn::app
