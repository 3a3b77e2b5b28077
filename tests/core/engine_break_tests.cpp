// "Break it": each switch does what its bug does, where it does it, and nothing else. The rows that a switch
// does not touch keep their bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/trace/jsonl.h"
#include "core/trace/record_check.h"
#include "core/trace/tensor_values.h"
#include "engine_support.h"

namespace attn::test {
namespace {

using trace::AttentionPath;
using trace::EventKind;
using trace::LayerRecord;
using trace::StepKind;
using trace::StepRecord;
using trace::TensorRecord;

Ints cut(const Ints& ids, int begin, int end) { return {ids.begin() + begin, ids.begin() + end}; }

/// The second prompt shares two blocks of 4 with the first and enters when they are there.
std::vector<Request> shared_prefix() {
  Ints second = range(3, 10);
  second.insert(second.end(), {41, 42, 43});
  return {request(range(3, 12), 6), request(second, 4, 1), request({50, 51, 52}, 5, 1)};
}

std::vector<Request> two_prompts() { return {request(range(3, 8), 5), request(range(30, 39), 5)}; }

/// Rows [begin, end) of o, k, ... [N, heads, D] as float.
std::vector<float> rows(const TensorRecord& tensor, int begin, int end) {
  const std::vector<float> all = trace::to_floats(tensor);
  const auto size = static_cast<std::ptrdiff_t>(tensor.shape[1] * tensor.shape[2]);
  return {all.begin() + begin * size, all.begin() + end * size};
}

/// Rows of the batch's sequence b.
std::vector<float> rows_of(const StepRecord& step, const TensorRecord& tensor, int b) {
  return rows(tensor, step.cu_seqlens_q[b], step.cu_seqlens_q[b + 1]);
}

bool has_nan(const std::vector<float>& values) {
  return std::ranges::any_of(values, [](float x) { return std::isnan(x); });
}

bool same_layers(const StepRecord& a, const StepRecord& b) {
  if (a.layers.size() != b.layers.size()) return false;
  for (std::size_t l = 0; l < a.layers.size(); ++l) {
    if (a.layers[l].q.data != b.layers[l].q.data || a.layers[l].k.data != b.layers[l].k.data ||
        a.layers[l].v.data != b.layers[l].v.data || a.layers[l].o.data != b.layers[l].o.data)
      return false;
  }
  return true;
}

void expect_recordable(const std::vector<StepPtr>& steps, const trace::ModelShape& shape) {
  for (const StepPtr& step : steps) EXPECT_NO_THROW(trace::check_record(*step, shape)) << step->step;
}

class EngineBreak : public testing::Test {
 protected:
  /// The scenario with `config` as it is and with the switch thrown.
  void run_both(EngineConfig config, const std::vector<Request>& requests,
                const std::function<void(EngineConfig&)>& break_it) {
    right_ = run_model(model_, config, requests);
    break_it(config);
    wrong_ = run_model(model_, config, requests);
    expect_recordable(wrong_, model_.model_shape());
  }

