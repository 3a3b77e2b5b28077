// What AddressSanitizer and ThreadSanitizer must be told about fibers; all of it vanishes without them.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define ATTN_ASAN 1
#else
#define ATTN_ASAN 0
#endif

// The build defines ATTN_TSAN for the emulator's own files, which are not instrumented (CMakeLists.txt).
#ifndef ATTN_TSAN
#if defined(__SANITIZE_THREAD__)
#define ATTN_TSAN 1
#else
#define ATTN_TSAN 0
#endif
#endif
#if ATTN_TSAN
#include <sanitizer/tsan_interface.h>
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
