#include "app/bench/cases.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace attn::app {
namespace {

using Path = BenchPath;

// Lengths that peer_bench.py draws too.
const std::vector<int> kRagged{137, 4096, 911, 2048, 333, 6144, 1500, 3217};
const std::vector<int> kContexts{4096, 1129, 2129, 3178, 709,  808,  3875, 2706,
                                 897,  2009, 2899, 749,  2590, 1391, 665,  864};

std::vector<int> same(int batch, int len) { return std::vector<int>(static_cast<std::size_t>(batch), len); }

AttentionCase prefill(std::string name, std::vector<int> lens, int heads, int dim, PeerKey peers) {
  return {.name = std::move(name),
          .q_lens = lens,
          .k_lens = std::move(lens),
          .heads = heads,
          .kv_heads = 8,
          .dim = dim,
          .paths = {Path::packed, Path::paged, Path::gather_flatten},
          .peers = std::move(peers)};
}

AttentionCase decode(std::string name, std::vector<int> contexts, int heads, int dim, std::string peer,
                     std::string cache_case = {}) {
  return {.name = std::move(name),
          .decode = true,
          .k_lens = std::move(contexts),
          .heads = heads,
          .kv_heads = 8,
          .dim = dim,
          .paths = {Path::paged, Path::dense, Path::gather, Path::gather_repeat},
          .peers = {"decode", std::move(peer)},
          .cache_case = std::move(cache_case)};
}

std::vector<AttentionCase> gpu_cases() {
  AttentionCase prefix{.name = "prefill prefix q1024 k8192 B4 H32/8 D128",
                       .q_lens = same(4, 1024),
                       .k_lens = same(4, 8192),
                       .heads = 32,
                       .kv_heads = 8,
                       .dim = 128,
                       .paths = {Path::paged, Path::packed, Path::gather_flatten},
                       .peers = {"prefix", "B4 H32/8 q1024 k8192 D128"}};
  return {
      prefill("prefill B4 S4096 H32/8 D128", same(4, 4096), 32, 128, {"prefill", "B4 H32/8 S4096 D128"}),
      prefill("prefill B1 S16384 H32/8 D128", {16384}, 32, 128, {"prefill", "B1 H32/8 S16384 D128"}),
      prefill("prefill B4 S4096 H32/8 D64", same(4, 4096), 32, 64, {"prefill", "B4 H32/8 S4096 D64"}),
      prefill("prefill B8 S2048 H16/8 D64", same(8, 2048), 16, 64, {"prefill", "B8 H16/8 S2048 D64"}),
      prefill("prefill ragged 8, 18386 tokens H32/8 D128", kRagged, 32, 128,
              {"varlen", "ragged8 18386tok H32/8 D128"}),
      std::move(prefix),
      decode("decode B64 ctx8192 H32/8 D128", same(64, 8192), 32, 128, "B64 H32/8 ctx8192 D128",
             "B64 Hkv8 ctx8192 D128 page16"),
      decode("decode B1 ctx32768 H32/8 D128", {32768}, 32, 128, "B1 H32/8 ctx32768 D128",
             "B1 Hkv8 ctx32768 D128 page16"),
      decode("decode B16 ctx4096 H32/8 D128", same(16, 4096), 32, 128, "B16 H32/8 ctx4096 D128",
             "B16 Hkv8 ctx4096 D128 page16"),
      decode("decode B128 ctx1024 H16/8 D64", same(128, 1024), 16, 64, "B128 H16/8 ctx1024 D64"),
      decode("decode ragged 16, mean 1918 H32/8 D128", kContexts, 32, 128,
             "B16 H32/8 ctx<=4096 (mean 1918) D128"),
  };
}

std::vector<AttentionCase> emulator_cases() {
  AttentionCase prompts = prefill("prefill B2 S128 H4/2 D64", same(2, 128), 4, 64, {});
  prompts.kv_heads = 2;
  AttentionCase contexts = decode("decode B4 ctx256 H8/2 D64", same(4, 256), 8, 64, "");
  contexts.kv_heads = 2;
  return {std::move(prompts), std::move(contexts)};
}

}  // namespace

