// The rebuilt K/V pool: by hand, against a linear walk, under tight budgets, and how long a seek takes.
#include <gtest/gtest.h>

#include <cstring>
#include <ctime>
#include <filesystem>

#include "core/trace/pool_history.h"
#include "core/trace/state_hash.h"
#include "core/trace/tensor_values.h"
#include "kernels/common/check.h"
#include "tests/core/trace_random.h"

namespace attn::trace::test {
namespace {

/// A step that stores one row per slot; row r of K is filled with base + r, of V with the negative.
std::shared_ptr<StepRecord> store_step(int step, std::vector<std::int32_t> slots, float base,
                                       int layers = 1) {
  auto record = std::make_shared<StepRecord>();
  record->step = step;
  record->config.block_size = 2;
  record->config.num_blocks = 3;
  for (int layer = 0; layer < layers; ++layer) {
    std::vector<float> k, v;
    for (std::size_t row = 0; row < slots.size(); ++row) {
      k.insert(k.end(), 8, base + static_cast<float>(row) + 100.0F * static_cast<float>(layer));
      v.insert(v.end(), 8, -k.back());
    }
    const auto rows = static_cast<std::int64_t>(slots.size());
    LayerRecord record_of_layer;
    record_of_layer.layer = layer;
    record_of_layer.k = float_tensor({rows, 1, 8}, k);
    record_of_layer.v = float_tensor({rows, 1, 8}, v);
    record->layers.push_back(record_of_layer);
  }
  record->slot_mapping = std::move(slots);
  return record;
}

Manifest pool_manifest() {
  Manifest manifest = small_manifest();
  manifest.model.num_heads = manifest.model.num_kv_heads = 1;
  return manifest;
}

/// First value of each slot, NaN where nobody wrote.
std::vector<float> first_values(const std::vector<std::byte>& cache) {
  std::vector<float> values(cache.size() / 32);
  for (std::size_t slot = 0; slot < values.size(); ++slot)
    std::memcpy(&values[slot], cache.data() + 32 * slot, 4);
  return values;
}

void expect_slots(const std::vector<std::byte>& cache, const std::vector<float>& expected) {
  const auto values = first_values(cache);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(values[i])) << "slot " << i << " is " << values[i];
    } else {
      EXPECT_EQ(values[i], expected[i]) << "slot " << i;
    }
  }
}

TEST(TracePool, HandMadeStepsWithAReusedBlock) {
  auto recording = std::make_shared<Recording>(pool_manifest());
  recording->append(store_step(1, {0, 1, 4}, 10));  // blocks 0 and 2
  recording->append(store_step(2, {5, -1}, 20));    // -1 is not the last slot
  recording->append(store_step(3, {}, 0));          // a step without a store
  recording->append(store_step(4, {1, 3, 1}, 30));  // block 0 reused; the later row of a step wins
  PoolHistory pools(recording);
  expect_slots(pools.at(3, 0)->k, {10, 32, NAN, 31, 12, 20});
  expect_slots(pools.at(3, 0)->v, {-10, -32, NAN, -31, -12, -20});
  expect_slots(pools.at(0, 0)->k, {10, 11, NAN, NAN, 12, NAN});
  expect_slots(pools.at(2, 0)->k, {10, 11, NAN, NAN, 12, 20});
  expect_slots(pools.at(1, 0)->k, {10, 11, NAN, NAN, 12, 20});
  EXPECT_EQ((*pools.writers(3))[1], (SlotWriter{3, 2}));
  EXPECT_EQ((*pools.writers(3))[2], SlotWriter{});
  recording->append(store_step(5, {2}, 40));  // the recording grows under the history
  expect_slots(pools.at(4, 0)->k, {10, 32, 40, 31, 12, 20});
}

TEST(TracePool, NeverWrittenBytesAreAllOnes) {
  auto recording = std::make_shared<Recording>(pool_manifest());
  recording->append(store_step(1, {0}, 1));
  const auto pool = PoolHistory(recording).at(0, 0);
  EXPECT_EQ(pool->kv.num_slots(), 6);
  for (std::size_t i = 32; i < pool->k.size(); ++i) ASSERT_EQ(pool->k[i], std::byte{0xFF}) << i;
}

