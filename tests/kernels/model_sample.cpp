// The sampler: greedy rules, Gumbel-max against its definition, distributions, top_k and top_p.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "kernels/model/philox.h"
#include "tests/kernels/attention_case.h"
#include "tests/kernels/extremes.h"

namespace attn::test {

namespace {

struct Draw {
  int vocab = 0;
  std::vector<float> logits;        // [B, vocab]
  std::vector<float> temperature;   // [B]
  std::vector<std::int32_t> top_k;  // [B] or empty
  std::vector<float> top_p;         // [B] or empty
  std::vector<std::uint64_t> counter;
  std::uint64_t seed = 0;
};

std::vector<std::int32_t> run(Device& device, const Draw& draw) {
  const int batch = static_cast<int>(draw.temperature.size());
  const Buffer logits = device_copy(device, draw.logits, "logits");
  const Buffer temperature = device_copy(device, draw.temperature, "temperature");
  const Buffer top_k = device_copy(device, draw.top_k, "top_k");
  const Buffer top_p = device_copy(device, draw.top_p, "top_p");
  const Buffer counter = device_copy(device, draw.counter, "counter");
  const Buffer ids(device, batch * sizeof(std::int32_t), "token_ids");
  device.kernels().sample({.batch = batch,
                           .vocab = draw.vocab,
                           .logits = logits.as<float>(),
                           .temperature = temperature.as<float>(),
                           .top_k = top_k.as<std::int32_t>(),
                           .top_p = top_p.as<float>(),
                           .counter = counter.as<std::uint64_t>(),
                           .seed = draw.seed,
                           .token_ids = ids.as<std::int32_t>()},
                          device.context());
  return ids.download<std::int32_t>();
}

std::int32_t greedy(Device& device, const std::vector<float>& logits) {
  return run(device, {static_cast<int>(logits.size()), logits, {0.0F}, {}, {}, {0}}).front();
}

/// Every row the same logits, counters 0, 1, 2, ...
Draw repeated(const std::vector<float>& logits, int rows, float temperature) {
  Draw draw;
  draw.vocab = static_cast<int>(logits.size());
  for (int row = 0; row < rows; ++row) {
    draw.logits.insert(draw.logits.end(), logits.begin(), logits.end());
    draw.counter.push_back(static_cast<std::uint64_t>(row));
  }
  draw.temperature.assign(static_cast<std::size_t>(rows), temperature);
  return draw;
}

/// Which tokens may compete, from the definitions with a sort.
std::set<int> survivors(const Draw& draw, std::size_t row) {
  const float* logits = draw.logits.data() + row * draw.vocab;
  std::vector<int> order(draw.vocab);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return logits[a] > logits[b]; });
  std::size_t keep = order.size();
  if (!draw.top_k.empty() && draw.top_k[row] > 0) keep = std::min<std::size_t>(keep, draw.top_k[row]);
  while (keep < order.size() && logits[order[keep]] == logits[order[keep - 1]]) ++keep;
  if (!draw.top_p.empty() && draw.top_p[row] < 1.0F) {
    std::vector<double> weights;
    for (std::size_t i = 0; i < keep; ++i) {
      weights.push_back(
          std::exp((static_cast<double>(logits[order[i]]) - logits[order[0]]) / draw.temperature[row]));
    }
    const double wanted = draw.top_p[row] * std::accumulate(weights.begin(), weights.end(), 0.0);
    double sum = weights[0];
    std::size_t count = 1;
    while (count < keep && (sum < wanted || logits[order[count]] == logits[order[count - 1]]))
      sum += weights[count++];
    keep = count;
  }
  return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(keep)};
}

/// Gumbel-max from its definition.
std::int32_t expected_draw(const Draw& draw, std::size_t row) {
  std::int32_t winner = -1;
  double best = -INFINITY;
  for (const int i : survivors(draw, row)) {
    const double u = philox_uniform(draw.seed, draw.counter[row], static_cast<std::uint32_t>(i));
    const double score = static_cast<double>(draw.logits[row * draw.vocab + i]) / draw.temperature[row] -
                         std::log(-std::log(u));
    if (winner < 0 || score > best) winner = i;
    best = std::max(best, score);
  }
  return winner;
}

