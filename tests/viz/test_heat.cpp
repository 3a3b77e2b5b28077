// Heat maps, palettes and ranks: what a cell of a large matrix says, and what NaN means.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "headless.h"
#include "sample_frame.h"
#include "viz/heat_map.h"
#include "viz/heat_texture.h"
#include "viz/palette.h"
#include "viz/panels/weights.h"
#include "viz/widgets/zoom.h"

namespace attn::viz {
namespace {

/// `rows` queries over `cols` keys of one head, bottom-right; weight of (r, c) = (r + 1) * 0.001 + c * 1e-5.
std::shared_ptr<trace::AttentionView> matrix(int rows, int cols) {
  auto view = std::make_shared<trace::AttentionView>();
  view->num_heads = 1;
  view->num_q = rows;
  view->max_k = cols;
  view->k_lens = {cols};
  view->attended = {cols};
  view->weights.assign(static_cast<std::size_t>(rows) * cols, kNan);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < visible_keys(MaskAlignment::bottom_right, r, rows, cols); ++c)
      view->weights[static_cast<std::size_t>(r) * cols + c] =
          static_cast<float>(r + 1) * 0.001F + static_cast<float>(c) * 1e-5F;
  }
  return view;
}

HeatPart whole(int rows, int cols) {
  return {0, 0, rows, cols, MaskAlignment::bottom_right, 0, rows, 0, cols};
}

TEST(HeatMap, CellsAreTheLargestOfTheirGroup) {
  const auto view = matrix(10, 30);
  const HeatMap map = make_heat_map(view, whole(10, 30), 5, 10);
  ASSERT_EQ(map.cell_rows, 5);
  ASSERT_EQ(map.cell_cols, 10);
  EXPECT_FLOAT_EQ(map.cell(0, 0), view->weight(0, 1, 2));
  EXPECT_FLOAT_EQ(map.cell(4, 9), view->weight(0, 9, 29));
  EXPECT_TRUE(std::isnan(map.cell(0, 9))) << "keys 27 .. 29 of queries 0 and 1 are masked";
  EXPECT_FLOAT_EQ(map.max, view->weight(0, 9, 29));
  EXPECT_EQ(map.bad, 0);
}

TEST(HeatMap, PartsKeepTheSumsOfWholeRows) {
  const auto view = matrix(10, 30);
  HeatPart part = whole(10, 30);
  part.row0 = 4;
  part.rows = 2;
  part.col0 = 3;
  part.cols = 5;
  const HeatMap map = make_heat_map(view, part);
  ASSERT_EQ(map.cell_cols, 5);
  EXPECT_FLOAT_EQ(map.cell(1, 2), view->weight(0, 5, 5));
  double sum = 0.0;
  for (int c = 0; c < 25; ++c) sum += static_cast<double>(view->weight(0, 4, c));
  EXPECT_NEAR(map.row_sum[0], sum, 1e-6);
}

TEST(HeatMap, NanAndInfAreNotMaskedCells) {
  const auto view = matrix(6, 6);
  view->weights[5 * 6 + 2] = kNan;
  view->weights[4 * 6 + 1] = std::numeric_limits<float>::infinity();
  const HeatMap fine = make_heat_map(view, whole(6, 6));
  EXPECT_TRUE(std::isinf(fine.cell(5, 2)));
  EXPECT_TRUE(std::isinf(fine.cell(4, 1)));
  EXPECT_TRUE(std::isnan(fine.cell(0, 5)));
  EXPECT_EQ(fine.bad, 2);
  EXPECT_FALSE(std::isfinite(fine.row_sum[5]));
  const HeatMap coarse = make_heat_map(view, whole(6, 6), 2, 2);
  EXPECT_TRUE(std::isinf(coarse.cell(1, 0))) << "one bad weight marks its whole group";
}

TEST(HeatMap, WindowsOfLargePrefills) {
  auto view = matrix(10, 10);
  view->first_row = 100;  // the arrays hold packed rows 100 .. 109
  HeatPart part = whole(10, 10);
  part.q0 = 100;
  EXPECT_EQ(make_heat_map(view, part).cell_rows, 10);
  part.q0 = 95;
  EXPECT_EQ(make_heat_map(view, part).cell_rows, 0) << "row 95 is not in the view";
  part.row0 = 5;
  part.rows = 5;
  part.attended = 10;
  EXPECT_EQ(make_heat_map(view, part).cell_rows, 5);
}

TEST(HeatMap, EveryMapHasAKeyOfItsOwn) {
  const auto view = matrix(4, 4);
  const HeatMap a = make_heat_map(view, whole(4, 4));
  const HeatMap b = make_heat_map(view, whole(4, 4));
  EXPECT_NE(a.key, 0U);
  EXPECT_NE(a.key, b.key);
}

TEST(WeightRanks, ShareOfSmallerWeights) {
  auto view = matrix(1, 4);
  view->weights = {0.4F, 0.1F, 0.3F, 0.2F};
  WeightRanks ranks;
  ranks.build(view, whole(1, 4));
  EXPECT_TRUE(ranks.built_from(view, whole(1, 4)));
  EXPECT_FLOAT_EQ(ranks.rank(0.1F), 0.0F);
  EXPECT_NEAR(ranks.rank(0.2F), 1.0F / 3.0F, 1e-6);
  EXPECT_NEAR(ranks.rank(0.3F), 2.0F / 3.0F, 1e-6);
  EXPECT_FLOAT_EQ(ranks.rank(0.4F), 1.0F);
  EXPECT_FLOAT_EQ(ranks.rank(0.0F), 0.0F);
}

