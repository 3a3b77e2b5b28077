// The attention paths on a real (tiny, random) model: every way to the keys gives the same text, and each
// recorded output is what softmax(q k) v over the recorded rows says in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/trace/tensor_values.h"
#include "engine_support.h"
#include "engine_tiny_model.h"
#include "kernels/common/check.h"

namespace attn::test {
namespace {

using trace::AttentionPath;
using trace::LayerRecord;
using trace::Stage;
using trace::StepKind;
using trace::StepRecord;

/// max |a - b| over the best logits of equal tokens, step by step of each sequence's kept samples.
float logit_difference(const std::vector<StepPtr>& a, const std::vector<StepPtr>& b) {
  const auto kept = [](const std::vector<StepPtr>& steps) {
    std::map<int, std::vector<std::map<std::int32_t, float>>> all;
    for (const StepPtr& step : steps) {
      for (const trace::Sampled& s : step->sampled) {
        if (!s.discarded) all[s.seq_id].emplace_back(s.top_logits.begin(), s.top_logits.end());
      }
    }
    return all;
  };
  const auto in_a = kept(a), in_b = kept(b);
  float worst = 0.0F;
  for (const auto& [id, rows] : in_a) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const auto& [token, logit] : rows[i]) {
        const auto other = in_b.at(id).at(i).find(token);
        if (other != in_b.at(id)[i].end()) worst = std::max(worst, std::abs(logit - other->second));
      }
    }
  }
  return worst;
}

/// Follows the recorded K/V rows into a pool of its own and solves attention in double precision.
class AttentionOracle {
 public:
  explicit AttentionOracle(const EngineConfig& config) : bs_(config.block_size) {}

  /// Largest |o - reference| and |lse - reference| over the layers of the step, relative to the largest |o|.
  double worst(const StepRecord& r) {
    double error = 0.0;
    for (const LayerRecord& layer : r.layers) {
      store(r, layer);
      error = std::max(error, solve(r, layer));
    }
    return error;
  }

 private:
  using Row = std::vector<float>;
  void store(const StepRecord& r, const LayerRecord& layer) {
    const std::vector<float> k = trace::to_floats(layer.k), v = trace::to_floats(layer.v);
    const auto width = static_cast<std::size_t>(layer.k.shape[1] * layer.k.shape[2]);
    for (std::size_t i = 0; i < r.slot_mapping.size(); ++i) {
      const auto at = static_cast<std::ptrdiff_t>(i * width),
                 end = static_cast<std::ptrdiff_t>((i + 1) * width);
      rows_[{layer.layer, r.slot_mapping[i]}] = {Row(k.begin() + at, k.begin() + end),
                                                 Row(v.begin() + at, v.begin() + end)};
    }
  }

  double solve(const StepRecord& r, const LayerRecord& layer) const {
    const std::vector<float> q = trace::to_floats(layer.q), o = trace::to_floats(layer.o);
    const std::vector<float> lse = trace::to_floats(layer.lse);
    const int n = static_cast<int>(layer.q.shape[0]), heads = static_cast<int>(layer.q.shape[1]);
    const int dim = static_cast<int>(layer.q.shape[2]), group = heads / static_cast<int>(layer.k.shape[1]);
    double error = 0.0, largest = 0.0;
    for (int b = 0, row = 0; b < r.num_scheduled; ++b) {
      for (int i = r.cu_seqlens_q[b]; i < r.cu_seqlens_q[b + 1]; ++i, ++row) {
        for (int h = 0; h < heads; ++h) {
          const auto* q_row = &q[(static_cast<std::size_t>(row) * heads + h) * dim];
          const auto [reference, log_sum] =
              attend(r.seqs[b], layer.layer, r.positions[row], q_row, h / group, dim);
          for (int d = 0; d < dim; ++d) {
            const double value = o[(static_cast<std::size_t>(row) * heads + h) * dim + d];
            error = std::max(error, std::abs(value - reference[d]));
            largest = std::max(largest, std::abs(reference[d]));
          }
          error = std::max(error, std::abs(lse[static_cast<std::size_t>(h) * n + row] - log_sum));
        }
      }
    }
    return error / largest;
  }

