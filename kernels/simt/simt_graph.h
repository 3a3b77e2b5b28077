// The emulator's graph: the list of launches that a capture noted, run again with the arguments it noted.
#pragma once

#include <functional>
#include <vector>

#include "kernels/device.h"
#include "kernels/simt/simt.h"

namespace attn::simt {

class SimtGraph final : public Graph {
 public:
  /// `context` outlives the graph: replays launch through it.
  explicit SimtGraph(LaunchContext& context) : context_(context) {}

  /// Arguments are copied byte by byte, as CUDA copies those of a kernel node.
  void add(const LaunchRecord& record, const KernelCall& call);
  /// What is no kernel: products, copies, fills.
  void add(std::function<void()> work) { nodes_.push_back(std::move(work)); }

  void replay() override;

 private:
  LaunchContext& context_;
  std::vector<std::function<void()>> nodes_;
};

}  // namespace attn::simt
