// The parts of a film on disk: one for each section, kept under a hash of everything that decides its
// pictures. What a stopped run has finished is there for the next one, and can be played as it is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "app/edit_list.h"
#include "app/film_coding.h"
#include "app/film_painter.h"

namespace attn::app {

/// 32 hexadecimal digits over the section's pictures: shots, stops as shown, what was recorded, look, range,
/// coding, this very program and the renderer.
std::string part_key(const Section& section, const FrameRange& range, const EditList& list,
                     const Script& script, Footage& footage, const FilmLook& look, const Coding& coding,
                     const std::string& renderer);

class FilmParts {
 public:
  /// Beside the film: "out.mp4.parts", or ".parts" in a folder of pictures. Throws InputError when it cannot
  /// be made.
  FilmParts(const std::filesystem::path& output, const Coding& coding);

  std::filesystem::path part(const std::string& key) const { return folder_ / (key + extension_); }
  /// The hash lines of a part.
  std::filesystem::path hashes(const std::string& key) const { return folder_ / (key + ".sha256"); }
  /// For lists and metadata of the moment.
  std::filesystem::path file(const char* name) const { return folder_ / name; }
  /// The film is there: parts are not needed any more.
  void remove() const;

  /// Of a film of pictures: whether those from `first` on are the ones of that key.
  bool has_pictures(int first, const std::string& key) const;
  void note_pictures(int first, const std::string& key) const;
  /// Before other pictures are written in their place.
  void forget_pictures(int first) const;

 private:
  std::filesystem::path folder_;
  std::string extension_;
};

}  // namespace attn::app
