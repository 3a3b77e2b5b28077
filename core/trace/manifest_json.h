// The manifest of a trace as JSON.
#pragma once

#include <string>
#include <string_view>

#include "core/trace/step_record.h"

namespace attn::trace {

std::string manifest_to_json(const Manifest& manifest);
/// Throws InputError naming the key that is missing or has a wrong value.
Manifest manifest_from_json(std::string_view text);

}  // namespace attn::trace
