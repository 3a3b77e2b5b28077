// Attention and cache kernels over the cases of the project's performance table, on whichever device is
// there: `bench_attention [--benchmark_filter=...]`. Times are device events on CUDA and wall time on the
// emulator (which gets small cases only). Counters: TFLOP/s for prefill, GB/s of real context for decode.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "kernels/common/plan.h"
#include "kernels/device.h"

namespace {

using namespace attn;

Device& device() {
  static DevicePick pick = make_device(DeviceChoice::automatic);
  return *pick.device;
}

bool on_gpu() { return device().kind() == DeviceKind::cuda; }

/// Random bits with a bf16 exponent around 1: cheap to make, never zero, never NaN.
Buffer random_bf16(std::size_t count, std::uint32_t seed) {
  std::mt19937 rng(seed);
  std::vector<std::uint16_t> host(std::min<std::size_t>(count, std::size_t{1} << 20U));
  for (auto& x : host) {
    const auto bits = static_cast<std::uint32_t>(rng());
    x = static_cast<std::uint16_t>((bits & 0x807FU) | (0x3E80U + ((bits >> 9U) & 0x0100U)));
  }
  Buffer buffer(device(), count * 2, "bench input");
  for (std::size_t at = 0; at < count; at += host.size()) {
    const std::size_t n = std::min(host.size(), count - at);
    device().upload(buffer.as<std::uint16_t>() + at, host.data(), n * 2);
  }
  return buffer;
}

Buffer ints(const std::vector<std::int32_t>& values) {
  Buffer buffer(device(), values.size() * sizeof(std::int32_t), "bench ints");
  buffer.upload(values);
  return buffer;
}

/// Runs `launch` once per iteration; the time is what the launches themselves took.
template <class F>
void time_launches(benchmark::State& state, F&& launch) {
  LaunchContext& context = device().context();
  for (auto _ : state) {
    std::vector<LaunchRecord> log;
    context.log = &log;
    context.timing = on_gpu();
    const auto begin = std::chrono::steady_clock::now();
    launch();
    device().synchronize();
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    context.log = nullptr;
    context.timing = false;
    if (on_gpu()) {
      seconds = 0.0;
      for (const LaunchRecord& record : log) seconds += record.ms * 1e-3;
    }
    state.SetIterationTime(seconds);
  }
}

struct Paged {
  int blocks_per_seq;
  PagedKv kv;
  Buffer k, v, tables;
};

/// A pool with every sequence's blocks scattered: table entries are a permutation of the pool.
Paged make_paged(int batch, int ctx, int block_size, int num_kv_heads, int head_dim) {
  const int width = (ctx + block_size - 1) / block_size;
  Paged p{width, {batch * width, block_size, num_kv_heads, head_dim}, {}, {}, {}};
  std::vector<std::int32_t> table(static_cast<std::size_t>(batch) * width);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::int32_t>(i);
  std::shuffle(table.begin(), table.end(), std::mt19937(7));
  const auto elements = static_cast<std::size_t>(p.kv.num_slots()) * num_kv_heads * head_dim;
  p.k = random_bf16(elements, 1);
  p.v = random_bf16(elements, 2);
  p.tables = ints(table);
  return p;
}

void bench_decode(benchmark::State& state, int level, int batch, int ctx, int heads, int kv_heads, int dim) {
  const Paged pool = make_paged(batch, ctx, 16, kv_heads, dim);
  const Buffer q = random_bf16(static_cast<std::size_t>(batch) * heads * dim, 3);
  const Buffer o(device(), q.bytes(), "o");
  const Buffer lse(device(), static_cast<std::size_t>(batch) * heads * sizeof(float), "lse");
  const Buffer lens = ints(std::vector<std::int32_t>(batch, ctx));
  DecodeParams p{.dtype = DType::bf16,
                 .level = level,
                 .form = DecodeForm::paged,
                 .batch = batch,
                 .num_heads = heads,
                 .num_kv_heads = kv_heads,
                 .head_dim = dim,
                 .max_len = ctx,
                 .scale = 1.0F / std::sqrt(static_cast<float>(dim)),
                 .q = q.as<>(),
                 .k = pool.k.as<>(),
                 .v = pool.v.as<>(),
                 .kv = pool.kv,
                 .block_tables = pool.tables.as<std::int32_t>(),
                 .block_table_width = pool.blocks_per_seq,
                 .context_lens = lens.as<std::int32_t>(),
                 .o = o.as<>(),
                 .lse = lse.as<float>()};
  const DecodePlan plan = plan_decode(p, device().num_sms());
  p.num_splits = plan.num_splits;
  const Buffer workspace(device(), plan.workspace_bytes, "workspace");
  p.workspace = workspace.as<>();
  p.workspace_bytes = workspace.bytes();
  time_launches(state, [&] { device().kernels().decode_attention(p, device().context()); });
  const double bytes = 4.0 * dim * kv_heads * batch * ctx + 4.0 * batch * heads * dim;
  state.counters["GB/s"] =
      benchmark::Counter(bytes * 1e-9 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void bench_prefill(benchmark::State& state, int level, int batch, int len, int heads, int kv_heads, int dim) {
  const std::size_t tokens = static_cast<std::size_t>(batch) * len;
  const Buffer q = random_bf16(tokens * heads * dim, 3);
  const Buffer k = random_bf16(tokens * kv_heads * dim, 4);
  const Buffer v = random_bf16(tokens * kv_heads * dim, 5);
  const Buffer o(device(), q.bytes(), "o");
  const Buffer lse(device(), tokens * heads * sizeof(float), "lse");
  std::vector<std::int32_t> cu(batch + 1);
  for (int b = 0; b <= batch; ++b) cu[b] = b * len;
  const Buffer cu_seqlens = ints(cu);
  PrefillParams p{.dtype = DType::bf16,
                  .level = level,
                  .batch = batch,
                  .num_heads = heads,
                  .num_kv_heads = kv_heads,
                  .head_dim = dim,
                  .total_q = static_cast<int>(tokens),
                  .max_seqlen_q = len,
                  .max_seqlen_k = len,
                  .scale = 1.0F / std::sqrt(static_cast<float>(dim)),
                  .q = q.as<>(),
                  .k = k.as<>(),
                  .v = v.as<>(),
                  .cu_seqlens_q = cu_seqlens.as<std::int32_t>(),
                  .cu_seqlens_k = cu_seqlens.as<std::int32_t>(),
                  .o = o.as<>(),
                  .lse = lse.as<float>()};
  const Buffer workspace(device(), plan_prefill(p).workspace_bytes, "workspace");
  p.workspace = workspace.as<>();
  p.workspace_bytes = workspace.bytes();
  time_launches(state, [&] { device().kernels().prefill_attention(p, device().context()); });
  const double pairs = batch * (0.5 * len * (len + 1.0));
  state.counters["TFLOP/s"] = benchmark::Counter(
      4e-12 * dim * heads * pairs * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void bench_store(benchmark::State& state, int tokens) {
  const Paged pool = make_paged(1, tokens, 16, 8, 128);
  const Buffer k = random_bf16(static_cast<std::size_t>(tokens) * 8 * 128, 3);
  const Buffer v = random_bf16(static_cast<std::size_t>(tokens) * 8 * 128, 4);
  std::vector<std::int32_t> slots(tokens);
  for (int i = 0; i < tokens; ++i) slots[i] = i;
  const Buffer slot_mapping = ints(slots);
  const StoreKvCacheParams p{.dtype = DType::bf16,
                             .num_tokens = tokens,
                             .kv = pool.kv,
                             .k = k.as<>(),
                             .v = v.as<>(),
                             .slot_mapping = slot_mapping.as<std::int32_t>(),
                             .k_cache = pool.k.as<>(),
                             .v_cache = pool.v.as<>()};
  time_launches(state, [&] { device().kernels().store_kvcache(p, device().context()); });
  state.counters["GB/s"] = benchmark::Counter(
      8.0 * tokens * 8 * 128 * 1e-9 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void bench_gather(benchmark::State& state, int batch, int ctx) {
  const Paged pool = make_paged(batch, ctx, 16, 8, 128);
  const Buffer k(device(), pool.k.bytes(), "k_dense");
  const Buffer v(device(), pool.v.bytes(), "v_dense");
  const Buffer lens = ints(std::vector<std::int32_t>(batch, ctx));
  const GatherKvParams p{.dtype = DType::bf16,
                         .batch = batch,
                         .max_len = ctx,
                         .block_table_width = pool.blocks_per_seq,
                         .kv = pool.kv,
                         .k_cache = pool.k.as<>(),
                         .v_cache = pool.v.as<>(),
                         .block_tables = pool.tables.as<std::int32_t>(),
                         .seqlens = lens.as<std::int32_t>(),
                         .k_dense = k.as<>(),
                         .v_dense = v.as<>()};
  time_launches(state, [&] { device().kernels().gather_kv(p, device().context()); });
  state.counters["GB/s"] =
      benchmark::Counter(8.0 * batch * ctx * 8 * 128 * 1e-9 * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
}

template <class F>
void add(const std::string& name, F&& run) {
  benchmark::RegisterBenchmark(name.c_str(), std::forward<F>(run))
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

struct Case {
  const char* name;
  int batch, len, heads, kv_heads, dim;
};

void register_cases(const std::vector<Case>& prefill, const std::vector<Case>& decode) {
  for (const int level : {2, 1}) {
    const std::string suffix = "/l" + std::to_string(level);
    for (const Case& c : prefill) {
      if (level == 1 && static_cast<double>(c.batch) * c.heads * c.len * c.len > 3e9)
        continue;  // scores in memory
      add(std::string("prefill/") + c.name + suffix, [=](benchmark::State& state) {
        bench_prefill(state, level, c.batch, c.len, c.heads, c.kv_heads, c.dim);
      });
    }
    for (const Case& c : decode) {
      add(std::string("decode_paged16/") + c.name + suffix, [=](benchmark::State& state) {
        bench_decode(state, level, c.batch, c.len, c.heads, c.kv_heads, c.dim);
      });
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::AddCustomContext("device", device().name());
  if (on_gpu()) {
    register_cases({{"B4_S4096_H32_8_D128", 4, 4096, 32, 8, 128},
                    {"B4_S4096_H32_8_D64", 4, 4096, 32, 8, 64},
                    {"B8_S2048_H16_8_D64", 8, 2048, 16, 8, 64}},
                   {{"B64_ctx8192_H32_8_D128", 64, 8192, 32, 8, 128},
                    {"B1_ctx32768_H32_8_D128", 1, 32768, 32, 8, 128},
                    {"B16_ctx4096_H32_8_D128", 16, 4096, 32, 8, 128},
                    {"B128_ctx1024_H16_8_D64", 128, 1024, 16, 8, 64}});
    add("store_kvcache/16384_tokens", [](benchmark::State& state) { bench_store(state, 16384); });
    add("gather_kv/B64_ctx8192", [](benchmark::State& state) { bench_gather(state, 64, 8192); });
  } else {
    register_cases({{"B4_S64_H8_2_D16", 4, 64, 8, 2, 16}}, {{"B4_ctx256_H8_2_D16", 4, 256, 8, 2, 16}});
    add("store_kvcache/256_tokens", [](benchmark::State& state) { bench_store(state, 256); });
    add("gather_kv/B4_ctx256", [](benchmark::State& state) { bench_gather(state, 4, 256); });
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
