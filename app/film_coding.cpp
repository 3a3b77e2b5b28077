#include "app/film_coding.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <system_error>

#include "app/child_process.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace fs = std::filesystem;
namespace {

using Words = std::vector<std::string>;

void add(Words& words, std::initializer_list<const char*> more) {
  for (const char* word : more) words.emplace_back(word);
}

Words begin() { return {"ffmpeg", "-hide_banner", "-loglevel", "error", "-nostdin", "-y"}; }

/// Colours as to_yuv420 makes them.
void add_colors(Words& words) {
  add(words, {"-pix_fmt", "yuv420p", "-color_range", "tv", "-colorspace", "bt709", "-color_primaries",
              "bt709", "-color_trc", "bt709"});
}

/// Presets are fast ones: a film must not take longer to make than to watch, and what stands still compresses
/// well in any of them.
void add_encoder(Words& words, const Coding& coding) {
  switch (coding.format) {
    case FilmFormat::mp4:
      add(words, {"-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-bf", "0"});
      add_colors(words);
      break;
    case FilmFormat::webm:
      add(words, {"-c:v",           "libvpx-vp9", "-crf",      "30", "-b:v",          "0",
                  "-deadline",      "realtime",   "-cpu-used", "8",  "-row-mt",       "1",
                  "-tile-columns",  "2",          "-threads",  "4",  "-auto-alt-ref", "0",
                  "-lag-in-frames", "0"});
      add_colors(words);
      break;
    case FilmFormat::gif:
    case FilmFormat::pictures:
      add(words, {"-c:v", "qtrle"});
      break;
  }
  words.insert(words.end(), {"-g", std::to_string(2 * coding.fps)});  // seeking is exact to two seconds
}

const char* muxer(FilmFormat format) {
  switch (format) {
    case FilmFormat::webm:
      return "webm";
    case FilmFormat::gif:
      return "gif";
    case FilmFormat::mp4:
    case FilmFormat::pictures:
      break;
  }
  return "mp4";
}

/// Each voice at its time, all of them in one track [voice]. PRECOND: there is one.
std::string voice_filter(const std::vector<Voice>& voices, int first_input) {
  std::string filter, heard;
  for (std::size_t i = 0; i < voices.size(); ++i) {
    filter += fmt::format("[{}:a]adelay={:.0f}:all=1[v{}];", first_input + static_cast<int>(i),
                          voices[i].seconds * 1000.0, i);
    heard += fmt::format("[v{}]", i);
  }
  return filter + fmt::format("{}amix=inputs={}:normalize=0[voice]", heard, voices.size());
}

constexpr const char* kOnePalette = "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none";

}  // namespace

FilmFormat film_format(const fs::path& output) {
  std::error_code error;
  std::string extension = output.extension().string();
  std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
  if (!output.has_filename() || fs::is_directory(output, error)) return FilmFormat::pictures;
  if (extension == ".mp4") return FilmFormat::mp4;
  if (extension == ".webm") return FilmFormat::webm;
  if (extension == ".gif") return FilmFormat::gif;
  throw InputError(fmt::format("no film can be written as '{}'; use .mp4, .webm, .gif or a folder (NAME/)",
                               output.string()));
}

bool takes_yuv(FilmFormat format) { return format == FilmFormat::mp4 || format == FilmFormat::webm; }

std::string part_extension(FilmFormat format) {
  return format == FilmFormat::mp4 ? ".mp4" : format == FilmFormat::webm ? ".webm" : ".mov";
}

std::vector<std::string> encode_part(const Coding& coding, const fs::path& part) {
  Words words = {"ffmpeg", "-hide_banner", "-loglevel", "error", "-y", "-f", "rawvideo"};
  const bool yuv = takes_yuv(coding.format);
  words.insert(words.end(),
               {"-pix_fmt", yuv ? "yuv420p" : "rgba", "-video_size",
                fmt::format("{}x{}", coding.width, coding.height), "-framerate", std::to_string(coding.fps)});
  if (yuv) add(words, {"-color_range", "tv", "-colorspace", "bt709"});
  add(words, {"-i", "pipe:0"});
  add_encoder(words, coding);
  if (coding.format == FilmFormat::mp4) add(words, {"-movflags", "+faststart"});
  const bool lossless = part_extension(coding.format) == ".mov";
  words.insert(words.end(), {"-f", lossless ? "mov" : muxer(coding.format), part.string()});
  return words;
}

std::vector<std::string> join_parts(const Coding& coding, const fs::path& list, const fs::path& metadata,
                                    const fs::path& output, const std::vector<Voice>& voices) {
  Words words = begin();
  words.insert(words.end(), {"-f", "concat", "-safe", "0", "-i", list.string()});
  if (coding.format == FilmFormat::gif) {
    add(words, {"-vf", kOnePalette});
  } else {
    if (!metadata.empty()) words.insert(words.end(), {"-i", metadata.string()});
    for (const Voice& voice : voices) words.insert(words.end(), {"-i", voice.file.string()});
    add(words, {"-map", "0:v"});
    if (!metadata.empty()) add(words, {"-map_metadata", "1", "-map_chapters", "1"});
    add(words, {"-c:v", "copy"});
    if (!voices.empty()) {
      words.insert(words.end(), {"-filter_complex", voice_filter(voices, metadata.empty() ? 1 : 2)});
      add(words,
          {"-map", "[voice]", "-c:a", coding.format == FilmFormat::webm ? "libopus" : "aac", "-ar", "48000"});
    }
    if (coding.format == FilmFormat::mp4) add(words, {"-movflags", "+faststart"});
  }
  words.insert(words.end(), {"-f", muxer(coding.format), output.string()});
  return words;
}

std::string list_line(const fs::path& part) {
  return fmt::format("file {}\n", single_quoted(fs::absolute(part).string()));
}

std::vector<std::string> encode_pictures(const Coding& coding, const fs::path& folder, int first,
                                         const fs::path& output) {
  Words words = {"ffmpeg", "-framerate", std::to_string(coding.fps)};
  if (first > 0) words.insert(words.end(), {"-start_number", std::to_string(first)});
  words.insert(words.end(), {"-i", (folder / "%06d.png").string()});
  if (coding.format == FilmFormat::gif) {
    add(words, {"-vf", kOnePalette});
  } else {
    add(words, {"-vf", "scale=out_color_matrix=bt709:out_range=tv"});
    add_encoder(words, coding);
    if (coding.format == FilmFormat::mp4) add(words, {"-movflags", "+faststart"});
  }
  words.push_back(output.string());
  return words;
}

std::string picture_name(int frame) { return fmt::format("{:06d}.png", frame); }

}  // namespace attn::app
