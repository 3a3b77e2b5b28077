// Weights, one score taken apart, numbers below the stage.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "headless.h"
#include "sample_frame.h"
#include "viz/panels/mass_bars.h"
#include "viz/panels/weights.h"
#include "viz/widgets/text_log.h"

namespace attn::viz {
namespace {

trace::TensorRecord tensor(std::int64_t rows, std::int64_t heads, std::int64_t width, float first) {
  trace::TensorRecord out{DType::f32, {rows, heads, width}, {}};
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows * heads * width; ++i)
    values.push_back(first + 0.01F * static_cast<float>(i % 37));
  out.data.resize(values.size() * sizeof(float));
  std::memcpy(out.data.data(), values.data(), out.data.size());
  return out;
}

/// One sequence of 6 new tokens, packed keys, with q and k of layer 0 recorded.
sample::Sample recorded_prefill() {
  auto s = sample::make({.seqs = {{0, 6, 6, 0, 6, {3, 1}}}});
  trace::LayerRecord layer;
  layer.q = tensor(6, 8, 16, -0.1F);
  layer.k = tensor(6, 2, 16, -0.2F);
  s.step->layers.push_back(layer);
  return s;
}

TEST(ShareText, RoundsNothingToAllOrToNothing) {
  EXPECT_EQ(share_text(0.0), "0.00 %");
  EXPECT_EQ(share_text(1.0), "100.00 %");
  EXPECT_EQ(share_text(0.0001), "0.01 %");
  EXPECT_EQ(share_text(0.9999), "99.99 %");
  EXPECT_EQ(share_text(0.00002), "< 0.01 %");
  Mass mass;
  mass.real = 0.99999995;  // a sum of F32 weights
  EXPECT_EQ(real_text(mass), "100.00 %");
  mass.pads.measured = 0.0000002;
  EXPECT_EQ(real_text(mass), "> 99.99 %");
  mass.real = 0.9999;
  EXPECT_EQ(real_text(mass), "99.99 %");
}

TEST(Weights, ScoreIsTheDotProductOfTheRecordedRows) {
  const auto s = recorded_prefill();
  Headless screen(1600, 900);
  screen.selection.head = 5;
  screen.selection.q_row = 4;
  screen.selection.k_col = 2;
  screen.draw(s.frame);
  const auto q = trace::tensor_row(s.step->layers[0].q, 4, 5);
  const auto k = trace::tensor_row(s.step->layers[0].k, 2, 1);  // head 5 of 8 reads K/V head 1 of 2
  double dot = 0.0;
  for (std::size_t d = 0; d < q.size(); ++d) dot += static_cast<double>(q[d]) * static_cast<double>(k[d]);
  const std::string text = value_of(screen, "weights/score");
  EXPECT_NE(text.find(fmt::format("{:.7f}", dot * 0.25)), std::string::npos) << text;
  EXPECT_NE(text.find(fmt::format("score of the kernel: {:.7f}", s.attention->score(5, 4, 2))),
            std::string::npos);
  EXPECT_NE(value_of(screen, "weights/dot/3").find(fmt::format("{:.5f}", q[3] * k[3])), std::string::npos);
  EXPECT_EQ(screen.marks.get("weights/score")->source.substr(0, 11), "q[4, 5, :] ");
}

TEST(Weights, ARowSelectedWithoutAKeyShowsItsOwnScore) {
  const auto s = recorded_prefill();
  Headless screen(1600, 900);
  screen.selection.head = 5;
  screen.selection.q_row = 3;
  screen.draw(s.frame);
  EXPECT_EQ(screen.marks.get("weights/score")->source.substr(0, 11), "q[3, 5, :] ");
}

TEST(Weights, AKeyWithoutARowIsThatOfTheLastRow) {
  const auto s = recorded_prefill();
  Headless screen(1600, 900);
  screen.selection.head = 5;
  screen.selection.k_col = 1;  // where a walk from cell to cell stands
  screen.draw(s.frame);
  const std::string source = screen.marks.get("weights/score")->source;
  EXPECT_NE(source.find("scores[5, 5, 1]"), std::string::npos) << source;
  EXPECT_NE(value_of(screen, "mask/rule").find("j = 1"), std::string::npos) << value_of(screen, "mask/rule");
}

TEST(Weights, MaskedCellsHaveNoScore) {
  const auto s = recorded_prefill();
  Headless screen(1600, 900);
  screen.selection.q_row = 1;
  screen.selection.k_col = 4;
  screen.draw(s.frame);
  EXPECT_NE(value_of(screen, "weights/score").find("masked"), std::string::npos);
}

TEST(Weights, NanIsSaidNotColoured) {
  auto s = sample::prefill();
  const std::size_t at = s.attention->at(0, 2, s.attention->max_k, 5);  // B, query 2, key 5: visible
  s.attention->weights[at] = std::numeric_limits<float>::quiet_NaN();
  Headless screen(1600, 900);
  screen.selection.seq = 1;
  screen.draw(s.frame);
  EXPECT_NE(value_of(screen, "weights/cell/2,5").find("weight NaN"), std::string::npos);
  EXPECT_EQ(screen.view.attention.matrix.heat.bad, 1);
  screen.draw(s.frame);
  EXPECT_NE(value_of(screen, "weights/notes").find("NaN or infinite"), std::string::npos);
  EXPECT_NE(value_of(screen, "weights/head/0").find("NaN"), std::string::npos);
}

TEST(Weights, InfiniteMassIsSaidInDecode) {
  auto s = sample::padded_decode();
  s.attention->weights[s.attention->at(0, 2, s.attention->max_k, 3)] = std::numeric_limits<float>::infinity();
  Headless screen(1600, 900);
  screen.selection.seq = 2;
  screen.draw(s.frame);
  EXPECT_NE(value_of(screen, "weights/key/3").find("inf"), std::string::npos);
  EXPECT_EQ(screen.marks.get("numbers/row_sum")->value.find("1.0000"), std::string::npos);
}

TEST(Weights, TheLegendCyclesScaleAndPalette) {
  const auto s = sample::prefill();
  Headless screen(1600, 900);
  screen.click(s.frame, "weights/scale");
  EXPECT_EQ(screen.view.weight_scale, WeightScale::log10);
  screen.click(s.frame, "weights/scale");
  EXPECT_EQ(screen.view.weight_scale, WeightScale::rank);
  screen.click(s.frame, "weights/palette");
  EXPECT_EQ(screen.view.attention.palette, Palette::viridis);
  screen.view.attention.palette.reset();
  screen.view.theme = ThemeId::print;
  screen.draw(s.frame);
  EXPECT_NE(value_of(screen, "weights/colors").find("greys"), std::string::npos);
}

TEST(Weights, AWindowOfALargePrefillSaysWhichRowsItHolds) {
  auto s = sample::many(1, 80, 16, trace::StepKind::prefill);
  trace::AttentionView& view = *s.attention;
  const auto columns = static_cast<std::size_t>(view.max_k);
  std::vector<float> weights;
  for (int h = 0; h < view.num_heads; ++h) {
    const auto from = view.weights.begin() + static_cast<std::ptrdiff_t>(view.at(h, 60, view.max_k, 0));
    weights.insert(weights.end(), from, from + static_cast<std::ptrdiff_t>(20 * columns));
  }
  view.weights = weights;
  view.scores.clear();
  view.lse.clear();
  view.first_row = 60;
  view.num_q = 20;
  Headless screen(1600, 900);
  TextLog log;
  screen.view.text_log = &log;
  screen.draw(s.frame);
  int told = 0;
  // Whole, with more to say above it.
  EXPECT_EQ(value_of(screen, "weights/window"), "queries 60-79 are inspected, of 0-79");
  for (const TextLog::Entry& entry : log.entries) {
    if (entry.text.find("are inspected") == std::string::npos) continue;
    EXPECT_FALSE(entry.shortened || entry.left_out);
    ++told;
  }
  EXPECT_EQ(told, 1);
  EXPECT_NE(value_of(screen, "weights/cell/79,3").find("weight"), std::string::npos);
  EXPECT_FALSE(screen.marks.get("weights/cell/10,3").has_value());
  const WeightsInput in = weights_input(s.frame, s.frame.attention, 0, 0, MaskAlignment::bottom_right);
  EXPECT_EQ(in.row_from, 60);
  EXPECT_EQ(in.row_to, 80);
}

TEST(Weights, SequencesOutsideTheWindowAreNamed) {
  auto s = sample::prefill();
  s.attention->first_row = 4;  // C only
  s.attention->num_q = 7;
  const WeightsInput in = weights_input(s.frame, s.frame.attention, 1, 0, MaskAlignment::bottom_right);
  EXPECT_NE(weights_missing(s.frame, in).find("rows 4 to 10"), std::string::npos);
}

TEST(DecodeStrip, ZoomedAggregatesNameTheirRange) {
  const auto s = sample::many(1, 4096, 16, trace::StepKind::decode);
  Headless screen(1600, 900);
  screen.draw(s.frame);
  EXPECT_NE(value_of(screen, "weights/key/100").find("largest weight"), std::string::npos);
  for (int i = 0; i < 7; ++i) screen.click(s.frame, "weights/zoom_in");
  screen.draw(s.frame);
  EXPECT_FALSE(screen.marks.get("weights/key/100").has_value());
  EXPECT_NE(value_of(screen, "weights/key/2048").find("key 2048"), std::string::npos);
}

TEST(DecodeStrip, HoveringABlockOfThePoolLightsItsKeysAndBack) {
  const auto s = sample::padded_decode();
  Headless screen(1600, 900);
  screen.hover(s.frame, "weights/key/8");
  EXPECT_EQ(screen.view.hover.block, 9) << "key 8 of A lies in block 9";
  screen.hover(s.frame, "weights/block/1");
  EXPECT_EQ(screen.view.hover.block, 2);
  EXPECT_EQ(screen.view.hover.name, "block_tables");
}

TEST(DecodeStrip, ManySequencesScroll) {
  const auto s = sample::many(64, 64, 16, trace::StepKind::decode);
  Headless screen(1600, 900);
  screen.draw(s.frame);
  EXPECT_TRUE(screen.marks.find("weights/mass/0") != nullptr);
  EXPECT_TRUE(screen.marks.find("weights/mass/63") == nullptr) << "below the visible part";
}

TEST(Numbers, EveryNumberNamesItsBuffer) {
  auto s = sample::padded_decode();
  trace::AttentionView& view = *s.attention;
  view.num_tiles = 2;
  view.k_tile = 16;
  view.tile_m.assign(static_cast<std::size_t>(view.num_heads) * view.num_q * 2, 1.25F);
  view.tile_l.assign(view.tile_m.size(), 2.5F);
  Headless screen(1600, 900);
  screen.selection.seq = 2;
  screen.selection.head = 3;
  screen.draw(s.frame);
  EXPECT_EQ(screen.marks.get("numbers/m")->source.substr(0, 15), "tile_m[3, 2, 1]");
  EXPECT_NE(value_of(screen, "numbers/l").find("2.5"), std::string::npos);
  EXPECT_NE(value_of(screen, "numbers/lse").find(fmt::format("{:.6f}", view.lse[3 * 3 + 2])),
            std::string::npos);
  const Mass mass = measure_mass(weights_input(s.frame, s.attention, 2, 3, MaskAlignment::none));
  EXPECT_NE(value_of(screen, "numbers/mass").find(fmt::format("{:.6f}", mass.real)), std::string::npos);
  EXPECT_NE(value_of(screen, "numbers/bytes").find("48128 B in 1 launch"), std::string::npos);
  EXPECT_NE(screen.marks.get("numbers/bytes")->source.find("decode_l2_tiled_kernel<float>"),
            std::string::npos);
}

/// The last tile has the state of its own split only.
TEST(Numbers, OfASplitDecodeMAndLAreThoseOfTheMergedRow) {
  const auto s = sample::make({.kind = trace::StepKind::decode,
                               .path = trace::AttentionPath::decode_paged,
                               .num_blocks = 8,
                               .seqs = {{0, 10, 23, 22, 1, {}}},
                               .num_splits = 2});
  const trace::AttentionView& view = *s.attention;
  Headless screen(1600, 900);
  const auto number = [&](const char* name) {
    const std::string value = value_of(screen, name);
    return std::stod(value.substr(value.rfind(": ") + 2));
  };
  int differ = 0;
  for (int head = 0; head < view.num_heads; ++head) {
    screen.selection.head = head;
    screen.draw(s.frame);
    EXPECT_NE(value_of(screen, "numbers/m").find("over 2 splits, merged"), std::string::npos);
    EXPECT_NEAR(number("numbers/m") + std::log(number("numbers/l")), number("numbers/lse"), 1e-5);
    const std::size_t last = view.tile_at(head, 0, view.num_tiles - 1);
    differ +=
        std::abs(view.tile_m[last] + std::log(view.tile_l[last]) - view.lse[view.at(head, 0, 1, 0)]) > 1e-3;
  }
  EXPECT_EQ(differ, view.num_heads) << "or the last tile's state would pass too";
}

TEST(Numbers, WithoutTileStateItSaysSo) {
  auto s = sample::prefill();
  s.attention->tile_m.clear();
  s.attention->tile_l.clear();
  s.attention->num_tiles = 0;
  Headless screen(1600, 900);
  screen.draw(s.frame);
  EXPECT_EQ(value_of(screen, "numbers/m"), "this kernel keeps no state per tile");
}

/// A last block with few keys has no room of its own for its id.
TEST(DecodeStrip, NamesTheLastBlockWhereItIsNarrow) {
  for (const int tokens : {81, 82, 83}) {
    const auto s = sample::many(1, tokens, 4, trace::StepKind::decode);
    for (const WindowSize size : {WindowSize{1280, 720}, {1600, 900}, {1920, 1080}}) {
      Headless screen(size.w, size.h);
      screen.draw(s.frame);
      const int last = s.step->seqs.front().block_table.back();
      const auto id = screen.marks.get(fmt::format("weights/block_id/{}", last));
      ASSERT_TRUE(id.has_value()) << tokens << " keys at " << size.w;
      for (const Mark& other : screen.marks.all()) {
        if (!other.name.starts_with("weights/block_id/") || other.name == id->name) continue;
        EXPECT_TRUE(other.rect.right() <= id->rect.x || other.rect.x >= id->rect.right()) << other.name;
      }
    }
  }
}

}  // namespace
}  // namespace attn::viz
