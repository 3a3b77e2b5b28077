// Facts of one head of one layer's attention: weights and softmax state out of the kernel's own probe,
// outputs as the engine recorded them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/trace/fact_scope.h"
#include "core/trace/launch_job.h"
#include "core/trace/record_check.h"
#include "core/trace/stolen_mass.h"
#include "core/trace/tensor_values.h"
#include "kernels/common/check.h"

namespace attn::trace {
namespace {

using Scope = FactScope;

/// Columns of the place's row that the kernel looked at: weights elsewhere are NaN.
std::vector<int> seen_columns(const Scope& s, const AttentionView& view, int row) {
  std::vector<int> columns;
  for (int col = 0; col < view.attended[s.batch()]; ++col) {
    if (!std::isnan(view.weight(s.place().head, row, col))) columns.push_back(col);
  }
  return columns;
}

FactValue weight(const Scope& s) {
  const AttentionView& view = s.weights_view();
  const int col = s.number(s.place().col);
  if (col >= view.max_k) throw InputError(fmt::format("there are {} keys", view.max_k));
  return view.weight(s.place().head, s.row(), col);
}

/// `of` is AttentionView::weight or score.
FactValue of_seen_keys(const Scope& s, float (AttentionView::*of)(int head, int row, int col) const) {
  const AttentionView& view = s.weights_view();
  std::vector<float> values;
  for (const int col : seen_columns(s, view, s.row()))
    values.push_back((view.*of)(s.place().head, s.row(), col));
  return FactValue::list_of(values);
}

FactValue weights(const Scope& s) { return of_seen_keys(s, &AttentionView::weight); }
FactValue scores(const Scope& s) { return of_seen_keys(s, &AttentionView::score); }

FactValue row_sum(const Scope& s) {
  const AttentionView& view = s.weights_view();
  double total = 0.0;
  for (const int col : seen_columns(s, view, s.row())) total += view.weight(s.place().head, s.row(), col);
  return total;
}

FactValue keys_seen(const Scope& s) { return seen_columns(s, s.weights_view(), s.row()).size(); }

/// Over all query rows of the sequence.
FactValue pairs_allowed(const Scope& s) {
  const AttentionView& view = s.weights_view();
  const std::size_t b = s.batch();
  std::size_t pairs = 0;
  for (int row = s.step().cu_seqlens_q[b]; row < s.step().cu_seqlens_q[b + 1]; ++row) {
    if (!view.has_row(row)) throw InputError("the batch is so large that not all of its rows were looked at");
    pairs += seen_columns(s, view, row).size();
  }
  return pairs;
}

FactValue pairs(const Scope& s) {
  const std::size_t b = s.batch();
  return s.q_len(b) * k_len(s.step(), b);
}

StolenMass stolen_here(const Scope& s) {
  const AttentionView& view = s.weights_view();
  if (s.step().kind != StepKind::decode) throw InputError("only a decode can attend pads");
  return stolen_mass(view, static_cast<int>(s.batch()), s.place().head);
}

FactValue lse(const Scope& s) {
  const AttentionView& view = s.weights_view();
  return view.lse[view.at(s.place().head, s.row(), 1, 0)];
}

/// Of the tiles that the place's row went through.
FactValue tile_list(const Scope& s, std::vector<float> AttentionView::*values) {
  const AttentionView& view = s.weights_view();
  std::vector<float> list;
  for (int tile = 0; tile < view.num_tiles; ++tile) {
    const std::size_t at = view.tile_at(s.place().head, s.row(), tile);
    if (!std::isnan(view.tile_l[at])) list.push_back((view.*values)[at]);
  }
  return FactValue::list_of(list);
}

FactValue tile_value(const Scope& s, std::vector<float> AttentionView::*values) {
  const AttentionView& view = s.weights_view();
  const int tile = s.number(s.place().tile);
  if (tile >= view.num_tiles) throw InputError(fmt::format("there are {} tiles", view.num_tiles));
  return (view.*values)[view.tile_at(s.place().head, s.row(), tile)];
}

/// l * exp(m): the sum of exp(score) so far, whatever m is.
FactValue tile_sums(const Scope& s) {
  const auto m = tile_list(s, &AttentionView::tile_m), l = tile_list(s, &AttentionView::tile_l);
  FactValue::List sums;
  for (std::size_t i = 0; i < std::get<FactValue::List>(m.is).size(); ++i) {
    sums.emplace_back(std::get<FactValue::List>(l.is)[i].number() *
                      std::exp(std::get<FactValue::List>(m.is)[i].number()));
  }
  return sums;
}

/// Tiles behind the first that shrank what came before.
FactValue rescales(const Scope& s) {
  const AttentionView& view = s.weights_view();
  int count = 0;
  for (int tile = 1; tile < view.num_tiles; ++tile) {
    if (view.tile_alpha[view.tile_at(s.place().head, s.row(), tile)] < 1.0F) ++count;
  }
  return count;
}

std::vector<float> output_row(const Scope& s) {
  std::vector<float> o = tensor_row(s.layer().o, s.row(), s.place().head);
  if (o.empty()) throw InputError("o has no such row or head");
  return o;
}

FactValue o_element(const Scope& s) {
  const std::vector<float> o = output_row(s);
  const auto i = static_cast<std::size_t>(s.number(0));
  if (i >= o.size()) throw InputError(fmt::format("o has {} elements", o.size()));
  return o[i];
}

FactValue o_norm(const Scope& s) {
  const std::vector<float> o = output_row(s);
  return std::sqrt(std::inner_product(o.begin(), o.end(), o.begin(), 0.0));
}

/// Rows of the packed, gathered K that this step computed itself.
FactValue fresh_rows(const Scope& s) {
  const std::size_t b = s.batch();
  std::vector<int> rows;
  for (int row = s.step().cu_seqlens_k[b + 1] - s.q_len(b); row < s.step().cu_seqlens_k[b + 1]; ++row) {
    rows.push_back(row);
  }
  return FactValue::list_of(rows);
}

FactValue gathered_diff(const Scope& s) {
  const TensorRecord gathered = s.inspector().gathered_keys(s.index(), s.place().layer);
  const std::size_t b = s.batch();
  const int rows = s.q_len(b);
  return max_abs_diff(cut_rows(gathered, s.step().cu_seqlens_k[b + 1] - rows, rows),
                      cut_rows(s.layer().k, s.step().cu_seqlens_q[b], rows));
}

FactValue o_minus_q(const Scope& s) { return max_abs_diff(s.layer().o, s.layer().q); }

}  // namespace

std::vector<Fact> attention_facts() {
  using enum FactKind;
  using enum FactArgument;
  return {
      {"kernel", text, none, "the attention kernel that was launched again",
       [](const Scope& s) -> FactValue { return s.view().kernel; }},
      {"relaunch_error", number, none, "max |o - recorded o| of that launch",
       [](const Scope& s) -> FactValue { return s.view().max_abs_diff_o; }},
      {"score", number, FactArgument::index, "q.k * scale of a key",
       [](const Scope& s) -> FactValue {
         return s.weights_view().score(s.place().head, s.row(), s.number(s.place().col));
       }},
      {"scores", list, none, "of all keys that the row sees", scores},
      {"weight", number, FactArgument::index, "softmax weight of a key", weight},
      {"weights", list, none, "of all keys that the row sees", weights},
      {"row_sum", number, none, "their sum", row_sum},
      {"keys_seen", number, none, "how many keys the row's kernel looked at", keys_seen},
      {"pairs_allowed", number, sequence, "(query, key) pairs that a sequence's mask lets through",
       pairs_allowed},
      {"pairs", number, sequence, "all of them: query rows times keys", pairs},
      {"lse", number, none, "log of the softmax sum of the row", lse},
      {"exp_lse", number, none, "the softmax sum itself",
       [](const Scope& s) -> FactValue { return std::exp(lse(s).number()); }},
      {"pads", number, none, "zero keys that the row attends to",
       [](const Scope& s) -> FactValue { return stolen_here(s).pads; }},
      {"stolen", number, none, "weight that they take, measured",
       [](const Scope& s) -> FactValue { return stolen_here(s).measured; }},
      {"stolen_law", number, none, "P / (Z + P), from the kernel's lse",
       [](const Scope& s) -> FactValue { return stolen_here(s).predicted; }},
      {"num_tiles", number, none, "key tiles that the row went through",
       [](const Scope& s) -> FactValue {
         return std::get<FactValue::List>(tile_list(s, &AttentionView::tile_m).is).size();
       }},
      {"tile_m", list, none, "running maximum after each tile",
       [](const Scope& s) { return tile_list(s, &AttentionView::tile_m); }},
      {"tile_l", list, none, "running sum after each tile",
       [](const Scope& s) { return tile_list(s, &AttentionView::tile_l); }},
      {"tile_alpha", list, none, "factor that each tile put on what came before",
       [](const Scope& s) { return tile_list(s, &AttentionView::tile_alpha); }},
      {"tile_o_norm", list, none, "|o| after each tile, before the division by l",
       [](const Scope& s) { return tile_list(s, &AttentionView::tile_o_norm); }},
      {"tile_sums", list, none, "l * exp(m) after each tile: the sum of exp(score) so far", tile_sums},
      {"m", number, FactArgument::index, "running maximum after a tile",
       [](const Scope& s) { return tile_value(s, &AttentionView::tile_m); }},
      {"l", number, FactArgument::index, "running sum after a tile",
       [](const Scope& s) { return tile_value(s, &AttentionView::tile_l); }},
      {"alpha", number, FactArgument::index, "factor of a tile",
       [](const Scope& s) { return tile_value(s, &AttentionView::tile_alpha); }},
      {"rescales", number, none, "tiles that shrank what came before", rescales},
      {"o", number, FactArgument::index, "element of the row's recorded output", o_element},
      {"o_norm", number, none, "its length", o_norm},
      {"o_minus_q", number, none, "max |o - q| of the layer: 0 where attention returned q", o_minus_q},
      {"fresh_rows", list, sequence, "rows of the gathered K that this step computed itself", fresh_rows},
      {"gathered_diff", number, sequence,
       "max |K row read back by gather and flatten - K row of this step|: 0 = bit for bit", gathered_diff},
      {"kv_head", list, none, "KV head that each query head read",
       [](const Scope& s) { return FactValue::list_of(s.view().kv_head); }},
  };
}

}  // namespace attn::trace
