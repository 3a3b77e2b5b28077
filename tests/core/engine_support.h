// Shared by the engine tests: a device that must not be used, short ways to say a request, a run to the end,
// and the invariants that hold after every step.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "core/engine/engine.h"
#include "engine_tiny_model.h"

namespace attn::test {

using Ints = std::vector<std::int32_t>;
using StepPtr = std::shared_ptr<const trace::StepRecord>;

/// Bookkeeping needs no device: every call fails the test.
class NoDevice final : public Device {
 public:
  DeviceKind kind() const override { return DeviceKind::simt; }
  std::string name() const override { return "none"; }
  void* allocate(std::size_t, std::string_view) override { fail(); }
  void deallocate(void*) noexcept override {}
  void upload(void*, const void*, std::size_t) override { fail(); }
  void download(void*, const void*, std::size_t) override { fail(); }
  void copy(void*, const void*, std::size_t) override { fail(); }
  void fill(void*, unsigned char, std::size_t) override { fail(); }
  void synchronize() override { fail(); }
  const Kernels& kernels() const override { fail(); }
  void matmul(const MatmulParams&) override { fail(); }
  void begin_capture() override { fail(); }
  std::unique_ptr<Graph> end_capture() override { fail(); }

 private:
  [[noreturn]] static void fail();
};

/// Random numbers that are the same everywhere.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  int roll(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }

 private:
  std::mt19937_64 random_;
};

/// first, first + 1, ..., last
Ints range(std::int32_t first, std::int32_t last);
EngineConfig pool(int block_size, int num_blocks);
/// 24 blocks of 4: more than these tests ever need.
inline EngineConfig roomy() { return pool(4, 24); }
Request request(Ints token_ids, int max_tokens, int at_step = 0);
/// Runs requests through a bookkeeping-only engine until nothing is left; fails when that takes too long.
std::vector<StepPtr> run(const EngineConfig& config, const std::vector<Request>& requests);
std::vector<StepPtr> run_to_end(Engine& engine, int max_steps = 1000);

/// Bookkeeping at its limits: small pools, small budgets, odd block sizes.
EngineConfig random_bookkeeping(Dice& dice);
/// Prompts over two tokens, many with a common beginning, so that equal blocks abound.
std::vector<Request> random_requests(Dice& dice);
/// Runs requests through a real engine on the emulator until nothing is left.
std::vector<StepPtr> run_model(const TinyModel& model, const EngineConfig& config,
                               const std::vector<Request>& requests, const SimtOptions& options = {});
/// The tokens that each request was given, by id.
std::map<int, Ints> texts(const std::vector<StepPtr>& steps);

/// A pool with cuda_graphs on, and prompts of 6, 10 and 3 tokens for it.
EngineConfig graph_pool(int block_size, int num_blocks);
std::vector<Request> three_prompts();
/// Step by step the same bookkeeping, recorded tensors and samples.
void expect_same_bits(const std::vector<StepPtr>& a, const std::vector<StepPtr>& b);

std::map<std::uint64_t, std::int32_t> hash_map(const trace::StepRecord& record);
std::vector<trace::Event> events_of(const trace::StepRecord& record, trace::EventKind kind);

/// Follows an engine step by step with a picture of its pool in which every slot holds the hash of the whole
/// text up to its token, so that a key read for another text, another position or from a slot nobody wrote
/// fails, whatever the bookkeeping says.
class Auditor {
 public:
  explicit Auditor(const EngineConfig& config);
  void check(const trace::StepRecord& record);

 private:
  void check_pool(const trace::StepRecord& record) const;
  void check_batch(const trace::StepRecord& record) const;
  void check_hashes(const trace::StepRecord& record) const;
  void store_and_read(const trace::StepRecord& record);

  EngineConfig config_;
  std::vector<std::uint64_t> slots_;  // hash of the text a slot's K/V belongs to; 0 = never written
};

}  // namespace attn::test
