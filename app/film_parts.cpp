#include "app/film_parts.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <fstream>
#include <optional>
#include <system_error>

#include "app/engine_host.h"
#include "app/output_file.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace fs = std::filesystem;
namespace {

/// Hash of the program's own file: pictures made by another build are other pictures.
std::uint64_t program_hash() {
  static const std::uint64_t hash = [] {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    std::array<char, 1 << 16> chunk{};
    std::uint64_t h = 1;
    while (file.read(chunk.data(), chunk.size()) || file.gcount() > 0)
      h = XXH3_64bits_withSeed(chunk.data(), static_cast<std::size_t>(file.gcount()), h);
    return h;
  }();
  return hash;
}

std::string text_of(const viz::Selection& s) {
  return fmt::format("{},{},{},{},{},{},{},{},{}", s.step, static_cast<int>(s.stage), s.seq, s.layer, s.head,
                     s.q_row, s.k_col, s.block, s.tile);
}

/// -1 where nothing is said.
template <class T>
int number(const std::optional<T>& value) {
  return value ? static_cast<int>(*value) : -1;
}

std::string text_of(const trace::Variant& v) {
  return fmt::format("{},{},{},{},{},{}", number(v.path), number(v.level), number(v.mask), number(v.head_map),
                     number(v.k_tile), number(v.num_splits));
}

std::string text_of(const Shown& shown) {
  std::string text = fmt::format("{},{},{}", number(shown.stage), number(shown.side), number(shown.panel));
  if (shown.compare) text += text_of(shown.compare->first) + "|" + text_of(shown.compare->second);
  return text + fmt::format("{}", fmt::join(shown.annotate, "\n"));
}

}  // namespace

std::string part_key(const Section& section, const FrameRange& range, const EditList& list,
                     const Script& script, Footage& footage, const FilmLook& look, const Coding& coding,
                     const std::string& renderer) {
  std::string text = fmt::format("{:016x} {} {}\n", program_hash(), build_text(), renderer);
  text += fmt::format("{}x{} {} fps, format {}, tween {}\n", look.width, look.height, coding.fps,
                      static_cast<int>(coding.format), list.tween);
  text +=
      fmt::format("mode {} theme {} panel {} stage {} side {} caption {} provenance {}\n",
                  static_cast<int>(look.mode), static_cast<int>(look.theme), static_cast<int>(look.panel),
                  static_cast<int>(look.stage), static_cast<int>(look.side), look.caption, look.provenance);
  text +=
      fmt::format("frames {} to {} of {} from {}\n", range.first, range.last, section.frames, section.first);
  for (int i = 0; i < section.num_shots; ++i) {
    const Shot& shot = list.shots[static_cast<std::size_t>(section.first_shot + i)];
    text += fmt::format("{} frames, run {:016x}, at {}, question {}: {}\n", shot.frames,
                        footage.hash(shot.run), text_of(shot.selection), shot.question, shot.caption);
    text += fmt::format("{}\n", fmt::join(shot.choices, "\n"));
    text += text_of(shown_of(script, shot)) + "\n";
  }
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

FilmParts::FilmParts(const fs::path& output, const Coding& coding)
    : folder_(coding.format == FilmFormat::pictures ? output / ".parts"
                                                    : fs::path(output.string() + ".parts")),
      extension_(part_extension(coding.format)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (!fs::is_directory(folder_)) {
    throw InputError(fmt::format("cannot make the folder {} ({}); choose another place", folder_.string(),
                                 error.message()));
  }
}

void FilmParts::remove() const {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

bool FilmParts::has_pictures(int first, const std::string& key) const {
  std::ifstream file(folder_ / picture_name(first));
  std::string noted;
  return std::getline(file, noted) && noted == key;
}

void FilmParts::note_pictures(int first, const std::string& key) const {
  write_text_file(folder_ / picture_name(first), key + "\n");
}

void FilmParts::forget_pictures(int first) const {
  std::error_code ignored;
  fs::remove(folder_ / picture_name(first), ignored);
}

}  // namespace attn::app
