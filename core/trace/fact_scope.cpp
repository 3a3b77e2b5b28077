#include "core/trace/fact_scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "kernels/common/check.h"

namespace attn::trace {
namespace {

int int_of(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw InputError(fmt::format("'{}' is no number", text));
  }
  return value;
}

/// Index in the store of the engine's step of that number.
int index_of(const Store& store, int step) {
  const int steps = store.num_steps();
  if (steps == 0) throw InputError("the run has no steps");
  const int first = store.step(0)->step, index = step - first;
  if (index < 0 || index >= steps) {
    throw InputError(fmt::format("the run has steps {} to {}, not {}", first, first + steps - 1, step));
  }
  return index;
}

}  // namespace

FactScope::FactScope(FactSource source, const FactPlace& place, const FactCall& call, FactSource other)
    : source_(std::move(source)), other_(std::move(other)), place_(place), call_(call) {
  index_ = index_of(*source_.store, place.step);
  step_ = source_.store->step(index_);
}

int FactScope::seq_id() const {
  const bool named = call_.fact->argument == FactArgument::sequence && !call_.argument.empty();
  if (!named) {
    if (place_.seq >= 0) return place_.seq;
    if (step_->seqs.empty()) throw InputError("no sequence is alive");
    return step_->seqs.front().id;
  }
  const auto& labels = store().manifest().request_labels;
  const auto found = std::ranges::find(labels, call_.argument);
  if (found != labels.end()) return static_cast<int>(found - labels.begin());
  if (call_.argument.find_first_not_of("0123456789") != std::string::npos) {
    throw InputError(fmt::format("there is no request '{}'", call_.argument));
  }
  return int_of(call_.argument);
}

const SeqState& FactScope::find_seq(const std::vector<SeqState>& seqs) const {
  const int id = seq_id();
  const auto found = std::ranges::find(seqs, id, &SeqState::id);
  if (found == seqs.end()) throw InputError(fmt::format("sequence {} is not alive", label(id)));
  return *found;
}

std::size_t FactScope::batch() const {
  const int id = seq_id();
  for (std::size_t b = 0; b < static_cast<std::size_t>(step_->num_scheduled); ++b) {
    if (step_->seqs[b].id == id) return b;
  }
  throw InputError(fmt::format("sequence {} does not run in this step", label(id)));
}

int FactScope::row() const {
  const std::size_t b = batch();
  const int rows = q_len(b), row = place_.row < 0 ? rows - 1 : place_.row;
  if (row < 0 || row >= rows)
    throw InputError(fmt::format("its sequence has {} query rows, not {}", rows, row + 1));
  return step_->cu_seqlens_q[b] + row;
}

int FactScope::number(int otherwise) const {
  const int value = call_.argument.empty() ? otherwise : int_of(call_.argument);
  if (value < 0) throw InputError("nothing is chosen; name it in brackets or select it");
  return value;
}

const BlockState& FactScope::block() const {
  const int id = number(place_.block);
  if (static_cast<std::size_t>(id) >= step_->blocks.size()) {
    throw InputError(fmt::format("the pool has {} blocks, no block {}", step_->blocks.size(), id));
  }
  return step_->blocks[static_cast<std::size_t>(id)];
}

std::pair<int, int> FactScope::steps() const {
  const std::string& text = call_.argument;
  if (text.empty()) return {index_, index_};
  const std::size_t dots = text.find("..");
  const int first = int_of(std::string_view(text).substr(0, dots));
  const int last = dots == std::string::npos ? first : int_of(std::string_view(text).substr(dots + 2));
  return {index_of(store(), first), index_of(store(), last)};
}

const LayerRecord& FactScope::layer() const {
  const auto found = std::ranges::find(step_->layers, place_.layer, &LayerRecord::layer);
  if (found == step_->layers.end()) throw InputError(fmt::format("layer {} is not recorded", place_.layer));
  return *found;
}

std::string FactScope::label(int seq_id) const {
  const auto& labels = store().manifest().request_labels;
  const auto i = static_cast<std::size_t>(seq_id);
  return seq_id >= 0 && i < labels.size() ? labels[i] : fmt::format("{}", seq_id);
}

Inspector& FactScope::inspector() const {
  if (!source_.inspector) throw InputError("there is no device to launch its kernel on");
  return *source_.inspector;
}

const AttentionView& FactScope::view() const {
  if (compares()) return *side().view;
  if (!view_) view_ = inspector().inspect(index_, place_.layer, {place_.seq, place_.row});
  return *view_;
}

const AttentionView& FactScope::weights_view() const {
  const AttentionView& seen = view();
  if (seen.path == AttentionPath::identity) throw InputError("attention returned q, there are no weights");
  if (!seen.has_row(row())) throw InputError("the batch is so large that this row was not looked at");
  if (place_.head >= seen.num_heads) throw InputError(fmt::format("there are {} heads", seen.num_heads));
  return seen;
}

const CompareView& FactScope::comparison() const {
  if (!compares()) throw InputError("nothing is compared; give the stop \"compare\"");
  if (!compare_) {
    const auto& [a, b] = *place_.compare;
    compare_ = inspector().compare(index_, place_.layer, a, b, {place_.seq, place_.row});
  }
  return *compare_;
}

const StepRecord& FactScope::other_step() const {
  if (!other_step_) other_step_ = other().step(index_of(other(), step_->step));
  return *other_step_;
}

}  // namespace attn::trace