/// Chi-square statistic of observed counts under softmax(logits / T) on the tokens in `allowed`.
double chi_square(const std::vector<std::int32_t>& ids, const std::vector<float>& logits, float temperature,
                  const std::set<int>& allowed) {
  double total = 0.0;
  for (const int i : allowed) total += std::exp(static_cast<double>(logits[i]) / temperature);
  double statistic = 0.0;
  for (const int i : allowed) {
    const double expected =
        static_cast<double>(ids.size()) * std::exp(static_cast<double>(logits[i]) / temperature) / total;
    const double observed = static_cast<double>(std::count(ids.begin(), ids.end(), i));
    statistic += (observed - expected) * (observed - expected) / expected;
  }
  return statistic;
}

}  // namespace

TEST(Philox, KnownAnswersOfRandom123) {
  const auto words = [](const Philox& p) { return std::vector<std::uint32_t>(p.word, p.word + 4); };
  using Words = std::vector<std::uint32_t>;
  EXPECT_EQ(words(philox4x32({{0, 0, 0, 0}}, 0)), (Words{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}));
  EXPECT_EQ(words(philox4x32({{~0U, ~0U, ~0U, ~0U}}, ~0ULL)),
            (Words{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}));
  EXPECT_EQ(words(philox4x32({{0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}}, 0x299F31D0A4093822ULL)),
            (Words{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}));
}

TEST(Philox, UniformStaysInsideZeroAndOne) {
  double sum = 0.0;
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    const double u = philox_uniform(7, 3, i);
    ASSERT_GT(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 4 * std::sqrt(1.0 / 12 / 100'000));
}

ATTN_DEVICE_TEST(Sample, GreedyTakesTheLargestWhereverItIs) {
  for (const int vocab : {1, 2, 31, 255, 256, 257, 1000, 3001}) {
    std::vector<float> logits = random_normal(vocab, static_cast<std::uint64_t>(vocab), DType::f32);
    for (const int at : {0, vocab / 2, vocab - 1}) {
      std::vector<float> raised = logits;
      raised[at] = 100.0F;
      EXPECT_EQ(greedy(device, raised), at) << "vocab " << vocab;
    }
  }
}

ATTN_DEVICE_TEST(Sample, GreedyTiesGoToTheLowestIdAndNaNNeverWins) {
  EXPECT_EQ(greedy(device, {1, 5, 5, 2, 5}), 1);
  EXPECT_EQ(greedy(device, {-0.0F, 0.0F}), 0);
  std::vector<float> far(600, 0.0F);
  far[513] = far[300] = 2.0F;  // other threads, other laps
  EXPECT_EQ(greedy(device, far), 300);
  EXPECT_EQ(greedy(device, {kNaN, 1, kNaN, 3, kNaN}), 3);
  EXPECT_EQ(greedy(device, {kNaN, -kInf, -3}), 2);
  EXPECT_EQ(greedy(device, {1, kInf, 2}), 1);
  EXPECT_EQ(greedy(device, {kNaN, kNaN}), 0);
  EXPECT_EQ(greedy(device, {-kInf, -kInf}), 0);
}

ATTN_DEVICE_TEST(Sample, NaNNeverWinsWithTemperatureEither) {
  Draw draw = repeated({kNaN, 0.5F, -kInf, 0.25F, kNaN}, 100, 1.0F);
  draw.top_p.assign(100, 0.99F);
  draw.top_k.assign(100, 4);
  for (const std::int32_t id : run(device, draw)) EXPECT_TRUE(id == 1 || id == 3) << id;
  for (const std::int32_t id : run(device, repeated({kNaN, -kInf}, 3, 1.0F))) EXPECT_EQ(id, 0);
  for (const std::int32_t id : run(device, repeated({1, kInf, 2}, 20, 0.5F))) EXPECT_EQ(id, 1);
}

ATTN_DEVICE_TEST(Sample, TemperatureFollowsTheGumbelMaxDefinition) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Draw draw;
    draw.vocab = static_cast<int>(17 + seed * 83);
    draw.seed = seed;
    draw.logits =
        random_normal(8 * static_cast<std::size_t>(draw.vocab), seed, DType::bf16);  // bf16: many ties
    for (std::uint64_t row = 0; row < 8; ++row) {
      draw.temperature.push_back(0.2F + 0.3F * static_cast<float>(row));
      draw.top_k.push_back(row % 2 == 0 ? 0 : static_cast<std::int32_t>(3 * row));
      draw.top_p.push_back(row % 4 < 2 ? 1.0F : 0.05F + 0.1F * static_cast<float>(row));
      draw.counter.push_back((row << 32U) + seed);
    }
    const std::vector<std::int32_t> ids = run(device, draw);
    for (std::size_t row = 0; row < 8; ++row)
      EXPECT_EQ(ids[row], expected_draw(draw, row)) << seed << " " << row;
  }
}

