#include "app/yuv.h"

#include <algorithm>
#include <array>

#include "kernels/common/check.h"

namespace attn::app {
namespace {

constexpr int kShift = 16;

/// A weight of 65536ths.
constexpr int fixed(double weight) {
  return static_cast<int>(weight * (1 << kShift) + (weight < 0 ? -0.5 : 0.5));
}

// Y = 16 + 219 (0.2126 R + 0.7152 G + 0.0722 B) / 255; U = 128 + 224 (B - Y') / (1.8556 * 255), V with R.
constexpr double kR = 0.2126, kG = 0.7152, kB = 0.0722;
constexpr double kLuma = 219.0 / 255.0, kChroma = 224.0 / 255.0;
constexpr std::array<int, 3> kY = {fixed(kR * kLuma), fixed(kG* kLuma), fixed(kB* kLuma)};
constexpr std::array<int, 3> kU = {fixed(-kR / 1.8556 * kChroma), fixed(-kG / 1.8556 * kChroma),
                                   fixed(0.5 * kChroma)};
constexpr std::array<int, 3> kV = {fixed(0.5 * kChroma), fixed(-kG / 1.5748 * kChroma),
                                   fixed(-kB / 1.5748 * kChroma)};

/// `sum` counts `parts` pixels together.
std::uint8_t convert(const std::array<int, 3>& weights, const std::array<int, 3>& sum, int parts, int base) {
  const int value = weights[0] * sum[0] + weights[1] * sum[1] + weights[2] * sum[2];
  const int one = parts << kShift;
  return static_cast<std::uint8_t>(base + (value + one * 256 + one / 2) / one - 256);
}

}  // namespace

std::vector<std::uint8_t> to_yuv420(const Image& image) {
  const int w = image.width, h = image.height;
  ATTN_CHECK(w % 2 == 0 && h % 2 == 0, "a picture of {}x{} has odd sides", w, h);
  const std::size_t luma = static_cast<std::size_t>(w) * h;
  std::vector<std::uint8_t> out(luma + luma / 2);
  std::uint8_t* y_plane = out.data();
  std::uint8_t* u_plane = y_plane + luma;
  std::uint8_t* v_plane = u_plane + luma / 4;
  const auto at = [&](int x, int y) { return image.rgba.data() + (static_cast<std::size_t>(y) * w + x) * 4; };
  for (int y = 0; y < h; ++y) {
    for (const std::uint8_t* p = at(0, y); p != at(0, y) + static_cast<std::size_t>(w) * 4; p += 4)
      *y_plane++ = convert(kY, {p[0], p[1], p[2]}, 1, 16);
  }
  for (int y = 0; y < h; y += 2) {
    for (int x = 0; x < w; x += 2) {
      std::array<int, 3> sum{};  // weights 1 2 1 along x
      for (const int row : {y, y + 1}) {
        const std::uint8_t* left = at(std::max(0, x - 1), row);
        const std::uint8_t* mid = at(x, row);
        for (std::size_t c = 0; c < 3; ++c) sum[c] += left[c] + 2 * mid[c] + mid[4 + c];
      }
      *u_plane++ = convert(kU, sum, 8, 128);
      *v_plane++ = convert(kV, sum, 8, 128);
    }
  }
  return out;
}

}  // namespace attn::app