std::string_view path_name(BenchPath path) {
  switch (path) {
    case Path::packed:
      return "packed";
    case Path::paged:
      return "paged 16";
    case Path::gather_flatten:
      return "gather + flatten";
    case Path::dense:
      return "dense";
    case Path::gather:
      return "gather + dense";
    case Path::gather_repeat:
      break;
  }
  return "gather + repeat";
}

bool reads_pool(BenchPath path) { return path != Path::packed && path != Path::dense; }

double AttentionCase::keys() const { return std::accumulate(k_lens.begin(), k_lens.end(), 0.0); }

double AttentionCase::pairs() const {
  if (decode) return keys();
  double pairs = 0.0;
  for (std::size_t b = 0; b < q_lens.size(); ++b) {
    const double q = q_lens[b], k = k_lens[b];
    pairs += q * (k - q) + 0.5 * q * (q + 1.0);
  }
  return pairs;
}

double AttentionCase::bytes() const {
  const double queries = decode ? batch() : std::accumulate(q_lens.begin(), q_lens.end(), 0.0);
  return 4.0 * dim * (kv_heads * keys() + heads * queries);
}

PeerKey AttentionCase::peers_of(BenchPath path) const {
  if (path == Path::gather) return {"cache", cache_case, "gather + FLASH"};
  if (path == Path::gather_repeat) return {"cache", cache_case, "gather + repeat"};
  return peers;
}

std::string_view CacheCase::kernel() const {
  switch (op) {
    case CacheOp::store:
      return "store_kvcache";
    case CacheOp::gather:
      return "gather_kv";
    case CacheOp::repeat:
      break;
  }
  return "repeat_kv";
}

double CacheCase::bytes() const {
  const double written = op == CacheOp::repeat ? heads : kv_heads;
  return 4.0 * tokens * dim * (kv_heads + written);
}

std::vector<AttentionCase> attention_cases(bool gpu, bool quick) {
  std::vector<AttentionCase> cases = gpu ? gpu_cases() : emulator_cases();
  if (!quick) return cases;
  bool gather_variant = true;  // once
  for (AttentionCase& one : cases) {
    one.paths.resize(1);
    if (one.decode && std::exchange(gather_variant, false)) one.paths.push_back(Path::gather_repeat);
  }
  return cases;
}

std::vector<CacheCase> cache_cases(bool gpu) {
  if (!gpu)
    return {{.name = "store 64 tokens Hkv2 D64", .tokens = 64, .kv_heads = 2, .dim = 64},
            {.name = "gather B4 ctx256 Hkv2 D64",
             .op = CacheOp::gather,
             .tokens = 4 * 256,
             .batch = 4,
             .kv_heads = 2,
             .dim = 64},
            {.name = "repeat 256 tokens H8/2 D64",
             .op = CacheOp::repeat,
             .tokens = 256,
             .kv_heads = 2,
             .dim = 64,
             .heads = 8}};
  return {{.name = "store 16384 tokens Hkv8 D128",
           .tokens = 16384,
           .kv_heads = 8,
           .dim = 128,
           .peers = {"cache", "N16384 Hkv8 D128 page16", "store_kvcache"}},
          {.name = "gather B64 ctx8192 Hkv8 D128",
           .op = CacheOp::gather,
           .tokens = 64 * 8192,
           .batch = 64,
           .kv_heads = 8,
           .dim = 128,
           .peers = {"cache", "B64 Hkv8 ctx8192 D128 page16", "gather K+V"}},
          {.name = "repeat B64 ctx8192 H32/8 D128",
           .op = CacheOp::repeat,
           .tokens = 64 * 8192,
           .kv_heads = 8,
           .dim = 128,
           .heads = 32}};
}

}  // namespace attn::app
