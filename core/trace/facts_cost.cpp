// Facts of what steps cost. Those with steps in brackets ("2..33") are summed over them.
#include <fmt/format.h>

#include <array>
#include <cstdio>

#include "core/trace/costs.h"
#include "core/trace/fact_scope.h"
#include "kernels/common/check.h"

namespace attn::trace {
namespace {

using Scope = FactScope;

template <class Of>
FactValue sum(const Scope& s, Of&& of) {
  const auto [first, last] = s.steps();
  std::uint64_t total = 0;
  for (int i = first; i <= last; ++i) total += of(step_costs(*s.store().step(i)));
  return total;
}

FactValue tokens_out(const Scope& s) {
  const auto [first, last] = s.steps();
  RunCosts costs;
  for (int i = first; i <= last; ++i) add_step(costs, *s.store().step(i));
  return costs.prefill.tokens_out + costs.decode.tokens_out;
}

FactValue passes(const Scope& s) {
  int count = 0;
  for (int i = 0; i < s.store().num_steps(); ++i) {
    if (s.store().step(i)->kind != StepKind::warmup) ++count;
  }
  return count;
}

FactValue k_rows_moved_here(const Scope& s) {
  const std::vector<LaunchEntry>& launches = s.compares() ? s.side().launches : s.step().launches;
  return k_rows_moved(launches, s.place().layer, s.step(), s.model());
}

FactValue kv_bytes_per_token(const Scope& s) {
  const ModelShape& m = s.model();
  return kv_bytes(m.num_layers, m.num_kv_heads, m.head_dim, m.dtype);
}

/// "28 x 8 x 128 BF16": of a model that is not here, by its stated shape.
FactValue kv_bytes_of(const Scope& s) {
  int layers = 0, heads = 0, head_dim = 0, used = 0;
  std::array<char, 8> name{};
  const std::string& shape = s.argument();
  const int read =
      std::sscanf(shape.c_str(), "%d x %d x %d %7s%n", &layers, &heads, &head_dim, name.data(), &used);
  const bool whole = read == 4 && used == static_cast<int>(shape.size());
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    if (whole && layers > 0 && heads > 0 && head_dim > 0 && dtype_name(dtype) == name.data())
      return kv_bytes(layers, heads, head_dim, dtype);
  }
  throw InputError(
      fmt::format("'{}' is no shape of a cache; write layers x KV heads x head_dim and F32, F16 or BF16: "
                  "28 x 8 x 128 BF16",
                  shape));
}

}  // namespace

std::vector<Fact> cost_facts() {
  using enum FactKind;
  using enum FactArgument;
  return {
      {"score_dots", number, FactArgument::steps,
       "dot products of a query with a key that it sees, for one head",
       [](const Scope& s) { return sum(s, [](const StepCosts& c) { return c.score_dots; }); }},
      {"rows_computed", number, FactArgument::steps, "tokens that went through the model",
       [](const Scope& s) { return sum(s, [](const StepCosts& c) { return c.query_rows; }); }},
      {"kv_rows_written", number, FactArgument::steps, "K rows stored in the cache, of one layer",
       [](const Scope& s) { return sum(s, [](const StepCosts& c) { return c.kv_rows_written; }); }},
      {"kv_rows_read", number, FactArgument::steps, "keys attended to, of all sequences, pads too",
       [](const Scope& s) { return sum(s, [](const StepCosts& c) { return c.kv_rows_read; }); }},
      {"flop", number, FactArgument::steps, "of all kernels, from their launch records",
       [](const Scope& s) { return sum(s, [](const StepCosts& c) { return c.total.flop; }); }},
      {"bytes", number, FactArgument::steps, "that all kernels must move, from their launch records",
       [](const Scope& s) { return sum(s, [](const StepCosts& c) { return c.total.bytes; }); }},
      {"attention_bytes", number, FactArgument::steps, "the same of the attention stages alone",
       [](const Scope& s) { return sum(s, [](const StepCosts& c) { return c.attention.bytes; }); }},
      {"launches", number, FactArgument::steps, "kernels launched",
       [](const Scope& s) {
         return sum(s, [](const StepCosts& c) { return static_cast<std::uint64_t>(c.total.launches); });
       }},
      {"tokens_out", number, FactArgument::steps, "tokens sampled and kept", tokens_out},
      {"passes", number, none, "forward passes of the whole run, the warm-up left out", passes, false, true},
      {"k_rows_moved", number, none,
       "K rows read and written to attend, per KV head of the place's layer: gather, flatten, repeat and "
       "attention",
       k_rows_moved_here},
      {"kv_bytes_per_token", number, none, "of the model: K and V of all layers", kv_bytes_per_token},
      {"kv_bytes_of", number, FactArgument::name,
       "the same of another model, whose shape is stated: kv_bytes_of[28 x 8 x 128 BF16] has 28 layers and 8 "
       "KV "
       "heads of 128",
       kv_bytes_of},
  };
}

}  // namespace attn::trace
