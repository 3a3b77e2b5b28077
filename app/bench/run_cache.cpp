// Copies into the pool, out of it and for every query head: bytes read plus bytes written, checked value by
// value on sampled rows.
#include <algorithm>

#include "app/bench/inputs.h"
#include "app/bench/run.h"
#include "kernels/measure.h"

namespace attn::app {
namespace {

constexpr int kStoreSets = 4;  // of tokens, stored in turn

/// Rows on the device against the values that must stand in them.
class RowCheck {
 public:
  RowCheck(Device& device, std::size_t row) : device_(device), found_(row) {}
  void expect(const void* where, std::size_t at_row, const BenchValues& values, std::size_t from_row) {
    const std::size_t row = found_.size();
    device_.download(found_.data(), static_cast<const std::uint16_t*>(where) + at_row * row,
                     row * sizeof(std::uint16_t));
    for (std::size_t d = 0; d < row; ++d) same_ = same_ && found_[d] == values.bits(from_row * row + d);
  }
  /// 0, or nothing when a value differs: copies are exact or wrong.
  std::optional<double> error() const { return same_ ? std::optional(0.0) : std::nullopt; }

 private:
  Device& device_;
  std::vector<std::uint16_t> found_;
  bool same_ = true;
};

BenchRow row_of(const CacheCase& c) {
  BenchRow row;
  row.name = c.name;
  row.op = "cache";
  row.path = c.kernel();
  row.kernel = row.path;
  row.bytes = row.moved = c.bytes();
  row.launches = c.op == CacheOp::repeat ? 2 : 1;  // a repeat takes K and V one after the other
  row.ceiling = CeilingKind::copy;
  return row;
}

void bench_store(Device& device, const CacheCase& c, BenchRow& row) {
  const std::size_t width = static_cast<std::size_t>(c.kv_heads) * c.dim;
  const ScatteredTables tables({c.tokens * kStoreSets});
  const PagedKv pool{tables.blocks, kBenchBlock, c.kv_heads, c.dim};
  const std::size_t bytes = static_cast<std::size_t>(pool.num_slots()) * width * sizeof(std::uint16_t);
  const Buffer k_cache(device, bytes, "k_cache"), v_cache(device, bytes, "v_cache");
  const std::size_t tokens = static_cast<std::size_t>(c.tokens) * kStoreSets;
  const BenchValues k(device, tokens * width, 3), v(device, tokens * width, 4);
  std::vector<std::int32_t> slots;
  for (std::size_t i = 0; i < tokens; ++i)
    slots.push_back(static_cast<std::int32_t>(tables.slot(0, static_cast<int>(i))));
  const Buffer slot_mapping = bench_ints(device, slots);
  const TimedCall call = [&](int set) {
    const std::size_t first = static_cast<std::size_t>(set) * c.tokens;
    device.kernels().store_kvcache({.dtype = DType::bf16,
                                    .num_tokens = c.tokens,
                                    .kv = pool,
                                    .k = static_cast<const std::uint16_t*>(k.device()) + first * width,
                                    .v = static_cast<const std::uint16_t*>(v.device()) + first * width,
                                    .slot_mapping = slot_mapping.as<std::int32_t>() + first,
                                    .k_cache = k_cache.as<>(),
                                    .v_cache = v_cache.as<>()},
                                   device.context());
  };
  row.us = milliseconds(device, call, kStoreSets) * 1e3;
  for (const Buffer* cache : {&k_cache, &v_cache}) device.fill(cache->as<>(), 0xFF, cache->bytes());
  call(1);
  device.synchronize();
  RowCheck check(device, width);
  for (int n = 0; n < kCheckedCopyRows; ++n) {
    const std::size_t token =
        static_cast<std::size_t>(c.tokens) + static_cast<std::size_t>(n * 977 % c.tokens);
    check.expect(k_cache.as<>(), tables.slot(0, static_cast<int>(token)), k, token);
    check.expect(v_cache.as<>(), tables.slot(0, static_cast<int>(token)), v, token);
  }
  row.error = check.error();
}

void bench_gather(Device& device, const CacheCase& c, BenchRow& row) {
  const std::size_t width = static_cast<std::size_t>(c.kv_heads) * c.dim;
  const int context = c.tokens / c.batch;
  const ScatteredTables tables(std::vector<int>(static_cast<std::size_t>(c.batch), context));
  const PagedKv pool{tables.blocks, kBenchBlock, c.kv_heads, c.dim};
  const std::size_t elements = static_cast<std::size_t>(pool.num_slots()) * width;
  const BenchValues k(device, elements, 5), v(device, elements, 6);
  const Buffer k_dense(device, k.bytes(), "k_dense"), v_dense(device, v.bytes(), "v_dense");
  const Buffer ids = bench_ints(device, tables.ids),
               lens =
                   bench_ints(device, std::vector<std::int32_t>(static_cast<std::size_t>(c.batch), context));
  const TimedCall call = [&](int) {  // larger than any L2 by itself
    device.kernels().gather_kv({.dtype = DType::bf16,
                                .batch = c.batch,
                                .max_len = context,
                                .block_table_width = tables.width,
                                .kv = pool,
                                .k_cache = k.device(),
                                .v_cache = v.device(),
                                .block_tables = ids.as<std::int32_t>(),
                                .seqlens = lens.as<std::int32_t>(),
                                .k_dense = k_dense.as<>(),
                                .v_dense = v_dense.as<>()},
                               device.context());
  };
  row.us = milliseconds(device, call, 1) * 1e3;
  for (const Buffer* dense : {&k_dense, &v_dense}) device.fill(dense->as<>(), 0xFF, dense->bytes());
  call(0);
  device.synchronize();
  RowCheck check(device, width);
  for (int n = 0; n < kCheckedCopyRows; ++n) {
    const int b = n % c.batch, pos = n * 977 % context;
    const std::size_t at = static_cast<std::size_t>(b) * context + pos;
    check.expect(k_dense.as<>(), at, k, tables.slot(b, pos));
    check.expect(v_dense.as<>(), at, v, tables.slot(b, pos));
  }
  row.error = check.error();
}

void bench_repeat(Device& device, const CacheCase& c, BenchRow& row) {
  const std::size_t rows = static_cast<std::size_t>(c.tokens) * c.kv_heads, group = c.heads / c.kv_heads;
  const BenchValues k(device, rows * c.dim, 7), v(device, rows * c.dim, 8);
  const Buffer k_repeated(device, k.bytes() * group, "k_repeated"),
      v_repeated(device, v.bytes() * group, "v_repeated");
  const auto repeat = [&](const BenchValues& in, const Buffer& out) {
    device.kernels().repeat_kv({.dtype = DType::bf16,
                                .rows = c.tokens,
                                .num_heads = c.heads,
                                .num_kv_heads = c.kv_heads,
                                .head_dim = c.dim,
                                .in = in.device(),
                                .out = out.as<>()},
                               device.context());
  };
  const TimedCall call = [&](int) {
    repeat(k, k_repeated);
    repeat(v, v_repeated);
  };
  row.us = milliseconds(device, call, 1) * 1e3;
  for (const Buffer* out : {&k_repeated, &v_repeated}) device.fill(out->as<>(), 0xFF, out->bytes());
  call(0);
  device.synchronize();
  RowCheck check(device, static_cast<std::size_t>(c.dim));
  for (std::size_t n = 0; n < kCheckedCopyRows; ++n) {
    const std::size_t out_row = n * 9'770'011 % (rows * group);  // token * heads + head: grouped heads
    check.expect(k_repeated.as<>(), out_row, k, out_row / group);
    check.expect(v_repeated.as<>(), out_row, v, out_row / group);
  }
  row.error = check.error();
}

void run(Device& device, const CacheCase& c, BenchRow& row) {
  switch (c.op) {
    case CacheOp::store:
      return bench_store(device, c, row);
    case CacheOp::gather:
      return bench_gather(device, c, row);
    case CacheOp::repeat:
      return bench_repeat(device, c, row);
  }
}

}  // namespace

void bench_cache(Device& device, const BenchOptions& options, const RowSink& sink) {
  if (options.level != 0) return;  // copies have no levels
  for (const CacheCase& c : cache_cases(device.kind() == DeviceKind::cuda)) {
    if (!options.wants(c.name)) continue;
    BenchRow row = row_of(c);
    try {
      run(device, c, row);
    } catch (const DeviceError& error) {
      row.skipped = error.what();
    }
    if (options.peers) row.peers = peers_of(*options.peers, c.peers);
    sink(std::move(row));
  }
}

}  // namespace attn::app
