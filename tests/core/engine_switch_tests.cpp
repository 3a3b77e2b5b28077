// The table of switches: every entry names a field, every value can be set and read back, and what breaks the
// answer is told.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/engine/config_fields.h"
#include "core/engine/switches.h"
#include "kernels/common/check.h"

namespace attn::test {
namespace {

using Names = std::vector<std::string>;

std::string refusal(std::string_view name, std::string_view value) {
  EngineConfig config;
  try {
    set_switch(config, name, value);
  } catch (const InputError& error) {
    EXPECT_EQ(switch_value(config, "head_map"), "grouped") << "a refused value changed something";
    return error.what();
  }
  return "accepted";
}

TEST(EngineSwitches, EveryValueOfEveryEntryCanBeSetAndReadBack) {
  for (const EngineSwitch& entry : engine_switches()) {
    SCOPED_TRACE(entry.title);
    EXPECT_EQ(entry.default_value, switch_value({}, entry.name));
    EXPECT_GE(entry.values.size(), 2U);
    EXPECT_NE(std::ranges::find(entry.values, entry.default_value), entry.values.end());
    EXPECT_TRUE(entry.text.ends_with('.'));
    for (const std::string& value : entry.values) {
      EngineConfig config;
      set_switch(config, entry.name, value);
      EXPECT_EQ(switch_value(config, entry.name), value);
    }
  }
}

TEST(EngineSwitches, TitlesAreUniqueAndBreaksGoFromRightToWrong) {
  std::set<std::string> titles;
  for (const EngineSwitch& entry : engine_switches()) {
    EXPECT_TRUE(titles.insert(entry.title).second) << entry.title;
    if (!entry.break_it) continue;
    ASSERT_EQ(entry.values.size(), 2U) << entry.title;
    EXPECT_EQ(entry.values.front(), entry.default_value) << entry.title;
    EngineConfig config;
    set_switch(config, entry.name, entry.values.back());
    EXPECT_EQ(broken(config), Names{entry.title});
    set_switch(config, entry.name, entry.values.front());
    EXPECT_EQ(broken(config), Names{}) << entry.title;
  }
}

TEST(EngineSwitches, ChoicesAloneBreakNothing) {
  for (const EngineSwitch& entry : engine_switches()) {
    if (entry.break_it) continue;
    for (const std::string& value : entry.values) {
      EngineConfig config;
      set_switch(config, entry.name, value);
      EXPECT_EQ(broken(config), value == "gather_padded" ? Names{"Padding is attended"} : Names{})
          << entry.name << " = " << value;
    }
  }
}

TEST(EngineSwitches, SeveralBreaksAreToldInTheOrderOfTheMenu) {
  EngineConfig config;
  set_switch(config, "positions_restart", "true");
  set_switch(config, "mask_alignment", "top_left");
  set_switch(config, "forget_store", "17");
  EXPECT_EQ(broken(config),
            (Names{"Mask hangs from the top left", "One store is forgotten", "Positions restart at 0"}));
}

TEST(EngineSwitches, AGraphWithoutCacheOperationsNeedsGraphs) {
  EngineConfig config;
  set_switch(config, "graph_skip_cache_ops", "true");
  EXPECT_TRUE(config.cuda_graphs);
  set_switch(config, "cuda_graphs", "false");
  EXPECT_FALSE(config.graph_skip_cache_ops);
  config.graph_skip_cache_ops = true;
  EXPECT_THROW(config.validate(), InputError);
}

TEST(EngineSwitches, RefusalsNameTheNearest) {
  EXPECT_EQ(refusal("haed_map", "modulo"), "there is no engine switch 'haed_map'; did you mean 'head_map'?");
  EXPECT_EQ(refusal("head_map", "modula"), "engine.head_map is 'modula'; did you mean 'modulo'?");
  EXPECT_EQ(refusal("stale_hash", "yes"), "engine.stale_hash is 'yes'; known: true, false");
  EXPECT_EQ(refusal("forget_store", "2x"), "engine.forget_store is '2x'; use a whole number");
  EXPECT_EQ(refusal("forget_store", "0"),
            "engine.forget_store is 0; use -1 (nothing is forgotten) or the number of a step, from 1");
  EXPECT_EQ(refusal("seed", "-1"), "engine.seed is '-1'; use a whole number");
}

TEST(EngineSwitches, EveryFieldHasAValue) {
  const EngineConfig config;
  int fields = 0;
  visit_fields(
      [&](const char* name, const auto&) {
        ++fields;
        EXPECT_FALSE(switch_value(config, name).empty()) << name;
      },
      config);
  EXPECT_GT(fields, 20);
}

}  // namespace
}  // namespace attn::test
