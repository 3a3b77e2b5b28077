// Traces of real engine runs on a tiny random model: every record passes the check, survives the file, and
// every cursor, visited last to first, is reproduced to the bit by the inspector.
#include <gtest/gtest.h>

#include <set>

#include "core/trace/describe.h"
#include "core/trace/inspector.h"
#include "core/trace/jsonl.h"
#include "core/trace/names.h"
#include "core/trace/pool_history.h"
#include "core/trace/record_check.h"
#include "core/trace/state_hash.h"
#include "core/trace/trace_file.h"
#include "tests/core/engine_support.h"
#include "tests/core/trace_random.h"
#include "tests/core/trace_runs.h"

namespace attn::trace::test {
namespace {

struct Paths {
  PrefillPath prefill;
  DecodePath decode;
  int level;
  bool warmup;
};

class TraceEngine : public testing::TestWithParam<Paths> {};

TEST_P(TraceEngine, EveryCursorIsReproducedLastToFirst) {
  TemporaryFolder folder;
  const auto device = make_simt_device();
  EngineConfig config = tight_config();
  config.prefill_path = GetParam().prefill;
  config.decode_path = GetParam().decode;
  config.prefill_level = config.decode_level = GetParam().level;
  config.warmup = config.warmup_identity = GetParam().warmup;
  const auto live = tight_run(*device, config, folder / "run.attn");
  const std::shared_ptr<const Store> file = open_trace(folder / "run.attn");
  EXPECT_EQ(file->note(), "");
  ASSERT_EQ(file->num_steps(), live->num_steps());
  ASSERT_GT(live->num_steps(), 8);
  Inspector of_live(*device, live), of_file(*device, file);
  for (int index = live->num_steps() - 1; index >= 0; --index) {
    const auto step = live->step(index);
    EXPECT_NO_THROW(check_record(*step, live->manifest().model));
    expect_same_record(*file->step(index), *step);
    EXPECT_EQ(state_hash(*file->step(index)), step->state_hash);
    for (int layer = 0; layer < 2; ++layer) {
      const auto view = of_live.inspect(index, layer);
      EXPECT_EQ(view->max_abs_diff_o, 0.0)
          << "step " << step->step << " layer " << layer << " path " << name_of(step->path);
      EXPECT_EQ(of_file.inspect(index, layer)->max_abs_diff_o, 0.0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Paths, TraceEngine,
    testing::Values(Paths{PrefillPath::paged, DecodePath::paged, 2, false},
                    Paths{PrefillPath::paged, DecodePath::paged, 1, true},
                    Paths{PrefillPath::gather_flatten, DecodePath::gather_padded, 2, true},
                    Paths{PrefillPath::gather_flatten, DecodePath::gather_masked, 1, false}));

TEST(TraceEngineRun, TheScenarioHasWhatTheTestsAbovePromise) {
  TemporaryFolder folder;
  const auto device = make_simt_device();
  const auto live = tight_run(*device, tight_config(), folder / "run.attn");
  std::set<EventKind> events;
  std::set<AttentionPath> paths;
  for (int i = 0; i < live->num_steps(); ++i) {
    for (const Event& event : live->step(i)->events) events.insert(event.kind);
    paths.insert(live->step(i)->path);
  }
  for (const EventKind kind :
       {EventKind::prefix_hit, EventKind::free, EventKind::preempt, EventKind::reject}) {
    EXPECT_TRUE(events.contains(kind)) << name_of(kind);
  }
  EXPECT_EQ(paths, (std::set{AttentionPath::prefill_packed, AttentionPath::prefill_paged,
                             AttentionPath::decode_paged}));
  EXPECT_EQ(live->token_text(7), "<7>");
  EXPECT_NE(describe_trace(*live).find("Rejected 3:"), std::string::npos);
}

TEST(TraceEngineRun, BookkeepingOnlyRunsPassTheCheckToo) {
  TemporaryFolder folder;
  attn::test::NoDevice device;
  Engine engine(device, nullptr, tight_config());
  engine.add_request(attn::test::request(attn::test::range(1, 8), 6));
  engine.add_request(attn::test::request(attn::test::range(1, 14), 5));
  Manifest manifest;
  manifest.config = engine.config();
  Writer writer(folder / "run.attn", manifest);
  std::vector<std::string> lines;
  while (engine.has_work()) {
    const auto step = engine.step();
    EXPECT_NO_THROW(check_record(*step, engine.model_shape()));
    writer.append(*step);
    lines.push_back(to_json_line(*step));
  }
  const auto store = open_trace(folder / "run.attn");
  ASSERT_EQ(static_cast<std::size_t>(store->num_steps()), lines.size());
  for (int i = 0; i < store->num_steps(); ++i) {
    EXPECT_EQ(to_json_line(*store->step(i)), lines[static_cast<std::size_t>(i)]);
  }
}

}  // namespace
}  // namespace attn::trace::test
