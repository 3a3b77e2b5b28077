// Facts of two launches on the same inputs (the stop's comparison), and of two runs (fact@run).
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/trace/fact_scope.h"
#include "core/trace/step_diff.h"
#include "core/trace/tensor_values.h"
#include "kernels/common/check.h"

namespace attn::trace {
namespace {

using Scope = FactScope;

FactValue max_diff_here(const Scope& s) {
  const CompareView& compare = s.comparison();
  const AttentionView& view = *compare.a.view;
  return compare.max_abs_diff_o[view.at(s.place().head, s.row(), 1, 0)];
}

FactValue heads_moved(const Scope& s) {
  const auto &a = s.comparison().a.view->kv_head, &b = s.comparison().b.view->kv_head;
  std::vector<int> heads;
  for (std::size_t h = 0; h < std::min(a.size(), b.size()); ++h) {
    if (a[h] != b[h]) heads.push_back(static_cast<int>(h));
  }
  return FactValue::list_of(heads);
}

/// Of rows of the same sequence and position in both runs.
FactValue max_diff_o(const Scope& s) {
  if (const auto found = diff_steps(s.step(), s.other_step()).max_abs_diff_of(s.place().layer)) return *found;
  throw InputError("the layer is not recorded in both runs");
}

/// The other run's row of the same sequence and position; -1 when it computes none.
int same_row(const Scope& s, const StepRecord& other) {
  const int id = s.step().seqs[s.batch()].id;
  const auto position = s.step().positions[static_cast<std::size_t>(s.row())];
  for (std::size_t b = 0; b < static_cast<std::size_t>(other.num_scheduled); ++b) {
    if (other.seqs[b].id != id) continue;
    for (int row = other.cu_seqlens_q[b]; row < other.cu_seqlens_q[b + 1]; ++row) {
      if (other.positions[static_cast<std::size_t>(row)] == position) return row;
    }
  }
  return -1;
}

/// Of the place's row alone: the same sequence, position and head in both.
FactValue row_diff_o(const Scope& s) {
  const StepRecord& other = s.other_step();
  const auto layer = std::ranges::find(other.layers, s.place().layer, &LayerRecord::layer);
  if (layer == other.layers.end()) throw InputError("the other run did not record the layer");
  const auto a = tensor_row(s.layer().o, s.row(), s.place().head),
             b = tensor_row(layer->o, same_row(s, other), s.place().head);
  if (a.size() != b.size() || a.empty()) throw InputError("the other run has no such row");
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - b[i]));
  return largest;
}

/// Number of the first step whose samples differ; 0 = none does.
FactValue first_wrong_step(const Scope& s) {
  const int steps = std::min(s.store().num_steps(), s.other().num_steps());
  for (int i = 0; i < steps; ++i) {
    const auto a = s.store().step(i), b = s.other().step(i);
    const auto same = [](const Sampled& x, const Sampled& y) {
      return x.seq_id == y.seq_id && x.token_id == y.token_id;
    };
    if (!std::ranges::equal(a->sampled, b->sampled, same)) return a->step;
  }
  return 0;
}

/// Tokens that both runs gave to every request, in the order they came: 0 when all are equal.
FactValue tokens_differing(const Scope& s) {
  const auto tokens_of = [](const Store& store) {
    std::vector<std::vector<std::int32_t>> tokens(store.manifest().request_labels.size());
    for (int i = 0; i < store.num_steps(); ++i) {
      for (const Sampled& one : store.step(i)->sampled) {
        if (!one.discarded && one.seq_id >= 0)
          tokens.at(static_cast<std::size_t>(one.seq_id)).push_back(one.token_id);
      }
    }
    return tokens;
  };
  const auto a = tokens_of(s.store()), b = tokens_of(s.other());
  int differing = 0;
  for (std::size_t r = 0; r < std::min(a.size(), b.size()); ++r) {
    for (std::size_t i = 0; i < std::max(a[r].size(), b[r].size()); ++i) {
      differing += i >= a[r].size() || i >= b[r].size() || a[r][i] != b[r][i] ? 1 : 0;
    }
  }
  return differing;
}

}  // namespace

std::vector<Fact> compare_facts() {
  using enum FactKind;
  using enum FactArgument;
  return {
      {"max_diff", number, none, "max |o of A - o of B|, all heads and rows",
       [](const Scope& s) -> FactValue { return s.comparison().worst; }},
      {"max_diff_here", number, none, "the same of the place's head and row", max_diff_here},
      {"bytes_moved", number, none, "bytes that a side's launches must move",
       [](const Scope& s) -> FactValue { return s.side().bytes; }},
      {"heads_moved", list, none, "query heads that read another KV head in B than in A", heads_moved},
      {"max_diff_o", number, none, "max |o - o of the other run| in this step and layer", max_diff_o, true},
      {"row_diff_o", number, none, "the same of the place's head and row", row_diff_o, true},
      {"first_wrong_step", number, none, "first step whose samples differ from the other run's; 0: none",
       first_wrong_step, true, true},
      {"tokens_differing", number, none, "tokens given to the requests that differ from the other run's",
       tokens_differing, true, true},
  };
}

}  // namespace attn::trace
