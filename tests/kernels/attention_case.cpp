#include "tests/kernels/attention_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "kernels/common/check.h"
#include "kernels/common/tiles.h"
#include "kernels/simt/half_types.h"

namespace attn::test {
namespace {

/// K and V on the device, as the case wants to read them.
struct DeviceKeys {
  PagedKv kv;
  int table_width = 0;
  Buffer k, v, tables;
};

/// Copies rows [len, Hkv, D] of each sequence to where `row_of(b, pos)` says; everything else stays NaN.
template <class RowOf>
Buffer place_rows(Device& device, const AttentionCase& c, const std::vector<std::vector<float>>& rows,
                  std::size_t total_rows, RowOf row_of, std::string_view label) {
  const std::size_t row_bytes = static_cast<std::size_t>(c.num_kv_heads) * c.head_dim * dtype_size(c.dtype);
  std::vector<std::byte> host(total_rows * row_bytes, std::byte{0xFF});
  for (int b = 0; b < c.batch(); ++b) {
    const std::vector<std::byte> bytes = to_bytes(c.dtype, rows[b]);
    for (int pos = 0; pos < c.k_lens[b]; ++pos)
      std::memcpy(&host[row_of(b, pos) * row_bytes], &bytes[pos * row_bytes], row_bytes);
  }
  return device_copy(device, host, label);
}

/// A pool with two blocks to spare; every sequence's blocks are scattered over it.
DeviceKeys paged_keys(Device& device, const AttentionCase& c, const AttentionInputs& inputs) {
  const auto blocks_of = [&](int b) { return (c.k_lens[b] + c.block_size - 1) / c.block_size; };
  int blocks = 2;
  DeviceKeys keys;
  for (int b = 0; b < c.batch(); ++b) blocks += blocks_of(b);
  keys.table_width = (c.longest_k() + c.block_size - 1) / c.block_size + 1;
  keys.kv = {blocks, c.block_size, c.num_kv_heads, c.head_dim};
  std::vector<std::int32_t> ids(blocks);
  std::iota(ids.begin(), ids.end(), 0);
  std::shuffle(ids.begin(), ids.end(), std::mt19937_64(c.seed));
  std::vector<std::int32_t> table(static_cast<std::size_t>(c.batch()) * keys.table_width, -1);
  for (int b = 0, next = 0; b < c.batch(); ++b)
    for (int i = 0; i < blocks_of(b); ++i) table[b * keys.table_width + i] = ids[next++];
  const auto slot = [&](int b, int pos) {
    return static_cast<std::size_t>(table[b * keys.table_width + pos / c.block_size]) * c.block_size +
           pos % c.block_size;
  };
  const auto slots = static_cast<std::size_t>(blocks) * c.block_size;
  keys.k = place_rows(device, c, inputs.k, slots, slot, "k_cache");
  keys.v = place_rows(device, c, inputs.v, slots, slot, "v_cache");
  keys.tables = device_copy(device, table, "block_tables");
  return keys;
}

DeviceKeys packed_keys(Device& device, const AttentionCase& c, const AttentionInputs& inputs) {
  std::vector<std::size_t> first(1, 0);
  for (const int len : c.k_lens) first.push_back(first.back() + len);
  const auto row = [&](int b, int pos) { return first[b] + pos; };
  const std::size_t rows = first.back() + 3;  // a poisoned tail
  return {{},
          0,
          place_rows(device, c, inputs.k, rows, row, "k"),
          place_rows(device, c, inputs.v, rows, row, "v"),
          {}};
}

/// Dense [B, max_len, Hkv, D]. Pads are zeros, as gather_kv writes them, when they are attended, else NaN.
DeviceKeys dense_keys(Device& device, const AttentionCase& c, const AttentionInputs& inputs) {
  AttentionCase placed = c;
  AttentionInputs padded = inputs;
  const auto max_len = static_cast<std::size_t>(c.longest_k());
  if (c.source == KeySource::dense_padded) {
    for (int b = 0; b < c.batch(); ++b) {
      placed.k_lens[b] = c.longest_k();
      padded.k[b].resize(max_len * c.num_kv_heads * c.head_dim, 0.0F);
      padded.v[b].resize(max_len * c.num_kv_heads * c.head_dim, 0.0F);
    }
  }
  const auto row = [&](int b, int pos) { return b * max_len + pos; };
  const std::size_t rows = c.batch() * max_len;
  return {{},
          0,
          place_rows(device, placed, padded.k, rows, row, "k_dense"),
          place_rows(device, placed, padded.v, rows, row, "v_dense"),
          {}};
}

/// Side buffers of a probed run, NaN at the start.
struct Probes {
  Buffer scores, weights, m, l, alpha, o_norm;
  ProbeBuffers view;