TEST(TracePool, MissingLayerSaysWhichStep) {
  auto recording = std::make_shared<Recording>(pool_manifest());
  recording->append(store_step(8, {0}, 1, 1));
  recording->append(store_step(9, {1}, 1, 2));
  PoolHistory pools(recording);
  try {
    pools.at(1, 1);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("step 8 wrote slot 0 but did not record that layer"),
              std::string::npos);
  }
}

TEST(TracePool, AnAbsurdPoolIsRefused) {
  auto recording = std::make_shared<Recording>(pool_manifest());
  auto step = store_step(1, {0}, 1);
  step->config.num_blocks = 2'000'000'000;
  step->config.block_size = 2'000'000'000;
  recording->append(step);
  EXPECT_THROW(PoolHistory(recording).at(0, 0), InputError);
}

/// The straightforward way: every step's rows in order.
struct LinearPool {
  std::vector<std::byte> k, v;
  void apply(const StepRecord& step, int layer) {
    const LayerRecord& record = step.layers[static_cast<std::size_t>(layer)];
    if (!record.k_cache.shape.empty()) {
      k = record.k_cache.data;
      v = record.v_cache.data;
    }
    const std::size_t row_bytes = record.k.data.size() / static_cast<std::size_t>(record.k.shape[0]);
    for (std::size_t row = 0; row < step.slot_mapping.size(); ++row) {
      if (step.slot_mapping[row] < 0) continue;
      const std::size_t to = static_cast<std::size_t>(step.slot_mapping[row]) * row_bytes;
      std::memcpy(k.data() + to, record.k.data.data() + row * row_bytes, row_bytes);
      std::memcpy(v.data() + to, record.v.data.data() + row * row_bytes, row_bytes);
    }
  }
};

/// Seeks and compares with the linear walk: every step from last to first, then 1,000 random cursors.
void compare_with_linear_walk(const std::shared_ptr<const Store>& store, std::size_t budget) {
  constexpr int kLayers = 2;
  std::vector<std::vector<LinearPool>> walk(static_cast<std::size_t>(store->num_steps()));
  std::vector<std::uint64_t> hashes;
  std::vector<LinearPool> now(kLayers);
  for (int i = 0; i < store->num_steps(); ++i) {
    for (int layer = 0; layer < kLayers; ++layer)
      now[static_cast<std::size_t>(layer)].apply(*store->step(i), layer);
    walk[static_cast<std::size_t>(i)] = now;
    hashes.push_back(state_hash(*store->step(i)));
  }
  PoolHistory pools(store, budget);
  const auto check = [&](int index, int layer) {
    const auto pool = pools.at(index, layer);
    const LinearPool& expected = walk[static_cast<std::size_t>(index)][static_cast<std::size_t>(layer)];
    ASSERT_EQ(pool->k, expected.k) << "step " << index << " layer " << layer;
    ASSERT_EQ(pool->v, expected.v) << "step " << index << " layer " << layer;
    ASSERT_EQ(state_hash(*store->step(index)), hashes[static_cast<std::size_t>(index)]);
    ASSERT_EQ(store->step(index)->state_hash, hashes[static_cast<std::size_t>(index)]);
  };
  for (int index = store->num_steps(); index-- > 0;) {
    for (int layer = 0; layer < kLayers; ++layer) check(index, layer);
  }
  std::mt19937 random(18);
  for (int i = 0; i < 1000; ++i) {
    const int index = static_cast<int>(random() % static_cast<unsigned>(store->num_steps()));
    check(index, static_cast<int>(random() % kLayers));
  }
}

TEST(TracePool, LastToFirstAndRandomSeeksEqualTheLinearWalk) {
  compare_with_linear_walk(random_recording(19, 150), 128U << 20U);
}

