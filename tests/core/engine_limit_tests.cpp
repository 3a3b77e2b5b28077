// What cannot be done is refused with a sentence that names the limit, and nobody else notices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/engine/scheduler.h"
#include "engine_support.h"
#include "kernels/common/check.h"

namespace attn::test {
namespace {

std::string reason_of(const std::vector<StepPtr>& steps, int id) {
  for (const StepPtr& step : steps) {
    for (const trace::Rejected& rejected : step->rejected) {
      if (rejected.id == id) return rejected.reason;
    }
  }
  return "";
}

bool finished(const std::vector<StepPtr>& steps, int id) {
  return std::ranges::any_of(
      steps, [id](const StepPtr& step) { return std::ranges::count(step->finished, id) > 0; });
}

int tokens_of(const std::vector<StepPtr>& steps, int id) {
  int count = 0;
  for (const StepPtr& step : steps) {
    for (const trace::Sampled& sampled : step->sampled) count += sampled.seq_id == id && !sampled.discarded;
  }
  return count;
}

TEST(EngineLimits, ImpossibleRequestsAreRefusedAloneAndNameTheirLimit) {
  EngineConfig config = pool(4, 8);
  config.max_model_len = 20;
  const auto greedy = [](auto change) {
    Request r = request(range(1, 3), 2);
    change(r);
    return r;
  };
  const std::vector<std::pair<Request, std::string>> bad = {
      {request({}, 4), "no tokens"},
      {request({1, -1}, 4), "token id -1 is outside the vocabulary"},
      {request(range(1, 21), 4), "21 tokens and max_model_len is 20"},
      {request(range(1, 40), 4), "40 tokens and max_model_len is 20"},
      {request(range(1, 3), 0), "max_tokens is 0"},
      {greedy([](Request& r) { r.sampling.temperature = -1.0F; }), "temperature is -1"},
      {greedy([](Request& r) { r.sampling.temperature = std::nanf(""); }), "temperature is nan"},
      {greedy([](Request& r) { r.sampling.top_k = -2; }), "top_k is -2"},
      {greedy([](Request& r) { r.sampling.top_p = 0.0F; }), "top_p is 0"},
  };
  std::vector<Request> requests;
  for (const auto& [r, text] : bad) requests.push_back(r);
  requests.push_back(request(range(1, 5), 3));
  const auto steps = run(config, requests);
  for (std::size_t i = 0; i < bad.size(); ++i) {
    const std::string reason = reason_of(steps, static_cast<int>(i));
    EXPECT_NE(reason.find(bad[i].second), std::string::npos) << i << ": '" << reason << "'";
  }
  const int good = static_cast<int>(bad.size());
  EXPECT_TRUE(finished(steps, good));
  EXPECT_EQ(tokens_of(steps, good), 3);
  EXPECT_EQ(steps.size(), 3U) << "the refused ones cost no step";
}

TEST(EngineLimits, WhenAllAreRefusedOneStepSaysSo) {
  const auto steps = run(pool(4, 2), {request({}, 1), request(range(1, 30), 1, 9)});
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0]->rejected.size(), 2U);
  EXPECT_EQ(steps[0]->num_scheduled, 0);
  EXPECT_TRUE(steps[0]->seqs.empty());
  EXPECT_EQ(steps[0]->cu_seqlens_q, Ints{0});
  EXPECT_EQ(steps[0]->free_blocks, (Ints{0, 1}));
}

// vLLM PR 29633: a prompt exactly as long as the limit looped for ever.
TEST(EngineLimits, APromptAsLongAsTheLimitGivesOneToken) {
  EngineConfig config = pool(4, 8);
  config.max_model_len = 6;
  const auto steps = run(config, {request(range(1, 6), 9), request(range(1, 5), 9), request(range(1, 3), 9)});
  EXPECT_EQ(tokens_of(steps, 0), 1);
  EXPECT_EQ(tokens_of(steps, 1), 1);
  EXPECT_EQ(tokens_of(steps, 2), 3) << "3 + 3 = max_model_len";
  for (int id = 0; id < 3; ++id) EXPECT_TRUE(finished(steps, id));
}

