// Cache kernels: they copy, so results are compared by bits.
#include <cstring>
#include <numeric>
#include <random>

#include "tests/kernels/attention_case.h"

namespace attn::test {
namespace {

constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16};

/// Rows of `elements` distinct values; as bytes, cut into rows.
struct Rows {
  std::size_t row_bytes;
  std::vector<std::byte> bytes;

  Rows(DType dtype, std::size_t rows, int elements, std::uint64_t seed)
      : row_bytes(elements * dtype_size(dtype)),
        bytes(to_bytes(dtype, random_normal(rows * elements, seed, dtype))) {}
  std::vector<std::byte> row(std::size_t i) const {
    return {bytes.begin() + i * row_bytes, bytes.begin() + (i + 1) * row_bytes};
  }
};

std::vector<std::byte> row_of(const std::vector<std::byte>& bytes, std::size_t i, std::size_t row_bytes) {
  return {bytes.begin() + i * row_bytes, bytes.begin() + (i + 1) * row_bytes};
}

/// Untouched device memory.
std::vector<std::byte> poison(std::size_t bytes) { return std::vector<std::byte>(bytes, std::byte{0xFF}); }

// vLLM #43810: 3 live tokens and 5 padding rows with slot -1; the last slot of the pool is somebody's.
ATTN_DEVICE_TEST(CacheStore, skips_negative_slots_and_touches_nothing_else) {
  for (const DType dtype : kTypes) {
    const PagedKv kv{3, 4, 2, 24};
    const Rows k(dtype, 8, 48, 1), v(dtype, 8, 48, 2);
    const std::vector<std::int32_t> slots = {5, -1, 0, -1, -1, 10, -1, -1};
    const Buffer k_new = device_copy(device, k.bytes, "k"), v_new = device_copy(device, v.bytes, "v");
    const Buffer slot_mapping = device_copy(device, slots, "slot_mapping");
    const std::size_t cache_bytes = 12 * k.row_bytes;
    const Buffer k_cache(device, cache_bytes, "k_cache"), v_cache(device, cache_bytes, "v_cache");
    device.kernels().store_kvcache({.dtype = dtype,
                                    .num_tokens = 8,
                                    .kv = kv,
                                    .k = k_new.as<>(),
                                    .v = v_new.as<>(),
                                    .slot_mapping = slot_mapping.as<std::int32_t>(),
                                    .k_cache = k_cache.as<>(),
                                    .v_cache = v_cache.as<>()},
                                   device.context());
    device.synchronize();
    std::vector<std::byte> want_k = poison(cache_bytes), want_v = want_k;
    for (std::size_t t = 0; t < slots.size(); ++t) {
      if (slots[t] < 0) continue;
      std::memcpy(&want_k[slots[t] * k.row_bytes], k.row(t).data(), k.row_bytes);
      std::memcpy(&want_v[slots[t] * v.row_bytes], v.row(t).data(), v.row_bytes);
    }
    EXPECT_EQ(k_cache.download<std::byte>(), want_k);
    EXPECT_EQ(v_cache.download<std::byte>(), want_v);
  }
}

// vLLM #1486: slot * row size leaves 32 bits long before a pool of today is full.
TEST(CacheStore, offsets_are_64_bit) {
  const PagedKv kv{3'000'000, 256, 8, 128};
  const std::int32_t row[] = {0, 2'999'999};
  EXPECT_EQ(kv.slot(row, 256 + 255), 2'999'999LL * 256 + 255);
  EXPECT_EQ(kv.offset(kv.slot(row, 256 + 255), 7), ((2'999'999LL * 256 + 255) * 8 + 7) * 128);
}

/// A scattered pool with random rows; unused slots keep NaN on the device.
struct Pool {
  PagedKv kv;
  int width;
  std::vector<int> lens;
  Rows k, v;                        // one row per slot
  std::vector<std::int32_t> table;  // [B, width]
  Buffer k_cache, v_cache, tables, seqlens;

