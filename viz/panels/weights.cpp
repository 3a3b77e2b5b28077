#include "viz/panels/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/trace/number_text.h"
#include "viz/layout/cutter.h"
#include "viz/panels/decode_strip.h"
#include "viz/panels/dot_product.h"
#include "viz/panels/head_thumbs.h"
#include "viz/panels/mass_bars.h"
#include "viz/panels/weights_matrix.h"
#include "viz/pool_facts.h"
#include "viz/roofline_facts.h"
#include "viz/widgets/axes.h"
#include "viz/widgets/paint.h"
#include "viz/widgets/tall_body.h"
#include "viz/widgets/veil.h"

namespace attn::viz {
namespace {

std::string_view scale_text(WeightScale scale) {
  return scale == WeightScale::log10 ? "log10" : scale == WeightScale::rank ? "rank" : "linear";
}

std::string_view scale_tip(WeightScale scale) {
  return scale == WeightScale::log10 ? "colour by log10, floor 1e-6; click for rank (L)"
         : scale == WeightScale::rank
             ? "colour by the share of this head's weights that are smaller; click for "
               "linear (L)"
             : "colour by the weight itself; click for log10 (L)";
}

// Pixels at scale 1: the least that a part can be read at.
constexpr float kLeastMatrix = 132.0F;
constexpr float kLeastScore = 112.0F;
constexpr float kLeastFoot = 300.0F;  // width of a legend beside the matrix
constexpr float kLeastStrip = 132.0F;
constexpr float kRoomy = 380.0F;  // a panel of this height has head miniatures

/// Where the parts of a prefill go; a foot without a width stands below the cells.
struct Places {
  Rect matrix, foot, score;
};

float cells_of(const Ui& ui, const WeightsInput& in, const Places& at) {
  const Rect cells = matrix_cells(ui, in, ui.view.attention.matrix, at.matrix, at.foot.w <= 0.0F);
  return cells.w * cells.h;
}

/// The matrix as high as the rectangle, what else there is in the column that it leaves free at its right.
Places column_beside(const Ui& ui, const WeightsInput& in, const Rect& rect) {
  const MatrixView& view = ui.view.attention.matrix;
  const float gap = ui.px(16);
  Places at;
  at.matrix = {rect.x, rect.y, rect.w - ui.px(kLeastFoot) - gap, rect.h};
  const Rect cells = matrix_cells(ui, in, view, at.matrix, false);
  const float x = cells.right() + matrix_sums_width(ui) + gap;
  const float foot_h = matrix_foot_height(ui, in, view);
  at.foot = {x, rect.bottom() - foot_h, rect.right() - x, foot_h};
  at.score = {x, rect.y, rect.right() - x, std::min(ui.px(280), rect.h - foot_h - gap)};
  return at;
}

void draw_places(Ui& ui, const WeightsInput& in, const Places& at) {
  draw_weights_matrix(ui, in, ui.view.attention.matrix, at.matrix, at.foot.w > 0.0F ? &at.foot : nullptr);
  draw_dot_product(ui, in, at.score);
}

/// In a low panel the matrix fills what is seen at once, and the other parts follow below.
void draw_low_prefill(Ui& ui, const WeightsInput& in, float thumbs_h) {
  const float gap = ui.px(8);
  const float matrix_h = std::max(ui.body.h - gap - fold_note_height(ui), ui.px(kLeastMatrix));
  const float score_h = ui.px(kLeastScore);
  const TallBody tall(ui, "weights/parts",
                      matrix_h + gap + (thumbs_h > 0.0F ? thumbs_h + gap : 0.0F) + score_h + ui.px(4));
  Cutter rest{ui.body, gap};
  const Rect first = rest.top(matrix_h);
  Places at{first, {}, {}};
  const Places beside = column_beside(ui, in, first);
  if (beside.foot.y >= first.y && cells_of(ui, in, beside) > cells_of(ui, in, at)) at = beside;
  at.foot.y = first.y;
  if (thumbs_h > 0.0F) draw_head_thumbs(ui, in, rest.top(thumbs_h));
  at.score = rest.top(score_h);
  draw_places(ui, in, at);
}

/// The arrangement with the largest cells: the score taken apart below the matrix, beside it, or beside it
/// with the legend.
Places roomiest(const Ui& ui, const WeightsInput& in, const Rect& rest) {
  const float below_h = std::clamp(rest.h * 0.3F, ui.px(kLeastScore), ui.px(170));
  const float beside_w = std::clamp(rest.w * 0.34F, ui.px(196), ui.px(420));
  const Places below{{rest.x, rest.y, rest.w, rest.h - below_h - ui.px(4)},
                     {},
                     {rest.x, rest.bottom() - below_h, rest.w, below_h}};
  const Places beside{{rest.x, rest.y, rest.w - beside_w - ui.px(12), rest.h},
                      {},
                      {rest.right() - beside_w, rest.y, beside_w, std::min(rest.h, ui.px(280))}};
  const Places column = column_beside(ui, in, rest);
  const Places& best = cells_of(ui, in, below) >= cells_of(ui, in, beside) ? below : beside;
  const bool fits = column.score.h >= ui.px(kLeastScore) && column.matrix.w >= ui.px(kLeastFoot);
  return fits && cells_of(ui, in, column) > cells_of(ui, in, best) ? column : best;
}

/// Head miniatures above the matrix and the score.
void draw_prefill(Ui& ui, const WeightsInput& in) {
  Rect rest = ui.body;
  const float least_thumbs = head_thumbs_height(ui, in, {rest.x, rest.y, rest.w, ui.px(kRoomy)});
  const float gaps = ui.px(8) * (least_thumbs > 0.0F ? 2.0F : 1.0F);
  if (rest.h < least_thumbs + ui.px(kLeastMatrix) + ui.px(kLeastScore) + gaps)
    return draw_low_prefill(ui, in, least_thumbs);
  const float thumbs_h = head_thumbs_height(ui, in, rest);
  if (thumbs_h > 0.0F) {
    draw_head_thumbs(ui, in, {rest.x, rest.y, rest.w, thumbs_h});
    rest.y += thumbs_h + ui.px(8);
    rest.h -= thumbs_h + ui.px(8);
  }
  draw_places(ui, in, roomiest(ui, in, rest));
}

/// The strip fills what is seen at once where the panel is low; what the pads took follows below.
void draw_decode(Ui& ui, const WeightsInput& in) {
  const float gap = ui.px(6);
  const float mass_h = mass_bars_height(ui);
  const bool low = ui.body.h < ui.px(kLeastStrip) + gap + mass_h;
  const float strip_h =
      low ? std::max(ui.body.h - gap - fold_note_height(ui), ui.px(kLeastStrip)) : ui.body.h - mass_h - gap;
  const TallBody tall(ui, "weights/parts", strip_h + gap + mass_h);
  Cutter rest{ui.body, gap};
  draw_decode_strip(ui, in, ui.view.attention.decode, rest.top(strip_h));
  draw_mass_bars(ui, in, rest.top(mass_h));
}

}  // namespace

HeatPart WeightsInput::part() const {
  return {head, rows.q0, rows.q_len, rows.attended, mask, row_from, row_to - row_from, 0, rows.attended};
}

WeightsInput weights_input(const Frame& frame, std::shared_ptr<const trace::AttentionView> view, int seq,
                           int head, MaskAlignment mask, std::string prefix) {
  WeightsInput in;
  in.view = std::move(view);
  in.rows = batch_rows(frame, seq);
  in.head = head;
  in.mask = mask;
  in.prefix = std::move(prefix);
  if (!in.view || in.rows.batch < 0) return in;
  const auto b = static_cast<std::size_t>(in.rows.batch);
  const int attended = b < in.view->attended.size() ? in.view->attended[b] : in.rows.k_len;
  in.rows.attended = std::clamp(attended, 0, in.view->max_k);
  in.rows.k_len = std::min(in.rows.k_len, in.rows.attended);
  in.row_from = std::clamp(in.view->first_row - in.rows.q0, 0, in.rows.q_len);
  in.row_to = std::clamp(in.view->first_row + in.view->num_q - in.rows.q0, in.row_from, in.rows.q_len);
  return in;
}

std::string weights_missing(const Frame& frame, const WeightsInput& in) {
  if (!frame.step) return "Softmax weights of the selected sequence, layer and head appear here.";
  if (frame.step->path == trace::AttentionPath::identity)
    return "No attention in this step: without context or cache the output is q itself.";
  if (in.rows.batch < 0)
    return fmt::format("{} has no rows in this step; select a sequence that runs.", seq_letter(in.rows.seq));
  if (!in.view) {
    return frame.attention_note.empty() ? "Running the attention kernel again with its probe on \xE2\x80\xA6"
                                        : frame.attention_note;
  }
  const trace::AttentionView& view = *in.view;
  const bool whole =
      view.weights.size() >= static_cast<std::size_t>(view.num_heads) * view.num_q * view.max_k;
  if (!whole || in.rows.attended < 1 || in.head < 0 || in.head >= view.num_heads)
    return fmt::format("The inspector's record has no weights for head {} of these rows.", in.head);
  if (in.row_to <= in.row_from) {
    return fmt::format(
        "The inspector's record holds packed rows {} to {} of this large prefill; {} is rows {} "
        "to {}.",
        view.first_row, view.first_row + view.num_q - 1, seq_letter(in.rows.seq), in.rows.q0,
        in.rows.q0 + in.rows.q_len - 1);
  }
  return {};
}

Palette palette_of(const Ui& ui) {
  return ui.view.attention.palette.value_or(ui.view.theme == ThemeId::print ? Palette::greys
                                                                            : Palette::cividis);
}

void draw_scale_legend(Ui& ui, const std::string& prefix, const Rect& rect) {
  const Palette palette = palette_of(ui);
  const WeightScale scale = ui.view.weight_scale;
  const float button_h = std::min(rect.h, ui.px(24));
  const float scale_w = ui.px(58);
  const float palette_w = ui.px(66);
  const float buttons_w = scale_w + palette_w + ui.px(18);
  const float bar_w = std::min(ui.px(230), rect.w - buttons_w);
  if (bar_w < ui.px(60)) return;
  const Rect bar{rect.x, rect.y, bar_w, std::min(rect.h, ui.px(30))};
  draw_color_bar(ui, bar, palette, scale);
  mark(ui, prefix + "/colors", bar,
       fmt::format("{}, {} scale; hatched: masked; error colour: NaN or infinite", palette_text(palette),
                   scale_text(scale)));
  const float x = bar.right() + ui.px(14);
  if (ui.view.picture.still) {  // the same in words
    text_in(ui, FontRole::small, {x, rect.y, rect.right() - x, button_h}, ui[Color::muted],
            fmt::format("{}, {}", scale_text(scale), palette_text(palette)), Align::left);
    return;
  }
  if (button(ui, prefix + "/scale", {x, rect.y, scale_w, button_h}, scale_text(scale), scale_tip(scale)))
    ui.view.weight_scale = next_scale(scale);
  if (button(ui, prefix + "/palette", {x + scale_w + ui.px(4), rect.y, palette_w, button_h},
             palette_text(palette), "colours: cividis, viridis, greys"))
    ui.view.attention.palette = static_cast<Palette>((static_cast<int>(palette) + 1) % kNumPalettes);
}

std::string dark_note(const Ui& ui, float largest) {
  constexpr float kDark = 0.1F;  // below a tenth of the scale colours are hard to tell apart
  if (ui.view.weight_scale != WeightScale::linear || !(largest > 0.0F) || largest >= kDark) return {};
  return fmt::format("largest weight {:.2g} of 1  \xC2\xB7  L: log scale", num(largest));
}

void draw_weights(Ui& ui, const Rect& rect) {
  const MaskAlignment mask = ui.frame.step ? mask_in_force(*ui.frame.step) : MaskAlignment::bottom_right;
  const WeightsInput in =
      weights_input(ui.frame, ui.frame.attention, focus_seq(ui.frame, ui.selection), ui.selection.head, mask);
  const std::string note = weights_missing(ui.frame, in);
  std::string title = "Softmax weights";
  if (in.rows.batch >= 0) title += fmt::format(" of {}", seq_letter(in.rows.seq));
  std::string caption;
  if (note.empty())
    caption =
        with_moment_note(ui.frame, ui.selection, ui.view.grain,
                         with_probe_note(ui.frame, fmt::format("layer {}, head {}  \xC2\xB7  {}",
                                                               in.view->layer, in.head, in.view->kernel)));
  if (!begin_panel(ui, "weights", rect, title, caption)) return;
  if (!note.empty()) {
    empty_note(ui, note);
  } else if (is_prefill(*ui.frame.step)) {
    draw_prefill(ui, in);
  } else {
    draw_decode(ui, in);
  }
  if (note.empty()) veil_before_attention(ui);
  end_panel(ui);
}

}  // namespace attn::viz
