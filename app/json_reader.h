// Strict reading of one JSON object: every key is asked for by name, wrong types and unknown keys are errors
// that name the file, the line and the nearest key that exists.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace attn::app {

/// Where a JSON text came from, for messages.
struct JsonSource {
  std::string file;
  const std::string* text = nullptr;
  /// 1-based line of the first `"key":` at or after that of `parent`, 0 when it is not in the text.
  int line_of(std::string_view key) const;
  /// "scenario.json, line 5"
  std::string at(std::string_view key) const;
};

class ObjectReader {
 public:
  /// Throws InputError when `value` is not an object. `where` is its path: "", "engine", "requests[1]".
  ObjectReader(const nlohmann::json& value, std::string where, const JsonSource& source);

  bool has(const char* key);
  /// These leave `out` alone when the key is absent.
  void read(const char* key, int& out);
  void read(const char* key, float& out);
  void read(const char* key, bool& out);
  void read(const char* key, std::uint64_t& out);
  void read(const char* key, std::string& out);
  /// Null when absent.
  const nlohmann::json* child(const char* key);
  /// Throws for a key that nobody asked for.
  void finish() const;
  [[noreturn]] void fail(const char* key, const std::string& what) const;

 private:
  std::string path(std::string_view key) const;
  const nlohmann::json& value_;
  std::string where_;
  const JsonSource& source_;
  std::vector<std::string> asked_;
};

/// The candidate with the smallest edit distance, "" when none is near (more than half of it differs).
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace attn::app
