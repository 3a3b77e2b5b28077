// Typed, suspicious reading of one JSON object: every wrong type says what it is, what it must be and where
// it stands, and finish() refuses the keys that nobody asked for.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/located_json.h"
#include "core/engine/nearest.h"
#include "core/trace/names.h"
#include "kernels/common/check.h"

namespace attn::app {

class ObjectReader {
 public:
  /// `document` outlives the reader. Throws InputError when `pointer` is no object.
  explicit ObjectReader(const LocatedJson& document, std::string pointer = {});

  bool has(const char* key) const { return object_->contains(key); }
  /// Reads a member into `value`; false when it is not there. Integers must be written without a fraction and
  /// fit T; enums are names.
  template <class T>
  bool read(const char* key, T& value);
  /// A member that must be there.
  template <class T>
  T need(const char* key, const char* hint) {
    T value{};
    if (!read(key, value)) missing(key, hint);
    return value;
  }
  /// A nested object; nothing when it is not there.
  std::optional<ObjectReader> object(const char* key);
  /// A list of objects; empty when it is not there.
  std::vector<ObjectReader> objects(const char* key);
  /// A member as it stands, for values of more than one type; null when it is not there.
  const nlohmann::json* raw(const char* key) { return find(key); }
  /// All keys, for objects whose keys are data; they count as known.
  std::vector<std::string> keys();
  /// "file.json:12" of a member, or of the object itself for "".
  const std::string& where(std::string_view key) const {
    return document_->where(key.empty() ? pointer_ : child(key));
  }
  /// Call last: throws InputError for the first key that was never read, with the nearest known one.
  void finish() const;

  [[noreturn]] void missing(const char* key, const std::string& hint) const {
    refuse(pointer_, fmt::format("'{}' is missing in {}", key, path_text(pointer_)), hint);
  }
  /// "requests[0].prompt", as messages write it.
  std::string path(const char* key) const { return path_text(child(key)); }
  /// Throws InputError "what (place); hint", the place being that of `key`, or of the object for null.
  [[noreturn]] void fail(const char* key, const std::string& what, const std::string& hint) const;

 private:
  const nlohmann::json* find(const char* key);
  [[noreturn]] void refuse(const std::string& pointer, const std::string& what,
                           const std::string& hint) const;
  [[noreturn]] void wrong_type(const char* key, const nlohmann::json& value,
                               const std::string& expected) const;
  std::string child(std::string_view key) const { return pointer_ + "/" + std::string(key); }
  /// "/requests/0/prompt" as people write it: "requests[0].prompt".
  static std::string path_text(const std::string& pointer);

  void get(const char* key, const nlohmann::json& json, bool& value) const;
  void get(const char* key, const nlohmann::json& json, float& value) const;
  void get(const char* key, const nlohmann::json& json, double& value) const;
  void get(const char* key, const nlohmann::json& json, std::string& value) const;
  void get(const char* key, const nlohmann::json& json, std::vector<std::int32_t>& value) const;
  void get(const char* key, const nlohmann::json& json, std::vector<std::string>& value) const;
  template <class T>
  void get_integer(const char* key, const nlohmann::json& json, T& value) const;
  template <class E>
  void get_enum(const char* key, const nlohmann::json& json, E& value) const;

  const LocatedJson* document_;
  std::string pointer_;
  const nlohmann::json* object_;
  std::vector<std::string> known_;  // every key asked for
};

template <class T>
bool ObjectReader::read(const char* key, T& value) {
  const nlohmann::json* json = find(key);
  if (json == nullptr) return false;
  if constexpr (std::is_enum_v<T>) {
    get_enum(key, *json, value);
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    get_integer(key, *json, value);
  } else {
    get(key, *json, value);
  }
  return true;
}

template <class T>
void ObjectReader::get_integer(const char* key, const nlohmann::json& json, T& value) const {
  using Limits = std::numeric_limits<T>;
  const bool fits = json.is_number_unsigned()  ? std::in_range<T>(json.get<std::uint64_t>())
                    : json.is_number_integer() ? std::in_range<T>(json.get<std::int64_t>())
                                               : false;
  if (!fits) {
    wrong_type(key, json,
               std::is_unsigned_v<T> ? std::string("an integer from 0")
                                     : fmt::format("an integer from {} to {}", Limits::min(), Limits::max()));
  }
  value = json.get<T>();
}

template <class E>
void ObjectReader::get_enum(const char* key, const nlohmann::json& json, E& value) const {
  if (!json.is_string()) wrong_type(key, json, "one of " + trace::all_names<E>());
  const auto name = json.get<std::string>();
  const std::optional<E> picked = trace::from_name<E>(name);
  if (!picked) {
    std::vector<std::string> names;
    for (int i = 0; i <= static_cast<int>(trace::kLastOf<E>); ++i) {
      names.emplace_back(trace::name_of(static_cast<E>(i)));
    }
    fail(key, fmt::format("{} is '{}'", path_text(child(key)), name), suggest(name, names));
  }
  value = *picked;
}

}  // namespace attn::app