  Pool(Device& device, DType dtype, std::vector<int> lengths, int block_size, int heads, int dim)
      : kv{0, block_size, heads, dim},
        width(0),
        lens(std::move(lengths)),
        k(dtype, 64U * block_size, heads * dim, 5),
        v(dtype, 64U * block_size, heads * dim, 6) {
    kv.num_blocks = 64;
    const int longest = *std::max_element(lens.begin(), lens.end());
    width = (longest + block_size - 1) / block_size + 1;
    std::vector<std::int32_t> ids(64);
    std::iota(ids.begin(), ids.end(), 0);
    std::shuffle(ids.begin(), ids.end(), std::mt19937(9));
    table.assign(lens.size() * width, -1);
    std::vector<std::byte> k_bytes = poison(k.bytes.size()), v_bytes = k_bytes;
    for (std::size_t b = 0, next = 0; b < lens.size(); ++b) {
      for (int i = 0; i * block_size < lens[b]; ++i) table[b * width + i] = ids[next++];
      for (int pos = 0; pos < lens[b]; ++pos) {
        std::memcpy(&k_bytes[slot(b, pos) * k.row_bytes], k.row(slot(b, pos)).data(), k.row_bytes);
        std::memcpy(&v_bytes[slot(b, pos) * v.row_bytes], v.row(slot(b, pos)).data(), v.row_bytes);
      }
    }
    k_cache = device_copy(device, k_bytes, "k_cache");
    v_cache = device_copy(device, v_bytes, "v_cache");
    tables = device_copy(device, table, "block_tables");
    seqlens = device_copy(device, std::vector<std::int32_t>(lens.begin(), lens.end()), "seqlens");
  }
  std::size_t slot(std::size_t b, int pos) const {
    return static_cast<std::size_t>(table[b * width + pos / kv.block_size]) * kv.block_size +
           pos % kv.block_size;
  }
};

ATTN_DEVICE_TEST(CacheGather, pads_with_zeros_and_flatten_drops_them) {
  for (const DType dtype : kTypes)
    for (const int block_size : {1, 4, 16}) {
      const Pool pool(device, dtype, {5, 0, 13, 1}, block_size, 3, 16);
      const int max_len = 14;
      const std::size_t row_bytes = pool.k.row_bytes, dense_bytes = 4 * max_len * row_bytes;
      const Buffer k_dense(device, dense_bytes, "k_dense"), v_dense(device, dense_bytes, "v_dense");
      device.kernels().gather_kv({.dtype = dtype,
                                  .batch = 4,
                                  .max_len = max_len,
                                  .block_table_width = pool.width,
                                  .kv = pool.kv,
                                  .k_cache = pool.k_cache.as<>(),
                                  .v_cache = pool.v_cache.as<>(),
                                  .block_tables = pool.tables.as<std::int32_t>(),
                                  .seqlens = pool.seqlens.as<std::int32_t>(),
                                  .k_dense = k_dense.as<>(),
                                  .v_dense = v_dense.as<>()},
                                 device.context());
      const Buffer cu = device_copy(device, std::vector<std::int32_t>{0, 5, 5, 18, 19}, "cu_seqlens_k");
      const Buffer k_flat(device, 19 * row_bytes, "k_flat"), v_flat(device, 19 * row_bytes, "v_flat");
      device.kernels().flatten_kv({.dtype = dtype,
                                   .batch = 4,
                                   .max_len = max_len,
                                   .num_kv_heads = 3,
                                   .head_dim = 16,
                                   .k_dense = k_dense.as<>(),
                                   .v_dense = v_dense.as<>(),
                                   .cu_seqlens_k = cu.as<std::int32_t>(),
                                   .k_flat = k_flat.as<>(),
                                   .v_flat = v_flat.as<>()},
                                  device.context());
      device.synchronize();
      const auto dense_k = k_dense.download<std::byte>(), dense_v = v_dense.download<std::byte>();
      const auto flat_k = k_flat.download<std::byte>(), flat_v = v_flat.download<std::byte>();
      const std::vector<std::byte> zeros(row_bytes, std::byte{0});
      std::size_t flat = 0;
      for (std::size_t b = 0; b < 4; ++b)
        for (int pos = 0; pos < max_len; ++pos) {
          const bool real = pos < pool.lens[b];
          ASSERT_EQ(row_of(dense_k, b * max_len + pos, row_bytes),
                    real ? pool.k.row(pool.slot(b, pos)) : zeros);
          ASSERT_EQ(row_of(dense_v, b * max_len + pos, row_bytes),
                    real ? pool.v.row(pool.slot(b, pos)) : zeros);
          if (!real) continue;
          ASSERT_EQ(row_of(flat_k, flat, row_bytes), pool.k.row(pool.slot(b, pos)));
          ASSERT_EQ(row_of(flat_v, flat++, row_bytes), pool.v.row(pool.slot(b, pos)));
        }
    }
}

ATTN_DEVICE_TEST(CacheRepeat, interleaves_heads) {
  for (const DType dtype : kTypes)
    for (const HeadMap map : {HeadMap::grouped, HeadMap::modulo}) {
      const Rows in(dtype, 5 * 3, 40, 3);  // [5, 3, 40]
      const Buffer source = device_copy(device, in.bytes, "in");
      const Buffer out(device, 5 * 12 * in.row_bytes, "out");
      device.kernels().repeat_kv({.dtype = dtype,
                                  .rows = 5,
                                  .num_heads = 12,
                                  .num_kv_heads = 3,
                                  .head_dim = 40,
                                  .head_map = map,
                                  .in = source.as<>(),
                                  .out = out.as<>()},
                                 device.context());
      device.synchronize();
      const auto got = out.download<std::byte>();
      const int grouped[] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2},
                modulo[] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
      for (std::size_t r = 0; r < 5; ++r)
        for (std::size_t h = 0; h < 12; ++h)
          ASSERT_EQ(row_of(got, r * 12 + h, in.row_bytes),
                    in.row(r * 3 + (map == HeadMap::grouped ? grouped[h] : modulo[h])));
    }
}

