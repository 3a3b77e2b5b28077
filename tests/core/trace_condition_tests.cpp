// What a run can stop at, on real runs and on hand-made steps; what steps cost; what differs between two.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/trace/condition.h"
#include "core/trace/costs.h"
#include "core/trace/inspector.h"
#include "core/trace/launch_shape.h"
#include "core/trace/step_diff.h"
#include "core/trace/stolen_mass.h"
#include "core/trace/tensor_values.h"
#include "tests/core/trace_random.h"
#include "tests/core/trace_runs.h"

namespace attn::trace::test {
namespace {

const TightRun& padded_run() {
  static const TightRun run([] {
    EngineConfig config = tight_config();
    config.decode_path = DecodePath::gather_padded;
    return config;
  }());
  return run;
}

/// Steps of the recording in which the condition holds.
std::vector<int> hits(const Recording& recording, const Condition& condition) {
  std::vector<int> found;
  for (int i = 0; i < recording.num_steps(); ++i) {
    const auto previous = i > 0 ? recording.step(i - 1) : nullptr;
    if (check_condition(condition, *recording.step(i), previous.get(), nullptr)) found.push_back(i);
  }
  return found;
}

template <class Holds>
std::vector<int> steps_where(const Recording& recording, Holds holds) {
  std::vector<int> found;
  for (int i = 0; i < recording.num_steps(); ++i) {
    if (holds(*recording.step(i))) found.push_back(i);
  }
  return found;
}

TEST(TraceConditions, BookkeepingConditionsHoldWhereTheEngineSaysSo) {
  const Recording& recording = *padded_run().recording;
  const auto with_event = [&](EventKind kind, int block) {
    return steps_where(recording, [&](const StepRecord& step) {
      return std::any_of(step.events.begin(), step.events.end(), [&](const Event& event) {
        return event.kind == kind && (block < 0 || event.block_id == block);
      });
    });
  };
  EXPECT_EQ(hits(recording, {ConditionKind::prefix_hit}), with_event(EventKind::prefix_hit, -1));
  EXPECT_EQ(hits(recording, {ConditionKind::eviction}), with_event(EventKind::evict, -1));
  for (int block = -1; block < 7; ++block) {
    EXPECT_EQ(hits(recording, {ConditionKind::block_allocated, block}),
              with_event(EventKind::allocate, block));
  }
  EXPECT_EQ(hits(recording, {ConditionKind::preemption}),
            steps_where(recording, [](const StepRecord& step) { return !step.preempted.empty(); }));
  EXPECT_FALSE(hits(recording, {ConditionKind::preemption}).empty());
  EXPECT_FALSE(hits(recording, {ConditionKind::prefix_hit}).empty());
  const int token = recording.step(4)->sampled.at(0).token_id;
  const auto sampled = hits(recording, {ConditionKind::token_equals, token});
  EXPECT_TRUE(std::find(sampled.begin(), sampled.end(), 4) != sampled.end());
  EXPECT_TRUE(hits(recording, {ConditionKind::nan_or_inf}).empty());
}

TEST(TraceConditions, BlocksWrittenAndCountedAreTheRecords) {
  const Recording& recording = *padded_run().recording;
  for (int block = 0; block < 7; ++block) {
    EXPECT_EQ(hits(recording, {ConditionKind::block_written, block}),
              steps_where(recording, [&](const StepRecord& step) {
                return std::any_of(step.slot_mapping.begin(), step.slot_mapping.end(),
                                   [&](int slot) { return slot >= 0 && slot / 4 == block; });
              }));
    int before = 0;
    EXPECT_EQ(hits(recording, {ConditionKind::ref_count_changes, block}),
              steps_where(recording, [&](const StepRecord& step) {
                const int now = step.blocks[static_cast<std::size_t>(block)].ref_count;
                return std::exchange(before, now) != now;
              }));
  }
  const auto hit =
      check_condition({ConditionKind::ref_count_changes, 0}, *recording.step(0), nullptr, nullptr);
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->text, "block 0: ref_count 0 -> 1");
  EXPECT_EQ(hit->block, 0);
}

TEST(TraceConditions, StolenMassIsWhatTheKernelMeasured) {
  const TightRun& run = padded_run();
  Inspector inspector(*run.device, run.recording);
  int above = 0, below = 0;
  for (int i = 0; i < run.recording->num_steps(); ++i) {
    const auto step = run.recording->step(i);
    const auto view = inspector.inspect(i, 1);
    double most = 0.0;
    for (int b = 0; is_decode(step->path) && b < step->num_scheduled; ++b) {
      for (int head = 0; head < 4; ++head) most = std::max(most, stolen_mass(*view, b, head).measured);
    }
    for (const double limit : {0.0, 0.1, 0.5, 0.9}) {
      const Condition condition{ConditionKind::stolen_mass, -1, limit};
      const auto hit = check_condition(condition, *step, nullptr, view.get());
      EXPECT_EQ(hit.has_value(), most > limit) << i;
      ++(hit ? above : below);
      if (hit) {
        EXPECT_GT(stolen_mass(*view, hit->q_row, hit->head).measured, limit);
      }
    }
    EXPECT_FALSE(check_condition({ConditionKind::stolen_mass}, *step, nullptr, nullptr));
    EXPECT_FALSE(check_condition({ConditionKind::error_above, -1, 0.0}, *step, nullptr, view.get()));
  }
  EXPECT_GT(above, 5);
  EXPECT_GT(below, 5);
}

TEST(TraceConditions, RescaleIsATileBehindTheFirst) {
  AttentionView view;
  view.num_heads = 1;
  view.num_q = 2;
  view.num_tiles = 3;
  view.k_tile = 4;
  view.tile_alpha = {0.0F, 1.0F, 1.0F, 0.0F, 1.0F, 0.25F};
  const Condition rescale{ConditionKind::rescale};
  const auto hit = check_condition(rescale, {}, nullptr, &view);
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->q_row, 1);
  EXPECT_EQ(hit->tile, 2);
  EXPECT_NE(hit->text.find("0.2500"), std::string::npos) << hit->text;
  view.tile_alpha[5] = 2.5e-7F;  // no "0.0000" for what is not 0
  EXPECT_NE(check_condition(rescale, {}, nullptr, &view)->text.find("2.50e-07"), std::string::npos);
  view.tile_alpha[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(check_condition(rescale, {}, nullptr, &view));
  view.tile_alpha = {0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F};  // each split begins anew
  view.num_splits = 3;
  view.keys_per_split = 4;
  EXPECT_FALSE(check_condition(rescale, {}, nullptr, &view));
}

TEST(TraceConditions, ASplitBeginsAtTheFirstTileThatIsNotTheOneBefores) {
  AttentionView view;
  view.num_heads = view.num_q = 1;
  view.num_tiles = 4;
  view.k_tile = 4;
  view.num_splits = 2;
  view.keys_per_split = 10;  // tile 2, keys 8 to 11, straddles and is of split 0; tile 3 begins split 1
  const Condition rescale{ConditionKind::rescale};
  view.tile_alpha = {0.0F, 1.0F, 1.0F, 0.0F};
  EXPECT_FALSE(check_condition(rescale, {}, nullptr, &view));
  view.tile_alpha = {0.0F, 1.0F, 0.5F, 0.0F};
  const auto hit = check_condition(rescale, {}, nullptr, &view);
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->tile, 2);
}

