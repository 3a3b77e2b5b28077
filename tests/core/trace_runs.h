// Recordings of real engine runs on a tiny random model, for tests that walk, stop in, compare or export
// them.
#pragma once

#include <filesystem>
#include <memory>

#include "core/trace/trace_file.h"
#include "kernels/device.h"
#include "tests/core/engine_tiny_model.h"

namespace attn::trace::test {

/// A pool of 7 blocks of 4: two prompts share a beginning, one is chunked, and the pool gets tight enough to
/// preempt and to reuse freed blocks.
EngineConfig tight_config();

/// Runs five requests to the end on a model of that shape; with a path, into a file too.
std::shared_ptr<Recording> tight_run(Device& device, const EngineConfig& config,
                                     const std::filesystem::path& path = {},
                                     const attn::test::TinyShape& shape = {});

/// Such a run and the emulator that it was made on.
struct TightRun {
  std::unique_ptr<Device> device = make_simt_device();
  std::shared_ptr<Recording> recording;
  explicit TightRun(const EngineConfig& config) : recording(tight_run(*device, config)) {}
};

}  // namespace attn::trace::test
