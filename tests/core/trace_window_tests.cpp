// A window of a large batch is exactly its part of the whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/trace/inspector.h"
#include "core/trace/launch_job.h"
#include "tests/core/trace_random.h"

namespace attn::trace::test {
namespace {

/// Random steps, cut into the smallest windows: weights, tiles, lse and o are the whole launch's, bit for
/// bit.
TEST(TraceWindows, AreTheirPartOfTheWhole) {
  const auto device = make_simt_device();
  const Manifest manifest = small_manifest();
  RandomSteps steps(40);
  std::mt19937 random(41);
  auto recording = std::make_shared<Recording>(manifest);
  int windows = 0;
  for (int index = 0; index < 60; ++index) {
    auto step = std::make_shared<StepRecord>(steps.next());
    recording->append(step);
    PoolHistory pools(recording);
    const auto pool = pools.at(index, 0);
    const LayerRecord& layer = step->layers[0];
    const StepRecord launched = launched_step(*step, {});
    const RowWindow all{0, step->num_scheduled, 0, step->cu_seqlens_q.back()};
    const LaunchJob whole_job(launched, manifest.model, layer, pool.get(), all, device->traits());
    const AttentionOutputs whole = launch_attention(*device, whole_job.inputs(), true);
    for (int row = 0; row < all.num_rows; ++row) {
      RowWindow window;
      if (is_decode(step->path)) {
        const int count = 1 + static_cast<int>(random() % 2);
        window = {row, std::min(count, all.num_rows - row), row, std::min(count, all.num_rows - row)};
      } else {
        const auto after = std::upper_bound(step->cu_seqlens_q.begin(), step->cu_seqlens_q.end(), row);
        const int rows = 1 + static_cast<int>(random() % static_cast<unsigned>(*after - row));
        window = {static_cast<int>(after - step->cu_seqlens_q.begin()) - 1, 1, row, rows};
      }
      const LaunchJob job(launched, manifest.model, layer, pool.get(), window, device->traits());
      AttentionOutputs part = launch_attention(*device, job.inputs(), true);
      part.view.first_row = window.first_row;
      ASSERT_EQ(part.view.num_q, window.num_rows);
      EXPECT_EQ(part.o.data, cut_rows(whole.o, window.first_row, window.num_rows).data)
          << "step " << index << " rows " << window.first_row << " + " << window.num_rows;
      const auto same = [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); };
      for (int head = 0; head < 4; ++head) {
        for (int r = window.first_row; r < window.first_row + window.num_rows; ++r) {
          EXPECT_TRUE(
              same(part.view.lse[part.view.at(head, r, 1, 0)], whole.view.lse[whole.view.at(head, r, 1, 0)]));
          for (int k = 0; k < part.view.max_k; ++k) {
            ASSERT_TRUE(same(part.view.weight(head, r, k), whole.view.weight(head, r, k)));
          }
        }
      }
      ++windows;
    }
  }
  EXPECT_GT(windows, 150);
}

TEST(TraceWindows, TheWindowHoldsTheFocusAndDoesNotDependOnItOtherwise) {
  StepRecord step;
  step.num_scheduled = 2;
  step.seqs.resize(2);
  step.seqs[1].id = 5;
  step.cu_seqlens_q = {0, 300, 1000};
  step.cu_seqlens_k = {0, 300, 2000};
  step.max_seqlen_q = 700;
  step.max_seqlen_k = 1700;
  const ModelShape model = small_manifest().model;
  const auto window = [&](int seq, int row) {
    return choose_window(step, model, {seq, row}, 4.0 * (1U << 20U));  // 61 rows: one multiple of 64
  };
  EXPECT_EQ(window(0, 0), (RowWindow{0, 1, 0, 64}));
  EXPECT_EQ(window(0, 63), (RowWindow{0, 1, 0, 64}));
  EXPECT_EQ(window(0, -1), (RowWindow{0, 1, 256, 44}));
  EXPECT_EQ(window(5, 130), (RowWindow{1, 1, 300 + 128, 64}));
  EXPECT_EQ(window(77, 9999), window(0, -1)) << "no such sequence: the first";
  EXPECT_EQ(choose_window(step, model, {5, 3}, 1e12), (RowWindow{0, 2, 0, 1000}));
}

}  // namespace
}  // namespace attn::trace::test
