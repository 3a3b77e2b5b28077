// Random but valid traces, without an engine: what the trace tests write, cut, damage and seek in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/trace/step_record.h"
#include "core/trace/trace_file.h"
#include "tests/temporary_folder.h"

namespace attn::trace::test {

/// A small model: 2 layers, 4 query heads on 2 KV heads, head_dim 8; pool of 6 blocks of 4.
Manifest small_manifest();

/// Step after step with random lengths, tables, slots (some -1), tensors and texts, every field set to
/// something that is not its default. Each record passes check_record and carries its state hash.
class RandomSteps {
 public:
  explicit RandomSteps(std::uint32_t seed) : random_(seed) {}
  StepRecord next();

 private:
  int pick(int lowest, int highest);
  bool chance(int percent) { return pick(1, 100) <= percent; }
  std::string text();
  std::vector<std::int32_t> ints(int count, int lowest, int highest);
  TensorRecord tensor(std::vector<std::int64_t> shape);
  SeqState seq(int id, int q_len, int k_len, const std::vector<std::int32_t>& table);
  void add_batch(StepRecord& record);
  GraphRecord graph(int batch);
  void add_bookkeeping(StepRecord& record);
  void add_layers(StepRecord& record);

  std::mt19937 random_;
  int step_ = 0;
};

/// A recording of `count` random steps.
std::shared_ptr<Recording> random_recording(std::uint32_t seed, int count);

/// Compares every field of two records with gtest expectations (launch times by bits: NaN equals NaN).
void expect_same_record(const StepRecord& a, const StepRecord& b);

using test_support::TemporaryFolder;

std::vector<std::byte> read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::vector<std::byte>& bytes);

}  // namespace attn::trace::test
