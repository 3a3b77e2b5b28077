#include "kernels/simt/async_copy.h"

#include <cstdint>
#include <cstring>

#include "kernels/simt/block_runner.h"

namespace attn::simt {
namespace {

constexpr std::size_t kCopyBytes = 16;

bool aligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % kCopyBytes == 0; }

}  // namespace

void copy_async(void* to, const void* from, bool valid) {
  BlockRunner& runner = BlockRunner::active("cp_async_16");
  if (!aligned(to) || (valid && !aligned(from))) {
    runner.refuse("cp_async_16 with an address that is not on a 16-byte boundary");
  }
  AsyncCopies& copies = runner.async_copies();
  copies.pending.push_back({to, valid ? from : nullptr, copies.committed});
}

void commit_async() { ++BlockRunner::active("cp_async_commit_group").async_copies().committed; }

void wait_async(unsigned groups_left) {
  AsyncCopies& copies = BlockRunner::active("cp_async_wait_group").async_copies();
  while (!copies.pending.empty() && copies.pending.front().group + groups_left < copies.committed) {
    const AsyncCopies::Copy& copy = copies.pending.front();
    if (copy.from) {
      std::memcpy(copy.to, copy.from, kCopyBytes);
    } else {
      std::memset(copy.to, 0, kCopyBytes);
    }
    copies.pending.pop_front();
  }
}

}  // namespace attn::simt