  Probes(Device& device, const AttentionCase& c, int num_tiles) {
    view.max_k = c.longest_k();
    view.max_tiles = num_tiles;
    if (!c.probe) return;
    const std::size_t rows = static_cast<std::size_t>(c.num_heads) * c.total_q();
    const auto floats = [&](int columns, std::string_view label) {
      return Buffer(device, rows * columns * sizeof(float), label);
    };
    scores = floats(view.max_k, "scores");
    weights = floats(view.max_k, "weights");
    m = floats(num_tiles, "tile_m");
    l = floats(num_tiles, "tile_l");
    alpha = floats(num_tiles, "tile_alpha");
    o_norm = floats(num_tiles, "tile_o_norm");
    view.scores = scores.as<float>();
    view.weights = weights.as<float>();
    view.tile_m = m.as<float>();
    view.tile_l = l.as<float>();
    view.tile_alpha = alpha.as<float>();
    view.tile_o_norm = o_norm.as<float>();
  }
  void download(AttentionResult& result) const {
    result.scores = scores.download<float>();
    result.weights = weights.download<float>();
    result.tile_m = m.download<float>();
    result.tile_l = l.download<float>();
    result.tile_alpha = alpha.download<float>();
    result.tile_o_norm = o_norm.download<float>();
  }
};

std::vector<std::int32_t> cumulative(const std::vector<int>& lens) {
  std::vector<std::int32_t> cu(1, 0);
  for (const int len : lens) cu.push_back(cu.back() + len);
  return cu;
}

/// What prefill and decode params have in common.
template <class Params>
Params common_params(const AttentionCase& c, const DeviceKeys& keys, const Buffer& q, const Buffer& o,
                     const Buffer& lse) {
  Params p;
  p.dtype = c.dtype;
  p.level = c.level;
  p.batch = c.batch();
  p.num_heads = c.num_heads;
  p.num_kv_heads = c.num_kv_heads;
  p.head_dim = c.head_dim;
  p.scale = 1.0F / std::sqrt(static_cast<float>(c.head_dim));
  p.mask = c.mask;
  p.head_map = c.head_map;
  p.k_tile = c.k_tile;
  p.q = q.as<>();
  p.k = keys.k.as<>();
  p.v = keys.v.as<>();
  p.kv = keys.kv;
  p.block_tables = keys.tables.as<std::int32_t>();
  p.block_table_width = keys.table_width;
  p.o = o.as<>();
  p.lse = lse.as<float>();
  return p;
}

/// Everything a run allocates besides the keys' own arrays.
struct Run {
  Device& device;
  const AttentionCase& c;
  DeviceKeys keys;
  Buffer q, o, lse;

  Run(Device& on, const AttentionCase& problem, const AttentionInputs& inputs)
      : device(on),
        c(problem),
        keys(c.source == KeySource::paged    ? paged_keys(device, c, inputs)
             : c.source == KeySource::packed ? packed_keys(device, c, inputs)
                                             : dense_keys(device, c, inputs)),
        q(device_copy(device, to_bytes(c.dtype, inputs.q), "q")),
        o(device, q.bytes(), "o"),
        lse(device, static_cast<std::size_t>(c.num_heads) * c.total_q() * sizeof(float), "lse") {}

