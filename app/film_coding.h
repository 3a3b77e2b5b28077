// How pictures become a file that others can play: ffmpeg's command lines. Nothing here runs them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace attn::app {

enum class FilmFormat : unsigned char {
  mp4,      // H.264, for slides and courses
  webm,     // VP9, for the web
  gif,      // for a README or a chat
  pictures  // PNG files in a folder, for editing
};

/// By the name: .mp4, .webm, .gif, or a folder (there already, or a name that ends with '/'). Throws
/// InputError for any other.
FilmFormat film_format(const std::filesystem::path& output);

struct Coding {
  FilmFormat format = FilmFormat::mp4;
  int width = 0;  // even
  int height = 0;
  int fps = 0;
};

/// A .wav file, and when it begins in the film.
struct Voice {
  std::filesystem::path file;
  double seconds = 0.0;
};

/// Whether encode_part wants frames as to_yuv420 makes them; else RGBA.
bool takes_yuv(FilmFormat format);
/// ".mp4", ".webm", ".mov": a part of a film, before parts are joined.
std::string part_extension(FilmFormat format);

/// Raw frames from standard input into one part. A part begins with a key frame and has no frame that is
/// shown later than the next one, so that parts can be joined without touching their pictures. The part of a
/// GIF is lossless: one palette for the whole film is made at the end.
std::vector<std::string> encode_part(const Coding& coding, const std::filesystem::path& part);
/// The parts named in `list` (one line each: list_line) into the film. `metadata`: title, comment and
/// chapters, "" for none.
/// `voices` are heard from their seconds on; a format without sound leaves them out.
std::vector<std::string> join_parts(const Coding& coding, const std::filesystem::path& list,
                                    const std::filesystem::path& metadata,
                                    const std::filesystem::path& output,
                                    const std::vector<Voice>& voices = {});
std::string list_line(const std::filesystem::path& part);
/// What makes the film of pictures 000000.png, 000001.png, ... in a folder, beginning with `first`.
std::vector<std::string> encode_pictures(const Coding& coding, const std::filesystem::path& folder, int first,
                                         const std::filesystem::path& output);

/// "000123.png".
std::string picture_name(int frame);

}  // namespace attn::app
