// What each level of the attention kernels is, in the words that menus, tooltips and documentation use.
#pragma once

#include <array>
#include <span>

namespace attn {

struct LevelText {
  const char* name;
  const char* idea;
};

// In order, from level 1 on.
inline constexpr std::array<LevelText, 4> kPrefillLevelTexts{{
    {"naive", "three kernels; every score is written to memory and read back"},
    {"tiled", "online softmax over tiles of keys on CUDA cores; no score leaves the chip"},
    {"tensor cores", "mma.sync on 16-bit inputs, tiles copied ahead of their use (cp.async)"},
    {"Hopper", "wgmma fed by TMA, a warpgroup that only copies, one softmax beside another's products"},
}};
inline constexpr std::array<LevelText, 3> kDecodeLevelTexts{{
    {"naive", "three kernels; every score is written to memory and read back"},
    {"tiled", "online softmax over tiles of keys on CUDA cores, keys split over blocks"},
    {"streaming", "tensor cores with heads as columns, every warp streams its own keys"},
}};

constexpr std::span<const LevelText> level_texts(bool decode) {
  if (decode) return kDecodeLevelTexts;
  return kPrefillLevelTexts;
}

}  // namespace attn
