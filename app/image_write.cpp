#include "app/image_write.h"

#include <algorithm>
#include <string_view>

#include "app/output_file.h"
#include "kernels/common/check.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace attn::app {
namespace {

constexpr int kChannels = 4;
constexpr int kGap = 8;  // pixels around each picture of a sheet

std::size_t offset(const Image& image, int x, int y) {
  return (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x)) *
         kChannels;
}

}  // namespace

void write_png(const Image& image, const std::filesystem::path& path) {
  OutputFile file(path);
  const auto append = [](void* to, void* data, int size) {
    static_cast<OutputFile*>(to)->write({static_cast<const char*>(data), static_cast<std::size_t>(size)});
  };
  if (stbi_write_png_to_func(append, &file, image.width, image.height, kChannels, image.rgba.data(),
                             image.width * kChannels) == 0) {
    throw InputError(
        fmt::format("the picture {} could not be compressed; try a smaller size", path.string()));
  }
  file.commit();
}

Image shrink(const Image& image, int factor) {
  Image small{image.width / factor, image.height / factor, {}};
  small.rgba.reserve(static_cast<std::size_t>(small.width) * small.height * kChannels);
  const auto mean = [&](int x, int y, int channel) {
    int sum = 0;
    for (int i = 0; i < factor * factor; ++i) {
      const std::size_t pixel = offset(image, x * factor + i % factor, y * factor + i / factor);
      sum += image.rgba[pixel + static_cast<std::size_t>(channel)];
    }
    return static_cast<std::uint8_t>(sum / (factor * factor));
  };
  for (int y = 0; y < small.height; ++y) {
    for (int x = 0; x < small.width; ++x) {
      for (int channel = 0; channel < kChannels; ++channel) small.rgba.push_back(mean(x, y, channel));
    }
  }
  return small;
}

Image contact_sheet(const std::vector<Image>& images, int columns) {
  Image sheet;
  if (images.empty()) return sheet;
  const int count = static_cast<int>(images.size());
  const int width = images[0].width, height = images[0].height;
  columns = std::min(columns, count);
  const int rows = (count + columns - 1) / columns;
  sheet.width = columns * (width + kGap) + kGap;
  sheet.height = rows * (height + kGap) + kGap;
  sheet.rgba.assign(static_cast<std::size_t>(sheet.width) * sheet.height * kChannels, 0xFF);
  for (int i = 0; i < count; ++i) {
    const Image& image = images[static_cast<std::size_t>(i)];
    ATTN_CHECK(image.width == width && image.height == height, "pictures of a sheet have one size");
    const int left = kGap + (i % columns) * (width + kGap), top = kGap + (i / columns) * (height + kGap);
    for (int y = 0; y < height; ++y) {
      std::copy_n(image.rgba.data() + offset(image, 0, y), width * kChannels,
                  sheet.rgba.data() + offset(sheet, left, top + y));
    }
  }
  return sheet;
}

}  // namespace attn::app