  void poison_outputs() const {
    for (const Buffer* out : {&o, &lse})
      if (*out) device.fill(out->as<>(), 0xFF, out->bytes());
  }
  /// Gives the params their workspace and probe, launches, and fetches what came out.
  template <class Params, class Plan>
  AttentionResult launch(Params p, const Plan& plan, void (*launcher)(const Params&, LaunchContext&)) const {
    const Buffer workspace(device, plan.workspace_bytes, "workspace");
    const Probes probes(device, c, plan.num_k_tiles);
    p.workspace = workspace.as<>();
    p.workspace_bytes = workspace.bytes();
    p.probe = probes.view;
    AttentionResult result;
    device.context().log = &result.log;
    for (int i = 0; i < c.launches; ++i) {
      if (i > 0) poison_outputs();
      launcher(p, device.context());
    }
    device.synchronize();
    device.context().log = nullptr;
    result.o_bytes = o.download<std::byte>();
    result.o = to_floats(c.dtype, result.o_bytes);
    result.lse = lse.download<float>();
    probes.download(result);
    result.max_k = c.longest_k();
    result.num_tiles = plan.num_k_tiles;
    result.k_tile = plan.k_tile;
    return result;
  }
};

/// Counters that a caller keeps; none: the params get null.
class OwnTickets {
 public:
  OwnTickets(Device& device, int count) : zeros_(count, 0), buffer_(device_copy(device, zeros_, "tickets")) {}
  ~OwnTickets() { EXPECT_EQ(buffer_.download<std::uint32_t>(), zeros_) << "tickets are not given back"; }
  OwnTickets(const OwnTickets&) = delete;
  OwnTickets& operator=(const OwnTickets&) = delete;
  std::uint32_t* get() const { return buffer_.as<std::uint32_t>(); }

 private:
  std::vector<std::uint32_t> zeros_;
  Buffer buffer_;
};

AttentionResult run_decode(Device& device, const AttentionCase& c, const AttentionInputs& inputs) {
  const Run run(device, c, inputs);
  auto p = common_params<DecodeParams>(c, run.keys, run.q, run.o, run.lse);
  const Buffer lens =
      device_copy(device, std::vector<std::int32_t>(c.k_lens.begin(), c.k_lens.end()), "context_lens");
  p.form = c.source == KeySource::paged          ? DecodeForm::paged
           : c.source == KeySource::dense_masked ? DecodeForm::dense_masked
                                                 : DecodeForm::dense_padded;
  p.max_len = c.longest_k();
  p.num_splits = c.num_splits;
  p.context_lens = lens.as<std::int32_t>();
  const OwnTickets tickets(device, c.own_tickets ? c.batch() * c.num_heads : 0);
  p.tickets = tickets.get();
  return run.launch(p, plan_decode(p, device.traits()), device.kernels().decode_attention);
}

AttentionResult run_prefill(Device& device, const AttentionCase& c, const AttentionInputs& inputs) {
  const Run run(device, c, inputs);
  auto p = common_params<PrefillParams>(c, run.keys, run.q, run.o, run.lse);
  const Buffer cu_q = device_copy(device, cumulative(c.q_lens), "cu_seqlens_q");
  const Buffer cu_k = device_copy(device, cumulative(c.k_lens), "cu_seqlens_k");
  p.total_q = c.total_q();
  p.max_seqlen_q = c.longest_q();
  p.max_seqlen_k = c.longest_k();
  p.cu_seqlens_q = cu_q.as<std::int32_t>();
  p.cu_seqlens_k = cu_k.as<std::int32_t>();
  PrefillParams planned = p;
  if (c.probe) planned.level = std::min(planned.level, 2);  // that runs, so its tiles are the probe's columns
  const OwnTickets tickets(device, c.own_tickets ? kPrefillTickets : 0);
  p.tickets = tickets.get();
  PrefillPlan plan = plan_prefill(planned, device.traits());
  plan.workspace_bytes = std::max(plan.workspace_bytes, plan_prefill(p, device.traits()).workspace_bytes);
  return run.launch(p, plan, device.kernels().prefill_attention);  // a probe without columns is none
}

}  // namespace

int AttentionCase::total_q() const {
  return decode ? batch() : std::accumulate(q_lens.begin(), q_lens.end(), 0);
}
int AttentionCase::longest_q() const {
  return decode ? 1 : q_lens.empty() ? 0 : *std::max_element(q_lens.begin(), q_lens.end());
}
int AttentionCase::longest_k() const {
  return std::max(max_len, k_lens.empty() ? 0 : *std::max_element(k_lens.begin(), k_lens.end()));
}

std::string AttentionCase::describe() const {
  constexpr const char* kSources[] = {"packed", "paged", "dense_masked", "dense_padded"};
  constexpr const char* kMasks[] = {"bottom_right", "top_left", "none"};
  return fmt::format(
      "{} {} {} l{} H{}/{} D{} q[{}] k[{}] max_len {} bs {} mask {} {} k_tile {} splits {} probe {} seed {}",
      decode ? "decode" : "prefill", kSources[static_cast<int>(source)], dtype_name(dtype), level, num_heads,
      num_kv_heads, head_dim, fmt::join(q_lens, ","), fmt::join(k_lens, ","), max_len, block_size,
      kMasks[static_cast<int>(mask)], head_map == HeadMap::grouped ? "grouped" : "modulo", k_tile, num_splits,
      probe, seed);
}

std::vector<std::byte> to_bytes(DType dtype, const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * dtype_size(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::f32) {
      std::memcpy(&bytes[i * 4], &values[i], 4);
    } else {
      const std::uint16_t bits =
          dtype == DType::f16 ? simt::float_to_half_bits(values[i]) : simt::float_to_bf16_bits(values[i]);
      std::memcpy(&bytes[i * 2], &bits, 2);
    }
  }
  return bytes;
}

