// Pictures in memory and as PNG files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace attn::app {

/// 8-bit RGBA, top row first.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgba;
};

/// Throws InputError when it cannot be written; `path` never holds half a picture.
void write_png(const Image& image, const std::filesystem::path& path);

/// Scaled down by a whole factor, each pixel the mean of those it stands for.
Image shrink(const Image& image, int factor);

/// Images of one size side by side in rows, with a gap around each.
Image contact_sheet(const std::vector<Image>& images, int columns);

}  // namespace attn::app
