// What AddressSanitizer and ThreadSanitizer must be told about fibers; all of it vanishes without them.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define ATTN_ASAN 1
#else
#define ATTN_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#define ATTN_TSAN 1
#else
#define ATTN_TSAN 0
#endif

namespace attn::simt {

/// Happens-before from every release of `address` so far to each later acquire. The emulator's own switches
/// say nothing to TSan, so that a dropped barrier in a kernel is a data race it can report.
inline void tsan_release([[maybe_unused]] void* address) {
#if ATTN_TSAN
  __tsan_release(address);
#endif
}
inline void tsan_acquire([[maybe_unused]] void* address) {
#if ATTN_TSAN
  __tsan_acquire(address);
#endif
}

}  // namespace attn::simt