  std::pair<std::vector<double>, double> attend(const trace::SeqState& seq, int layer, int position,
                                                const float* q, int kv_head, int dim) const {
    std::vector<double> scores;
    for (int j = 0; j <= position; ++j) {
      const Row& k = at(seq, layer, j).first;
      double dot = 0.0;
      for (int d = 0; d < dim; ++d)
        dot += static_cast<double>(q[d]) * k[static_cast<std::size_t>(kv_head) * dim + d];
      scores.push_back(dot / std::sqrt(dim));
    }
    const double top = *std::ranges::max_element(scores);
    double sum = 0.0;
    std::vector<double> out(static_cast<std::size_t>(dim), 0.0);
    for (int j = 0; j <= position; ++j) {
      const double weight = std::exp(scores[j] - top);
      sum += weight;
      const Row& v = at(seq, layer, j).second;
      for (int d = 0; d < dim; ++d) out[d] += weight * v[static_cast<std::size_t>(kv_head) * dim + d];
    }
    for (double& value : out) value /= sum;
    return {out, top + std::log(sum)};
  }

  const std::pair<Row, Row>& at(const trace::SeqState& seq, int layer, int position) const {
    return rows_.at({layer, seq.block_table[position / bs_] * bs_ + position % bs_});
  }

  int bs_;
  std::map<std::pair<int, std::int32_t>, std::pair<Row, Row>> rows_;  // by layer and slot
};

/// A busy afternoon: shared beginnings, different lengths, late arrivals.
std::vector<Request> busy() {
  Ints shared = range(3, 12);
  shared.insert(shared.end(), {40, 41, 42});
  return {request(range(3, 14), 9), request(range(20, 22), 12), request(shared, 8, 2), request({7}, 5, 3)};
}

bool passed_through(const std::vector<StepPtr>& steps, AttentionPath path) {
  return std::ranges::any_of(steps, [path](const StepPtr& step) { return step->path == path; });
}

TEST(EnginePaths, EveryWayToTheKeysGivesTheSameText) {
  const TinyModel model;
  const auto reference = run_model(model, roomy(), busy());
  ASSERT_TRUE(passed_through(reference, AttentionPath::prefill_packed));
  ASSERT_TRUE(passed_through(reference, AttentionPath::prefill_paged));
  ASSERT_TRUE(passed_through(reference, AttentionPath::decode_paged));
  for (const int level : {1, 2}) {
    for (const DecodePath decode : {DecodePath::paged, DecodePath::gather_masked}) {
      for (const PrefillPath prefill : {PrefillPath::paged, PrefillPath::gather_flatten}) {
        EngineConfig config = roomy();
        config.decode_path = decode;
        config.prefill_path = prefill;
        config.prefill_level = config.decode_level = level;
        const auto steps = run_model(model, config, busy());
        EXPECT_EQ(texts(steps), texts(reference));
        EXPECT_LT(logit_difference(steps, reference), 2e-4F);
        EXPECT_EQ(steps.back()->state_hash, reference.back()->state_hash);
        AttentionOracle oracle(config);
        for (const StepPtr& step : steps) {
          EXPECT_LT(oracle.worst(*step), 5e-6) << "step " << step->step << " level " << level;
        }
      }
    }
  }
}

TEST(EnginePaths, SplitsOfTheKeysDoNotChangeTheText) {
  const TinyModel model;
  const auto reference = run_model(model, roomy(), busy());
  for (const int splits : {1, 3, 128}) {
    EngineConfig config = roomy();
    config.num_splits = splits;
    const auto steps = run_model(model, config, busy());
    EXPECT_EQ(texts(steps), texts(reference));
    AttentionOracle oracle(config);
    for (const StepPtr& step : steps) EXPECT_LT(oracle.worst(*step), 5e-6) << splits << " splits";
  }
}

TEST(EnginePaths, TileSizeDoesNotChangeTheText) {
  const TinyModel model;
  const auto reference = run_model(model, roomy(), busy());
  for (const int k_tile : {1, 8}) {
    EngineConfig config = roomy();
    config.k_tile = k_tile;
    const auto steps = run_model(model, config, busy());
    EXPECT_EQ(texts(steps), texts(reference));
    AttentionOracle oracle(config);
    for (const StepPtr& step : steps) EXPECT_LT(oracle.worst(*step), 5e-6) << k_tile << " keys per tile";
  }
}

TEST(EnginePaths, HalfTypesStayCloseToDoublePrecision) {
  for (const auto& [dtype, bound] : std::map<std::string, double>{{"float16", 2e-3}, {"bfloat16", 1.2e-2}}) {
    TinyShape shape;
    shape.dtype = dtype;
    const TinyModel model(shape);
    for (const DecodePath decode : {DecodePath::paged, DecodePath::gather_masked}) {
      EngineConfig config = roomy();
      config.decode_path = decode;
      AttentionOracle oracle(config);
      for (const StepPtr& step : run_model(model, config, busy())) {
        EXPECT_LT(oracle.worst(*step), bound) << dtype << " step " << step->step;
        EXPECT_EQ(dtype_size(step->layers[0].k.dtype), 2U);
      }
    }
  }
}

