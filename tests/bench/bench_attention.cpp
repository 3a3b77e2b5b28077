// Attention and cache kernels at every level over the cases of the project's performance table, on whichever
// device is there: `bench_attention [PART] [--json FILE]`, PART of a case's name. GPU times are graph replays
// between events, K and V rotated beyond the L2; the ceilings are measured in the same run, the fraction is
// of the one that binds (read for decode, matrix products for prefill, copy for the cache), the error is
// against float64. The emulator gets small cases, and wall time.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "kernels/common/check.h"
#include "tests/bench/bench_inputs.h"
#include "tests/bench/bench_timer.h"

namespace attn::bench {
namespace {

struct Row {
  std::string name, kernel;
  double ms = 0.0, rate = 0.0, ceiling = 0.0, error = 0.0;
  const char* unit = "GB/s";
};

class Report {
 public:
  Report(std::string device, const Ceilings& ceilings) : device_(std::move(device)), ceilings_(ceilings) {
    fmt::print("{}: copy {:.0f} GB/s, read {:.0f} GB/s, matrix products {:.0f} TFLOP/s\n", device_,
               ceilings.copy_gbs, ceilings.read_gbs, ceilings.matmul_tflops);
    fmt::print("{:<52} {:<38} {:>10} {:>9} {:>8} {:>5} {:>8}\n", "case", "kernel", "us", "rate", "", "part",
               "error");
  }
  void add(const Row& row) {
    const std::string part = row.ceiling > 0.0 ? fmt::format("{:.2f}", row.rate / row.ceiling) : "-";
    fmt::print("{:<52} {:<38} {:>10.1f} {:>9.1f} {:<8} {:>5} {:>8.1e}\n", row.name, row.kernel, row.ms * 1e3,
               row.rate, row.unit, part, row.error);
    std::fflush(stdout);
    rows_.push_back(row);
  }
  void write_json(const std::string& path) const {
    std::ofstream out(path);
    out << fmt::format(
        "{{\"device\":\"{}\",\"copy_gbs\":{:.1f},\"read_gbs\":{:.1f},\"matmul_tflops\":{:.1f},\"rows\":[",
        device_, ceilings_.copy_gbs, ceilings_.read_gbs, ceilings_.matmul_tflops);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Row& r = rows_[i];
      out << fmt::format(
          "{}\n{{\"case\":\"{}\",\"kernel\":\"{}\",\"ms\":{:.6f},\"rate\":{:.2f},\"unit\":\"{}\",\"error\":{}"
          "}}",
          i ? "," : "", r.name, r.kernel, r.ms, r.rate, r.unit,
          std::isfinite(r.error) ? fmt::format("{:.3e}", r.error) : "null");
    }
    out << "]}\n";
    if (!out) throw InputError(fmt::format("the report cannot be written ({})", path));
  }

