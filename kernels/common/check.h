// Errors that a person can act on. Libraries throw, app/main.cpp catches once.
#pragma once

#if defined(__CUDACC__) && !defined(FMT_CONSTEVAL)
#define FMT_CONSTEVAL        // fmt 9 takes nvcc for a compiler without constexpr, and nvcc cannot run its
#define FMT_USE_CONSTEXPR 1  // compile-time check of format strings: g++ does that check
#endif
#include <fmt/format.h>

#include <source_location>
#include <stdexcept>
#include <string>
#include <utility>

namespace attn {

/// Bad input from outside (file, scenario, tensor): one sentence saying what is wrong, where and
/// what to do. The command line prints it and exits with 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The device cannot do what was asked (no GPU, out of memory, a kernel fault). Exit code 2.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {
[[noreturn]] inline void check_failed(const char* condition, const std::string& message,
                                      std::source_location where) {
  throw std::logic_error(fmt::format("{} ({}:{} in {}: {} is false)", message, where.file_name(),
                                     where.line(), where.function_name(), condition));
}
}  // namespace detail

/// A promise of our own code that does not hold; the message carries values.
#define ATTN_CHECK(condition, ...)                                                                           \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      ::attn::detail::check_failed(#condition, ::fmt::format(__VA_ARGS__), std::source_location::current()); \
    }                                                                                                        \
  } while (0)

}  // namespace attn