TEST(TraceConditions, NanIsFoundWhereItIs) {
  StepRecord step = *padded_run().recording->step(3);
  LayerRecord& layer = step.layers[1];
  const Condition nan{ConditionKind::nan_or_inf};
  auto values = to_floats(layer.o);
  const std::size_t row = values.size() / (4 * 8) - 1;
  values[(row * 4 + 2) * 8 + 5] = std::numeric_limits<float>::quiet_NaN();
  layer.o = float_tensor(layer.o.shape, values);
  const auto hit = check_condition(nan, step, nullptr, nullptr);
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->head, 2);
  EXPECT_EQ(hit->q_row, static_cast<int>(row));
  step = *padded_run().recording->step(3);
  auto lse = to_floats(step.layers[0].lse);
  lse[1] = -std::numeric_limits<float>::infinity();  // a row that sees no key
  step.layers[0].lse = float_tensor(step.layers[0].lse.shape, lse);
  EXPECT_FALSE(check_condition(nan, step, nullptr, nullptr));
  step.sampled.at(0).top_logits.at(0).second = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(check_condition(nan, step, nullptr, nullptr));
}

TEST(TraceConditions, EachHasItsSentence) {
  EXPECT_EQ(condition_text({ConditionKind::block_written, 3}), "block 3 is written");
  EXPECT_EQ(condition_text({ConditionKind::stolen_mass, -1, 0.05}), "stolen mass above 5 %");
  for (int kind = 0; kind <= static_cast<int>(ConditionKind::token_equals); ++kind) {
    EXPECT_FALSE(condition_text({static_cast<ConditionKind>(kind)}).empty());
  }
}

