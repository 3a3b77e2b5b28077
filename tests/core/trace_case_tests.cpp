// Tensor cases: every way an input can be wrong, and what attend returns on a good one.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "core/trace/inspector.h"
#include "core/trace/record_check.h"
#include "core/trace/tensor_case.h"
#include "core/trace/tensor_values.h"
#include "kernels/common/check.h"
#include "tests/core/trace_attention.h"
#include "tests/core/trace_random.h"

namespace attn::trace::test {
namespace {

/// A tensor that owns its bytes; the views of a TensorMap do not.
struct RawTensor {
  TensorDType dtype = TensorDType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;
};
using Tensors = std::map<std::string, RawTensor>;

TensorCase make_case(const std::string& name, const Tensors& tensors, const MetadataMap& metadata = {}) {
  TensorMap views;
  for (const auto& [key, raw] : tensors) views[key] = {raw.dtype, raw.shape, raw.data};
  return make_tensor_case(name, views, metadata);
}

RawTensor ints(std::vector<std::int64_t> shape, const std::vector<std::int32_t>& values) {
  RawTensor raw{TensorDType::i32, std::move(shape), {}};
  raw.data.resize(values.size() * 4);
  std::memcpy(raw.data.data(), values.data(), raw.data.size());
  return raw;
}

RawTensor ints(const std::vector<std::int32_t>& values) {
  return ints({static_cast<std::int64_t>(values.size())}, values);
}

RawTensor normal(std::vector<std::int64_t> shape, unsigned seed) {
  std::size_t count = 1;
  for (const auto extent : shape) count *= static_cast<std::size_t>(extent);
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution;
  RawTensor raw{TensorDType::f32, std::move(shape), std::vector<std::byte>(count * 4)};
  for (std::size_t i = 0; i < count; ++i) {
    const float value = distribution(random);
    std::memcpy(raw.data.data() + 4 * i, &value, 4);
  }
  return raw;
}

/// Two sequences, 3 and 2 queries on 5 and 2 keys; 4 heads on 2 KV heads, head_dim 8; packed and in a cache
/// of 4 blocks of 3.
Tensors prefill_case() {
  return {{"q", normal({5, 4, 8}, 1)},          {"k", normal({7, 2, 8}, 2)},
          {"v", normal({7, 2, 8}, 3)},          {"k_cache", normal({4, 3, 2, 8}, 4)},
          {"v_cache", normal({4, 3, 2, 8}, 5)}, {"block_tables", ints({2, 2}, {3, 1, 2, -1})},
          {"cu_seqlens_q", ints({0, 3, 5})},    {"cu_seqlens_k", ints({0, 5, 7})}};
}

/// Two sequences with 6 and 2 keys; the last row of each is stored first.
Tensors decode_case() {
  return {{"q", normal({2, 4, 8}, 6)},          {"k_cache", normal({4, 3, 2, 8}, 4)},
          {"v_cache", normal({4, 3, 2, 8}, 5)}, {"block_tables", ints({2, 2}, {3, 1, 2, -1})},
          {"context_lens", ints({6, 2})},       {"k_new", normal({2, 2, 8}, 7)},
          {"v_new", normal({2, 2, 8}, 8)},      {"slot_mapping", ints({5, 7})}};
}

struct Bad {
  const char* what;
  bool decode;
  std::function<void(Tensors&)> spoil;
  const char* message;  // a part that names the tensor, the place or the value
  AttendOptions options{};
  MetadataMap metadata{};
};

std::vector<Bad> bad_cases() {
  const AttendOptions paged{.path = "paged"};
  const AttendOptions decode{.op = AttendOp::decode};
  const auto set = [](const char* name, RawTensor raw) { return [=](Tensors& t) { t[name] = raw; }; };
  const auto drop = [](const char* name) { return [=](Tensors& t) { t.erase(name); }; };
  const auto dtype = [](const char* name, TensorDType to) { return [=](Tensors& t) { t[name].dtype = to; }; };
  const auto none = [](Tensors&) {};
  return {
      {"no q", false, drop("q"), "no tensor 'q'"},
      {"q of rank 2", false, set("q", normal({5, 32}, 1)), "'q' has shape [5, 32]"},
      {"q with no rows", false, set("q", normal({0, 4, 8}, 1)), "'q' has extent 0 in dimension 0"},
      {"q of integers", false, dtype("q", TensorDType::i32), "'q' is I32"},
      {"head_dim not a multiple of 8", false, set("q", normal({5, 4, 12}, 1)), "head_dim 12"},
      {"head_dim too large", false, set("q", normal({5, 4, 264}, 1)), "head_dim 264"},
      {"k of another dtype", false, dtype("k", TensorDType::f16), "'k' is F16 but q is F32"},
      {"k of another head_dim", false, set("k", normal({7, 2, 16}, 2)), "'k' has head_dim 16"},
      {"heads that do not divide", false, set("k", normal({7, 3, 8}, 2)), "3 KV heads"},
      {"v of another shape", false, set("v", normal({6, 2, 8}, 3)), "'v' has [6, 2, 8]"},
      {"k without v", false, drop("v"), "'k' without 'v'"},
      {"v without k", false, drop("k"), "'v' without 'k'"},
      {"no keys at all", false,
       [](Tensors& t) {
         for (const char* name : {"k", "v", "k_cache", "v_cache", "block_tables"}) t.erase(name);
       },
       "no keys"},
      {"cu_seqlens_q missing", false, drop("cu_seqlens_q"), "needs 'cu_seqlens_q'"},
      {"cu_seqlens_q begins with 1", false, set("cu_seqlens_q", ints({1, 3, 5})), "cu_seqlens_q[0] is 1"},
      {"cu_seqlens_q falls", false, set("cu_seqlens_q", ints({0, 6, 5})), "cu_seqlens_q[2] is 5 after 6"},
      {"cu_seqlens_q ends short", false, set("cu_seqlens_q", ints({0, 3, 4})),
       "cu_seqlens_q ends with 4 but q has 5"},
      {"cu_seqlens_q with one entry", false, set("cu_seqlens_q", ints({0})), "'cu_seqlens_q' has 1 entry"},
      {"cu_seqlens of 64 bits", false, dtype("cu_seqlens_q", TensorDType::i64),
       "'cu_seqlens_q' is I64; use I32"},
      {"cu_seqlens_k for three", false, set("cu_seqlens_k", ints({0, 1, 2, 7})), "cu_seqlens_k has 4"},
      {"cu_seqlens_k ends past k", false, set("cu_seqlens_k", ints({0, 5, 8})),
       "cu_seqlens_k ends with 8 but k has 7"},
      {"table id too large", false, set("block_tables", ints({2, 2}, {3, 4, 2, -1})),
       "block_tables[0][1] is 4", paged},
      {"table id -1 where needed", false, set("block_tables", ints({2, 2}, {3, -1, 2, 0})),
       "block_tables[0][1] is -1", paged},
      {"table too narrow", false, set("block_tables", ints({2, 1}, {3, 2})), "sequence 0 has 5 keys", paged},
      {"table of three rows", false, set("block_tables", ints({3, 2}, {3, 1, 2, 0, 0, 0})),
       "block_tables has 3 rows", paged},
      {"no table", false, drop("block_tables"), "needs 'k_cache', 'v_cache' and 'block_tables'", paged},
      {"table without cache", false,
       [](Tensors& t) {
         t.erase("k_cache");
         t.erase("v_cache");
       },
       "'block_tables' but no 'k_cache'"},
      {"packed without k",
       false,
       [](Tensors& t) {
         t.erase("k");
         t.erase("v");
       },
       "path packed needs 'k' and 'v'",
       {.path = "packed"}},
      {"unknown path", false, none, "--path tiled does not exist", {.path = "tiled"}},
      {"a decode path for prefill",
       false,
       none,
       "--path gather_padded does not exist",
       {.path = "gather_padded"}},
      {"unknown mask", false, none, "--mask causal does not exist", {.mask = "causal"}},
      {"unknown level", false, none, "--level 7 does not exist", {.level = 7}},
      {"scale that is no number", false, none, "'scale' is 'big'", {}, {{"scale", "big"}}},
      {"infinite scale", false, none, "'scale' is 'inf'", {}, {{"scale", "inf"}}},
      {"context_lens missing", true, drop("context_lens"), "needs 'context_lens'", decode},
      {"context_lens for three", true, set("context_lens", ints({1, 2, 3})), "context_lens has 3", decode},
      {"negative context", true, set("context_lens", ints({6, -1})), "context_lens[1] is -1", decode},
      {"context past the table", true, set("context_lens", ints({7, 2})), "sequence 0 has 7 keys", decode},
      {"contexts that overflow", true, set("context_lens", ints({INT32_MAX, INT32_MAX})), "add up to more",
       decode},
      {"slot past the cache", true, set("slot_mapping", ints({5, 12})), "slot_mapping[1] is 12", decode},
      {"slot -2", true, set("slot_mapping", ints({-2, 7})), "slot_mapping[0] is -2", decode},
      {"one slot twice", true, set("slot_mapping", ints({5, 5})),
       "slot_mapping[0] and slot_mapping[1] are both 5", decode},
      {"slots for three rows", true, set("slot_mapping", ints({5, 6, 7})), "slot_mapping has 3", decode},
      {"k_new without slots", true, drop("slot_mapping"), "'k_new' without 'slot_mapping'", decode},
      {"slots without k_new", true,
       [](Tensors& t) {
         t.erase("k_new");
         t.erase("v_new");
       },
       "'slot_mapping' without 'k_new'", decode},
      {"k_new with other heads", true,
       [](Tensors& t) {
         t["k_new"] = t["v_new"] = normal({2, 1, 8}, 7);
       },
       "'k_new' has 1 KV heads", decode},
  };
}

TEST(TraceCase, EveryBadInputIsOneSentenceThatNamesThePlace) {
  const auto device = make_simt_device();
  for (const Bad& bad : bad_cases()) {
    Tensors tensors = bad.decode ? decode_case() : prefill_case();
    bad.spoil(tensors);
    try {
      attend(*device, make_case("case", tensors, bad.metadata), bad.options);
      ADD_FAILURE() << bad.what << " was accepted";
    } catch (const InputError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find(bad.message), std::string::npos) << bad.what << ": " << text;
      EXPECT_NE(text.find("(tensor case 'case')"), std::string::npos) << text;
    }
  }
}

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
  TensorMap views;
  for (const auto& [key, raw] : tensors) views[key] = {raw.dtype, raw.shape, raw.data};
  write_safetensors(folder / "case.safetensors", views, {{"scale", "0.125"}});
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
