// What is measured: shapes, the ways through memory, and which peer did the same work.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn::app {

/// How keys and values reach the attention kernel. Blocks of 16, scattered over the pool.
enum class BenchPath : unsigned char {
  packed,          // prefill: rows of all sequences end to end
  paged,           // through the block tables
  gather_flatten,  // prefill: gathered, flattened, then packed
  dense,           // decode: [B, max_len] is there already
  gather,          // decode: gathered, then dense
  gather_repeat    // decode: gathered, repeated for every query head, then dense: the gather variant
};
std::string_view path_name(BenchPath path);
bool reads_pool(BenchPath path);

/// Rows of peer_bench.py that did the work of a case: its section and case, and how the implementation's name
/// begins ("" = any of the case).
struct PeerKey {
  std::string section;
  std::string name;
  std::string implementation = {};
};

/// One attention problem in bf16. decode: q_lens empty, one query per sequence.
struct AttentionCase {
  std::string name;
  bool decode = false;
  std::vector<int> q_lens = {}, k_lens = {};
  int heads = 0, kv_heads = 0, dim = 0;
  std::vector<BenchPath> paths = {};
  PeerKey peers = {};
  std::string cache_case = {};  // of peer_bench.py's section "cache", whose peers gather first

  int batch() const { return static_cast<int>(k_lens.size()); }
  double keys() const;
  double pairs() const;  // visible, bottom-right
  double exps() const { return pairs() * heads; }
  double flop() const { return 4.0 * dim * heads * pairs(); }
  double bytes() const;  // K and V of the real context, q and o, once each
  PeerKey peers_of(BenchPath path) const;
};

/// store_kvcache: rows into the pool; gather_kv: contexts out of it; repeat_kv: a copy of a KV head for each
/// of its query heads.
enum class CacheOp : unsigned char { store, gather, repeat };

/// Copies of K and V rows, bf16.
struct CacheCase {
  std::string name;
  CacheOp op = CacheOp::store;
  int tokens = 0;  // in all contexts together
  int batch = 1;   // contexts, of a gather
  int kv_heads = 0, dim = 0;
  int heads = 0;  // query heads, of a repeat
  PeerKey peers = {};

  std::string_view kernel() const;
  double bytes() const;  // K and V, read and written
};

/// The cases of a GPU, or small ones for the emulator. `quick`: only the paths that one would choose, and the
/// gather variant once.
std::vector<AttentionCase> attention_cases(bool gpu, bool quick);
std::vector<CacheCase> cache_cases(bool gpu);

}  // namespace attn::app