// vLLM issue 42381: one token over the limit stalled the queue behind it.
TEST(EngineLimits, AShortPromptBehindATooLongOneIsServed) {
  EngineConfig config = pool(4, 8);
  config.max_model_len = 8;
  const auto steps =
      run(config, {request(range(1, 9), 1), request(range(1, 16), 1), request(range(1, 3), 1)});
  EXPECT_NE(reason_of(steps, 0), "");
  EXPECT_NE(reason_of(steps, 1), "");
  EXPECT_TRUE(finished(steps, 2));
}

TEST(EngineLimits, TwoThatDoNotFitTogetherBothEnd) {
  // Each alone fits the pool of 3 blocks up to 12 tokens; both ask for more.
  const EngineConfig config = pool(4, 3);
  Auditor auditor(config);
  const auto steps = run(config, {request(range(1, 5), 50), request(range(11, 14), 50)});
  for (const StepPtr& step : steps) auditor.check(*step);
  for (const auto& [id, prompt] : std::map<int, int>{{0, 5}, {1, 4}}) {
    EXPECT_NE(reason_of(steps, id).find("the pool has 3"), std::string::npos);
    EXPECT_EQ(prompt + tokens_of(steps, id), 13)
        << "every token that fits, and the one sampled from the last";
  }
}

TEST(EngineLimits, EosEndsASequenceUnlessIgnored) {
  for (const bool ignore : {false, true}) {
    StepLog log;
    Scheduler scheduler(pool(4, 8), {7, 9}, log);
    SamplingParams sampling;
    sampling.ignore_eos = ignore;
    scheduler.add(std::make_shared<Sequence>(0, range(1, 3), sampling, 4));
    const Schedule schedule = scheduler.schedule();
    scheduler.postprocess(schedule, {9});
    EXPECT_EQ(scheduler.is_finished(), !ignore);
    EXPECT_EQ(log.finished.size(), ignore ? 0U : 1U);
  }
}

TEST(EngineLimits, AConfigThatCannotWorkNamesTheField) {
  const auto message_of = [](auto change) -> std::string {
    EngineConfig config;
    change(config);
    try {
      config.validate();
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message_of([](EngineConfig&) {}), "");
  EXPECT_EQ(message_of([](EngineConfig& c) { c.block_size = 1; }), "");
  EXPECT_EQ(message_of([](EngineConfig& c) { c.block_size = 0; }),
            "engine.block_size is 0; use 1 or more tokens per block");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {message_of([](EngineConfig& c) { c.num_blocks = 0; }), "engine.num_blocks is 0"},
      {message_of([](EngineConfig& c) { c.num_blocks = 1 << 30; }), "engine.num_blocks is 1073741824"},
      {message_of([](EngineConfig& c) { c.max_num_seqs = -1; }), "engine.max_num_seqs is -1"},
      {message_of([](EngineConfig& c) { c.max_num_batched_tokens = 0; }),
       "engine.max_num_batched_tokens is 0"},
      {message_of([](EngineConfig& c) { c.max_model_len = -5; }), "engine.max_model_len is -5"},
      {message_of([](EngineConfig& c) { c.prefill_level = 5; }), "engine.prefill_level is 5"},
      {message_of([](EngineConfig& c) { c.decode_level = 0; }), "engine.decode_level is 0"},
      {message_of([](EngineConfig& c) { c.num_splits = -1; }), "engine.num_splits is -1"},
      {message_of([](EngineConfig& c) { c.num_splits = 129; }), "engine.num_splits is 129"},
      {message_of([](EngineConfig& c) { c.k_tile = -1; }), "engine.k_tile is -1"},
      {message_of([](EngineConfig& c) { c.k_tile = 65; }), "engine.k_tile is 65"},
      {message_of([](EngineConfig& c) { c.record_layers = -2; }), "engine.record_layers is -2"},
  };
  for (const auto& [message, begin] : cases) EXPECT_EQ(message.rfind(begin, 0), 0U) << message;
}

}  // namespace
}  // namespace attn::test
