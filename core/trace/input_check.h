// The check on what a file or a user brought: one sentence with the values when it fails.
#pragma once

#include "kernels/common/check.h"

/// Throws InputError with the formatted message unless the condition holds.
#define ATTN_INPUT(condition, ...)                                          \
  do {                                                                      \
    if (!(condition)) throw ::attn::InputError(::fmt::format(__VA_ARGS__)); \
  } while (0)
