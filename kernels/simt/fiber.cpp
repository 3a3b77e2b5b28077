#include "kernels/simt/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "kernels/common/check.h"
#include "kernels/simt/sanitizers.h"

namespace attn::simt {
namespace {

/// Hands Boost a stack that the pool keeps.
struct BorrowedStack {
  boost::context::stack_context stack;
  boost::context::stack_context allocate() const { return stack; }
  void deallocate(boost::context::stack_context&) noexcept {}
};

}  // namespace

StackPool::~StackPool() {
  for (std::byte* chunk : chunks_) {
    asan_unpoison(chunk, kStackBytes * kStacksPerChunk);
    munmap(chunk, kStackBytes * kStacksPerChunk);
  }
}

boost::context::stack_context StackPool::take() {
  const std::size_t in_chunk = taken_ % kStacksPerChunk;
  if (in_chunk == 0) {
    void* memory = mmap(nullptr, kStackBytes * kStacksPerChunk, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw DeviceError("SIMT emulator: out of memory for thread stacks");
    chunks_.push_back(static_cast<std::byte*>(memory));
  }
  std::byte* bottom = chunks_.back() + in_chunk * kStackBytes;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  mprotect(bottom, page, PROT_NONE);
  const std::size_t stagger = (taken_ % 16) * 256;
  ++taken_;
  boost::context::stack_context stack;
  stack.sp = bottom + kStackBytes - stagger;
  stack.size = kStackBytes - stagger - page;
  return stack;
}

Fiber::Fiber(StackPool& stacks, std::function<Fiber&()> body) {
  const boost::context::stack_context stack = stacks.take();
  stack_bottom_ = static_cast<std::byte*>(stack.sp) - stack.size;
  stack_bytes_ = stack.size;
#if ATTN_TSAN
  tsan_fiber_ = __tsan_create_fiber(0);
  owns_tsan_fiber_ = true;
#endif
  context_ = boost::context::fiber(std::allocator_arg, BorrowedStack{stack},
                                   [this, run = std::move(body)](boost::context::fiber&& caller) {
                                     arrive(std::move(caller));
                                     Fiber& next = run();
                                     next.came_from_ = this;
                                     before_leaving(next, true);
                                     return std::move(next.context_);
                                   });
}

Fiber::~Fiber() {
#if ATTN_TSAN
  if (owns_tsan_fiber_) __tsan_destroy_fiber(tsan_fiber_);
#endif
}

void Fiber::adopt_this_thread() {
#if ATTN_TSAN
  tsan_fiber_ = __tsan_get_current_fiber();
#endif
}

}  // namespace attn::simt