  TinyModel model_;
  std::vector<StepPtr> right_, wrong_;
};

TEST_F(EngineBreak, ModuloHeadMapChangesExactlyTheHeadsThatItMapsElsewhere) {
  // H 4, Hkv 2: heads 0 and 3 read the same KV head under both maps, 1 and 2 do not.
  run_both(pool(4, 16), two_prompts(), [](EngineConfig& c) { c.head_map = HeadMap::modulo; });
  const LayerRecord &right = right_[0]->layers[0], &wrong = wrong_[0]->layers[0];
  EXPECT_EQ(right.q.data, wrong.q.data);
  EXPECT_EQ(right.k.data, wrong.k.data);
  const std::vector<float> a = trace::to_floats(right.o), b = trace::to_floats(wrong.o);
  for (std::size_t row = 1; row < 6; ++row) {  // row 0 of a prompt sees one key and is its v row
    for (std::size_t head = 0; head < 4; ++head) {
      const std::size_t begin = (row * 4 + head) * 8;
      const bool same = std::equal(a.begin() + static_cast<std::ptrdiff_t>(begin),
                                   a.begin() + static_cast<std::ptrdiff_t>(begin + 8),
                                   b.begin() + static_cast<std::ptrdiff_t>(begin));
      EXPECT_EQ(same, head == 0 || head == 3) << "row " << row << " head " << head;
    }
  }
}

TEST_F(EngineBreak, ModuloHeadMapIsTheSameMistakeOnEveryPath) {
  EngineConfig config = pool(4, 16);
  config.head_map = HeadMap::modulo;
  const auto paged = run_model(model_, config, shared_prefix());
  config.decode_path = DecodePath::gather_masked;
  config.prefill_path = PrefillPath::gather_flatten;
  const auto gathered = run_model(model_, config, shared_prefix());
  config.prefill_level = config.decode_level = 1;
  const auto naive = run_model(model_, config, shared_prefix());
  ASSERT_EQ(paged.size(), gathered.size());
  for (std::size_t i = 0; i < paged.size(); ++i) {
    for (std::size_t l = 0; l < 2; ++l) {
      EXPECT_LT(trace::max_abs_diff(paged[i]->layers[l].o, gathered[i]->layers[l].o), 1e-4);
      EXPECT_LT(trace::max_abs_diff(paged[i]->layers[l].o, naive[i]->layers[l].o), 1e-4);
    }
  }
  config.head_map = HeadMap::grouped;
  const auto right = run_model(model_, config, shared_prefix());
  EXPECT_GT(trace::max_abs_diff(right[0]->layers[0].o, naive[0]->layers[0].o), 1e-2);
}

TEST_F(EngineBreak, ForgottenStoreInDecodePoisonsThatSequenceAlone) {
  run_both(pool(4, 16), two_prompts(), [](EngineConfig& c) { c.forget_store = 3; });
  ASSERT_EQ(right_.size(), wrong_.size());
  for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(same_layers(*right_[i], *wrong_[i])) << "step " << i + 1;
  EXPECT_EQ(wrong_[2]->slot_mapping[0], -1);
  EXPECT_EQ(wrong_[2]->slot_mapping[1], right_[2]->slot_mapping[1]);
  for (std::size_t i = 2; i < wrong_.size(); ++i) {
    const StepRecord& step = *wrong_[i];
    for (const LayerRecord& layer : step.layers) {
      EXPECT_TRUE(has_nan(rows_of(step, layer.o, 0))) << "step " << i + 1;
      EXPECT_EQ(rows_of(step, layer.o, 1),
                rows_of(*right_[i], right_[i]->layers[static_cast<std::size_t>(layer.layer)].o, 1));
    }
    const auto poison = events_of(step, EventKind::poison);
    ASSERT_EQ(poison.size(), 1U);
    EXPECT_EQ(poison[0].seq_id, 0);
    EXPECT_NE(poison[0].text.find("NaN in o of layer 0 for sequence 0"), std::string::npos) << poison[0].text;
    EXPECT_NE(poison[0].text.find("its logits are NaN and token 0 is taken"), std::string::npos);
    EXPECT_EQ(step.sampled[0].token_id, 0);
  }
  EXPECT_EQ(texts(right_)[1], texts(wrong_)[1]);
}

TEST_F(EngineBreak, ForgottenStoreInAPackedPrefillShowsInTheNextStep) {
  run_both(pool(4, 16), two_prompts(), [](EngineConfig& c) { c.forget_store = 1; });
  EXPECT_EQ(wrong_[0]->slot_mapping[5], -1);
  EXPECT_TRUE(same_layers(*right_[0], *wrong_[0])) << "the fresh rows are attended, not the cache";
  EXPECT_TRUE(events_of(*wrong_[0], EventKind::poison).empty());
  EXPECT_TRUE(has_nan(rows_of(*wrong_[1], wrong_[1]->layers[0].o, 0)));
  EXPECT_FALSE(has_nan(rows_of(*wrong_[1], wrong_[1]->layers[0].o, 1)));
}

TEST_F(EngineBreak, ForgottenStoreReadsOldRowsWhereTheSlotWasUsedBefore) {
  // The second prompt takes the blocks of the first: what its forgotten slot holds is a number.
  const std::vector<Request> requests{request(range(3, 9), 1), request(range(30, 35), 4, 1)};
  EngineConfig config = pool(4, 2);
  config.prefix_caching = false;
  run_both(config, requests, [](EngineConfig& c) { c.forget_store = 3; });
  const StepRecord& step = *wrong_[2];
  EXPECT_EQ(step.slot_mapping[0], -1);
  EXPECT_FALSE(has_nan(trace::to_floats(step.layers[0].o)));
  EXPECT_NE(step.layers[0].o.data, right_[2]->layers[0].o.data);
  EXPECT_TRUE(events_of(step, EventKind::poison).empty());
}

/// A, then B which takes all four blocks, then A again: its hashes lead to B's rows.
std::vector<Request> returning_prompt() {
  return {request(range(1, 9), 1), request(range(21, 35), 1, 1), request(range(1, 9), 3, 2)};
}

TEST_F(EngineBreak, StaleHashHitsTheBlockOfAnotherText) {
  run_both(pool(4, 4), returning_prompt(), [](EngineConfig& c) { c.stale_hash = true; });
  EXPECT_EQ(right_[2]->seqs[0].num_cached_tokens, 0);
  EXPECT_EQ(wrong_[2]->seqs[0].num_cached_tokens, 8);
  const auto hits = events_of(*wrong_[2], EventKind::prefix_hit);
  ASSERT_EQ(hits.size(), 2U);
  EXPECT_NE(hits[0].text.find("stale hash"), std::string::npos) << hits[0].text;
  const auto last_row = [](const StepRecord& step) {
    const int n = step.cu_seqlens_q.back();
    return rows(step.layers[0].o, n - 1, n);
  };
  EXPECT_NE(last_row(*right_[2]), last_row(*wrong_[2]));
  EXPECT_TRUE(same_layers(*right_[0], *wrong_[0]));
  EXPECT_TRUE(same_layers(*right_[1], *wrong_[1]));
}

TEST_F(EngineBreak, StaleHashKeepsTheEntryOfAnEvictedBlock) {
  const auto right = run(pool(4, 4), returning_prompt());
  EngineConfig config = pool(4, 4);
  config.stale_hash = true;
  const auto wrong = run(config, returning_prompt());
  const auto before = hash_map(*wrong[0]);
  ASSERT_EQ(before.size(), 2U);
  for (const auto& [hash, block] : before) {
    EXPECT_FALSE(hash_map(*right[1]).contains(hash));
    ASSERT_TRUE(hash_map(*wrong[1]).contains(hash));
    EXPECT_EQ(hash_map(*wrong[1]).at(hash), block);
    EXPECT_NE(wrong[1]->blocks[block].hash, hash) << "the block itself has moved on";
  }
}

TEST_F(EngineBreak, StaleHashChangesNothingWhileNoBlockIsTakenAgain) {
  run_both(pool(4, 16), shared_prefix(), [](EngineConfig& c) { c.stale_hash = true; });
  ASSERT_EQ(right_.size(), wrong_.size());
  for (std::size_t i = 0; i < right_.size(); ++i) {
    EXPECT_TRUE(same_layers(*right_[i], *wrong_[i]));
    EXPECT_EQ(right_[i]->state_hash, wrong_[i]->state_hash);
  }
}

TEST_F(EngineBreak, PositionsRestartAfterACachedPrefixOnly) {
  run_both(pool(4, 16), shared_prefix(), [](EngineConfig& c) { c.positions_restart = true; });
  EXPECT_TRUE(same_layers(*right_[0], *wrong_[0])) << "nothing was cached in the first step";
  EXPECT_EQ(cut(right_[1]->positions, 0, 3), range(8, 10));
  EXPECT_EQ(cut(wrong_[1]->positions, 0, 3), range(0, 2));
  EXPECT_EQ(right_[1]->slot_mapping, wrong_[1]->slot_mapping);
  const LayerRecord &right = right_[1]->layers[0], &wrong = wrong_[1]->layers[0];
  EXPECT_NE(rows(right.k, 0, 3), rows(wrong.k, 0, 3));
  EXPECT_EQ(rows(right.v, 0, 3), rows(wrong.v, 0, 3)) << "V is not rotated";
  EXPECT_EQ(rows_of(*right_[1], right.o, 1), rows_of(*wrong_[1], wrong.o, 1))
      << "the prompt without a prefix";
  EXPECT_EQ(right_[2]->positions, wrong_[2]->positions) << "decode is untouched";
}

TEST_F(EngineBreak, CuSeqlensKFromQReadsTheFirstKeysOnly) {
  run_both(pool(4, 16), shared_prefix(), [](EngineConfig& c) { c.cu_seqlens_k_from_q = true; });
  EXPECT_TRUE(same_layers(*right_[0], *wrong_[0]));
  const StepRecord& step = *wrong_[1];
  EXPECT_EQ(step.cu_seqlens_k, step.cu_seqlens_q);
  EXPECT_EQ(step.max_seqlen_k, step.max_seqlen_q);
  EXPECT_EQ(step.path, AttentionPath::prefill_paged);
  EXPECT_EQ(step.block_tables, right_[1]->block_tables);
  // Query 0 of the cached sequence sees key 0 alone, so its o is the V row of position 0, head by head.
  const std::vector<float> o = rows(step.layers[0].o, 0, 1), v = rows(right_[0]->layers[0].v, 0, 1);
  for (std::size_t i = 0; i < o.size(); ++i) EXPECT_FLOAT_EQ(o[i], v[i / 16 * 8 + i % 8]);
  EXPECT_EQ(rows_of(step, step.layers[0].o, 1), rows_of(*right_[1], right_[1]->layers[0].o, 1));
  EXPECT_EQ(right_[2]->cu_seqlens_k, wrong_[2]->cu_seqlens_k) << "decode is untouched";
}

TEST_F(EngineBreak, CuSeqlensKFromQOnTheGatherPath) {
  EngineConfig config = pool(4, 16);
  config.cu_seqlens_k_from_q = true;
  const auto paged = run_model(model_, config, shared_prefix());
  config.prefill_path = PrefillPath::gather_flatten;
  const auto gathered = run_model(model_, config, shared_prefix());
  for (std::size_t i = 0; i < paged.size(); ++i) {
    EXPECT_LT(trace::max_abs_diff(paged[i]->layers[0].o, gathered[i]->layers[0].o), 1e-5);
  }
}

TEST_F(EngineBreak, IdentityDecodeReturnsQButStores) {
  run_both(pool(4, 16), two_prompts(), [](EngineConfig& c) { c.identity_decode = true; });
  EXPECT_TRUE(same_layers(*right_[0], *wrong_[0])) << "prefill is untouched";
  ASSERT_GT(wrong_.size(), 2U);
  for (std::size_t i = 1; i < wrong_.size(); ++i) {
    const StepRecord& step = *wrong_[i];
    EXPECT_EQ(step.kind, StepKind::decode);
    EXPECT_EQ(step.path, AttentionPath::identity);
    EXPECT_FALSE(step.context_lens || step.block_tables || step.paged);
    EXPECT_NE(trace::to_json_line(step).find(R"("context_lens":null,"block_tables":null)"),
              std::string::npos);
    EXPECT_EQ(step.slot_mapping, right_[i]->slot_mapping);
    for (const LayerRecord& layer : step.layers) EXPECT_EQ(layer.o.data, layer.q.data);
    const bool stores = std::ranges::any_of(step.launches, [](const auto& entry) {
      return entry.launch.kernel.find("store") != std::string::npos;
    });
    EXPECT_TRUE(stores);
  }
}

TEST_F(EngineBreak, NoMaskSeesTheFutureInPrefill) {
  run_both(pool(4, 16), two_prompts(), [](EngineConfig& c) { c.mask_alignment = MaskAlignment::none; });
  const LayerRecord &right = right_[0]->layers[0], &wrong = wrong_[0]->layers[0];
  EXPECT_NE(rows(right.o, 0, 1), rows(wrong.o, 0, 1));
  EXPECT_EQ(rows(right.o, 5, 6), rows(wrong.o, 5, 6)) << "the last token sees everything anyway";
}

TEST_F(EngineBreak, NaNWithoutRecordedLayersIsToldFromTheLogits) {
  EngineConfig config = pool(4, 16);
  config.record_layers = 0;
  run_both(config, two_prompts(), [](EngineConfig& c) { c.forget_store = 2; });
  const auto poison = events_of(*wrong_[1], EventKind::poison);
  ASSERT_EQ(poison.size(), 1U);
  EXPECT_EQ(poison[0].text, "NaN in the logits of sequence 0: token 0 is taken.");
}

TEST_F(EngineBreak, NaNLogitsDoNotStopSamplingWithATemperature) {
  std::vector<Request> requests = two_prompts();
  for (Request& r : requests) {
    r.sampling.temperature = 0.8F;
    r.sampling.top_k = 5;
    r.sampling.top_p = 0.9F;
  }
  run_both(pool(4, 16), requests, [](EngineConfig& c) { c.forget_store = 2; });
  EXPECT_EQ(texts(wrong_)[0].size(), 5U);
  EXPECT_EQ(texts(wrong_)[1], texts(right_)[1]);
  EXPECT_TRUE(std::isnan(wrong_[1]->sampled[0].top_logits.front().second));
}

}  // namespace
}  // namespace attn::test