class EveryPalette : public testing::TestWithParam<Palette> {};

TEST_P(EveryPalette, LightnessIsMonotone) {
  const bool rises = luminance(palette_stop(GetParam(), 255)) > luminance(palette_stop(GetParam(), 0));
  EXPECT_EQ(rises, GetParam() != Palette::greys);
  for (int i = 1; i < kPaletteStops; ++i) {
    const double step = luminance(palette_stop(GetParam(), i)) - luminance(palette_stop(GetParam(), i - 1));
    EXPECT_GE(rises ? step : -step, -0.004) << "stop " << i;
  }
}

TEST_P(EveryPalette, EndsAndClamps) {
  EXPECT_EQ(palette_color(GetParam(), -1.0F), palette_stop(GetParam(), 0));
  EXPECT_EQ(palette_color(GetParam(), 2.0F), palette_stop(GetParam(), 255));
  EXPECT_EQ(palette_color(GetParam(), kNan), palette_stop(GetParam(), 0));
}

INSTANTIATE_TEST_SUITE_P(Palettes, EveryPalette,
                         testing::Values(Palette::cividis, Palette::viridis, Palette::greys),
                         [](const auto& each) { return std::string(palette_text(each.param)); });

TEST(Zoom, KeepsThePointUnderTheMouse) {
  const ZoomRange closer = zoomed({0.0, 1.0}, 0.25, 0.5, 0.01);
  EXPECT_DOUBLE_EQ(closer.from, 0.125);
  EXPECT_DOUBLE_EQ(closer.to, 0.625);
  EXPECT_EQ(zoomed(closer, 0.25, 100.0, 0.01), (ZoomRange{0.0, 1.0}));
  const ZoomRange least = zoomed({0.0, 1.0}, 1.0, 1e-9, 0.25);
  EXPECT_DOUBLE_EQ(least.from, 0.75);
  EXPECT_DOUBLE_EQ(least.to, 1.0);
  EXPECT_EQ(moved(least, 5.0), least) << "a drag never leaves the whole";
  EXPECT_EQ(moved(ZoomRange{}, 0.5), ZoomRange{});
}

TEST(Zoom, SpansHoldWholeItems) {
  EXPECT_EQ(shown_span({0.0, 1.0}, 7), (Span{0, 7}));
  EXPECT_EQ(shown_span({0.25, 0.5}, 8), (Span{2, 4}));
  EXPECT_EQ(shown_span({0.99, 1.0}, 3), (Span{2, 3}));
  EXPECT_EQ(shown_span({0.0, 1.0}, 0), Span{});
}

/// Notes what it is asked for, draws nothing.
class Recorder : public HeatPainter {
 public:
  int max_side() const override { return 8192; }
  bool draw(ImDrawList&, const HeatImage& image, const Rect& rect) override {
    last = image;
    largest_value = 0.0F;
    for (int i = 0; i < image.rows * image.cols; ++i) {
      if (std::isfinite(image.data[i])) largest_value = std::max(largest_value, image.data[i]);
    }
    last_rect = rect;
    ++calls;
    return works;
  }
  HeatImage last;
  Rect last_rect;
  float largest_value = 0.0F;
  int calls = 0;
  bool works = true;
};

TEST(HeatTexture, LargeMatricesGoThroughThePainterAndKeepTheirKey) {
  const auto s = sample::many(1, 300, 16, trace::StepKind::prefill);
  Headless screen(1600, 900);
  Recorder painter;
  screen.view.heat_painter = &painter;
  screen.draw(s.frame);
  ASSERT_EQ(painter.calls, 1);
  EXPECT_GT(painter.last.rows, kMaxHeatCells);
  EXPECT_GE(painter.last_rect.w + 0.5F, static_cast<float>(painter.last.cols))
      << "no texel is lost between pixels";
  EXPECT_FLOAT_EQ(painter.largest_value, screen.view.attention.matrix.heat.max);
  const std::uint64_t key = painter.last.key;
  screen.draw(s.frame);
  EXPECT_EQ(painter.last.key, key);
  screen.view.weight_scale = WeightScale::log10;
  screen.draw(s.frame);
  EXPECT_EQ(painter.last.key, key) << "the shader takes the logarithm";
  EXPECT_TRUE(painter.last.log10);
  screen.view.weight_scale = WeightScale::rank;
  screen.draw(s.frame);
  EXPECT_NE(painter.last.key, key) << "ranks are other values";
  EXPECT_LE(painter.largest_value, 1.0F);
  screen.selection.head = 1;
  screen.draw(s.frame);
  EXPECT_NE(painter.last.key / kNumWeightScales, key / kNumWeightScales);
}

TEST(HeatTexture, WithoutAWorkingPainterQuadsAreDrawn) {
  const auto s = sample::many(1, 300, 16, trace::StepKind::prefill);
  Headless screen(1600, 900);
  Recorder painter;
  painter.works = false;
  screen.view.heat_painter = &painter;
  screen.draw(s.frame);
  EXPECT_EQ(screen.view.attention.matrix.heat.cell_rows, 60);
  EXPECT_LT(screen.vertices(), 65'000);
}

}  // namespace
}  // namespace attn::viz