TEST(EnginePaths, PrefixCacheChunksAndPreemptionDoNotChangeTheText) {
  const TinyModel model;
  const auto reference = run_model(model, roomy(), busy());
  EngineConfig uncached = roomy(), chunked = roomy(), scrambled = roomy(), blocks_of_one = pool(1, 96);
  uncached.prefix_caching = false;
  chunked.max_num_batched_tokens = 5;
  scrambled.free_list = FreeListOrder::scrambled;
  EngineConfig tight = pool(4, 7);
  for (const EngineConfig& config : {uncached, chunked, scrambled, blocks_of_one, tight}) {
    const auto steps = run_model(model, config, busy());
    EXPECT_EQ(texts(steps), texts(reference));
    EXPECT_LT(logit_difference(steps, reference), 2e-4F);
    Auditor auditor(config);
    AttentionOracle oracle(config);
    for (const StepPtr& step : steps) {
      auditor.check(*step);
      EXPECT_LT(oracle.worst(*step), 5e-6) << "step " << step->step;
    }
  }
  const auto squeezed = run_model(model, tight, busy());
  EXPECT_TRUE(std::ranges::any_of(squeezed, [](const StepPtr& step) { return !step->preempted.empty(); }));
}

TEST(EnginePaths, ASequenceDoesNotNoticeItsNeighbours) {
  const TinyModel model;
  const auto together = texts(run_model(model, roomy(), busy()));
  for (std::size_t i = 0; i < busy().size(); ++i) {
    const auto alone = texts(run_model(model, roomy(), {busy()[i]}));
    EXPECT_EQ(alone.at(0), together.at(static_cast<int>(i)));
  }
}

TEST(EnginePaths, HeadsThatShareTheGatheredKeysGiveTheSameAnswer) {
  for (const DecodePath path : {DecodePath::gather_masked, DecodePath::gather_padded}) {
    for (const HeadMap map : {HeadMap::grouped, HeadMap::modulo}) {
      const TinyModel model;
      EngineConfig repeated = roomy();
      repeated.decode_path = path;
      repeated.head_map = map;
      EngineConfig shared = repeated;
      shared.repeat_kv = false;
      const auto with = run_model(model, repeated, busy()), without = run_model(model, shared, busy());
      EXPECT_EQ(texts(with), texts(without));
      for (std::size_t i = 0; i < with.size(); ++i) {
        EXPECT_LE(trace::max_abs_diff(with[i]->layers[1].o, without[i]->layers[1].o), 1e-6);
        const auto repeats =
            std::ranges::count(without[i]->launches, Stage::repeat, &trace::LaunchEntry::stage);
        EXPECT_EQ(repeats, 0);
      }
    }
  }
}

// P zero keys join the softmax with score 0: o' = o * Z / (Z + P), lse' = log(Z + P), Z = exp(lse).
TEST(EnginePaths, PaddingStealsExactlyItsShare) {
  for (const int kv_heads : {2, 4}) {  // with and without repeat_kv
    TinyShape shape;
    shape.kv_heads = kv_heads;
    const TinyModel model(shape);
    const std::vector<Request> requests = {request(range(3, 5), 2), request(range(10, 20), 2)};
    EngineConfig padded = roomy();
    padded.decode_path = DecodePath::gather_padded;
    const StepPtr exact = run_model(model, roomy(), requests)[1],
                  stolen = run_model(model, padded, requests)[1];
    ASSERT_EQ(stolen->path, AttentionPath::decode_gather_padded);
    EXPECT_EQ(stolen->context_lens, (Ints{4, 12}));
    const auto repeats = std::ranges::count(stolen->shapes, Stage::repeat, &trace::ShapeNote::stage);
    EXPECT_EQ(repeats > 0, kv_heads != 4);
    const auto o = trace::to_floats(exact->layers[0].o), o_padded = trace::to_floats(stolen->layers[0].o);
    const auto lse = trace::to_floats(exact->layers[0].lse),
               lse_padded = trace::to_floats(stolen->layers[0].lse);
    for (int b = 0; b < 2; ++b) {
      const double pads = 12 - (*stolen->context_lens)[b];
      for (int h = 0; h < shape.heads; ++h) {
        const double z = std::exp(static_cast<double>(lse[h * 2 + b]));
        EXPECT_NEAR(lse_padded[h * 2 + b], std::log(z + pads), 1e-5);
        for (int d = 0; d < shape.head_dim; ++d) {
          const int at = (b * shape.heads + h) * shape.head_dim + d;
          EXPECT_NEAR(o_padded[at], o[at] * z / (z + pads), 1e-5);
        }
      }
    }
  }
}

