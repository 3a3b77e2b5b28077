// The .attn file and the in-memory recording. Layout of the file: trace/FORMAT.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "core/trace/store.h"

namespace attn::trace {

/// Live recording: append from the engine thread, read from anywhere.
class Recording : public Store {
 public:
  explicit Recording(Manifest manifest);
  ~Recording() override;
  void append(std::shared_ptr<const StepRecord> step);
  void add_request_label(std::string label);
  const Manifest& manifest() const override;
  int num_steps() const override;
  std::shared_ptr<const StepRecord> step(int index) const override;
  std::string token_text(std::int32_t id) const override;
  std::string note() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Writes manifest at once and each step as it comes; whatever is written stays readable if the
/// process dies. Throws InputError when the path cannot be written.
class Writer {
 public:
  Writer(const std::filesystem::path& path, const Manifest& manifest);
  ~Writer();
  void append(const StepRecord& step);
  /// A request that was not in the manifest when the trace began (a prompt typed in the window).
  void append_request_label(const std::string& label);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Opens a trace; a file cut short opens up to its last whole step and says so in note(). Throws
/// InputError when it is not a trace or of another version. Steps are read on demand and cached
/// under `memory_budget` bytes.
std::unique_ptr<Store> open_trace(const std::filesystem::path& path, std::size_t memory_budget = 256U << 20U);

}  // namespace attn::trace
