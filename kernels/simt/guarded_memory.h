// The emulator's device memory: every buffer starts as NaN bytes and lies between two guard zones, so a
// read past its end gives NaN and a write past its end is found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::simt {

constexpr std::size_t kGuardBytes = 512;
/// Not the poison pattern, so that writing poison is noticed too, yet NaN as float, half and bfloat16.
constexpr std::uint16_t kGuardPattern = 0xFFE5;
constexpr unsigned char kPoisonByte = 0xFF;

/// Raw memory with a guard zone on both sides; data() is 256-byte aligned.
class GuardedBlock {
 public:
  explicit GuardedBlock(std::size_t bytes);

  std::byte* data() const { return memory_.get() + kGuardBytes; }
  std::size_t size() const { return size_; }
  /// Offset from data() of a changed guard byte: the nearest one before the start (negative), or the first
  /// one at or after the end. Empty when both zones are whole.
  std::optional<std::ptrdiff_t> find_damage() const;
  void repair_guards();

 private:
  struct Free {
    void operator()(std::byte* pointer) const noexcept;
  };
  std::unique_ptr<std::byte[], Free> memory_;
  std::size_t size_ = 0;
};

struct DeviceBuffer {
  GuardedBlock block;
  std::string label;
};

/// Says in words which buffer was written where: "wrote 4 bytes past the end of buffer 'o' (64 bytes)".
std::string describe_damage(const GuardedBlock& block, std::string_view label, std::ptrdiff_t offset);

class GuardedMemory {
 public:
  void* allocate(std::size_t bytes, std::string_view label);
  void deallocate(void* pointer) noexcept;

  /// Null when no buffer (guards included) holds the address.
  DeviceBuffer* find(const void* address);
  /// Throws DeviceError unless [pointer, pointer + bytes) lies inside one buffer. `what` starts the message.
  void require(const void* pointer, std::size_t bytes, std::string_view what);
  /// The buffers that the 8-byte words of a kernel's arguments point into.
  std::vector<DeviceBuffer*> reachable_from(const void* arguments, std::size_t bytes);
  std::vector<DeviceBuffer*> all();

 private:
  std::map<std::uintptr_t, std::unique_ptr<DeviceBuffer>> buffers_;  // by address of data()
};

}  // namespace attn::simt