ATTN_DEVICE_TEST(Sample, FrequenciesAreThoseOfSoftmax) {
  const std::vector<float> logits = {0.0F, 1.0F, -1.0F, 0.5F, 2.0F, -0.5F, 1.5F, 0.25F};
  const std::set<int> all = {0, 1, 2, 3, 4, 5, 6, 7};
  for (const float temperature : {0.7F, 1.5F}) {
    const std::vector<std::int32_t> ids = run(device, repeated(logits, 3000, temperature));
    EXPECT_LT(chi_square(ids, logits, temperature, all), 24.3);  // 99.9 % of true draws, 7 degrees of freedom
    EXPECT_GT(chi_square(ids, logits, temperature * 1.3F, all),
              24.3);  // the test can tell temperatures apart
  }
}

ATTN_DEVICE_TEST(Sample, TopKAndTopPKeepTheBestAndTheirProportions) {
  const std::vector<float> logits = {0.0F, 1.0F, -1.0F, 0.5F, 2.0F, -0.5F, 1.5F, 0.25F};
  Draw draw = repeated(logits, 400, 1.0F);
  draw.top_k.assign(400, 3);
  EXPECT_LT(chi_square(run(device, draw), logits, 1.0F, {1, 4, 6}), 13.8);
  draw.top_k.clear();
  draw.top_p.assign(400, 0.5F);  // shares: 4 has 0.36, 6 has 0.22
  const std::vector<std::int32_t> nucleus = run(device, draw);
  EXPECT_LT(chi_square(nucleus, logits, 1.0F, {4, 6}), 10.8);
  EXPECT_TRUE(std::all_of(nucleus.begin(), nucleus.end(), [](int id) { return id == 4 || id == 6; }));
}

ATTN_DEVICE_TEST(Sample, EdgesOfTopKAndTopP) {
  Draw draw = repeated({1.0F, 3.0F, 3.0F, 0.0F}, 60, 1.0F);
  draw.top_k.assign(60, 1);  // a tie at the threshold stays
  const std::vector<std::int32_t> tied = run(device, draw);
  EXPECT_EQ(std::set<std::int32_t>(tied.begin(), tied.end()), (std::set<std::int32_t>{1, 2}));

  draw = repeated({-5.0F, 3.0F, 2.9F, -kInf}, 60, 1.0F);
  draw.top_p.assign(60, 0.0F);  // never empty: the best stays
  for (const std::int32_t id : run(device, draw)) EXPECT_EQ(id, 1);
  draw.top_p.assign(60, 1.0F);
  draw.top_k.assign(60, 1000);  // more than there are: off
  EXPECT_EQ(run(device, draw), run(device, repeated({-5.0F, 3.0F, 2.9F, -kInf}, 60, 1.0F)));
  draw.temperature.assign(60, -1.0F);  // below zero is greedy, as zero
  for (const std::int32_t id : run(device, draw)) EXPECT_EQ(id, 1);
}

ATTN_DEVICE_TEST(Sample, ADrawDependsOnSeedAndCounterOnly) {
  const std::vector<float> logits = random_normal(300, 5, DType::f32);
  const std::vector<std::int32_t> ids = run(device, repeated(logits, 40, 1.0F));
  Draw reversed = repeated(logits, 40, 1.0F);
  std::reverse(reversed.counter.begin(), reversed.counter.end());
  std::vector<std::int32_t> back = run(device, reversed);
  std::reverse(back.begin(), back.end());
  EXPECT_EQ(back, ids);
  Draw other = repeated(logits, 40, 1.0F);
  other.seed = 1;
  EXPECT_NE(run(device, other), ids);
  EXPECT_GT(std::set<std::int32_t>(ids.begin(), ids.end()).size(), 10U);
}

TEST(Sample, EveryThreadOrderGivesTheSameToken) {
  Draw draw = repeated(random_normal(700, 9, DType::f32), 6, 0.8F);
  draw.top_k = {0, 50, 0, 20, 5, 0};
  draw.top_p = {1.0F, 1.0F, 0.9F, 0.5F, 0.3F, 0.1F};
  const std::vector<std::int32_t> expected = run(*make_simt_device(), draw);
  for (const SimtOptions& options :
       {SimtOptions{.order = SimtOrder::reverse}, SimtOptions{.order = SimtOrder::shuffled, .seed = 1},
        SimtOptions{.order = SimtOrder::shuffled, .seed = 2, .strict = true}}) {
    EXPECT_EQ(run(*make_simt_device(options), draw), expected);
  }
}

}  // namespace attn::test