// Rows wider than the 256 threads of a block have chunks: 64 heads of 128 halves are 1,024.
ATTN_DEVICE_TEST(CacheStore, rows_wider_than_a_block_are_copied_whole) {
  const PagedKv kv{1, 2, 64, 128};
  const Rows k(DType::f16, 2, 64 * 128, 7);
  const Buffer source = device_copy(device, k.bytes, "k");
  const Buffer slots = device_copy(device, std::vector<std::int32_t>{1, 0}, "slot_mapping");
  const Buffer k_cache(device, k.bytes.size(), "k_cache"), v_cache(device, k.bytes.size(), "v_cache");
  std::vector<LaunchRecord> log;
  device.context().log = &log;
  device.kernels().store_kvcache({.dtype = DType::f16,
                                  .num_tokens = 2,
                                  .kv = kv,
                                  .k = source.as<>(),
                                  .v = source.as<>(),
                                  .slot_mapping = slots.as<std::int32_t>(),
                                  .k_cache = k_cache.as<>(),
                                  .v_cache = v_cache.as<>()},
                                 device.context());
  device.synchronize();
  device.context().log = nullptr;
  EXPECT_EQ(row_of(k_cache.download<std::byte>(), 0, k.row_bytes), k.row(1));
  EXPECT_EQ(row_of(v_cache.download<std::byte>(), 1, k.row_bytes), k.row(0));
  ASSERT_EQ(log.size(), 1U);
  EXPECT_EQ(log[0].kernel, "store_kvcache_kernel<half>");
  EXPECT_EQ(log[0].bytes, 2U * (4 * 64 * 128 * 2 + 4));
}

ATTN_DEVICE_TEST(CacheGather, empty_batches_launch_nothing) {
  std::vector<LaunchRecord> log;
  LaunchContext& context = device.context();
  context.log = &log;
  device.kernels().store_kvcache({.kv = {1, 1, 1, 8}}, context);
  device.kernels().gather_kv({.kv = {1, 1, 1, 8}}, context);
  device.kernels().flatten_kv({.num_kv_heads = 1, .head_dim = 8}, context);
  device.kernels().repeat_kv({.num_heads = 1, .num_kv_heads = 1, .head_dim = 8}, context);
  context.log = nullptr;
  EXPECT_TRUE(log.empty());
}

}  // namespace
}  // namespace attn::test