std::vector<float> to_floats(DType dtype, const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / dtype_size(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::f32) {
      std::memcpy(&values[i], &bytes[i * 4], 4);
    } else {
      std::uint16_t bits = 0;
      std::memcpy(&bits, &bytes[i * 2], 2);
      values[i] = dtype == DType::f16 ? simt::half_bits_to_float(bits) : simt::bf16_bits_to_float(bits);
    }
  }
  return values;
}

std::vector<float> random_normal(std::size_t count, std::uint64_t seed, DType dtype) {
  std::mt19937_64 rng(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& x : values) x = normal(rng);
  return to_floats(dtype, to_bytes(dtype, values));
}

AttentionInputs random_inputs(const AttentionCase& c) {
  AttentionInputs inputs;
  inputs.q =
      random_normal(static_cast<std::size_t>(c.total_q()) * c.num_heads * c.head_dim, 3 * c.seed, c.dtype);
  for (int b = 0; b < c.batch(); ++b) {
    const std::size_t count = static_cast<std::size_t>(c.k_lens[b]) * c.num_kv_heads * c.head_dim;
    inputs.k.push_back(random_normal(count, 1000 * c.seed + 2 * b, c.dtype));
    inputs.v.push_back(random_normal(count, 1000 * c.seed + 2 * b + 1, c.dtype));
  }
  return inputs;
}

AttentionResult run_case(Device& device, const AttentionCase& c, const AttentionInputs& inputs) {
  return c.decode ? run_decode(device, c, inputs) : run_prefill(device, c, inputs);
}

double tolerance(DType dtype) { return dtype == DType::f32 ? 2e-6 : dtype == DType::f16 ? 2e-3 : 1e-2; }

std::unique_ptr<Device> gpu_or_null(std::string& why) {
  try {
    return make_cuda_device();
  } catch (const DeviceError& error) {
    why = error.what();
    return nullptr;
  }
}

std::unique_ptr<Device> hopper_or_null(std::string& why) {
  auto gpu = gpu_or_null(why);
  if (!gpu || gpu->traits().wgmma) return gpu;
  why = "level 4 needs compute capability 9.0 and a build for sm_90a";
  return nullptr;
}

}  // namespace attn::test
