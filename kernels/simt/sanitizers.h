// What AddressSanitizer and ThreadSanitizer must be told about fibers; all of it vanishes without them.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
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

/// A fiber abandoned in mid-stack leaves its red zones poisoned; memory mapped there later must not inherit
/// them.
inline void asan_unpoison([[maybe_unused]] void* address, [[maybe_unused]] std::size_t bytes) {
#if ATTN_ASAN
  __asan_unpoison_memory_region(address, bytes);
#endif
}

}  // namespace attn::simt
