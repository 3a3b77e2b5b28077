#include "app/image_write.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image_write.h>
#pragma GCC diagnostic pop

#include "kernels/common/check.h"

namespace attn::app {
namespace fs = std::filesystem;

void require_writable(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(folder)) {
    throw InputError(fmt::format("cannot write {}: the folder {} does not exist; create it first",
                                 path.string(), folder.string()));
  }
  if (fs::is_directory(path)) throw InputError(fmt::format("cannot write {}: it is a folder", path.string()));
  const fs::path checked = fs::exists(path) ? path : folder;
  if (access(checked.c_str(), W_OK) != 0) {
    throw InputError(fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)));
  }
}

void write_png(const Image& image, const fs::path& path) {
  require_writable(path);
  const fs::path temporary = path.string() + ".part";
  const int stride = image.width * 4;
  const bool written =
      stbi_write_png(temporary.c_str(), image.width, image.height, 4, image.rgba.data(), stride) != 0;
  std::error_code error;
  if (written) fs::rename(temporary, path, error);
  if (!written || error) {
    fs::remove(temporary, error);
    throw InputError(fmt::format("cannot write the picture ({}); is the disk full?", path.string()));
  }
}

Image contact_sheet(const std::vector<Image>& images, int columns, int shrink) {
  Image sheet;
  if (images.empty()) return sheet;
  const int cell_w = images[0].width / shrink, cell_h = images[0].height / shrink, gap = 8;
  const int count = static_cast<int>(images.size());
  columns = std::min(columns, count);
  const int rows = (count + columns - 1) / columns;
  sheet.width = columns * (cell_w + gap) + gap;
  sheet.height = rows * (cell_h + gap) + gap;
  sheet.rgba.assign(static_cast<std::size_t>(sheet.width) * sheet.height * 4, 0xFF);
  for (int i = 0; i < count; ++i) {
    const Image& image = images[static_cast<std::size_t>(i)];
    const int x0 = gap + (i % columns) * (cell_w + gap), y0 = gap + (i / columns) * (cell_h + gap);
    for (int y = 0; y < cell_h; ++y) {
      for (int x = 0; x < cell_w; ++x) {
        for (int c = 0; c < 3; ++c) {
          int sum = 0;  // box filter
          for (int dy = 0; dy < shrink; ++dy) {
            for (int dx = 0; dx < shrink; ++dx) {
              const std::size_t from =
                  (static_cast<std::size_t>(y * shrink + dy) * image.width + x * shrink + dx) * 4;
              sum += image.rgba[from + static_cast<std::size_t>(c)];
            }
          }
          const std::size_t to = (static_cast<std::size_t>(y0 + y) * sheet.width + x0 + x) * 4;
          sheet.rgba[to + static_cast<std::size_t>(c)] = static_cast<std::uint8_t>(sum / (shrink * shrink));
        }
      }
    }
  }
  return sheet;
}

}  // namespace attn::app
