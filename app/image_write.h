// PNG files.
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

/// Written beside the target and renamed, so a half-written file never has the name. Throws InputError.
void write_png(const Image& image, const std::filesystem::path& path);

/// Throws InputError when a file of that name could not be written: asked before long work.
void require_writable(const std::filesystem::path& path);

/// The images side by side in rows, each scaled down by a whole factor.
Image contact_sheet(const std::vector<Image>& images, int columns, int shrink);

}  // namespace attn::app
