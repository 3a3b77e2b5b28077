// Params that no kernel can run: the launcher says which value is wrong, and launches nothing.
#include <functional>

#include "tests/kernels/attention_case.h"

namespace attn::test {
namespace {

std::string message_of(const std::function<void()>& launch) {
  try {
    launch();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "(accepted)";
}

#define EXPECT_REFUSED(launch, part) \
  EXPECT_NE(message_of(launch).find(part), std::string::npos) << message_of(launch)

class AttentionInput : public testing::Test {
 protected:
  AttentionInput() : memory_(*device_, 4096, "anything") {
    void* p = memory_.as<>();
    auto* ints = memory_.as<std::int32_t>();
    decode_ = {.batch = 1,
               .num_heads = 4,
               .num_kv_heads = 2,
               .head_dim = 8,
               .max_len = 8,
               .q = p,
               .k = p,
               .v = p,
               .kv = {2, 4, 2, 8},
               .block_tables = ints,
               .block_table_width = 2,
               .context_lens = ints,
               .o = p,
               .lse = memory_.as<float>()};
    prefill_ = {.batch = 1,
                .num_heads = 4,
                .num_kv_heads = 2,
                .head_dim = 8,
                .total_q = 3,
                .max_seqlen_q = 3,
                .max_seqlen_k = 3,
                .q = p,
                .k = p,
                .v = p,
                .cu_seqlens_q = ints,
                .cu_seqlens_k = ints,
                .o = p,
                .lse = memory_.as<float>()};
  }
  auto decode(const std::function<void(DecodeParams&)>& change) {
    DecodeParams p = decode_;
    change(p);
    return [this, p] { device_->kernels().decode_attention(p, device_->context()); };
  }
  auto prefill(const std::function<void(PrefillParams&)>& change) {
    PrefillParams p = prefill_;
    change(p);
    return [this, p] { device_->kernels().prefill_attention(p, device_->context()); };
  }

  std::unique_ptr<Device> device_ = make_simt_device();
  Buffer memory_;
  DecodeParams decode_;
  PrefillParams prefill_;
};

// flash-attention #2709: a context of 9 needs three pages of 4, the table has two.
TEST_F(AttentionInput, a_context_beyond_the_block_table_is_refused) {
  EXPECT_REFUSED(decode([](auto& p) { p.max_len = 9; }), "9 keys are beyond the block table (2 blocks of 4)");
  EXPECT_REFUSED(prefill([&](auto& p) {
                   p.block_tables = decode_.block_tables;
                   p.block_table_width = 2;
                   p.kv = decode_.kv;
                   p.max_seqlen_k = 9;
                 }),
                 "9 keys are beyond the block table");
  GatherKvParams gather{.batch = 1, .max_len = 9, .block_table_width = 2, .kv = {2, 4, 2, 8}};
  EXPECT_REFUSED([&] { device_->kernels().gather_kv(gather, device_->context()); },
                 "max_len 9 is beyond the table");
}

TEST_F(AttentionInput, shapes_are_checked) {
  for (const int head_dim : {0, 12, 264})
    EXPECT_REFUSED(prefill([&](auto& p) { p.head_dim = head_dim; }), "is not a multiple of 8 up to 256");
  EXPECT_REFUSED(prefill([](auto& p) { p.num_kv_heads = 3; }), "4 heads do not divide into 3 KV heads");
  EXPECT_REFUSED(decode([](auto& p) { p.num_kv_heads = 0; }), "0 KV heads");
  EXPECT_REFUSED(decode([](auto& p) { p.kv.num_kv_heads = 4; }), "cache of 4 KV heads");
  EXPECT_REFUSED(prefill([](auto& p) { p.level = 7; }), "level 7 does not exist");
  EXPECT_REFUSED(prefill([](auto& p) { p.max_seqlen_q = 0; }), "max_seqlen_q is 0");
  EXPECT_REFUSED(prefill([](auto& p) { p.total_q = -1; }), "total_q -1");
}

TEST_F(AttentionInput, pointers_are_checked) {
  EXPECT_REFUSED(prefill([](auto& p) { p.q = nullptr; }), "q, o or lse is null");
  EXPECT_REFUSED(prefill([](auto& p) { p.v = nullptr; }), "k or v is null");
  EXPECT_REFUSED(prefill([](auto& p) { p.cu_seqlens_k = nullptr; }), "cu_seqlens_q or cu_seqlens_k is null");
  EXPECT_REFUSED(decode([](auto& p) { p.context_lens = nullptr; }), "context_lens is null");
  EXPECT_REFUSED(decode([](auto& p) { p.form = DecodeForm::dense_masked; }),
                 "block_tables go with the paged form");
  EXPECT_REFUSED(prefill([](auto& p) { p.k = static_cast<const char*>(p.k) + 4; }), "16-byte boundary");
}

TEST_F(AttentionInput, workspace_and_probe_must_be_large_enough) {
  EXPECT_REFUSED(prefill([](auto& p) { p.level = 1; }), "workspace of 0 bytes, the plan needs 144");
  EXPECT_REFUSED(decode([](auto& p) { p.num_splits = 2; }), "workspace of 0 bytes");
  EXPECT_REFUSED(prefill([&](auto& p) {
                   p.probe.weights = memory_.as<float>();
                   p.probe.max_k = 2;
                 }),
                 "probe has 2 columns for 3 keys");
  EXPECT_REFUSED(prefill([&](auto& p) { p.probe.tile_m = memory_.as<float>(); }),
                 "probe has 0 columns for 1 tiles");
}

}  // namespace
}  // namespace attn::test
