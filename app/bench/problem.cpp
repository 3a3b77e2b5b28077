#include "app/bench/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/plan.h"
#include "kernels/simt/half_types.h"

namespace attn::app {
namespace {

constexpr std::size_t kMostWorkspace = std::size_t{16} << 30U;
constexpr double kLseBound = 1e-3;

std::vector<std::int32_t> cumulative(const std::vector<int>& lens) {
  std::vector<std::int32_t> cu(1, 0);
  for (const int len : lens) cu.push_back(cu.back() + len);
  return cu;
}

std::vector<int> query_lens(const AttentionCase& c) {
  return c.decode ? std::vector<int>(c.k_lens.size(), 1) : c.q_lens;
}

int longest(const std::vector<int>& lens) { return *std::max_element(lens.begin(), lens.end()); }

}  // namespace

AttentionProblem::AttentionProblem(Device& device, const AttentionCase& c, BenchPath path)
    : device_(device),
      case_(c),
      path_(path),
      max_k_(longest(c.k_lens)),
      first_q_(cumulative(query_lens(c))),
      first_k_(cumulative(c.k_lens)),
      tables_(c.k_lens),
      pool_{tables_.blocks, kBenchBlock, c.kv_heads, c.dim},
      q_(device, static_cast<std::size_t>(first_q_.back()) * c.heads * c.dim, 1) {
  const std::size_t row = static_cast<std::size_t>(c.kv_heads) * c.dim;
  const std::size_t dense_rows = static_cast<std::size_t>(c.batch()) * max_k_;
  const std::size_t rows = reads_pool(path) ? static_cast<std::size_t>(pool_.num_slots())
                           : c.decode       ? dense_rows
                                            : static_cast<std::size_t>(first_k_.back());
  const int sets = input_sets(device, 4.0 * static_cast<double>(rows * row));
  for (int i = 0; i < sets; ++i) {
    k_.emplace_back(device, rows * row, 2 + i);
    v_.emplace_back(device, rows * row, 100 + i);
  }
  if (reads_pool(path) && !paged()) {
    const std::size_t bytes = dense_rows * row * sizeof(std::uint16_t);
    k_dense_ = Buffer(device, bytes, "k_dense");
    v_dense_ = Buffer(device, bytes, "v_dense");
    const std::size_t other = path == BenchPath::gather_repeat ? bytes * c.heads / c.kv_heads
                              : path == BenchPath::gather_flatten
                                  ? first_k_.back() * row * sizeof(std::uint16_t)
                                  : 0;
    k_other_ = Buffer(device, other, "k repeated or flat");
    v_other_ = Buffer(device, other, "v repeated or flat");
  }
  table_ids_ = bench_ints(device, tables_.ids);
  cu_q_ = bench_ints(device, first_q_);
  cu_k_ = bench_ints(device, first_k_);
  lens_ = bench_ints(device, c.k_lens);
  o_ = Buffer(device, q_.bytes(), "o");
  lse_ = Buffer(device, sizeof(float) * first_q_.back() * c.heads, "lse");
  tickets_ = Buffer(device, sizeof(std::uint32_t) * c.batch() * c.heads, "tickets");
  device.fill(tickets_.as<>(), 0, tickets_.bytes());
}

template <class Params>
void AttentionProblem::fill(Params& p, int level) {
  p.dtype = DType::bf16;
  p.level = level;
  p.batch = case_.batch();
  p.num_heads = case_.heads;
  p.num_kv_heads = path_ == BenchPath::gather_repeat ? case_.heads : case_.kv_heads;
  p.head_dim = case_.dim;
  p.scale = 1.0F / std::sqrt(static_cast<float>(case_.dim));
  p.q = q_.device();
  if (paged()) {
    p.kv = pool_;
    p.block_tables = table_ids_.as<std::int32_t>();
    p.block_table_width = tables_.width;
  }
  p.o = o_.as<>();
  p.lse = lse_.as<float>();
  p.total_k_hint = first_k_.back();
}

template <class Params, class Plan>
std::string AttentionProblem::reserve(Params& p, const Plan& plan, int level) {
  if (plan.level != level)
    return level == 4 ? "needs a Hopper GPU and a build for it"
                      : fmt::format("level {} would run instead", plan.level);
  if (plan.workspace_bytes > kMostWorkspace)
    return fmt::format("its scores take {:.0f} GB, more than the {:.0f} GB that the benchmark gives",
                       static_cast<double>(plan.workspace_bytes) * 1e-9,
                       static_cast<double>(kMostWorkspace) * 1e-9);
  workspace_.reset();
  workspace_ = Buffer(device_, plan.workspace_bytes, "workspace");
  p.workspace = workspace_.as<>();
  p.workspace_bytes = plan.workspace_bytes;
  return {};
}

std::string AttentionProblem::prepare_decode(int level) {
  fill(decode_, level);
  decode_.form = paged() ? DecodeForm::paged : DecodeForm::dense_masked;
  decode_.max_len = max_k_;
  decode_.context_lens = lens_.as<std::int32_t>();
  decode_.tickets = tickets_.as<std::uint32_t>();
  return reserve(decode_, plan_decode(decode_, device_.traits()), level);
}

std::string AttentionProblem::prepare_prefill(int level) {
  fill(prefill_, level);
  prefill_.total_q = first_q_.back();
  prefill_.max_seqlen_q = longest(case_.q_lens);
  prefill_.max_seqlen_k = max_k_;
  prefill_.cu_seqlens_q = cu_q_.as<std::int32_t>();
  prefill_.cu_seqlens_k = cu_k_.as<std::int32_t>();
  prefill_.pairs_hint = static_cast<std::int64_t>(case_.pairs());
  prefill_.tickets = tickets_.as<std::uint32_t>();  // more than level 4 needs
  return reserve(prefill_, plan_prefill(prefill_, device_.traits()), level);
}

std::string AttentionProblem::prepare(int level) {
  return case_.decode ? prepare_decode(level) : prepare_prefill(level);
}

void AttentionProblem::gather(int set) {
  device_.kernels().gather_kv({.dtype = DType::bf16,
                               .batch = case_.batch(),
                               .max_len = max_k_,
                               .block_table_width = tables_.width,
                               .kv = pool_,
                               .k_cache = k_[set].device(),
                               .v_cache = v_[set].device(),
                               .block_tables = table_ids_.as<std::int32_t>(),
                               .seqlens = lens_.as<std::int32_t>(),
                               .k_dense = k_dense_.as<>(),
                               .v_dense = v_dense_.as<>(),
                               .total_k_hint = first_k_.back()},
                              device_.context());
}

void AttentionProblem::repeat() {
  RepeatKvParams p{.dtype = DType::bf16,
                   .rows = std::int64_t{case_.batch()} * max_k_,
                   .num_heads = case_.heads,
                   .num_kv_heads = case_.kv_heads,
                   .head_dim = case_.dim};
  for (const auto& [in, out] : {std::pair{&k_dense_, &k_other_}, std::pair{&v_dense_, &v_other_}}) {
    p.in = in->as<>();
    p.out = out->as<>();
    device_.kernels().repeat_kv(p, device_.context());
  }
}

void AttentionProblem::flatten() {
  device_.kernels().flatten_kv({.dtype = DType::bf16,
                                .batch = case_.batch(),
                                .max_len = max_k_,
                                .num_kv_heads = case_.kv_heads,
                                .head_dim = case_.dim,
                                .k_dense = k_dense_.as<>(),
                                .v_dense = v_dense_.as<>(),
                                .cu_seqlens_k = cu_k_.as<std::int32_t>(),
                                .k_flat = k_other_.as<>(),
                                .v_flat = v_other_.as<>(),
                                .total_k_hint = first_k_.back()},
                               device_.context());
}

void AttentionProblem::attend(const void* k, const void* v) {
  const auto launch = [&](auto& p, auto launcher) {
    p.k = k;
    p.v = v;
    launcher(p, device_.context());
  };
  if (case_.decode) return launch(decode_, device_.kernels().decode_attention);
  launch(prefill_, device_.kernels().prefill_attention);
}

void AttentionProblem::run(int set) {
  if (paged() || !reads_pool(path_)) return attend(k_[set].device(), v_[set].device());
  gather(set);
  if (path_ == BenchPath::gather) return attend(k_dense_.as<>(), v_dense_.as<>());
  path_ == BenchPath::gather_repeat ? repeat() : flatten();
  attend(k_other_.as<>(), v_other_.as<>());
}

std::vector<LaunchRecord> AttentionProblem::launches() {
  std::vector<LaunchRecord> log;
  LaunchContext& context = device_.context();
  context.log = &log;
  context.record_only = true;
  run(0);
  context.record_only = false;
  context.log = nullptr;
  return log;
}

std::size_t AttentionProblem::key_row(int b, int j) const {
  if (reads_pool(path_)) return tables_.slot(b, j);
  return static_cast<std::size_t>(case_.decode ? b * max_k_ : first_k_[static_cast<std::size_t>(b)]) + j;
}

/// NaN when lse is off.
double AttentionProblem::row_error(int b, int i, int h, const std::vector<std::uint16_t>& o,
                                   float lse) const {
  const int dim = case_.dim, q_len = first_q_[b + 1] - first_q_[b], keys = case_.k_lens[b] - q_len + i + 1;
  const std::size_t q_at = (static_cast<std::size_t>(first_q_[b] + i) * case_.heads + h) * dim;
  const int kv_head = h / (case_.heads / case_.kv_heads);
  const auto kv_at = [&](int j) { return (key_row(b, j) * case_.kv_heads + kv_head) * dim; };
  std::vector<double> scores(keys), expected(dim, 0.0);
  for (int j = 0; j < keys; ++j) {
    for (int d = 0; d < dim; ++d) scores[j] += q_.at(q_at + d) * k_[0].at(kv_at(j) + d);
    scores[j] /= std::sqrt(static_cast<double>(dim));
  }
  const double top = *std::max_element(scores.begin(), scores.end());
  double sum = 0.0;
  for (int j = 0; j < keys; ++j) {
    const double weight = std::exp(scores[j] - top);
    sum += weight;
    for (int d = 0; d < dim; ++d) expected[d] += weight * v_[0].at(kv_at(j) + d);
  }
  double off = 0.0, all = 0.0;
  for (int d = 0; d < dim; ++d) {
    const double x = expected[d] / sum, y = simt::bf16_bits_to_float(o[d]);
    off += (x - y) * (x - y);
    all += x * x;
  }
  const bool lse_right = std::abs(lse - (top + std::log(sum))) < kLseBound;
  return lse_right ? std::sqrt(off / all) : std::numeric_limits<double>::quiet_NaN();
}

std::optional<double> AttentionProblem::error() {
  for (const Buffer* buffer : {&o_, &lse_}) device_.fill(buffer->as<>(), 0xFF, buffer->bytes());
  run(0);
  device_.synchronize();
  double worst = 0.0;
  for (int n = 0; n < kCheckedRows; ++n) {
    const int b = n * 37 % case_.batch(), q_len = first_q_[b + 1] - first_q_[b],
              h = (n * 7 + 3) % case_.heads;
    const int i = n == 0 ? 0 : n == 1 ? q_len - 1 : n * 977 % q_len;
    const std::size_t row = static_cast<std::size_t>(first_q_[b]) + i;
    std::vector<std::uint16_t> o(case_.dim);
    float lse = 0.0F;
    device_.download(o.data(), o_.as<std::uint16_t>() + (row * case_.heads + h) * case_.dim, o.size() * 2);
    device_.download(&lse, lse_.as<float>() + static_cast<std::size_t>(h) * first_q_.back() + row,
                     sizeof lse);
    const double error = row_error(b, i, h, o, lse);
    if (!std::isfinite(error)) return std::nullopt;
    worst = std::max(worst, error);
  }
  return worst;
}

}  // namespace attn::app
