#include "tests/bench/bench_inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "kernels/common/plan.h"
#include "kernels/common/tiles.h"
#include "kernels/simt/half_types.h"

namespace attn::bench {
namespace {

constexpr std::size_t kPattern = std::size_t{1} << 20U;
constexpr int kBlockSize = 16;
constexpr double kBeyondCache = 300e6;  // bytes that a rotation of K and V moves, several times an L2
constexpr std::size_t kMostWorkspace = std::size_t{16} << 30U;

std::vector<std::int32_t> cumulative(const std::vector<int>& lens) {
  std::vector<std::int32_t> cu(1, 0);
  for (const int len : lens) cu.push_back(cu.back() + len);
  return cu;
}

int longest(const std::vector<int>& lens) { return *std::max_element(lens.begin(), lens.end()); }

}  // namespace

Values::Values(Device& device, std::size_t count, std::uint32_t seed)
    : pattern_(std::min(count, kPattern)), buffer_(device, count * 2, "bench input") {
  std::mt19937 rng(seed);
  for (auto& x : pattern_) {
    const auto bits = static_cast<std::uint32_t>(rng());
    x = static_cast<std::uint16_t>((bits & 0x807FU) | (0x3E80U + ((bits >> 9U) & 0x0080U)));
  }
  device.upload(buffer_.as<>(), pattern_.data(), pattern_.size() * 2);
  for (std::size_t done = pattern_.size(); done < count; done *= 2)
    device.copy(buffer_.as<std::uint16_t>() + done, buffer_.as<>(), std::min(done, count - done) * 2);
}

double Values::at(std::size_t i) const { return simt::bf16_bits_to_float(pattern_[i % pattern_.size()]); }

Buffer ints(Device& device, const std::vector<std::int32_t>& values) {
  Buffer buffer(device, values.size() * sizeof(std::int32_t), "bench ints");
  buffer.upload(values);
  return buffer;
}

double Case::keys() const { return std::accumulate(k_lens.begin(), k_lens.end(), 0.0); }

double Case::pairs() const {
  if (decode) return keys();
  double pairs = 0.0;
  for (std::size_t b = 0; b < q_lens.size(); ++b) {
    const double q = q_lens[b], k = k_lens[b];
    pairs += q * (k - q) + 0.5 * q * (q + 1.0);
  }
  return pairs;
}

double Case::bytes() const {
  const double queries = decode ? batch() : std::accumulate(q_lens.begin(), q_lens.end(), 0.0);
  return 4.0 * dim * (kv_heads * keys() + heads * queries);
}

Problem::Problem(Device& device, const Case& c)
    : device_(device),
      case_(c),
      first_q_(cumulative(c.decode ? std::vector<int>(c.k_lens.size(), 1) : c.q_lens)),
      first_k_(cumulative(c.k_lens)),
      q_(device, static_cast<std::size_t>(first_q_.back()) * c.heads * c.dim, 1) {
  std::size_t rows = static_cast<std::size_t>(first_k_.back());
  if (c.paged) {
    width_ = ceil_div(longest(c.k_lens), kBlockSize);
    int blocks = 0;
    for (const int len : c.k_lens) blocks += ceil_div(len, kBlockSize);
    std::vector<std::int32_t> ids(blocks);
    std::iota(ids.begin(), ids.end(), 0);
    std::shuffle(ids.begin(), ids.end(), std::mt19937(7));
    table_.assign(static_cast<std::size_t>(c.batch()) * width_, -1);
    for (int b = 0, next = 0; b < c.batch(); ++b)
      for (int i = 0; i < ceil_div(c.k_lens[b], kBlockSize); ++i)
        table_[static_cast<std::size_t>(b) * width_ + i] = ids[next++];
    tables_ = ints(device, table_);
    kv_ = {blocks, kBlockSize, c.kv_heads, c.dim};
    rows = static_cast<std::size_t>(kv_.num_slots());
  }
  const std::size_t elements = rows * c.kv_heads * c.dim;
  const double bytes = 4.0 * static_cast<double>(elements);
  const int sets =
      device.kind() == DeviceKind::cuda ? std::clamp(static_cast<int>(kBeyondCache / bytes) + 1, 2, 8) : 1;
  for (int i = 0; i < sets; ++i) {
    k_.emplace_back(device, elements, 2 + i);
    v_.emplace_back(device, elements, 100 + i);
  }
  cu_q_ = ints(device, first_q_);
  cu_k_ = ints(device, first_k_);
  lens_ = ints(device, c.k_lens);
  o_ = Buffer(device, q_.bytes(), "o");
  lse_ = Buffer(device, sizeof(float) * first_q_.back() * c.heads, "lse");
  tickets_ = Buffer(device, sizeof(std::uint32_t) * c.batch() * c.heads, "tickets");
  device.fill(tickets_.as<>(), 0, tickets_.bytes());
}

bool Problem::prepare(int level) {
  const auto fill = [&](auto& p) {
    p.dtype = DType::bf16;
    p.level = level;
    p.batch = case_.batch();
    p.num_heads = case_.heads;
    p.num_kv_heads = case_.kv_heads;
    p.head_dim = case_.dim;
    p.scale = 1.0F / std::sqrt(static_cast<float>(case_.dim));
    p.q = q_.device();
    p.kv = kv_;
    p.block_tables = tables_.as<std::int32_t>();
    p.block_table_width = width_;
    p.o = o_.as<>();
    p.lse = lse_.as<float>();
  };
  const auto reserve = [&](auto& p, std::size_t bytes) {
    if (bytes > kMostWorkspace) return false;
    workspace_ = Buffer(device_, bytes, "workspace");
    p.workspace = workspace_.as<>();
    p.workspace_bytes = bytes;
    return true;
  };
  if (case_.decode) {
    fill(decode_);
    decode_.form = case_.paged ? DecodeForm::paged : DecodeForm::dense_masked;
    decode_.max_len = longest(case_.k_lens);
    decode_.context_lens = lens_.as<std::int32_t>();
    decode_.tickets = tickets_.as<std::uint32_t>();
    decode_.total_k_hint = first_k_.back();
    return reserve(decode_, plan_decode(decode_, device_.traits()).workspace_bytes);
  }
  fill(prefill_);
  prefill_.total_q = first_q_.back();
  prefill_.max_seqlen_q = longest(case_.q_lens);
  prefill_.max_seqlen_k = longest(case_.k_lens);
  prefill_.cu_seqlens_q = cu_q_.as<std::int32_t>();
  prefill_.cu_seqlens_k = cu_k_.as<std::int32_t>();
  return reserve(prefill_, plan_prefill(prefill_, device_.traits()).workspace_bytes);
}

void Problem::run(int set) {
  const auto launch = [&](auto& p, auto launcher) {
    p.k = k_[set].device();
    p.v = v_[set].device();
    launcher(p, device_.context());
  };
  if (case_.decode) return launch(decode_, device_.kernels().decode_attention);
  launch(prefill_, device_.kernels().prefill_attention);
}

std::string Problem::kernel() {
  std::vector<LaunchRecord> log;
  device_.context().log = &log;
  run(0);
  device_.synchronize();
  device_.context().log = nullptr;
  return log.front().kernel;
}

std::size_t Problem::key_row(int b, int j) const {
  if (!case_.paged)
    return static_cast<std::size_t>(case_.decode ? b * longest(case_.k_lens) : first_k_[b]) + j;
  return static_cast<std::size_t>(table_[static_cast<std::size_t>(b) * width_ + j / kBlockSize]) *
             kBlockSize +
         j % kBlockSize;
}

double Problem::row_error(int b, int i, int h, const std::vector<std::uint16_t>& o, float lse) const {
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
  const bool lse_right = std::abs(lse - (top + std::log(sum))) < 1e-3;
  return lse_right ? std::sqrt(off / all) : std::numeric_limits<double>::quiet_NaN();
}

double Problem::error() {
  device_.fill(o_.as<>(), 0xFF, o_.bytes());
  device_.fill(lse_.as<>(), 0xFF, lse_.bytes());
  run(0);
  device_.synchronize();
  double worst = 0.0;
  for (int n = 0; n < 6; ++n) {
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
    if (std::isnan(error)) return error;
    worst = std::max(worst, error);
  }
  return worst;
}

}  // namespace attn::bench
