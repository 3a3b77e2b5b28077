// Where the pictures of a film go, each as often as it stands.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/child_process.h"
#include "app/film_coding.h"
#include "app/image_write.h"
#include "app/part_file.h"

namespace attn::app {

/// Called after each frame that is on its way; what it throws ends the film.
using OnFrame = std::function<void()>;

class FrameSink {
 public:
  virtual ~FrameSink() = default;
  /// `times` frames of that picture.
  virtual void write(const Image& picture, int times, const OnFrame& written) = 0;
  /// After the last: makes sure that all of it is there. Throws InputError.
  virtual void finish() = 0;
};

/// Through a pipe into ffmpeg; the part takes its name when it is whole.
class PartSink : public FrameSink {
 public:
  PartSink(const Coding& coding, const std::filesystem::path& part);
  void write(const Image& picture, int times, const OnFrame& written) override;
  void finish() override;

 private:
  Coding coding_;
  PartFile part_;
  ChildProcess encoder_;
};

/// Into a folder as 000000.png, 000001.png, ...; equal frames share one file where the file system can.
class PictureSink : public FrameSink {
 public:
  PictureSink(std::filesystem::path folder, int first) : folder_(std::move(folder)), next_(first) {}
  void write(const Image& picture, int times, const OnFrame& written) override;
  void finish() override {}

 private:
  std::filesystem::path folder_;
  int next_;  // frame
};

}  // namespace attn::app
