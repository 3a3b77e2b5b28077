#include "viz/panels/dot_product.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/trace/number_text.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

struct DotRows {
  std::vector<float> q, k;  // [head_dim]
  std::string q_source, k_source;
  std::string missing;  // why one of them is not there
  double scale = 0.0;
};

std::vector<float> key_row(const Frame& frame, const WeightsInput& in, const trace::LayerRecord& layer, int k,
                           int kv_head, DotRows& rows) {
  const trace::SeqState* seq = find_seq(frame.step->seqs, in.rows.seq);
  if (in.view->pool && seq != nullptr) {
    const int block_size = std::max(1, frame.step->config.block_size);
    rows.k_source =
        fmt::format("k_cache[{}, {}, {}, :], block {} of block_tables[{}]", block_of(*seq, k, block_size),
                    k % block_size, kv_head, k / block_size, in.rows.batch);
    return trace::cache_row(*in.view->pool, false, seq->block_table, k, kv_head);
  }
  // Packed keys: a sequence's keys are its new rows, in the same places as its queries.
  if (in.rows.cached() != 0) return {};
  rows.k_source = fmt::format("k[{}, {}, :]", in.rows.q0 + k, kv_head);
  return trace::tensor_row(layer.k, in.rows.q0 + k, kv_head);
}

DotRows rows_of(const Frame& frame, const WeightsInput& in, ScoreCell cell) {
  DotRows rows;
  const trace::StepRecord& step = *frame.step;
  const auto layer = std::find_if(step.layers.begin(), step.layers.end(),
                                  [&](const trace::LayerRecord& l) { return l.layer == in.view->layer; });
  if (cell.k >= in.rows.k_len) {
    rows.missing = "a zero pad: its K row is zeros, so its score is 0";
    return rows;
  }
  if (layer == step.layers.end() || frame.manifest == nullptr) {
    rows.missing = "q and K of this layer are not in the record";
    return rows;
  }
  const trace::ModelShape& model = frame.manifest->model;
  const auto head = static_cast<std::size_t>(in.head);
  const int kv_head = head < in.view->kv_head.size()
                          ? in.view->kv_head[head]
                          : kv_head_of(step.config.head_map, in.head, std::max(1, model.num_heads),
                                       std::max(1, model.num_kv_heads));
  const int row = in.rows.q0 + cell.q;
  if (layer->q.shape.size() != 3 || layer->k.shape.size() != 3) {
    rows.missing = "q and K of this layer are not in the record";
    return rows;
  }
  rows.q = trace::tensor_row(layer->q, row, in.head);
  rows.q_source = fmt::format("q[{}, {}, :] {}", row, in.head, dtype_name(layer->q.dtype));
  rows.k = key_row(frame, in, *layer, cell.k, kv_head, rows);
  if (rows.q.empty() || rows.q.size() != rows.k.size())
    rows.missing = "q and K of this cell are not in the record";
  rows.scale = model.scale ? static_cast<double>(*model.scale)
                           : 1.0 / std::sqrt(static_cast<double>(std::max(1, model.head_dim)));
  return rows;
}

/// Signed bars around a middle line; what is NaN is a full bar in the error colour.
void draw_bars(const Ui& ui, const std::vector<float>& values, const Rect& box) {
  float most = 0.0F;
  for (const float v : values) {
    if (std::isfinite(v)) most = std::max(most, std::abs(v));
  }
  const float middle = std::round(box.y + box.h * 0.5F);
  const float step = box.w / static_cast<float>(values.size());
  const float gap = step >= 5.0F ? 1.0F : 0.0F;
  for (std::size_t d = 0; d < values.size(); ++d) {
    const float x0 = std::round(box.x + step * static_cast<float>(d));
    const float x1 = std::max(x0 + 1.0F, std::round(box.x + step * static_cast<float>(d + 1)) - gap);
    if (!std::isfinite(values[d])) {
      fill(ui, {x0, box.y, x1 - x0, box.h}, ui[Color::error]);
      continue;
    }
    const float h = most > 0.0F ? std::round(values[d] / most * box.h * 0.5F) : 0.0F;
    fill(ui, {x0, h > 0.0F ? middle - h : middle, x1 - x0, std::abs(h)},
         ui[h > 0.0F ? Color::accent : Color::pad]);
  }
  line(ui, box.x, middle, box.right(), middle, ui[Color::stroke]);
}

