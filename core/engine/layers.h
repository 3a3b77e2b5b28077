// The layers of one forward, eager or while a graph is captured: they differ in whose buffers they use and in
// what becomes of each layer's tensors.
#pragma once

#include <functional>
#include <vector>

#include "core/engine/attention_paths.h"

namespace attn {

/// Called after attention of a layer, while its tensors are still there. PRECOND for capturing: it only
/// copies on the device.
using LayerTap = std::function<void(int layer, const QkvView& qkv, const AttentionOutput& out)>;

/// Runs every layer of a step of N tokens. PRECOND: transformer.begin() and paths.begin() were called.
/// `cache` has an entry per layer, null where there is no pool.
void run_layers(Transformer& transformer, AttentionPaths& paths, const std::vector<KvLayer>& cache,
                int num_tokens, StageLog& log, const LayerTap& tap);

/// Reads the first N rows of a layer's tensors for the record. lse is [H, lse_stride] on the device.
trace::LayerRecord read_layer(Device& device, const ModelConfig& model, int layer, const QkvView& qkv,
                              const AttentionOutput& out, int num_tokens, int lse_stride);

}  // namespace attn
