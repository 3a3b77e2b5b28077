// The text twin carries the step's numbers.
#include <gtest/gtest.h>

#include "core/trace/describe.h"
#include "core/trace/names.h"
#include "tests/core/trace_random.h"

namespace attn::trace::test {
namespace {

TEST(TraceDescribe, AStepReadsAsItsNumbers) {
  StepRecord r = RandomSteps(50).next();
  r.step = 12;
  r.kind = StepKind::prefill;
  r.path = AttentionPath::prefill_paged;
  r.seqs = {{.id = 0,
             .status = SeqStatus::running,
             .num_tokens = 9,
             .num_prompt_tokens = 9,
             .num_cached_tokens = 4,
             .num_scheduled_tokens = 5,
             .block_table = {0, 2, 3},
             .token_ids = {}},
            {.id = 5, .status = SeqStatus::waiting, .block_table = {}, .token_ids = {}}};
  r.num_scheduled = 1;
  r.cu_seqlens_q = {0, 5};
  r.cu_seqlens_k = {0, 9};
  r.max_seqlen_q = 5;
  r.max_seqlen_k = 9;
  r.context_lens.reset();
  r.block_tables = {{0, 2, 3}};
  r.slot_mapping = {8, 9, 11, -1, 12};
  r.positions = {4, 5, 6, 7, 8};
  r.input_ids = {1, 2, 3, 4, 5};
  r.sampled = {{.seq_id = 0, .token_id = 17, .text = "\n\"x\"", .discarded = true, .top_logits = {}}};
  r.events = {{EventKind::prefix_hit, 0, 0, "Block 0 was there already."}};
  r.state_hash = 0x1234;
  auto recording = std::make_shared<Recording>(small_manifest());
  recording->append(std::make_shared<StepRecord>(r));
  const std::string text = describe_step(*recording, 0);
  for (const char* part :
       {"Step 12: prefill of 1 sequence, 5 tokens", "path prefill_paged",
        "Sequence \"A\" (0): running, 9 tokens (9 prompt), 4 cached, 5 scheduled; block_table [0, 2, 3]",
        "Sequence 5: waiting", "not in this step", "cu_seqlens_q [0, 5], cu_seqlens_k [0, 9], max_seqlen_q 5",
        "positions 4-8; slot_mapping 8-9, 11, -1, 12", "block_tables [[0, 2, 3]]",
        "token 17 \"\\n\\\"x\\\"\", discarded (prompt not finished)",
        "prefix_hit: Block 0 was there already.", "State hash 0x0000000000001234"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(TraceDescribe, TheWholeTraceBeginsWithItsManifestAndTellsEveryStep) {
  const auto recording = random_recording(51, 7);
  const std::string text = describe_trace(*recording);
  EXPECT_EQ(text.find("# random\n"), 0U);
  EXPECT_NE(text.find("4 heads on 2 KV heads"), std::string::npos);
  EXPECT_NE(text.find("7 steps"), std::string::npos);
  for (int i = 1; i <= 7; ++i) EXPECT_NE(text.find("## Step " + std::to_string(i) + ":"), std::string::npos);
}

TEST(TraceNames, EveryNameLeadsBackToItsEnumerator) {
  EXPECT_EQ(from_name<AttentionPath>("decode_gather_padded"), AttentionPath::decode_gather_padded);
  EXPECT_EQ(from_name<Stage>("commit"), Stage::commit);
  EXPECT_EQ(from_name<EventKind>("admit"), EventKind::admit);
  EXPECT_EQ(from_name<MaskAlignment>("causal"), std::nullopt);
  EXPECT_EQ(all_names<DecodePath>(), "paged, gather_masked, gather_padded");
  EXPECT_EQ(hash_text(0x087884241753df3eU), "0x087884241753df3e");
}

}  // namespace
}  // namespace attn::trace::test