void touch_dims(Ui& ui, const WeightsInput& in, const DotRows& rows, const std::vector<float>& products,
                const Rect& bars) {
  const auto text = [q = rows.q, k = rows.k, products](int d) {
    const auto at = static_cast<std::size_t>(d);
    return fmt::format("dimension {}: q {:.5f} \xC3\x97 K {:.5f} = {:.5f}", d, num(q[at]), num(k[at]),
                       num(products[at]));
  };
  const std::string source = rows.q_source + "; " + rows.k_source;
  const int dims = static_cast<int>(products.size());
  ui.marks.add_family(in.prefix + "/dot/",
                      [=, prefix = in.prefix](std::string_view rest) -> std::optional<Mark> {
                        int d = -1;
                        if (std::from_chars(rest.data(), rest.data() + rest.size(), d).ec != std::errc{} ||
                            d < 0 || d >= dims)
                          return std::nullopt;
                        const float step = bars.w / static_cast<float>(dims);
                        return Mark{fmt::format("{}/dot/{}", prefix, d),
                                    {bars.x + step * static_cast<float>(d), bars.y, step, bars.h},
                                    text(d),
                                    source};
                      });
  if (!touch(ui, bars).hovered) return;
  const float at = (ImGui::GetIO().MousePos.x - bars.x) / bars.w;
  tooltip(ui, text(std::clamp(static_cast<int>(at * static_cast<float>(dims)), 0, dims - 1)), source);
}

/// "q . K x scale = score", the kernel's score, and how far apart they are: one line, or two in a narrow box.
/// Returns the height used.
float draw_sum(Ui& ui, const WeightsInput& in, const DotRows& rows, ScoreCell cell, double dot, Rect box) {
  const int row = in.rows.q0 + cell.q;
  const bool scored = in.view->scores.size() == in.view->weights.size() && cell.k < in.part().looked(cell.q);
  const double own = dot * rows.scale;
  const std::string sum =
      fmt::format("q\xC2\xB7K = {:.4f} \xC3\x97 {:.4g} = {:.4f}", num(dot), rows.scale, num(own));
  std::string kernel = "masked: no score";
  std::string value = fmt::format("sum of the products {:.7f}, times the scale {:.7g}: {:.7f}", num(dot),
                                  rows.scale, num(own));
  bool good = true;
  if (scored) {
    const double score = static_cast<double>(in.view->score(in.head, row, cell.k));
    const double error = std::abs(score - own);
    good = error <= 1e-3 * std::max(1.0, std::abs(own));
    kernel = fmt::format("kernel {:.4f} (|\xCE\x94| {:.1e})", num(score), num(error));
    value += fmt::format("\nscore of the kernel: {:.7f}, difference {:.2e}", num(score), num(error));
  } else {
    value += "\nmasked: the kernel does not compute this score";
  }
  const float line_h = box.h;
  const Rgb ink = ui[good ? Color::text : Color::error];
  // Fewer digits where the box is narrow; the card has them all.
  const std::string short_sum =
      fmt::format("q\xC2\xB7K = {:.3g} \xC3\x97 {:.3g} = {:.3g}", num(dot), rows.scale, num(own));
  const std::string bare = fmt::format("{:.3g} \xC3\x97 {:.3g} = {:.3g}", num(dot), rows.scale, num(own));
  const std::string both = sum + "  \xC2\xB7  " + kernel;
  if (text_width(ui, FontRole::mono, both) <= box.w) {
    text_in(ui, FontRole::mono, box, ink, both, Align::left);
  } else {
    text_in(ui, FontRole::mono, box, ink, first_fitting(ui, FontRole::mono, box.w, {sum, short_sum, bare}),
            Align::left);
    text_in(ui, FontRole::mono, {box.x, box.y + line_h, box.w, line_h}, ink, kernel, Align::left);
    box.h += line_h;
  }
  mark(ui, in.prefix + "/score", box, value,
       fmt::format("{}; {}; scores[{}, {}, {}] F32, {}", rows.q_source, rows.k_source, in.head, row, cell.k,
                   in.view->kernel));
  return box.h;
}

}  // namespace

