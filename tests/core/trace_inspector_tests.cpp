// The inspector on hand-made steps on the emulator: what it relaunches is what was recorded, its weights are
// a softmax, and the pads of a padded decode take exactly what the law says.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "core/trace/attention_launch.h"
#include "core/trace/describe.h"
#include "core/trace/inspector.h"
#include "core/trace/pool_history.h"
#include "core/trace/record_check.h"
#include "core/trace/record_fields.h"
#include "core/trace/stolen_mass.h"
#include "core/trace/tensor_values.h"
#include "kernels/common/check.h"
#include "tests/core/trace_attention.h"
#include "tests/core/trace_random.h"

namespace attn::trace::test {
namespace {

/// Random steps whose o and lse come from the real kernel, without its probe.
std::shared_ptr<Recording> recorded_on(Device& device, std::uint32_t seed, int count) {
  auto recording = std::make_shared<Recording>(small_manifest());
  RandomSteps steps(seed);
  for (int i = 0; i < count; ++i) {
    auto step = std::make_shared<StepRecord>(steps.next());
    auto so_far = std::make_shared<Recording>(small_manifest());
    for (int j = 0; j < i; ++j) so_far->append(recording->step(j));
    so_far->append(step);
    PoolHistory pools(so_far);
    for (LayerRecord& layer : step->layers) {
      const auto pool = pools.at(i, layer.layer);
      AttentionOutputs out = launch_attention(device,
                                              {.step = step.get(),
                                               .model = &recording->manifest().model,
                                               .q = &layer.q,
                                               .k = &layer.k,
                                               .v = &layer.v,
                                               .pool = pool.get()},
                                              false);
      layer.o = out.o;
      layer.lse = out.lse;
    }
    recording->append(step);
  }
  return recording;
}

/// The step's keys as the reference takes them, read from the rebuilt pool or the packed rows by hand.
std::vector<ReferenceSeq> reference_seqs(const StepRecord& step, const LayerRecord& layer, const Pool& pool) {
  constexpr int kWidth = 16;  // Hkv * D
  const bool packed = step.path == AttentionPath::prefill_packed;
  const auto k = to_floats(packed ? layer.k : TensorRecord{DType::f32, {}, pool.k});
  const auto v = to_floats(packed ? layer.v : TensorRecord{DType::f32, {}, pool.v});
  std::vector<ReferenceSeq> seqs;
  for (std::size_t b = 0; b < static_cast<std::size_t>(step.num_scheduled); ++b) {
    ReferenceSeq seq{.q_len = step.cu_seqlens_q[b + 1] - step.cu_seqlens_q[b], .k = {}, .v = {}};
    for (int i = 0; i < k_len(step, b); ++i) {
      const std::int64_t row =
          packed ? step.cu_seqlens_k[b] + i : pool.kv.slot((*step.block_tables)[b].data(), i);
      seq.k.emplace_back(k.begin() + row * kWidth, k.begin() + (row + 1) * kWidth);
      seq.v.emplace_back(v.begin() + row * kWidth, v.begin() + (row + 1) * kWidth);
    }
    const bool padded = step.path == AttentionPath::decode_gather_padded;
    if (padded) {
      seq.k.resize(static_cast<std::size_t>(step.max_seqlen_k), std::vector<float>(kWidth, 0.0F));
      seq.v.resize(static_cast<std::size_t>(step.max_seqlen_k), std::vector<float>(kWidth, 0.0F));
    }
    seqs.push_back(std::move(seq));
  }
  return seqs;
}

TEST(TraceInspector, RandomStepsOfEveryPathAreReproducedToTheBit) {
  const auto device = make_simt_device();
  const auto recording = recorded_on(*device, 30, 60);
  Inspector inspector(*device, recording);
  PoolHistory pools(recording);
  std::vector<int> seen(7, 0);
  for (int index = 59; index >= 0; --index) {
    const auto step = recording->step(index);
    const int layer = index % 2;
    const auto view = inspector.inspect(index, layer);
    EXPECT_EQ(view->max_abs_diff_o, 0.0) << "step " << index << " path " << name_of(step->path);
    EXPECT_GT(view->max_abs_o, 0.0);
    EXPECT_EQ(view->step, step->step);
    EXPECT_EQ(view->layer, layer);
    EXPECT_EQ(view->path, step->path);
    EXPECT_FALSE(view->kernel.empty());
    ++seen[static_cast<std::size_t>(step->path)];

    const LayerRecord& record = step->layers[static_cast<std::size_t>(layer)];
    const bool decode = is_decode(step->path);
    MaskAlignment mask = step->config.mask_alignment;
    if (decode && mask != MaskAlignment::top_left) mask = MaskAlignment::none;
    const Reference reference =
        reference_attention(to_floats(record.q), reference_seqs(*step, record, *pools.at(index, layer)),
                            {.num_heads = 4,
                             .num_kv_heads = 2,
                             .head_dim = 8,
                             .scale = 0.25,
                             .mask = mask,
                             .head_map = step->config.head_map});
    expect_near(to_floats(record.o), reference.o, 2e-6);
    expect_near(view->lse, reference.lse, 2e-6);
    std::vector<float> weights = view->weights;  // NaN = not looked at = hidden
    for (std::size_t i = 0; i < weights.size(); ++i) {
      EXPECT_EQ(std::isnan(weights[i]), std::isnan(view->scores[i]));
      if (std::isnan(weights[i])) weights[i] = 0.0F;
    }
    expect_near(weights, reference.weights, 2e-6);
    for (std::size_t row = 0; row < view->lse.size(); ++row) {
      double sum = 0.0;
      for (int column = 0; column < view->max_k; ++column) sum += weights[row * view->max_k + column];
      EXPECT_NEAR(sum, std::isinf(view->lse[row]) ? 0.0 : 1.0, 1e-5);
    }
  }
  for (int path = 1; path < 7; ++path) EXPECT_GT(seen[static_cast<std::size_t>(path)], 0) << "path " << path;
}

TEST(TraceInspector, TileStatesEndAtTheRowsLse) {
  const auto device = make_simt_device();
  const auto recording = recorded_on(*device, 31, 40);
  Inspector inspector(*device, recording);
  int checked = 0;
  for (int index = 0; index < 40; ++index) {
    const auto view = inspector.inspect(index, 0);
    ASSERT_GT(view->num_tiles, 0);
    const auto step = recording->step(index);
    if (is_decode(step->path) && step->config.num_splits != 1) continue;  // each split has its own state
    for (std::size_t row = 0; row < view->lse.size(); ++row) {
      if (std::isinf(view->lse[row])) continue;
      int last = -1;
      for (int tile = 0; tile < view->num_tiles; ++tile) {
        if (!std::isnan(view->tile_l[row * view->num_tiles + tile])) last = tile;
      }
      ASSERT_GE(last, 0);
      const std::size_t at = row * view->num_tiles + static_cast<std::size_t>(last);
      EXPECT_NEAR(view->tile_m[at] + std::log(view->tile_l[at]), view->lse[row], 1e-5);
      ++checked;
    }
  }
  EXPECT_GT(checked, 100);
}

/// Random q of one decode row per sequence, and a pool of random keys and values.
LayerRecord random_layer(std::int64_t batch, std::int64_t num_blocks, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  const auto tensor = [&](std::vector<std::int64_t> shape) {
    std::size_t count = 1;
    for (const auto extent : shape) count *= static_cast<std::size_t>(extent);
    std::vector<float> values(count);
    for (float& value : values) value = normal(random);
    return float_tensor(std::move(shape), values);
  };
  LayerRecord layer;
  layer.q = tensor({batch, 4, 8});
  layer.k_cache = tensor({num_blocks, 16, 2, 8});
  layer.v_cache = tensor({num_blocks, 16, 2, 8});
  return layer;
}

/// One decode step of sequences with the given lengths, every key random, all in one pool snapshot.
std::shared_ptr<Recording> padded_decode(Device& device, const std::vector<int>& lens, std::uint32_t seed) {
  Manifest manifest = small_manifest();
  manifest.model.num_layers = 1;
  manifest.model.scale.reset();
  auto step = std::make_shared<StepRecord>();
  step->step = 1;
  step->kind = StepKind::decode;
  step->path = AttentionPath::decode_gather_padded;
  step->config.block_size = 16;
  step->num_scheduled = static_cast<int>(lens.size());
  step->cu_seqlens_q = step->cu_seqlens_k = {0};
  step->max_seqlen_q = 1;
  step->context_lens = lens;
  step->paged = true;
  const int width = (*std::max_element(lens.begin(), lens.end()) + 15) / 16;
  auto& tables = step->block_tables.emplace();
  int next_block = 0;
  for (std::size_t b = 0; b < lens.size(); ++b) {
    step->cu_seqlens_q.push_back(static_cast<int>(b) + 1);
    step->cu_seqlens_k.push_back(step->cu_seqlens_k.back() + lens[b]);
    step->max_seqlen_k = std::max(step->max_seqlen_k, lens[b]);
    step->input_ids.push_back(0);
    step->positions.push_back(lens[b] - 1);
    std::vector<std::int32_t> row(static_cast<std::size_t>(width), -1);
    for (int i = 0; i * 16 < lens[b]; ++i) row[static_cast<std::size_t>(i)] = next_block++;
    SeqState seq;
    seq.id = static_cast<int>(b);
    seq.num_tokens = lens[b];
    seq.token_ids.assign(static_cast<std::size_t>(lens[b]), 3);
    step->seqs.push_back(seq);
    tables.push_back(std::move(row));
  }
  step->config.num_blocks = next_block;
  LayerRecord layer = random_layer(static_cast<std::int64_t>(lens.size()), next_block, seed);
  Pool pool{{next_block, 16, 2, 8}, DType::f32, layer.k_cache.data, layer.v_cache.data, nullptr};
  AttentionOutputs out = launch_attention(device,
                                          {.step = step.get(),
                                           .model = &manifest.model,
                                           .q = &layer.q,
                                           .k = nullptr,
                                           .v = nullptr,
                                           .pool = &pool},
                                          false);
  layer.o = out.o;
  layer.lse = out.lse;
  step->layers.push_back(layer);
  step->token_texts = {{3, " king"}};
  check_record(*step, manifest.model);
  auto recording = std::make_shared<Recording>(manifest);
  recording->append(step);
  return recording;
}

TEST(TraceInspector, PadsStealExactlyWhatTheLawSays) {
  const auto device = make_simt_device();
  for (const std::vector<int>& lens : {std::vector{1, 8}, {10, 100}, {100, 128}, {500, 512}}) {
    const auto recording = padded_decode(*device, lens, 40);
    const auto view = Inspector(*device, recording).inspect(0, 0);
    EXPECT_EQ(view->max_abs_diff_o, 0.0);
    EXPECT_EQ(view->attended, std::vector<std::int32_t>(2, lens[1]));
    for (int head = 0; head < 4; ++head) {
      const StolenMass stolen = stolen_mass(*view, 0, head);
      EXPECT_EQ(stolen.pads, lens[1] - lens[0]);
      double z = 0.0;  // sum over the real keys, in double
      for (int column = 0; column < lens[0]; ++column)
        z += std::exp(static_cast<double>(view->score(head, 0, column)));
      EXPECT_NEAR(stolen.measured, stolen.pads / (z + stolen.pads), 1e-5);
      EXPECT_NEAR(stolen.predicted, stolen.measured, 1e-5);
      EXPECT_EQ(stolen_mass(*view, 1, head).pads, 0);
      EXPECT_EQ(stolen_mass(*view, 1, head).measured, 0.0);
    }
  }
}

TEST(TraceInspector, IdentityHasNoWeightsAndSaysSo) {
  const auto device = make_simt_device();
  auto step = std::make_shared<StepRecord>(RandomSteps(41).next());
  step->path = AttentionPath::identity;
  for (LayerRecord& layer : step->layers) layer.o = layer.q;
  auto recording = std::make_shared<Recording>(small_manifest());
  recording->append(step);
  const auto view = Inspector(*device, recording).inspect(0, 1);
  EXPECT_TRUE(view->weights.empty());
  EXPECT_EQ(view->max_k, 0);
  EXPECT_EQ(view->max_abs_diff_o, 0.0);
  EXPECT_NE(view->kernel.find("attention returned q"), std::string::npos);
  EXPECT_NE(describe_attention(*recording, 0, *view, 0).find("the output is q itself"), std::string::npos);
}

TEST(TraceInspector, ALayerThatIsNotRecordedSaysWhichAre) {
  const auto device = make_simt_device();
  auto recording = std::make_shared<Recording>(small_manifest());
  RandomSteps steps(42);
  recording->append(std::make_shared<StepRecord>(steps.next()));
  StepRecord bare = steps.next();
  bare.layers.clear();
  recording->append(std::make_shared<StepRecord>(bare));
  Inspector inspector(*device, recording);
  const auto message = [&](int index, int layer) {
    try {
      inspector.inspect(index, layer);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message(0, 5).find("layer 5 of step 1 is not recorded; choose one of 0, 1"), std::string::npos);
  EXPECT_NE(message(1, 0).find("step 2 has no recorded layers"), std::string::npos);
}

TEST(TraceInspector, AWrongRecordedOutputShows) {
  const auto device = make_simt_device();
  const auto recording = recorded_on(*device, 43, 1);
  StepRecord wrong = *recording->step(0);
  std::vector<float> o = to_floats(wrong.layers[0].o);
  o[5] += 0.5F;
  wrong.layers[0].o = float_tensor(wrong.layers[0].o.shape, o);
  auto changed = std::make_shared<Recording>(small_manifest());
  changed->append(std::make_shared<StepRecord>(wrong));
  EXPECT_NEAR(Inspector(*device, changed).inspect(0, 0)->max_abs_diff_o, 0.5, 1e-6);
}

/// A forged step that passes the check may show nonsense, but nothing is read or written out of bounds: the
/// emulator's guard zones would throw DeviceError.
TEST(TraceInspector, ForgedStepsThatPassTheCheckStayInBounds) {
  const auto device = make_simt_device();
  const Manifest manifest = small_manifest();
  std::mt19937 random(46);
  int inspected = 0;
  for (int i = 0; i < 1500; ++i) {
    ByteWriter encoded;
    encoded(RandomSteps(static_cast<std::uint32_t>(i)).next());
    auto payload = encoded.bytes();
    for (int flips = 0; flips < 2; ++flips)
      payload[random() % 1200] ^= static_cast<std::byte>(1U << random() % 8);
    auto step = std::make_shared<StepRecord>();
    try {
      ByteReader reader(payload);
      reader(*step);
      reader.expect_end();
      check_record(*step, manifest.model);
    } catch (const InputError&) {
      continue;
    }
    if (step->config.num_splits > 64) continue;  // legal and slow
    auto recording = std::make_shared<Recording>(manifest);
    recording->append(step);
    try {
      Inspector(*device, recording).inspect(0, 0);
      describe_trace(*recording);
      ++inspected;
    } catch (const InputError&) {
    }
  }
  EXPECT_GT(inspected, 200);
}

TEST(TraceInspector, ViewsAreKeptForAWhile) {
  const auto device = make_simt_device();
  const auto recording = recorded_on(*device, 44, 40);
  Inspector inspector(*device, recording);
  const auto first = inspector.inspect(0, 0);
  EXPECT_EQ(inspector.inspect(0, 0), first);
  for (int index = 1; index < 40; ++index) inspector.inspect(index, 0);
  const auto again = inspector.inspect(0, 0);
  EXPECT_NE(again, first);
  EXPECT_EQ(std::memcmp(again->weights.data(), first->weights.data(), first->weights.size() * 4), 0);
}

TEST(TraceDescribe, PaddedDecodeTellsWeightsAndStolenMass) {
  const auto device = make_simt_device();
  const auto recording = padded_decode(*device, {2, 8}, 45);
  const auto view = Inspector(*device, recording).inspect(0, 0);
  const std::string text = describe_attention(*recording, 0, *view, 1);
  const StolenMass stolen = stolen_mass(*view, 0, 1);
  EXPECT_NE(text.find("layer 0, head 1"), std::string::npos) << text;
  EXPECT_NE(text.find(fmt::format("6 pads: stolen mass {:.4f} measured, {:.4f} = P/(Z+P)", stolen.measured,
                                  stolen.predicted)),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("0 pads: stolen mass 0.0000"), std::string::npos) << text;
  EXPECT_NE(text.find("\" king\""), std::string::npos) << text;
  EXPECT_THROW(describe_attention(*recording, 0, *view, 4), InputError);
}

}  // namespace
}  // namespace attn::trace::test
