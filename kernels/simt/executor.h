// Runs grids: hands the blocks of a launch to OS threads, each with its own BlockRunner, and checks the
// guard zones of device memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/device.h"
#include "kernels/simt/block_runner.h"
#include "kernels/simt/guarded_memory.h"
#include "kernels/simt/worker_pool.h"

namespace attn::simt {

class SimtGraph;

class Executor {
 public:
  Executor(const SimtOptions& options, GuardedMemory& memory);

  /// Throws DeviceError for a launch that CUDA would refuse and for faults; what a kernel throws passes.
  /// Between blocks `context` is asked whether to go on.
  void run(const LaunchContext& context, const LaunchRecord& record, const KernelCall& call);

  /// While this is set, launches are added to the graph instead of run; null ends that.
  void capture_into(SimtGraph* graph) { capture_ = graph; }
  SimtGraph* capturing() const { return capture_; }

  /// The same OS threads for host work (matrix products).
  WorkerPool& pool() { return pool_; }
  int num_workers() const { return pool_.num_workers(); }

 private:
  void check_all_buffers(const std::string& kernel);

  SimtOptions options_;
  GuardedMemory& memory_;
  SimtGraph* capture_ = nullptr;
  std::vector<std::unique_ptr<BlockRunner>> runners_;  // by worker
  WorkerPool pool_;                                    // last: its threads end before the runners die
};

}  // namespace attn::simt
