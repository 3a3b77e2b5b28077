// The engine's switches as a menu lists them: what each is called, what it can be and what it does, once for
// the window, the command line and the lessons. Names and types come from config_fields.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/engine/config.h"

namespace attn {

/// One line of the menu. A field can stand twice: decode_path is a choice of three ways, and one of them is
/// also what "Padding is attended" switches on.
struct EngineSwitch {
  std::string name;                 // of the EngineConfig field
  std::vector<std::string> values;  // break_it: the right value, then the one that breaks
  std::string default_value;
  bool break_it = false;  // values.back() makes the answer wrong
  std::string title;      // "Mask hangs from the top left"
  std::string text;       // one plain sentence: what it does, or what goes wrong
  bool number = false;    // any whole number from values.front() on; `values` are only examples
};

/// Choices first, then what breaks, each in the order of a menu.
const std::vector<EngineSwitch>& engine_switches();

/// The value of a field as text: "true", "paged", "-1". Any EngineConfig field. Throws InputError with the
/// nearest name when there is no such field.
std::string switch_value(const EngineConfig& config, std::string_view name);

/// Sets a field from text. graph_skip_cache_ops switches cuda_graphs on with it, for it needs them, and
/// cuda_graphs off takes graph_skip_cache_ops along. Throws InputError with the nearest name or value, or
/// what validate() says; `config` is then unchanged.
void set_switch(EngineConfig& config, std::string_view name, std::string_view value);

/// Titles of everything that makes the answer wrong, in the order of the menu; empty: nothing is broken.
std::vector<std::string> broken(const EngineConfig& config);

}  // namespace attn
