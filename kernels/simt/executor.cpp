#include "kernels/simt/executor.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <thread>

#include "kernels/common/check.h"
#include "kernels/simt/random_order.h"
#include "kernels/simt/simt_graph.h"

namespace attn::simt {
namespace {

// Limits of current GPUs (compute capability 9.0), so that what runs here is not refused there.
constexpr std::size_t kMaxSharedBytes = 227 * 1024;
constexpr unsigned kMaxGridYZ = 65535;
constexpr unsigned kMaxGridX = 0x7FFFFFFF;
constexpr unsigned kMaxBlockZ = 64;

/// Strict mode names the thread that did it, so only one block runs at a time.
int worker_count(const SimtOptions& options) {
  if (options.strict) return 1;
  if (options.num_threads > 0) return options.num_threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void require_legal(const LaunchRecord& record) {
  const auto refuse = [&](const std::string& why) {
    throw DeviceError(fmt::format("kernel {} cannot be launched: {}", record.kernel, why));
  };
  const Dim3 &grid = record.grid, &block = record.block;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > kMaxGridX || grid.y > kMaxGridYZ ||
      grid.z > kMaxGridYZ) {
    refuse(fmt::format("grid {}; sizes go from 1 to ({},{},{})", index_text(grid.x, grid.y, grid.z),
                       kMaxGridX, kMaxGridYZ, kMaxGridYZ));
  }
  const auto threads = static_cast<std::uint64_t>(block.x) * block.y * block.z;
  if (threads == 0 || threads > kMaxThreads || block.x > kMaxThreads || block.y > kMaxThreads ||
      block.z > kMaxBlockZ) {
    refuse(fmt::format("block {}; a block has 1 to {} threads", index_text(block.x, block.y, block.z),
                       kMaxThreads));
  }
  if (record.shared_bytes > kMaxSharedBytes) {
    refuse(fmt::format("{} bytes of dynamic shared memory; at most {} are there", record.shared_bytes,
                       kMaxSharedBytes));
  }
}

}  // namespace

Executor::Executor(const SimtOptions& options, GuardedMemory& memory)
    : options_(options), memory_(memory), pool_(worker_count(options)) {
  for (int worker = 0; worker < pool_.num_workers(); ++worker) {
    runners_.push_back(std::make_unique<BlockRunner>(options_));
  }
}

void Executor::run(const LaunchContext& context, const LaunchRecord& record, const KernelCall& call) {
  require_legal(record);
  const Launch launch{record.kernel, record.grid,
                      record.block,  record.shared_bytes,
                      call,          memory_.reachable_from(call.arguments, call.argument_bytes)};
  const std::uint64_t blocks = static_cast<std::uint64_t>(record.grid.x) * record.grid.y * record.grid.z;
  std::vector<std::uint64_t> order;
  if (options_.order != SimtOrder::forward) {
    order.resize(blocks);
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    if (options_.order == SimtOrder::reverse) std::reverse(order.begin(), order.end());
    if (options_.order == SimtOrder::shuffled)
      RandomOrder(options_.seed, ~blocks).shuffle(order.data(), blocks);
  }
  if (context.blocks) {
    context.blocks->begun = 0;
    context.blocks->all = blocks;
  }
  pool_.run(blocks, [&](int worker, std::uint64_t item) {
    context.throw_if_stopped();
    if (context.blocks) context.blocks->begun.store(item, std::memory_order_relaxed);
    runners_[static_cast<std::size_t>(worker)]->run(launch, order.empty() ? item : order[item]);
  });
  check_all_buffers(record.kernel);
}

/// A stray write may hit a buffer that the arguments do not point into; then only the kernel is known.
void Executor::check_all_buffers(const std::string& kernel) {
  for (DeviceBuffer* buffer : memory_.all()) {
    const std::optional<std::ptrdiff_t> damage = buffer->block.find_damage();
    if (!damage) continue;
    buffer->block.repair_guards();
    throw DeviceError(
        fmt::format("kernel {}: {}; none of its arguments points there", kernel,
                    describe_damage(buffer->block, fmt::format("buffer '{}'", buffer->label), *damage)));
  }
}

void launch(LaunchContext& context, LaunchRecord record, const KernelCall& call) {
  if (!context.executor) {
    throw DeviceError(
        fmt::format("kernel {} cannot be launched: the context belongs to no SIMT device", record.kernel));
  }
  if (context.record_only) {
    if (context.log) context.log->push_back(std::move(record));
    return;
  }
  auto& executor = *static_cast<Executor*>(context.executor);
  if (SimtGraph* graph = executor.capturing()) {
    graph->add(record, call);
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  executor.run(context, record, call);
  if (context.timing) {
    record.ms = std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }
  if (context.log) context.log->push_back(std::move(record));
}

}  // namespace attn::simt