TEST(TracePool, SameUnderABudgetThatHoldsOnePool) {
  compare_with_linear_walk(random_recording(20, 150), 4096);
}

TEST(TracePool, SameFromAFile) {
  TemporaryFolder folder;
  const auto recording = random_recording(21, 150);
  {
    Writer writer(folder / "a.attn", recording->manifest());
    for (int i = 0; i < recording->num_steps(); ++i) writer.append(*recording->step(i));
  }
  compare_with_linear_walk(open_trace(folder / "a.attn", 100'000), 64'000);
}

/// A trace of the bundled model's sizes (4 layers, 8 heads, 2 KV heads, head_dim 16).
void write_bundled_size(const std::filesystem::path& path, int num_steps) {
  Manifest manifest = small_manifest();
  manifest.model.num_layers = 4;
  manifest.model.num_heads = 8;
  manifest.model.head_dim = 16;
  constexpr int kSequences = 4;
  Writer writer(path, manifest);
  StepRecord step = RandomSteps(22).next();
  step.config.num_blocks = 64;
  step.config.block_size = 16;
  step.blocks.resize(64);
  for (int id = 0; id < 64; ++id) step.blocks[static_cast<std::size_t>(id)].id = id;
  for (int i = 0; i < 80; ++i) step.shapes.push_back(step.shapes.front());
  for (int i = 0; i < 80; ++i) step.launches.push_back(step.launches.front());
  step.kind = StepKind::decode;
  step.path = AttentionPath::identity;
  step.num_scheduled = 0;
  step.context_lens.reset();
  step.block_tables.reset();
  step.cu_seqlens_q = step.cu_seqlens_k = {};
  step.max_seqlen_q = step.max_seqlen_k = 0;
  step.input_ids = step.positions = {};
  for (int i = 0; i < num_steps; ++i) {
    step.layers.clear();
    step.slot_mapping.clear();
    for (int row = 0; row < kSequences; ++row) step.slot_mapping.push_back(row * 256 + i % 256);
    for (int layer = 0; layer < 4; ++layer) {
      LayerRecord record;
      record.layer = layer;
      const auto rows = std::vector<float>(kSequences * 2 * 16, static_cast<float>(i));
      record.k = record.v = float_tensor({kSequences, 2, 16}, rows);
      record.q = record.o = float_tensor({0, 8, 16}, {});
      step.layers.push_back(record);
    }
    step.step = i;
    writer.append(step);
  }
}

/// 1,000 steps, cold and warm.
TEST(TracePool, SeekInABundledModelSizedTraceIsFast) {
  TemporaryFolder folder;
  constexpr int kSteps = 1000;
  write_bundled_size(folder / "a.attn", kSteps);
  // CPU time: other tests may run beside this one.
  const auto timed = [](auto&& work) {
    const std::clock_t begin = std::clock();
    work();
    return 1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  std::shared_ptr<Store> store;
  const double open_ms = timed([&] { store = open_trace(folder / "a.attn"); });
  PoolHistory pools(store);
  const double cold_ms = timed([&] { pools.at(kSteps - 1, 3); });
  double worst_ms = 0.0, total_ms = 0.0;
  std::mt19937 random(23);
  for (int i = 0; i < 1000; ++i) {
    const double ms =
        timed([&] { pools.at(static_cast<int>(random() % kSteps), static_cast<int>(random() % 4)); });
    worst_ms = std::max(worst_ms, ms);
    total_ms += ms;
  }
  RecordProperty("open_ms", std::to_string(open_ms));
  RecordProperty("cold_seek_ms", std::to_string(cold_ms));
  RecordProperty("worst_seek_ms", std::to_string(worst_ms));
  std::printf("open %.1f ms, first seek %.1f ms, then mean %.2f ms, worst %.1f ms\n", open_ms, cold_ms,
              total_ms / 1000, worst_ms);
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(cold_ms, 50.0);
  EXPECT_LT(worst_ms, 50.0);
#endif
}

}  // namespace
}  // namespace attn::trace::test
