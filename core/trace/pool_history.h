// The K/V pool of any layer at any step, rebuilt from the rows that the steps before it stored: a trace
// holds what was written, not what the cache looked like.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "core/trace/store.h"
#include "kernels/common/paged_kv.h"

namespace attn::trace {

/// Who wrote a slot last: row `row` of the step with index `step` in the store.
struct SlotWriter {
  static constexpr std::int32_t kNobody = -1;
  static constexpr std::int32_t kSnapshot = -2;  // as row: the contents that came with the first step
  std::int32_t step = kNobody;
  std::int32_t row = kNobody;
  bool operator==(const SlotWriter&) const = default;
};
using SlotWriters = std::vector<SlotWriter>;  // by slot

/// One layer's cache as the attention of a step saw it, that is after the step's own store.
struct Pool {
  PagedKv kv;
  DType dtype = DType::f32;
  std::vector<std::byte> k;  // [num_blocks, block_size, Hkv, D]; bytes 0xFF (NaN) where nothing was written
  std::vector<std::byte> v;
  std::shared_ptr<const SlotWriters> writers;
};

/// Random access with keyframes: the writer of every slot is kept for every n-th step, and the pools built
/// last are kept too, so that a seek copies only the rows in which a neighbour differs. Both live under
/// `memory_budget` bytes. One thread at a time; the store may grow meanwhile.
class PoolHistory {
 public:
  explicit PoolHistory(std::shared_ptr<const Store> store, std::size_t memory_budget = 128U << 20U);

  /// Throws InputError when a step that wrote rows did not record this layer, or the pool is too large.
  std::shared_ptr<const Pool> at(int index, int layer);
  std::shared_ptr<const SlotWriters> writers(int index);

 private:
  struct Built {
    int index;
    int layer;
    std::shared_ptr<const Pool> pool;
  };
  std::shared_ptr<Pool> start_pool(int index, int layer);
  void fill_rows(Pool& pool, const SlotWriters& before, int layer) const;
  void keep_writers(int index, const std::shared_ptr<const SlotWriters>& writers);
  void keep_pool(int index, int layer, const std::shared_ptr<const Pool>& pool);

  std::shared_ptr<const Store> store_;
  std::size_t budget_;
  int spacing_ = 16;                                             // of the writer keyframes, in steps
  std::map<int, std::shared_ptr<const SlotWriters>> keyframes_;  // by index
  std::list<Built> built_;                                       // most recent first
};

}  // namespace attn::trace
