// What stands beside a film as text: subtitles, a transcript, the list of its sections, chapters.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/edit_list.h"

namespace attn::app {

/// The number that proves a section: what was expected and what came out.
struct Proof {
  std::string fact;      // "stolen"
  std::string value;     // as it came out
  std::string expected;  // as the script has it
};

/// The film as its texts need it.
struct FilmFacts {
  std::string title;
  std::string provenance;  // of the whole film: model, device, trace
  std::string file;        // name of the film, or of the folder of its pictures
  int width = 0;           // pixels
  int height = 0;
  int first = 0;  // frames that are in it, inclusive; of the edit list
  int last = 0;
  int numbered_from = 0;  // number of its first frame: a film's own count from 0, pictures keep the list's
  std::vector<std::vector<Proof>> proofs;  // by section of the edit list
  std::vector<std::string> clips;          // by section: file of its clip, or empty
};

/// Times count from the film's first frame. One cue for each caption, however many pictures it stands over.
std::string subrip(const EditList& list, const FilmFacts& film);
std::string web_vtt(const EditList& list, const FilmFacts& film);
/// The sections' names and what is said in them, for reading.
std::string transcript(const EditList& list, const FilmFacts& film);
std::string sections_json(const EditList& list, const FilmFacts& film);
/// Title, provenance and chapters, as ffmpeg reads them.
std::string ffmpeg_metadata(const EditList& list, const FilmFacts& film);

/// "01-one-query-each": of a section, for the name of its clip; no two have the same. "-2" is "minus-2".
std::string clip_stem(const EditList& list, int section);

}  // namespace attn::app
