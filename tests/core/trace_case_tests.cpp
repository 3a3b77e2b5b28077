// Tensor cases: what attend returns, and the trace it leaves.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/trace/cursor.h"
#include "core/trace/describe.h"
#include "core/trace/inspector.h"
#include "core/trace/record_check.h"
#include "core/trace/tensor_case.h"
#include "core/trace/tensor_values.h"
#include "kernels/common/check.h"
#include "tests/core/trace_attention.h"
#include "tests/core/trace_cases.h"
#include "tests/core/trace_random.h"

namespace attn::trace::test {
namespace {

/// Keys of a sequence in order, as float rows [k_len][Hkv * D], read through the table by hand.
std::vector<std::vector<float>> rows_through_table(const std::vector<float>& cache,
                                                   const std::vector<int>& table, int k_len, int block_size,
                                                   int width) {
  std::vector<std::vector<float>> rows;
  for (int i = 0; i < k_len; ++i) {
    const int slot = table[static_cast<std::size_t>(i / block_size)] * block_size + i % block_size;
    rows.emplace_back(cache.begin() + slot * width, cache.begin() + (slot + 1) * width);
  }
  return rows;
}

TEST(TraceCase, PrefillPathsAgreeWithTheSoftmaxAndWithEachOther) {
  const auto device = make_simt_device();
  Tensors tensors = prefill_case();
  const auto k_cache = to_floats({DType::f32, {}, tensors["k_cache"].data});
  const auto v_cache = to_floats({DType::f32, {}, tensors["v_cache"].data});
  for (const char* mask : {"bottom_right", "top_left", "none"}) {
    for (const char* path : {"paged", "gather_flatten"}) {
      for (const int level : {1, 2}) {
        const AttendResult result =
            attend(*device, make_case("case", tensors, {{"scale", "0.5"}}),
                   {.op = AttendOp::prefill, .path = path, .mask = mask, .level = level, .weights = true});
        const Reference reference = reference_attention(
            to_floats({DType::f32, {}, tensors["q"].data}),
            {{3, rows_through_table(k_cache, {3, 1}, 5, 3, 16),
              rows_through_table(v_cache, {3, 1}, 5, 3, 16)},
             {2, rows_through_table(k_cache, {2}, 2, 3, 16), rows_through_table(v_cache, {2}, 2, 3, 16)}},
            {.num_heads = 4,
             .num_kv_heads = 2,
             .head_dim = 8,
             .scale = 0.5,
             .mask = *from_name<MaskAlignment>(mask)});
        expect_near(to_floats(result.o), reference.o, 2e-6);
        expect_near(to_floats(result.lse), reference.lse, 2e-6);
        expect_near(to_floats(*result.weights), reference.weights, 2e-6);
        EXPECT_EQ(result.weights->shape, (std::vector<std::int64_t>{4, 5, 5}));
      }
    }
  }
}

TEST(TraceCase, DecodeStoresTheNewRowsFirst) {
  const auto device = make_simt_device();
  Tensors tensors = decode_case();
  auto k_cache = to_floats({DType::f32, {}, tensors["k_cache"].data});
  auto v_cache = to_floats({DType::f32, {}, tensors["v_cache"].data});
  const auto k_new = to_floats({DType::f32, {}, tensors["k_new"].data});
  const auto v_new = to_floats({DType::f32, {}, tensors["v_new"].data});
  for (int row = 0; row < 2; ++row) {
    const int slot = row == 0 ? 5 : 7;
    std::copy_n(k_new.begin() + row * 16, 16, k_cache.begin() + slot * 16);
    std::copy_n(v_new.begin() + row * 16, 16, v_cache.begin() + slot * 16);
  }
  const Reference reference = reference_attention(
      to_floats({DType::f32, {}, tensors["q"].data}),
      {{1, rows_through_table(k_cache, {3, 1}, 6, 3, 16), rows_through_table(v_cache, {3, 1}, 6, 3, 16)},
       {1, rows_through_table(k_cache, {2}, 2, 3, 16), rows_through_table(v_cache, {2}, 2, 3, 16)}},
      {.num_heads = 4,
       .num_kv_heads = 2,
       .head_dim = 8,
       .scale = 1.0 / std::sqrt(8.0),
       .mask = MaskAlignment::none});
  for (const char* path : {"paged", "gather_masked"}) {
    const AttendResult result = attend(*device, make_case("case", tensors),
                                       {.op = AttendOp::decode, .path = path, .mask = "", .weights = true});
    expect_near(to_floats(result.o), reference.o, 2e-6);
    expect_near(to_floats(result.lse), reference.lse, 2e-6);
    expect_near(to_floats(*result.weights), reference.weights, 2e-6);
  }
}

TEST(TraceCase, RowsPastALengthAreNeverRead) {
  const auto device = make_simt_device();
  Tensors clean = decode_case(), poisoned = decode_case();
  auto& cache = poisoned["v_cache"].data;
  // Sequence 1 has 2 of the 3 rows of block 2 (slots 6 and 7); block 0 belongs to nobody.
  std::memset(cache.data() + 8 * 64, 0xFF, 64);
  std::memset(cache.data(), 0xFF, 3 * 64);
  for (const char* path : {"paged", "gather_masked", "gather_padded"}) {
    const AttendOptions options{.op = AttendOp::decode, .path = path, .mask = ""};
    const auto a = attend(*device, make_case("a", clean), options);
    const auto b = attend(*device, make_case("b", poisoned), options);
    EXPECT_EQ(a.o.data, b.o.data) << path;
    EXPECT_EQ(a.lse.data, b.lse.data) << path;
  }
}

TEST(TraceCase, TheCaseOpensAsATraceThatTheInspectorReproduces) {
  TemporaryFolder folder;
  const auto device = make_simt_device();
  struct Run {
    Tensors tensors;
    AttendOptions options;
  };
  const std::vector<Run> runs{{prefill_case(), {}},
                              {prefill_case(), {.path = "paged", .mask = "top_left"}},
                              {decode_case(), {.op = AttendOp::decode, .path = "gather_padded", .level = 1}},
                              {decode_case(), {.op = AttendOp::decode, .path = "paged"}}};
  for (const Run& run : runs) {
    const AttendResult result = attend(*device, make_case("case", run.tensors), run.options);
    EXPECT_FALSE(result.weights.has_value());
    const auto step = result.store->step(0);
    EXPECT_NO_THROW(check_record(*step, result.store->manifest().model));
    EXPECT_EQ(Inspector(*device, result.store).inspect(0, 0)->max_abs_diff_o, 0.0);
    Writer(folder / "case.attn", result.store->manifest()).append(*step);
    const std::shared_ptr<const Store> reopened = open_trace(folder / "case.attn");
    EXPECT_EQ(Inspector(*device, reopened).inspect(0, 0)->max_abs_diff_o, 0.0);
  }
}

/// No engine ran: only the stages that were launched, and only the blocks that the tables name.
TEST(TraceCase, HasNoEngineStagesFreeListOrPoolOfItsOwn) {
  const auto device = make_simt_device();
  const auto stages = [](const Store& store) {
    std::vector<Stage> names;
    for (const StagePlace& place : stage_places(*store.step(0), store.manifest())) {
      EXPECT_EQ(place.layer, 0);
      names.push_back(place.stage);
    }
    return names;
  };
  const TensorCase decode = make_case("case", decode_case());
  const AttendResult paged = attend(*device, decode, {.op = AttendOp::decode});
  EXPECT_EQ(stages(*paged.store), (std::vector{Stage::store_kvcache, Stage::attention}));
  const AttendResult padded = attend(*device, decode, {.op = AttendOp::decode, .path = "gather_padded"});
  EXPECT_EQ(stages(*padded.store),
            (std::vector{Stage::store_kvcache, Stage::gather, Stage::repeat, Stage::attention}));
  const auto step = paged.store->step(0);
  EXPECT_TRUE(step->free_blocks.empty());
  int named = 0;
  for (const BlockState& block : step->blocks) named += block.ref_count;
  EXPECT_EQ(named, 3) << "6 and 2 keys in blocks of 3";
  EXPECT_NE(describe_step(*paged.store, 0).find("3 of 4 blocks in block_tables"), std::string::npos);
  EXPECT_EQ(describe_step(*paged.store, 0).find("free list"), std::string::npos);
  const AttendResult packed =
      attend(*device, make_case("case", prefill_case()), {.op = AttendOp::prefill, .path = "packed"});
  EXPECT_EQ(stages(*packed.store), std::vector{Stage::attention});
  EXPECT_TRUE(packed.store->step(0)->blocks.empty());
  EXPECT_NO_THROW(check_record(*packed.store->step(0), packed.store->manifest().model));
  PlannedGrids grids(*paged.store, 0, -1);
  const Cursor start{.stage = Stage::store_kvcache};
  const Cursor next = move_cursor(*paged.store, start, Grain::stage, 1, grids);
  EXPECT_EQ(next.stage, Stage::attention);
  EXPECT_EQ(move_cursor(*paged.store, next, Grain::stage, 1, grids), next) << "nothing follows";
}

TEST(TraceCase, DefaultsFollowWhatTheCaseHolds) {
  EXPECT_EQ(default_options(make_case("p", prefill_case())).op, AttendOp::prefill);
  EXPECT_EQ(default_options(make_case("d", decode_case())).op, AttendOp::decode);
  const auto device = make_simt_device();
  const auto packed = attend(*device, make_case("p", prefill_case()), {});
  EXPECT_EQ(packed.store->step(0)->path, AttentionPath::prefill_packed);
}

TEST(TraceCase, HalfPrecisionStaysHalf) {
  const auto device = make_simt_device();
  Tensors tensors = prefill_case();
  for (const char* name : {"q", "k", "v"}) {
    RawTensor& raw = tensors[name];
    const auto values = to_floats({DType::f32, {}, raw.data});
    raw.dtype = TensorDType::bf16;
    raw.data.resize(values.size() * 2);
    for (std::size_t i = 0; i < values.size(); ++i) {  // truncation is a legal way to bfloat16
      std::uint32_t bits = 0;
      std::memcpy(&bits, &values[i], 4);
      const auto high = static_cast<std::uint16_t>(bits >> 16U);
      std::memcpy(raw.data.data() + 2 * i, &high, 2);
    }
  }
  for (const char* name : {"k_cache", "v_cache", "block_tables"}) tensors.erase(name);
  const auto result = attend(*device, make_case("half", tensors), {.weights = true});
  EXPECT_EQ(result.o.dtype, DType::bf16);
  EXPECT_EQ(result.lse.dtype, DType::f32);
  EXPECT_EQ(result.weights->dtype, DType::f32);
}

TEST(TraceCase, FilesInAndOut) {
  TemporaryFolder folder;
  const auto device = make_simt_device();
  const Tensors tensors = prefill_case();
  write_safetensors(folder / "case.safetensors", views_of(tensors), {{"scale", "0.125"}});
  const TensorCase loaded = load_tensor_case(folder / "case.safetensors");
  EXPECT_EQ(loaded.name, "case.safetensors");
  EXPECT_EQ(loaded.scale, 0.125F);
  const AttendResult result = attend(*device, loaded, {.path = "paged", .weights = true});
  write_attend_result(folder / "out.safetensors", result);
  const SafetensorsFile out(folder / "out.safetensors");
  ASSERT_EQ(out.tensors().size(), 3U);
  for (const auto& [name, record] :
       {std::pair{"o", &result.o}, {"lse", &result.lse}, {"weights", &*result.weights}}) {
    const TensorView& view = out.at(name);
    EXPECT_EQ(view.dtype, TensorDType::f32);
    EXPECT_EQ(view.shape, record->shape);
    EXPECT_TRUE(std::equal(view.data.begin(), view.data.end(), record->data.begin(), record->data.end()))
        << name;
  }
  EXPECT_THROW(write_attend_result(folder / "no" / "out.safetensors", result), InputError);
  EXPECT_THROW(load_tensor_case(folder / "missing.safetensors"), InputError);
  auto bytes = read_file(folder / "case.safetensors");
  bytes.resize(bytes.size() - 1);
  write_file(folder / "case.safetensors", bytes);
  EXPECT_THROW(load_tensor_case(folder / "case.safetensors"), InputError);
}

TEST(TraceCase, QueriesWithoutAKeyGiveZerosAndMinusInfinity) {
  const auto device = make_simt_device();
  Tensors tensors = prefill_case();
  tensors["cu_seqlens_k"] = ints({0, 1, 1});  // 3 queries on 1 key: two see none; 2 queries on no key at all
  tensors["k"] = normal({1, 2, 8}, 2);
  tensors["v"] = normal({1, 2, 8}, 3);
  for (const char* path : {"packed", "paged", "gather_flatten"}) {
    for (const int level : {1, 2}) {
      const auto result =
          attend(*device, make_case("empty", tensors), {.path = path, .level = level, .weights = true});
      const auto o = to_floats(result.o), lse = to_floats(result.lse);
      for (const int row : {0, 1, 3, 4}) {
        for (int i = 0; i < 32; ++i)
          EXPECT_EQ(o[static_cast<std::size_t>(row * 32 + i)], 0.0F) << path << row;
        for (int h = 0; h < 4; ++h)
          EXPECT_EQ(lse[static_cast<std::size_t>(h * 5 + row)], -INFINITY) << path << row;
      }
      EXPECT_TRUE(std::isfinite(lse[2])) << path;
      EXPECT_EQ(Inspector(*device, result.store).inspect(0, 0)->max_abs_diff_o, 0.0);
    }
  }
}

TEST(TraceCase, DecodeWithoutAnyContextGivesZeros) {
  const auto device = make_simt_device();
  Tensors tensors = decode_case();
  tensors["context_lens"] = ints({0, 0});
  for (const char* path : {"paged", "gather_masked", "gather_padded"}) {
    for (const int level : {1, 2}) {
      const auto result = attend(*device, make_case("none", tensors),
                                 {.op = AttendOp::decode, .path = path, .level = level, .weights = true});
      for (const float value : to_floats(result.o)) EXPECT_EQ(value, 0.0F) << path;
      for (const float value : to_floats(result.lse)) EXPECT_EQ(value, -INFINITY) << path;
      EXPECT_EQ(result.weights->shape, (std::vector<std::int64_t>{4, 2, 0}));
      EXPECT_EQ(Inspector(*device, result.store).inspect(0, 0)->max_abs_diff_o, 0.0);
    }
  }
}

}  // namespace
}  // namespace attn::trace::test