ScoreCell score_cell(const Ui& ui, const WeightsInput& in) {
  const auto inside = [&](int seq, int q, int k) {
    return seq == in.rows.seq && q >= in.row_from && q < in.row_to && k >= 0 && k < in.rows.attended;
  };
  const Hover& hover = ui.view.hover;
  if (inside(hover.seq, hover.q_row, hover.k_col)) return {hover.q_row, hover.k_col};
  const Selection& s = ui.selection;
  const int selected_seq = focus_seq(ui.frame, s);
  const int chosen_row = focus_q_row(in.rows, s);
  if (inside(selected_seq, chosen_row, s.k_col)) return {chosen_row, s.k_col};
  const bool row_chosen = selected_seq == in.rows.seq && s.q_row >= in.row_from && s.q_row < in.row_to;
  ScoreCell cell{row_chosen ? s.q_row : in.row_to - 1, 0};
  const int looked = std::min(in.part().looked(cell.q), in.rows.k_len);
  const int row = in.rows.q0 + cell.q;
  for (int k = 1; k < looked; ++k) {
    if (in.view->weight(in.head, row, k) > in.view->weight(in.head, row, cell.k)) cell.k = k;
  }
  return cell;
}

void draw_dot_product(Ui& ui, const WeightsInput& in, const Rect& area) {
  if (area.w < ui.px(180) || area.h < ui.px(90)) return;
  const ScoreCell cell = score_cell(ui, in);
  const trace::SeqState* seq = find_seq(ui.frame.step->seqs, in.rows.seq);
  const auto token = [&](int pos) {
    const auto at = static_cast<std::size_t>(pos);
    return seq != nullptr && pos >= 0 && at < seq->token_ids.size()
               ? token_label(ui.frame, seq->token_ids[at])
               : std::string("?");
  };
  const float line_h = ui.px(18);
  std::string title =
      fmt::format("score of query {} ({}) and key {}", cell.q, token(in.rows.cached() + cell.q), cell.k);
  if (cell.k < in.rows.k_len) title += fmt::format(" ({})", token(cell.k));
  const std::string brief = fmt::format("query {}, key {}", cell.q, cell.k);
  text_in(ui, FontRole::strong, {area.x, area.y, area.w, line_h}, ui[Color::text],
          first_fitting(ui, FontRole::strong, area.w, {title, "score of " + brief, brief}), Align::left);
  const DotRows rows = rows_of(ui.frame, in, cell);
  if (!rows.missing.empty()) {
    text_in(ui, FontRole::small, {area.x, area.y + line_h, area.w, line_h}, ui[Color::muted], rows.missing,
            Align::left);
    return;
  }
  std::vector<float> products(rows.q.size());
  double dot = 0.0;
  for (std::size_t d = 0; d < products.size(); ++d) {
    products[d] = rows.q[d] * rows.k[d];
    dot += static_cast<double>(rows.q[d]) * static_cast<double>(rows.k[d]);
  }
  const float sum_h = draw_sum(ui, in, rows, cell, dot, {area.x, area.y + line_h, area.w, line_h});
  const float label_w = ui.px(38);
  const float bars_y = area.y + line_h + sum_h + ui.px(4);
  const float bar_h = std::min(ui.px(72), std::floor((area.bottom() - bars_y) / 3.0F));
  const float bars_w = std::min(area.w - label_w, ui.px(36) * static_cast<float>(products.size()));
  const Rect bars{area.x + label_w, bars_y, bars_w, 3.0F * bar_h};
  const std::vector<float>* parts[] = {&rows.q, &rows.k, &products};
  static constexpr const char* kLabels[] = {"q", "K", "q\xC2\xB7K"};
  static constexpr const char* kRowNames[] = {"q", "k_cache", "scores"};
  for (int i = 0; i < 3; ++i) {
    const float y = bars.y + bar_h * static_cast<float>(i);
    const Rect label{area.x, y, label_w - ui.px(6), bar_h};
    text_in(ui, FontRole::mono, label, ui[lit(ui, kRowNames[i]) ? Color::accent : Color::muted], kLabels[i],
            Align::left);
    if (touch(ui, label).hovered) ui.view.next_hover.name = kRowNames[i];
    keep_whole(ui, {bars.x, y, bars.w, bar_h}, in.prefix + "/dots");
    draw_bars(ui, *parts[i], {bars.x, y + 1.0F, bars.w, bar_h - 3.0F});
  }
  touch_dims(ui, in, rows, products, bars);
}

}  // namespace attn::viz
