// JSON that remembers on which line everything stands, so that a scenario's mistakes can be pointed at.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace attn::app {

struct LocatedJson {
  nlohmann::json value;
  std::string source;                         // file name for messages
  std::map<std::string, std::string> places;  // by JSON pointer ("/requests/0/prompt"): "three.json:12", the
                                              // line of the key, or of the element of an array

  /// The place of a pointer, or the source when it has none.
  const std::string& where(const std::string& pointer) const;
  /// Puts a value given elsewhere ("--set engine.block_size=4") at a dotted path; parts that are numbers
  /// index arrays. Throws InputError when the path leads through something that is neither object nor array.
  void set(std::string_view path, nlohmann::json new_value, const std::string& place);
};

/// Throws InputError (source:line, what is wrong) for text that is not JSON or names a key twice.
LocatedJson parse_located(std::string_view text, std::string source);

}  // namespace attn::app