TEST(TraceCosts, SumsAreTheLaunchRecords) {
  const Recording& recording = *padded_run().recording;
  RunCosts run;
  int steps = 0;
  for (int i = 0; i < recording.num_steps(); ++i) {
    const auto step = recording.step(i);
    const StepCosts costs = step_costs(*step);
    std::uint64_t bytes = 0, flop = 0, in_kernels = 0;
    for (const LaunchEntry& entry : step->launches) {
      bytes += entry.launch.bytes;
      flop += entry.launch.flop;
    }
    for (const CostRow& row : costs.kernels) in_kernels += row.cost.bytes;
    EXPECT_EQ(costs.total.bytes, bytes);
    EXPECT_EQ(costs.total.flop, flop);
    EXPECT_EQ(in_kernels, bytes);
    EXPECT_EQ(costs.total.launches, static_cast<int>(step->launches.size()));
    EXPECT_TRUE(std::isnan(costs.total.ms)) << "the emulator measures nothing";
    EXPECT_LT(costs.attention.bytes, costs.total.bytes);
    EXPECT_EQ(costs.query_rows, step->input_ids.size());
    add_step(run, *step);
    steps += step->kind != StepKind::warmup;
  }
  EXPECT_EQ(run.prefill.steps + run.decode.steps, steps);
  EXPECT_GT(run.prefill.sum.score_dots, 0U);
  EXPECT_GT(run.decode.sum.total.bytes, 0U);
  EXPECT_EQ(run.prefill.tokens_out + run.decode.tokens_out, 6U + 5 + 6 + 4);
}

/// The first lesson's numbers: a prompt of 64, then one decode step.
TEST(TraceCosts, ScoreDotsAreTheVisiblePairs) {
  StepRecord step;
  step.num_scheduled = 1;
  step.cu_seqlens_q = step.cu_seqlens_k = {0, 64};
  step.max_seqlen_q = step.max_seqlen_k = 64;
  EXPECT_EQ(step_costs(step).score_dots, 2080U);
  step.path = AttentionPath::decode_paged;
  step.cu_seqlens_q = {0, 1};
  step.cu_seqlens_k = {0, 65};
  step.max_seqlen_k = 65;
  EXPECT_EQ(step_costs(step).score_dots, 65U);
  EXPECT_EQ(step_costs(step).kv_rows_read, 65U);
  step.path = AttentionPath::decode_gather_padded;  // lengths 3 and 9: both rows go over 9 columns
  step.num_scheduled = 2;
  step.cu_seqlens_q = {0, 1, 2};
  step.cu_seqlens_k = {0, 3, 12};
  step.max_seqlen_k = 9;
  EXPECT_EQ(step_costs(step).kv_rows_read, 18U);
}

TEST(TraceDiff, NothingDiffersFromItself) {
  RandomSteps steps(21);
  for (int i = 0; i < 20; ++i) {
    const StepRecord step = steps.next();
    const StepDiff diff = diff_steps(step, step);
    EXPECT_TRUE(diff.entries.empty());
    EXPECT_TRUE(diff.blocks.empty());
    EXPECT_TRUE(diff.seqs.empty());
    EXPECT_EQ(diff.max_abs_diff_o, (std::vector<double>{0.0, 0.0}));
  }
}

