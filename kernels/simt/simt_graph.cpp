#include "kernels/simt/simt_graph.h"

#include <cstddef>
#include <cstring>

namespace attn::simt {

void SimtGraph::add(const LaunchRecord& record, const KernelCall& call) {
  // max_align_t units, so that the copy is aligned as the arguments were.
  std::vector<std::max_align_t> arguments(call.argument_bytes / sizeof(std::max_align_t) + 1);
  std::memcpy(arguments.data(), call.arguments, call.argument_bytes);
  nodes_.emplace_back(
      [this, record, invoke = call.invoke, bytes = call.argument_bytes, arguments = std::move(arguments)] {
        launch(context_, record, {invoke, arguments.data(), bytes});
      });
}

void SimtGraph::replay() {
  for (const auto& node : nodes_) node();
}

}  // namespace attn::simt
