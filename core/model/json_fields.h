// JSON files of other programs, read with suspicion: every getter names file and key when it refuses.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace attn {

/// The whole file as text. Throws InputError when it cannot be read or is larger than `max_bytes`.
std::string read_text_file(const std::filesystem::path& path, std::uintmax_t max_bytes);

/// Parses text that must be one JSON object; `where` names it in errors.
nlohmann::json parse_json_object(std::string_view text, const std::string& where);

/// An object and where it stands ("config.json", "config.json (rope_scaling)"). Refers to the object.
/// A key with the value null counts as absent, as Hugging Face writes unset options.
class JsonFields {
 public:
  JsonFields(const nlohmann::json& object, std::string where);

  const std::string& where() const { return where_; }
  bool has(const char* key) const { return find(key) != nullptr; }
  /// Null when absent.
  const nlohmann::json* find(const char* key) const;
  const nlohmann::json& at(const char* key) const;

  std::int64_t integer(const char* key, std::int64_t lowest, std::int64_t highest) const;
  std::int64_t integer_or(const char* key, std::int64_t fallback, std::int64_t lowest,
                          std::int64_t highest) const;
  double positive(const char* key) const;
  double positive_or(const char* key, double fallback) const;
  bool boolean_or(const char* key, bool fallback) const;
  std::string text(const char* key) const;
  std::string text_or(const char* key, std::string fallback) const;
  /// A nested object with its own `where`.
  JsonFields object(const char* key) const;

  [[noreturn]] void fail(const std::string& what) const;

 private:
  const nlohmann::json& object_;
  std::string where_;
};

}  // namespace attn
