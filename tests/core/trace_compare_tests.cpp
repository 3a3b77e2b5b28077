// Variants of a recorded step, launched for real: what must be equal is equal to the bit and what breaks
// differs by the law.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/trace/inspector.h"
#include "core/trace/launch_job.h"
#include "core/trace/stolen_mass.h"
#include "core/trace/tensor_values.h"
#include "kernels/common/check.h"
#include "tests/core/engine_support.h"
#include "tests/core/trace_random.h"
#include "tests/core/trace_runs.h"

namespace attn::trace::test {
namespace {

const TightRun& paged_run() {
  static const TightRun run(tight_config());
  return run;
}

int first_step(const Recording& recording, AttentionPath path, int num_scheduled) {
  for (int i = 0; i < recording.num_steps(); ++i) {
    if (recording.step(i)->path == path && recording.step(i)->num_scheduled >= num_scheduled) return i;
  }
  throw std::logic_error("the run has no such step");
}

std::string refusal(Inspector& inspector, int index, const Variant& variant) {
  try {
    inspector.compare(index, 0, {}, variant);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(TraceCompare, EveryVariantOfEveryStepRunsAndRightOnesAgree) {
  const TightRun& run = paged_run();
  Inspector inspector(*run.device, run.recording);
  const ModelShape& model = run.recording->manifest().model;
  int launched = 0, wrong = 0;
  for (int index = 0; index < run.recording->num_steps(); ++index) {
    const auto step = run.recording->step(index);
    const auto variants = variants_of(*step, model, run.device->traits());
    EXPECT_TRUE(variants.front().as_recorded());
    EXPECT_GT(variants.size(), 5U);
    for (const Variant& variant : variants) {
      const auto view = inspector.compare(index, 1, {}, variant);
      SCOPED_TRACE(fmt::format("step {}: {}", step->step, view->b.text));
      EXPECT_EQ(view->a.view->max_abs_diff_o, 0.0) << "as recorded";
      EXPECT_EQ(view->max_abs_diff_o.size(), 4U * static_cast<std::size_t>(view->a.view->num_q));
      EXPECT_FALSE(view->b.launches.empty());
      EXPECT_GT(view->b.bytes, 0U);
      EXPECT_TRUE(std::isnan(view->b.ms)) << "the emulator measures nothing";
      for (const LaunchEntry& entry : view->b.launches) {
        EXPECT_EQ(entry.launch.kernel.find("Probe"), std::string::npos) << entry.launch.kernel;
      }
      ++launched;
      const bool breaks =
          variant.mask || variant.head_map || variant.path == AttentionPath::decode_gather_padded;
      if (!breaks) {
        EXPECT_LT(view->worst, 3e-6);
      }
      if (breaks && view->worst > 1e-3) ++wrong;
    }
  }
  EXPECT_GT(launched, 100);
  EXPECT_GT(wrong, 20);
}

TEST(TraceCompare, PathsThatOnlyMoveDataAgreeToTheBit) {
  const TightRun& run = paged_run();
  Inspector inspector(*run.device, run.recording);
  const int prefill = first_step(*run.recording, AttentionPath::prefill_packed, 1);
  for (const AttentionPath path : {AttentionPath::prefill_paged, AttentionPath::prefill_gather_flatten}) {
    EXPECT_EQ(inspector.compare(prefill, 0, {}, {.path = path})->worst, 0.0);
  }
  const int decode = first_step(*run.recording, AttentionPath::decode_paged, 2);
  const auto masked = inspector.compare(decode, 0, {}, {.path = AttentionPath::decode_gather_masked});
  EXPECT_LT(masked->worst, 1e-6);
  EXPECT_GT(masked->b.bytes, masked->a.bytes) << "gather and repeat move more";
  EXPECT_EQ(masked->b.launches.front().stage, Stage::gather);
  EXPECT_EQ(masked->b.launches.back().stage, Stage::attention);
}

/// The first picture of the tour: o of the padded side is the paged one times Z / (Z + P).
TEST(TraceCompare, PagedBesidePaddedDiffersByTheLaw) {
  const TightRun& run = paged_run();
  Inspector inspector(*run.device, run.recording);
  int shorter = 0;
  for (int index = 0; index < run.recording->num_steps(); ++index) {
    const auto step = run.recording->step(index);
    if (step->path != AttentionPath::decode_paged) continue;
    const auto compare = inspector.compare(index, 0, {}, {.path = AttentionPath::decode_gather_padded});
    const std::vector<float> paged = to_floats(step->layers[0].o);
    const std::vector<std::int32_t>& lens = *step->context_lens;
    EXPECT_EQ(compare->a.score_dots, std::accumulate(lens.begin(), lens.end(), std::uint64_t{0}));
    EXPECT_EQ(compare->b.score_dots, lens.size() * std::ranges::max(lens)) << "pads are scored too";
    for (int b = 0; b < step->num_scheduled; ++b) {
      for (int head = 0; head < 4; ++head) {
        const StolenMass mass = stolen_mass(*compare->b.view, b, head);
        EXPECT_NEAR(mass.measured, mass.predicted, 1e-5);
        float largest = 0.0F;
        for (int d = 0; d < 8; ++d) {
          largest = std::max(largest, std::abs(paged[static_cast<std::size_t>((b * 4 + head) * 8 + d)]));
        }
        const float difference =
            compare->max_abs_diff_o[static_cast<std::size_t>(head * step->num_scheduled + b)];
        EXPECT_NEAR(difference, mass.measured * largest, 1e-5);
        shorter += mass.pads > 0;
      }
    }
    const auto worst = std::max_element(compare->max_abs_diff_o.begin(), compare->max_abs_diff_o.end());
    EXPECT_EQ(compare->worst, *worst);
    EXPECT_EQ(compare->worst_head * step->num_scheduled + compare->worst_row,
              worst - compare->max_abs_diff_o.begin());
  }
  EXPECT_GT(shorter, 10);
}

TEST(TraceCompare, SwitchesReachTheKernel) {
  const TightRun& run = paged_run();
  Inspector inspector(*run.device, run.recording);
  const int decode = first_step(*run.recording, AttentionPath::decode_paged, 1);
  const auto step = run.recording->step(decode);
  EXPECT_EQ(inspector.compare(decode, 0, {}, {.k_tile = 4})->b.view->k_tile, 4);
  EXPECT_EQ(inspector.compare(decode, 0, {}, {.head_map = HeadMap::modulo})->b.view->kv_head,
            (std::vector<int>{0, 1, 0, 1}));
  EXPECT_EQ(inspector.compare(decode, 0, {}, {})->b.view->kv_head, (std::vector<int>{0, 0, 1, 1}));
  const auto top_left = inspector.compare(decode, 0, {}, {.mask = MaskAlignment::top_left});
  EXPECT_FLOAT_EQ(top_left->b.view->weight(0, 0, 0), 1.0F);
  EXPECT_TRUE(std::isnan(top_left->b.view->weight(0, 0, 1)));
  EXPECT_EQ(top_left->b.flop, 4U * top_left->b.score_dots * 4 * 8) << "keys that nobody sees cost nothing";
  EXPECT_LT(top_left->b.bytes, top_left->a.bytes);
  const auto naive = inspector.compare(decode, 0, {.level = 1}, {});
  EXPECT_EQ(naive->a.view->num_tiles, 1);
  EXPECT_NE(naive->a.launches.back().launch.kernel.find("l1"), std::string::npos);
  const auto text = [&](const Variant& variant) {
    return variant_text(variant, *step, run.recording->manifest().model, run.device->traits());
  };
  EXPECT_EQ(text({}), "as recorded: paged, level 2");
  EXPECT_EQ(text({.path = AttentionPath::decode_gather_padded}), "gather + zero padding, level 2");
  EXPECT_EQ(text({.head_map = HeadMap::modulo, .num_splits = 2}), "paged, level 2, head h % Hkv, 2 splits");
}

/// What a variant is called is what the launch does: tiles, splits and level of its plan.
TEST(TraceCompare, TextsSayWhatTheLevelReallyDoes) {
  const TightRun& run = paged_run();
  const ModelShape& model = run.recording->manifest().model;
  StepRecord step = *run.recording->step(first_step(*run.recording, AttentionPath::decode_paged, 1));
  step.config.k_tile = 8;
  step.config.num_splits = 2;
  EXPECT_EQ(variant_text({}, step, model, run.device->traits()),
            "as recorded: paged, level 2, 8 keys per tile, 2 splits");
  EXPECT_EQ(variant_text({.level = 1}, step, model, run.device->traits()), "paged, level 1, one tile");
  step.config.decode_level = 3;  // FP32: the level does not exist for it
  step.config.k_tile = 0;
  EXPECT_EQ(variant_text({}, step, model, run.device->traits()),
            "as recorded: paged, level 2 (not 3), 2 splits");
  Inspector inspector(*run.device, run.recording);
  const int decode = first_step(*run.recording, AttentionPath::decode_paged, 1);
  const int prefill = first_step(*run.recording, AttentionPath::prefill_packed, 1);
  EXPECT_NE(refusal(inspector, decode, {.level = 1, .k_tile = 8}).find("one tile"), std::string::npos);
  EXPECT_NE(refusal(inspector, decode, {.level = 1, .num_splits = 2}).find("does not split"),
            std::string::npos);
  EXPECT_NE(refusal(inspector, prefill, {.num_splits = 2}).find("does not split"), std::string::npos);
}

/// What cannot run on a device is neither offered nor accepted, and what runs instead is said.
TEST(TraceCompare, LevelsAreThoseOfTheDevice) {
  const TightRun& run = paged_run();
  StepRecord step = *run.recording->step(first_step(*run.recording, AttentionPath::prefill_packed, 1));
  step.config.k_tile = 0;
  ModelShape model = run.recording->manifest().model;
  const DeviceTraits hopper{.wgmma = true}, ampere{}, turing{.tensor_cores = false};
  const auto offered = [&](const DeviceTraits& device) {
    std::vector<int> levels;
    for (const Variant& variant : variants_of(step, model, device)) {
      if (variant.level) levels.push_back(*variant.level);
    }
    return levels;
  };
  EXPECT_EQ(offered(hopper), std::vector<int>{1}) << "FP32: only levels 1 and 2, and 2 is what ran";
  model.dtype = DType::bf16;
  model.head_dim = 128;
  EXPECT_EQ(offered(hopper), (std::vector<int>{1, 3, 4}));
  EXPECT_EQ(offered(ampere), (std::vector<int>{1, 3}));
  EXPECT_EQ(offered(turing), std::vector<int>{1});
  EXPECT_EQ(offered(run.device->traits()), (std::vector<int>{1, 3})) << "the emulator";
  EXPECT_EQ(why_not({.level = 4}, step, model, hopper), "");
  EXPECT_NE(why_not({.level = 4}, step, model, ampere).find("choose one of 1, 2, 3"), std::string::npos);

  step.config.prefill_level = 4;  // recorded on a Hopper GPU, looked at elsewhere
  EXPECT_EQ(variant_text({}, step, model, hopper), "as recorded: packed, level 4");
  EXPECT_EQ(variant_text({}, step, model, ampere), "as recorded: packed, level 3 (not 4)");
  EXPECT_EQ(offered(ampere), (std::vector<int>{1, 2})) << "level 3 is what \"as recorded\" runs there";

  step = *run.recording->step(first_step(*run.recording, AttentionPath::decode_paged, 1));
  step.config.k_tile = 0;
  step.config.block_size = 256;
  EXPECT_EQ(offered(hopper), (std::vector<int>{1, 3})) << "a decode has three levels";
}

TEST(TraceCompare, SplitsLeaveTheirPartials) {
  const TightRun& run = paged_run();
  Inspector inspector(*run.device, run.recording);
  const int index = first_step(*run.recording, AttentionPath::decode_paged, 2);
  const auto compare = inspector.compare(index, 1, {.num_splits = 1}, {.k_tile = 4, .num_splits = 3});
  const AttentionView& whole = *compare->a.view;
  const AttentionView& split = *compare->b.view;
  EXPECT_EQ(whole.num_splits, 1);
  EXPECT_TRUE(whole.partial_lse.empty());
  ASSERT_EQ(split.num_splits, 3);
  EXPECT_EQ(split.keys_per_split % 4, 0);
  const auto rows = static_cast<std::size_t>(split.num_q);
  ASSERT_EQ(split.partial_lse.size(), 3 * 4 * rows);
  ASSERT_EQ(split.partial_o_norm.size(), 3 * 4 * rows);
  for (std::size_t i = 0; i < 4 * rows; ++i) {  // [H, num_q]
    double sum = 0.0;
    for (std::size_t s = 0; s < 3; ++s) {
      sum += std::exp(static_cast<double>(split.partial_lse[s * 4 * rows + i]));
      EXPECT_GE(split.partial_o_norm[s * 4 * rows + i], 0.0F);
      const bool empty = static_cast<int>(s) * split.keys_per_split >= split.k_lens[i % rows];
      EXPECT_EQ(std::isinf(split.partial_lse[s * 4 * rows + i]), empty);
    }
    EXPECT_NEAR(std::log(sum), split.lse[i], 1e-5);
    EXPECT_NEAR(whole.lse[i], split.lse[i], 1e-5);
  }
  EXPECT_EQ(compare->b.launches.size(), 2U) << "the split kernel and the merge";
}

TEST(TraceCompare, ImpossibleVariantsSayWhy) {
  const TightRun& run = paged_run();
  Inspector inspector(*run.device, run.recording);
  const int decode = first_step(*run.recording, AttentionPath::decode_paged, 1);
  const int cached = first_step(*run.recording, AttentionPath::prefill_paged, 1);
  EXPECT_NE(refusal(inspector, decode, {.path = AttentionPath::prefill_paged}).find("does not fit a decode"),
            std::string::npos);
  EXPECT_NE(refusal(inspector, cached, {.path = AttentionPath::prefill_packed}).find("come from the cache"),
            std::string::npos);
  EXPECT_NE(refusal(inspector, decode, {.level = 77}).find("choose one of 1, 2"), std::string::npos);
  EXPECT_NE(refusal(inspector, decode, {.k_tile = 1000}).find("choose 1 to 64"), std::string::npos);
  EXPECT_NE(refusal(inspector, decode, {.num_splits = -3}).find("not in 0 to"), std::string::npos);
  EXPECT_THROW(inspector.compare(decode, 9, {}, {}), InputError);
}

TEST(TraceCompare, SidesAreKept) {
  const TightRun& run = paged_run();
  Inspector inspector(*run.device, run.recording);
  const Variant padded{.path = AttentionPath::decode_gather_padded}, naive{.level = 1};
  const int decode = first_step(*run.recording, AttentionPath::decode_paged, 1);
  const auto first = inspector.compare(decode, 0, {}, padded);
  EXPECT_EQ(inspector.compare(decode, 0, {}, padded), first);
  const auto other = inspector.compare(decode, 0, naive, padded);
  EXPECT_EQ(other->b.view, first->b.view) << "launched once";
  EXPECT_EQ(inspector.inspect(decode, 0), first->a.view);
}

/// Level 3 knows no probe: its output is compared with the record all the same, and it can be chosen.
TEST(TraceCompare, LevelThreeIsLaunchedWhereItRuns) {
  const auto device = make_simt_device();
  EngineConfig config = tight_config();
  config.block_size = 16;
  config.prefill_level = config.decode_level = 3;
  const auto recording = tight_run(*device, config, {}, {.head_dim = 64, .dtype = "bfloat16"});
  Inspector inspector(*device, recording);
  int third = 0;
  for (int index = 0; index < std::min(6, recording->num_steps()); ++index) {
    const auto view = inspector.inspect(index, 0);
    EXPECT_EQ(view->max_abs_diff_o, 0.0) << "step " << index;
    EXPECT_EQ(view->num_splits >= 1, true);
    const auto compare = inspector.compare(index, 0, {}, {.level = 2});
    for (const LaunchEntry& entry : compare->a.launches) {
      third += entry.launch.kernel.find("l3") != std::string::npos;
    }
    EXPECT_LT(compare->worst, 0.05 * view->max_abs_o + 1e-3);
  }
  EXPECT_GE(third, 6);
}

/// A prompt of 1,400 tokens in two chunks of 700; the second one's scores are too many for one view.
std::shared_ptr<Recording> chunked_run(Device& device, PrefillPath path, int level) {
  const attn::test::TinyModel model({.layers = 1, .max_positions = 1500});
  Transformer transformer(device, model.dir());
  EngineConfig config = attn::test::pool(16, 96);
  config.max_num_batched_tokens = 700;
  config.prefill_path = path;
  config.prefill_level = level;
  Engine engine(device, &transformer, config);
  attn::test::Ints prompt(1400);
  for (std::size_t i = 0; i < prompt.size(); ++i) prompt[i] = static_cast<std::int32_t>(i * 7 % 61);
  engine.add_request(attn::test::request(prompt, 1));
  Manifest manifest;
  manifest.config = engine.config();
  manifest.model = engine.model_shape();
  auto recording = std::make_shared<Recording>(manifest);
  while (engine.has_work()) recording->append(engine.step());
  return recording;
}

/// kernel, grid, bytes and FLOP of the launches between store_kvcache and out_mlp.
std::vector<std::string> attention_costs(const std::vector<LaunchEntry>& launches) {
  std::vector<std::string> texts;
  for (const LaunchEntry& entry : launches) {
    if (entry.stage < Stage::gather || entry.stage > Stage::attention) continue;
    const LaunchRecord& launch = entry.launch;
    texts.push_back(fmt::format("{} {}x{}x{} {} B {} FLOP", launch.kernel, launch.grid.x, launch.grid.y,
                                launch.grid.z, launch.bytes, launch.flop));
  }
  return texts;
}

/// Of a large prefill a window of rows is compared; what each side costs is what the engine's own launch of
/// all rows noted, whichever side it is.
TEST(TraceCompare, CostsAreThoseOfTheWholeBatchAsTheEngineRecordsThem) {
  const auto device = make_simt_device();
  const auto paged = chunked_run(*device, PrefillPath::paged, 2);
  const auto gather = chunked_run(*device, PrefillPath::gather_flatten, 2);
  const auto naive = chunked_run(*device, PrefillPath::paged, 1);
  ASSERT_GE(paged->num_steps(), 2);
  const Variant through_gather{.path = AttentionPath::prefill_gather_flatten};
  const Variant through_table{.path = AttentionPath::prefill_paged};
  Inspector paged_inspector(*device, paged), gather_inspector(*device, gather);
  const auto compare = paged_inspector.compare(1, 0, through_gather, {.level = 1});
  EXPECT_EQ(compare->rows, 700);
  EXPECT_FALSE(compare->whole());
  EXPECT_LT(compare->a.view->num_q, paged_inspector.inspect(1, 0)->num_q) << "the emulator is asked for less";
  EXPECT_EQ(attention_costs(compare->a.launches), attention_costs(gather->step(1)->launches));
  EXPECT_EQ(attention_costs(compare->b.launches), attention_costs(naive->step(1)->launches));
  const auto back = gather_inspector.compare(1, 0, {}, through_table);
  EXPECT_EQ(attention_costs(back->a.launches), attention_costs(gather->step(1)->launches));
  EXPECT_EQ(attention_costs(back->b.launches), attention_costs(paged->step(1)->launches));
  std::uint64_t bytes = 0, flop = 0;
  for (const LaunchEntry& entry : back->b.launches) {
    bytes += entry.launch.bytes;
    flop += entry.launch.flop;
    EXPECT_EQ(entry.layer, 0);
  }
  EXPECT_EQ(back->b.bytes, bytes);
  EXPECT_EQ(back->b.flop, flop);
  const auto first = paged_inspector.compare(0, 0, {}, {.level = 1});
  EXPECT_EQ(attention_costs(first->a.launches), attention_costs(paged->step(0)->launches));
}

/// Records alone take neither memory nor time: 64 sequences of 60,000 keys.
TEST(TraceCompare, RecordsOfAHugeBatchNeedNoMemory) {
  const auto device = make_simt_device();
  ModelShape model = small_manifest().model;
  StepRecord step;
  step.kind = StepKind::decode;
  step.path = AttentionPath::decode_gather_padded;
  step.num_scheduled = 64;
  step.max_seqlen_q = 1;
  step.max_seqlen_k = 60000;
  step.config.num_blocks = 64 * 3750;
  step.block_tables.emplace();
  for (int b = 0; b <= 64; ++b) {
    step.cu_seqlens_q.push_back(b);
    step.cu_seqlens_k.push_back(b * 60000);
    if (b < 64) step.block_tables->push_back(std::vector<std::int32_t>(3750, b));
  }
  Pool pool;
  TensorRecord q{model.dtype, {64, model.num_heads, model.head_dim}, {}};
  q.data.resize(64U * static_cast<std::size_t>(model.num_heads * model.head_dim) * dtype_size(model.dtype));
  pool.k = pool.v = q.data;
  const auto records = attention_records(*device, {.step = &step, .model = &model, .q = &q, .pool = &pool});
  ASSERT_GE(records.size(), 3U);
  EXPECT_EQ(records[0].stage, Stage::gather);
  const std::uint64_t row = static_cast<std::uint64_t>(model.num_kv_heads * model.head_dim);
  EXPECT_EQ(records[0].launch.bytes, 64ULL * 60000 * 2 * 2 * row * dtype_size(model.dtype));
  EXPECT_FALSE(device->context().record_only) << "and launches run again";
}

}  // namespace
}  // namespace attn::trace::test
