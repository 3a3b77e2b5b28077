#include "app/frame_sink.h"

#include <fmt/format.h>

#include <system_error>

#include "app/output_file.h"
#include "app/yuv.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace fs = std::filesystem;

PartSink::PartSink(const Coding& coding, const fs::path& part)
    : coding_(coding), part_(part), encoder_(encode_part(coding, part_.path()), ChildProcess::Pipe::input) {}

void PartSink::write(const Image& picture, int times, const OnFrame& written) {
  const std::vector<std::uint8_t> yuv =
      takes_yuv(coding_.format) ? to_yuv420(picture) : std::vector<std::uint8_t>();
  const std::vector<std::uint8_t>& bytes = yuv.empty() ? picture.rgba : yuv;
  for (int i = 0; i < times; ++i) {
    encoder_.write(bytes.data(), bytes.size());
    written();
  }
}

void PartSink::finish() {
  encoder_.finish();
  part_.commit();
}

void PictureSink::write(const Image& picture, int times, const OnFrame& written) {
  const fs::path first = folder_ / picture_name(next_++);
  fs::remove(first);  // it may share its file with frames that stay as they are
  write_png(picture, first);
  written();
  for (int i = 1; i < times; ++i) {
    const fs::path path = folder_ / picture_name(next_++);
    std::error_code error;
    fs::remove(path, error);
    fs::create_hard_link(first, path, error);
    if (error) fs::copy_file(first, path, error);
    if (error) throw InputError(fmt::format("cannot write {} ({})", path.string(), error.message()));
    written();
  }
}

}  // namespace attn::app