TEST(TraceDiff, WhatChangedIsNamed) {
  const Recording& recording = *padded_run().recording;
  const StepRecord before = *recording.step(3);
  StepRecord after = before;
  after.step += 1;
  after.blocks[2].ref_count += 1;
  after.blocks[5].hash = 0x1234;
  after.free_blocks.push_back(6);
  after.seqs_after[0].block_table.push_back(4);
  (*after.context_lens)[0] += 1;
  const StepDiff diff = diff_steps(before, after);
  EXPECT_EQ(diff.before, before.step);
  EXPECT_EQ(diff.blocks, (std::vector<int>{2, 5}));
  EXPECT_EQ(diff.seqs, (std::vector<int>{before.seqs_after[0].id}));
  const auto find = [&](const std::string& where, const std::string& what) -> const DiffEntry* {
    for (const DiffEntry& entry : diff.entries) {
      if (entry.where == where && entry.what == what) return &entry;
    }
    return nullptr;
  };
  const DiffEntry* hash = find("block 5", "hash");
  ASSERT_TRUE(hash);
  EXPECT_EQ(hash->after, "0x0000000000001234");
  const DiffEntry* free = find("free_blocks", "entry " + std::to_string(before.free_blocks.size()));
  ASSERT_TRUE(free);
  EXPECT_EQ(free->before, "");
  EXPECT_EQ(free->after, "6");
  const DiffEntry* lens = find("context_lens", "entry 0");
  ASSERT_TRUE(lens);
  EXPECT_EQ(std::stoi(lens->after), std::stoi(lens->before) + 1);
  EXPECT_EQ(diff.entries.size(), 5U);
}

/// Rows are matched by sequence and place in it, wherever they lie in the batch and whatever positions they
/// have.
TEST(TraceDiff, OutputsAreComparedRowForRow) {
  StepRecord before, after;
  before.num_scheduled = after.num_scheduled = 2;
  before.seqs.resize(2);
  after.seqs.resize(2);
  before.seqs[1].id = after.seqs[0].id = 1;
  after.seqs[1].id = 2;
  before.cu_seqlens_q = after.cu_seqlens_q = {0, 1, 2};
  before.seqs[0].num_cached_tokens = after.seqs[1].num_cached_tokens = 4;
  before.seqs[1].num_cached_tokens = after.seqs[0].num_cached_tokens = 9;
  before.positions = {4, 9};
  after.positions = {0, 0};  // as a broken run numbers them
  LayerRecord layer;
  layer.o = float_tensor({2, 1, 2}, {1.0F, 2.0F, 3.0F, 4.0F});
  before.layers = {layer};
  layer.o = float_tensor({2, 1, 2}, {3.0F, 4.5F, 70.0F, 70.0F});
  after.layers = {layer};
  EXPECT_EQ(diff_steps(before, after).max_abs_diff_o, std::vector<double>{0.5});
  EXPECT_EQ(diff_steps(before, after).rows_before, 2);
  EXPECT_EQ(diff_steps(before, after).rows_in_both, 1);
  after.seqs[0].num_cached_tokens = 8;
  EXPECT_TRUE(std::isnan(diff_steps(before, after).max_abs_diff_o.at(0)));
}

TEST(TraceRows, CacheAndTensorRowsAreTheElements) {
  Pool pool;
  pool.kv = {.num_blocks = 3, .block_size = 2, .num_kv_heads = 2, .head_dim = 4};
  std::vector<float> values(3 * 2 * 2 * 4);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  pool.k = float_tensor({}, values).data;
  pool.v = float_tensor({}, std::vector<float>(values.size(), 7.0F)).data;
  const std::vector<std::int32_t> table{2, 0, -1};
  EXPECT_EQ(cache_row(pool, false, table, 1, 1), (std::vector<float>{44, 45, 46, 47}));  // slot 5
  EXPECT_EQ(cache_row(pool, true, table, 2, 0), std::vector<float>(4, 7.0F));
  EXPECT_TRUE(cache_row(pool, false, table, 4, 0).empty());
  EXPECT_TRUE(cache_row(pool, false, table, 99, 0).empty());
  EXPECT_TRUE(cache_row(pool, false, table, 0, 2).empty());
  const TensorRecord tensor = float_tensor({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(tensor_row(tensor, 1, 0), (std::vector<float>{4, 5}));
  EXPECT_TRUE(tensor_row(tensor, 2, 0).empty());
  const TensorRecord half{
      DType::f16, {1, 1, 2}, {std::byte{0}, std::byte{0x3c}, std::byte{0}, std::byte{0xc0}}};
  EXPECT_EQ(tensor_row(half, 0, 0), (std::vector<float>{1.0F, -2.0F}));
}

}  // namespace
}  // namespace attn::trace::test