TEST(EnginePaths, TheTopLeftMaskForgetsThePrefix) {
  const TinyModel model;
  EngineConfig broken = roomy();
  broken.mask_alignment = MaskAlignment::top_left;
  const auto steps = run_model(model, broken, {request(range(3, 8), 2)});
  // The only decode step sees key 0 alone: lse is the score of key 0 and o its value row.
  const LayerRecord& first = steps[0]->layers[0];
  const LayerRecord& decode = steps[1]->layers[0];
  const auto v = trace::to_floats(first.v), o = trace::to_floats(decode.o);
  for (int h = 0; h < 4; ++h) {
    for (int d = 0; d < 8; ++d) EXPECT_NEAR(o[h * 8 + d], v[h / 2 * 8 + d], 1e-6);
  }
}

TEST(EnginePaths, WarmupRunsWithoutACache) {
  const TinyModel model;
  EngineConfig config = roomy();
  config.warmup = true;
  config.max_num_batched_tokens = 20;
  config.max_model_len = 10;
  const auto real = run_model(model, config, {request(range(3, 8), 3)});
  EXPECT_EQ(real[0]->path, AttentionPath::prefill_packed);
  EXPECT_EQ(real[0]->cu_seqlens_q, (Ints{0, 10, 20}));
  EXPECT_TRUE(std::ranges::none_of(real[0]->launches, [](const trace::LaunchEntry& entry) {
    return entry.stage == Stage::store_kvcache;
  }));
  AttentionOracle none(config);
  EXPECT_FALSE(real[0]->layers[0].lse.data.empty());

  config.warmup_identity = true;
  const auto guarded = run_model(model, config, {request(range(3, 8), 3)});
  EXPECT_EQ(guarded[0]->path, AttentionPath::identity);
  for (const LayerRecord& layer : guarded[0]->layers) {
    EXPECT_EQ(layer.o.data, layer.q.data) << "max |o - q| is 0";
    EXPECT_TRUE(layer.lse.shape.empty());
  }
  EXPECT_EQ(texts({guarded.begin() + 1, guarded.end()}), texts({real.begin() + 1, real.end()}));
}

TEST(EnginePaths, SameScenarioSameBitsInWhateverThreadOrder) {
  const TinyModel model;
  for (const DecodePath decode : {DecodePath::paged, DecodePath::gather_masked, DecodePath::gather_padded}) {
    EngineConfig config = roomy();
    config.decode_path = decode;
    config.prefill_path = PrefillPath::gather_flatten;
    std::vector<Request> requests = busy();
    requests[1].sampling.temperature = 0.8F;
    requests[2].sampling.temperature = 1.2F;
    requests[2].sampling.top_k = 7;
    const auto reference = run_model(model, config, requests);
    for (const SimtOptions& options : {SimtOptions{}, SimtOptions{.order = SimtOrder::shuffled, .seed = 9}}) {
      const auto steps = run_model(model, config, requests, options);
      ASSERT_EQ(steps.size(), reference.size());
      for (std::size_t i = 0; i < steps.size(); ++i) {
        EXPECT_EQ(steps[i]->state_hash, reference[i]->state_hash);
        ASSERT_EQ(steps[i]->layers.size(), 2U);
        for (std::size_t l = 0; l < 2; ++l) {
          EXPECT_EQ(steps[i]->layers[l].o.data, reference[i]->layers[l].o.data);
          EXPECT_EQ(steps[i]->layers[l].lse.data, reference[i]->layers[l].lse.data);
        }
        for (std::size_t b = 0; b < steps[i]->sampled.size(); ++b) {
          EXPECT_EQ(steps[i]->sampled[b].top_logits, reference[i]->sampled[b].top_logits);
        }
      }
    }
  }
}

TEST(EnginePaths, TheSeedDecidesWhatIsSampledAndOnlyThere) {
  const TinyModel model;
  std::vector<Request> requests(3, request(range(3, 8), 20));
  requests[1].sampling.temperature = requests[2].sampling.temperature = 1.0F;
  EngineConfig config = roomy();
  const auto first = texts(run_model(model, config, requests));
  config.seed = 1;
  const auto second = texts(run_model(model, config, requests));
  EXPECT_EQ(first.at(0), second.at(0)) << "greedy";
  EXPECT_NE(first.at(1), second.at(1));
  EXPECT_NE(first.at(1), first.at(2)) << "each request has its own random numbers";
}

}  // namespace
}  // namespace attn::test
