#include "kernels/simt/tensor_core.h"

namespace attn::simt {
namespace {

constexpr int kLanes = 32;
constexpr int kM = 16, kN = 8, kK = 16;

template <bool kBf16>
float widen(std::uint32_t pair, int half) {
  const auto bits = static_cast<std::uint16_t>(pair >> (16 * half));
  return kBf16 ? bf16_bits_to_float(bits) : half_bits_to_float(bits);
}

/// Products of 16-bit values are exact in float; the order of the 16 additions is the hardware's own affair.
template <bool kBf16>
void mma(void* const* lanes) {
  float a[kM][kK], b[kK][kN];
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto& from = *static_cast<const MmaLane*>(lanes[lane]);
    const int row = lane / 4, pair = lane % 4 * 2;
    for (int half = 0; half < 2; ++half) {
      for (int r = 0; r < 4; ++r) a[row + r % 2 * 8][pair + r / 2 * 8 + half] = widen<kBf16>(from.a[r], half);
      for (int r = 0; r < 2; ++r) b[pair + r * 8 + half][row] = widen<kBf16>(from.b[r], half);
    }
  }
  float c[kM][kN] = {};
  for (int i = 0; i < kM; ++i)
    for (int k = 0; k < kK; ++k)
      for (int j = 0; j < kN; ++j) c[i][j] += a[i][k] * b[k][j];
  for (int lane = 0; lane < kLanes; ++lane) {
    float* to = static_cast<const MmaLane*>(lanes[lane])->c;
    for (int r = 0; r < 4; ++r) to[r] += c[lane / 4 + r / 2 * 8][lane % 4 * 2 + r % 2];
  }
}

template <bool kTransposed>
void exchange_rows(void* const* lanes) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto& to = *static_cast<const LdmatrixLane*>(lanes[lane]);
    for (int matrix = 0; matrix < 4; ++matrix) {
      std::uint32_t pair = 0;
      for (int half = 0; half < 2; ++half) {
        const int row = kTransposed ? lane % 4 * 2 + half : lane / 4;
        const int column = kTransposed ? lane / 4 : lane % 4 * 2 + half;
        const auto& from = *static_cast<const LdmatrixLane*>(lanes[matrix * 8 + row]);
        pair |= static_cast<std::uint32_t>(from.row[column]) << (16 * half);
      }
      to.out[matrix] = pair;
    }
  }
}

}  // namespace

void mma_all_lanes(bool bf16, MmaLane& mine, const Site& site) {
  whole_warp("mma_m16n8k16", &mine, bf16 ? mma<true> : mma<false>, site);
}

void ldmatrix_all_lanes(bool transposed, LdmatrixLane& mine, const Site& site) {
  whole_warp(transposed ? "ldmatrix_x4_trans" : "ldmatrix_x4", &mine,
             transposed ? exchange_rows<true> : exchange_rows<false>, site);
}

}  // namespace attn::simt
