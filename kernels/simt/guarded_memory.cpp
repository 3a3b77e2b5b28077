#include "kernels/simt/guarded_memory.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "kernels/common/check.h"

namespace attn::simt {
namespace {

constexpr std::size_t kAlignment = 256;
/// Sizes beyond any tensor come from arithmetic gone wrong; sanitizers abort instead of refusing them.
constexpr std::size_t kLargestBuffer = std::size_t{1} << 39U;

/// What a whole guard zone holds. The end zone follows the data directly, whatever its size, so it has no
/// alignment of its own.
constexpr auto kWholeGuard = [] {
  std::array<std::byte, kGuardBytes> zone{};
  for (std::size_t i = 0; i < kGuardBytes; ++i) {
    zone[i] = static_cast<std::byte>(kGuardPattern >> (i % 2 * 8) & 0xFFU);
  }
  return zone;
}();

void write_guard(std::byte* zone) { std::memcpy(zone, kWholeGuard.data(), kGuardBytes); }

/// Word by word and not memcmp: TSan watches the library's memcmp, and would call this look at what a stray
/// write of a CUDA thread left a race of the kernel's.
bool guard_whole(const std::byte* zone) {
  std::uint64_t difference = 0;
  for (std::size_t i = 0; i < kGuardBytes; i += sizeof difference) {
    std::uint64_t found;
    std::uint64_t expected;
    std::memcpy(&found, zone + i, sizeof found);
    std::memcpy(&expected, kWholeGuard.data() + i, sizeof expected);
    difference |= found ^ expected;
  }
  return difference == 0;
}

}  // namespace

void GuardedBlock::Free::operator()(std::byte* pointer) const noexcept { std::free(pointer); }

GuardedBlock::GuardedBlock(std::size_t bytes) : size_(bytes) {
  static_assert(kGuardBytes % kAlignment == 0);
  if (bytes > kLargestBuffer) throw std::bad_alloc();
  const std::size_t total = (bytes + 2 * kGuardBytes + kAlignment - 1) / kAlignment * kAlignment;
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, total)));
  if (!memory_) throw std::bad_alloc();
  std::memset(data(), kPoisonByte, bytes);
  repair_guards();
}

void GuardedBlock::repair_guards() {
  write_guard(memory_.get());
  write_guard(data() + size_);
}

std::optional<std::ptrdiff_t> GuardedBlock::find_damage() const {
  const std::byte* front = memory_.get();
  const std::byte* back = data() + size_;
  if (guard_whole(front) && guard_whole(back)) return std::nullopt;
  for (std::size_t i = 0; i < kGuardBytes; ++i) {
    if (back[i] != kWholeGuard[i]) return static_cast<std::ptrdiff_t>(size_ + i);
  }
  std::size_t last = kGuardBytes;
  while (front[last - 1] == kWholeGuard[last - 1]) --last;
  return static_cast<std::ptrdiff_t>(last - 1) - static_cast<std::ptrdiff_t>(kGuardBytes);
}

std::string describe_damage(const GuardedBlock& block, std::string_view label, std::ptrdiff_t offset) {
  if (offset < 0) {
    return fmt::format("wrote {} bytes before the start of {} ({} bytes)", -offset, label, block.size());
  }
  return fmt::format("wrote at byte {} of {}, which has {} bytes", offset, label, block.size());
}

void* GuardedMemory::allocate(std::size_t bytes, std::string_view label) {
  try {
    auto buffer = std::make_unique<DeviceBuffer>(GuardedBlock(bytes), std::string(label));
    void* pointer = buffer->block.data();
    buffers_.emplace(reinterpret_cast<std::uintptr_t>(pointer), std::move(buffer));
    return pointer;
  } catch (const std::bad_alloc&) {
    throw DeviceError(fmt::format(
        "SIMT emulator: out of memory ({} bytes for '{}'); use a smaller pool or model", bytes, label));
  }
}

void GuardedMemory::deallocate(void* pointer) noexcept {
  buffers_.erase(reinterpret_cast<std::uintptr_t>(pointer));
}

DeviceBuffer* GuardedMemory::find(const void* address) {
  const auto key = reinterpret_cast<std::uintptr_t>(address);
  auto next = buffers_.upper_bound(key + kGuardBytes);  // first buffer whose front guard is above the address
  if (next == buffers_.begin()) return nullptr;
  const auto& [start, buffer] = *std::prev(next);
  return key < start + buffer->block.size() + kGuardBytes ? buffer.get() : nullptr;
}

void GuardedMemory::require(const void* pointer, std::size_t bytes, std::string_view what) {
  if (bytes == 0) return;
  const DeviceBuffer* buffer = find(pointer);
  if (!buffer) throw DeviceError(fmt::format("{}: {} is not device memory", what, fmt::ptr(pointer)));
  const std::ptrdiff_t offset = static_cast<const std::byte*>(pointer) - buffer->block.data();
  if (offset < 0 || static_cast<std::size_t>(offset) > buffer->block.size() ||
      bytes > buffer->block.size() - static_cast<std::size_t>(offset)) {
    throw DeviceError(fmt::format("{}: {} bytes at byte {} of '{}' do not fit its {} bytes", what, bytes,
                                  offset, buffer->label, buffer->block.size()));
  }
}

std::vector<DeviceBuffer*> GuardedMemory::reachable_from(const void* arguments, std::size_t bytes) {
  std::vector<DeviceBuffer*> found;
  for (std::size_t i = 0; i + sizeof(void*) <= bytes; i += sizeof(void*)) {
    const void* word = nullptr;
    std::memcpy(&word, static_cast<const std::byte*>(arguments) + i, sizeof word);
    DeviceBuffer* buffer = find(word);
    if (buffer && std::find(found.begin(), found.end(), buffer) == found.end()) found.push_back(buffer);
  }
  return found;
}

std::vector<DeviceBuffer*> GuardedMemory::all() {
  std::vector<DeviceBuffer*> buffers;
  buffers.reserve(buffers_.size());
  for (auto& [start, buffer] : buffers_) buffers.push_back(buffer.get());
  return buffers;
}

}  // namespace attn::simt