 private:
  std::string device_;
  Ceilings ceilings_;
  std::vector<Row> rows_;
};

void bench_case(Device& device, const Case& c, const Ceilings& ceilings, Report& report) {
  Problem problem(device, c);
  for (int level = c.decode ? 3 : 4; level >= 1; --level) {
    if (!problem.prepare(level)) continue;
    const std::string kernel = problem.kernel();
    if (kernel.find(fmt::format("_l{}_", level)) == std::string::npos) continue;  // another level ran
    Row row;
    row.name = c.name;
    row.kernel = level == 1 ? "attention_l1 (3 kernels)" : kernel;
    row.ms = milliseconds(
        device, [&](int i) { problem.run(i); }, problem.sets());
    row.error = problem.error();
    row.unit = c.decode ? "GB/s" : "TFLOP/s";
    row.rate = c.decode ? c.bytes() / row.ms * 1e-6 : c.flop() / row.ms * 1e-9;
    row.ceiling = c.decode ? ceilings.read_gbs : ceilings.matmul_tflops;
    report.add(row);
  }
}

/// store_kvcache of `tokens`, and gather_kv of `batch` contexts: bytes read plus bytes written.
void bench_cache(Device& device, int tokens, int batch, int ctx, double ceiling, Report& report) {
  constexpr int kBlock = 16, kHeads = 8, kDim = 128;
  const int blocks = batch * ctx / kBlock;
  const std::size_t row = kHeads * kDim;
  const PagedKv kv{blocks, kBlock, kHeads, kDim};
  const Values k_cache(device, static_cast<std::size_t>(kv.num_slots()) * row, 1),
      v_cache(device, static_cast<std::size_t>(kv.num_slots()) * row, 2);
  constexpr int kSets = 4;  // of tokens, stored in turn
  std::vector<std::int32_t> table(blocks), slots(static_cast<std::size_t>(tokens) * kSets);
  for (int i = 0; i < blocks; ++i) table[i] = static_cast<std::int32_t>(i * 7919LL % blocks);
  for (int i = 0; i < tokens * kSets; ++i) slots[i] = table[i / kBlock] * kBlock + i % kBlock;
  const Buffer tables = ints(device, table), slot_mapping = ints(device, slots),
               lens = ints(device, std::vector<std::int32_t>(batch, ctx));
  const Values k(device, tokens * row * kSets, 3), v(device, tokens * row * kSets, 4);
  StoreKvCacheParams store{.dtype = DType::bf16,
                           .num_tokens = tokens,
                           .kv = kv,
                           .k = k.device(),
                           .v = v.device(),
                           .slot_mapping = slot_mapping.as<std::int32_t>(),
                           .k_cache = k_cache.device(),
                           .v_cache = v_cache.device()};
  const Buffer k_dense(device, k_cache.bytes(), "k_dense"), v_dense(device, v_cache.bytes(), "v_dense");
  const GatherKvParams gather{.dtype = DType::bf16,
                              .batch = batch,
                              .max_len = ctx,
                              .block_table_width = ctx / kBlock,
                              .kv = kv,
                              .k_cache = k_cache.device(),
                              .v_cache = v_cache.device(),
                              .block_tables = tables.as<std::int32_t>(),
                              .seqlens = lens.as<std::int32_t>(),
                              .k_dense = k_dense.as<>(),
                              .v_dense = v_dense.as<>()};
  const auto add = [&](const std::string& name, const char* kernel, double rows, int sets, auto launch) {
    Row r;
    r.name = name;
    r.kernel = kernel;
    r.ms = milliseconds(device, launch, sets);
    r.rate = 8.0 * rows * static_cast<double>(row) / r.ms * 1e-6;
    r.ceiling = ceiling;
    report.add(r);
  };
  add(fmt::format("cache: store {} tokens Hkv8 D128", tokens), "store_kvcache", tokens, kSets, [&](int set) {
    const std::size_t at = static_cast<std::size_t>(set) * tokens;
    store.k = static_cast<const std::uint16_t*>(k.device()) + at * row;
    store.v = static_cast<const std::uint16_t*>(v.device()) + at * row;
    store.slot_mapping = slot_mapping.as<std::int32_t>() + at;
    device.kernels().store_kvcache(store, device.context());
  });
  add(fmt::format("cache: gather B{} ctx{} Hkv8 D128", batch, ctx), "gather_kv",
      static_cast<double>(batch) * ctx, 1,
      [&](int) { device.kernels().gather_kv(gather, device.context()); });
}

double matmul_rate(Device& device) {
  constexpr int kSize = 8192;
  const Values x(device, std::size_t{kSize} * kSize, 1), w(device, std::size_t{kSize} * kSize, 2);
  const Buffer y(device, x.bytes(), "y");
  const MatmulParams p{DType::bf16, kSize, kSize, kSize, x.device(), w.device(), y.as<>(), false};
  return 2.0 * kSize * kSize * kSize /
         milliseconds(
             device, [&](int) { device.matmul(p); }, 1) *
         1e-9;
}

std::vector<int> same(int batch, int len) { return std::vector<int>(batch, len); }

std::vector<Case> gpu_cases() {
  const std::vector<int> ragged{4096, 512, 3000, 1200, 2578, 3500, 1500, 2000},
      contexts{4096, 312, 1805, 2950, 77, 1500, 3333, 640, 2222, 1111, 4000, 901, 2600, 1480, 3061, 600};
  return {{"prefill B4 S4096 H32/8 D128", false, same(4, 4096), same(4, 4096), 32, 8, 128, false},
          {"prefill B1 S16384 H32/8 D128", false, {16384}, {16384}, 32, 8, 128, false},
          {"prefill B4 S4096 H32/8 D64", false, same(4, 4096), same(4, 4096), 32, 8, 64, false},
          {"prefill B8 S2048 H16/8 D64", false, same(8, 2048), same(8, 2048), 16, 8, 64, false},
          {"prefill ragged 8, 18,386 tokens H32/8 D128", false, ragged, ragged, 32, 8, 128, false},
          {"prefill prefix q1024 k8192 B4 H32/8 D128, paged", false, same(4, 1024), same(4, 8192), 32, 8, 128,
           true},
          {"decode B64 ctx8192 H32/8 D128, paged", true, {}, same(64, 8192), 32, 8, 128, true},
          {"decode B1 ctx32768 H32/8 D128, paged", true, {}, {32768}, 32, 8, 128, true},
          {"decode B16 ctx4096 H32/8 D128, paged", true, {}, same(16, 4096), 32, 8, 128, true},
          {"decode B128 ctx1024 H16/8 D64, paged", true, {}, same(128, 1024), 16, 8, 64, true},
          {"decode ragged 16, mean 1,918 H32/8 D128, paged", true, {}, contexts, 32, 8, 128, true},
          {"decode B64 ctx8192 H32/8 D128, dense", true, {}, same(64, 8192), 32, 8, 128, false}};
}

std::vector<Case> small_cases() {
  return {{"prefill B2 S128 H4/2 D64", false, same(2, 128), same(2, 128), 4, 2, 64, false},
          {"decode B4 ctx256 H8/2 D64, paged", true, {}, same(4, 256), 8, 2, 64, true}};
}

int run(const std::string& part, const std::string& json) {
  const DevicePick pick = make_device(DeviceChoice::automatic);
  Device& device = *pick.device;
  if (!pick.note.empty()) fmt::print("{}\n", pick.note);
  const bool gpu = device.kind() == DeviceKind::cuda;
  Ceilings ceilings = measure_ceilings(device);
  if (gpu) ceilings.matmul_tflops = matmul_rate(device);
  Report report(device.name(), ceilings);
  const auto wanted = [&](const std::string& name) { return name.find(part) != std::string::npos; };
  for (const Case& c : gpu ? gpu_cases() : small_cases())
    if (wanted(c.name)) bench_case(device, c, ceilings, report);
  if (wanted("cache")) {
    if (gpu) bench_cache(device, 16384, 64, 8192, ceilings.copy_gbs, report);
    if (!gpu) bench_cache(device, 64, 4, 256, 0.0, report);
  }
  if (!json.empty()) report.write_json(json);
  return 0;
}

}  // namespace
}  // namespace attn::bench

int main(int argc, char** argv) {
  std::string part, json;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      json = argv[++i];
    } else {
      part = argv[i];
    }
  }
  try {
    return attn::bench::run(part, json);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_attention: {}\n", error.what());
    return 2;
  }
}
