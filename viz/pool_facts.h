// What a step did to each block, gathered once per frame from its record: owners, slots written, whether
// attention read it, and the tokens whose K/V it holds.
#pragma once

#include <cstdint>
#include <vector>

#include "viz/frame.h"

namespace attn::viz {

struct BlockFacts {
  std::vector<int> owners;           // sequence ids that hold it after commit, batch order
  std::vector<int> written_offsets;  // slots written in this step
  int written = 0;
  bool read = false;
  std::vector<std::int32_t> tokens;  // of the filled slots, as far as known

  bool wrote(int offset) const {
    for (const int w : written_offsets) {
      if (w == offset) return true;
    }
    return false;
  }
};

struct PoolCounts {
  int used = 0;         // ref_count > 0
  int cached_free = 0;  // ref_count 0, hash kept
  int free = 0;
};

PoolCounts count_blocks(const trace::StepRecord& step);
/// One entry per block, by position in StepRecord::blocks.
std::vector<BlockFacts> gather_facts(const Frame& frame);

}  // namespace attn::viz
