// How much memory a process may still take before the system ends it.
#pragma once

#include <cstdint>

namespace attn {

/// MemAvailable of /proc/meminfo, or what the control group leaves if that is less; where neither can be
/// read, the largest number.
std::uint64_t available_host_memory();

}  // namespace attn
