// Facts in plain English.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "core/trace/fact_words.h"

namespace attn::trace {
namespace {

std::string said(std::string_view fact) { return words_of(parse_fact(fact), "main"); }

TEST(FactWords, SayWhatIsCountedOfWhatAndInWhichRun) {
  EXPECT_EQ(said("score_dots[2..33]"), "score dots per head, steps 2 to 33");
  EXPECT_EQ(said("slot_mapping[A]"), "slots of A");
  EXPECT_EQ(said("weight[3]"), "weight of key 3");
  EXPECT_EQ(said("num_cached_tokens[B]"), "tokens of B found in the cache");
  EXPECT_EQ(said("passes@one at a time"), "passes through the model, \"one at a time\"");
  EXPECT_EQ(said("tokens_differing@main"), "tokens that differ from the lesson's own run");
  EXPECT_EQ(said("b.stolen"), "side B: share of the zero keys");
  EXPECT_EQ(said("k_rows_moved / k_rows_moved@paged"), "K rows moved per KV head, in multiples of \"paged\"");
  EXPECT_EQ(said("events[prefix_hit]"), "prefix hit events");
  EXPECT_EQ(said("bytes / tokens_out"), "bytes divided by tokens written");
}

/// Names of arrays that the engine's code has and the screen shows stay; nothing else looks like code.
TEST(FactWords, EveryFactHasThem) {
  constexpr std::array<std::string_view, 3> kArrays = {"cu_seqlens_q", "cu_seqlens_k", "context_lens"};
  for (const Fact& fact : facts()) {
    FactCall call;
    call.fact = &fact;
    for (const char* argument : {"", "A"}) {
      if (fact.argument == FactArgument::none && *argument != '\0') continue;
      call.argument = argument;
      std::string words = words_of(call, "main");
      EXPECT_FALSE(words.empty());
      for (const std::string_view array : kArrays) {
        if (const std::size_t at = words.find(array); at != std::string::npos) words.erase(at, array.size());
      }
      EXPECT_EQ(words.find('_'), std::string::npos) << fact.name << ": " << words;
    }
  }
}

}  // namespace
}  // namespace attn::trace
