// Every way a tensor case can be wrong: one sentence that names the tensor, the place and the value.
#include <gtest/gtest.h>

#include <functional>

#include "core/trace/tensor_case.h"
#include "kernels/common/check.h"
#include "tests/core/trace_cases.h"

namespace attn::trace::test {
namespace {

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

}  // namespace
}  // namespace attn::trace::test
