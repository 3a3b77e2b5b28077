#include "core/model/json_fields.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <utility>

#include "kernels/common/check.h"

namespace attn {

using nlohmann::json;

namespace {

/// A value for an error message: short, and safe when it holds bytes that are not UTF-8.
std::string shown(const json& value) {
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

}  // namespace

std::string read_text_file(const std::filesystem::path& path, std::uintmax_t max_bytes) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error)
    throw InputError(
        fmt::format("cannot read {} ({}); give a file that exists", path.string(), error.message()));
  if (size > max_bytes) {
    throw InputError(
        fmt::format("{} is too large ({} bytes); at most {} are read", path.string(), size, max_bytes));
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(size, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(size))) {
    throw InputError(fmt::format("cannot read {}; check its permissions", path.string()));
  }
  return text;
}

json parse_json_object(std::string_view text, const std::string& where) {
  try {
    json value = json::parse(text);
    if (!value.is_object())
      throw InputError(
          fmt::format("{} is not a JSON object but {}; check the file", where, value.type_name()));
    return value;
  } catch (const json::exception& error) {
    // nlohmann's text quotes the input; keep to the position so that the sentence stays short and clean.
    const auto* parse = dynamic_cast<const json::parse_error*>(&error);
    throw InputError(fmt::format("{} is not valid JSON (byte {}); the file is damaged or cut short", where,
                                 parse ? parse->byte : 0));
  }
}

JsonFields::JsonFields(const json& object, std::string where) : object_(object), where_(std::move(where)) {
  if (!object.is_object()) fail(fmt::format("an object was expected, found {}", shown(object)));
}

void JsonFields::fail(const std::string& what) const {
  throw InputError(fmt::format("{}: {}", where_, what));
}

const json* JsonFields::find(const char* key) const {
  const auto it = object_.find(key);
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

const json& JsonFields::at(const char* key) const {
  const json* value = find(key);
  if (!value) fail(fmt::format("'{}' is missing; the file is not complete", key));
  return *value;
}

std::int64_t JsonFields::integer(const char* key, std::int64_t lowest, std::int64_t highest) const {
  const json& value = at(key);
  const bool fits =
      value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX);
  if (!fits || value.get<std::int64_t>() < lowest || value.get<std::int64_t>() > highest) {
    fail(fmt::format("'{}' is {}; it must be a whole number from {} to {}", key, shown(value), lowest,
                     highest));
  }
  return value.get<std::int64_t>();
}

std::int64_t JsonFields::integer_or(const char* key, std::int64_t fallback, std::int64_t lowest,
                                    std::int64_t highest) const {
  return has(key) ? integer(key, lowest, highest) : fallback;
}

double JsonFields::positive(const char* key) const {
  const json& value = at(key);
  const double number = value.is_number() ? value.get<double>() : NAN;
  if (!(number > 0.0) || std::isinf(number)) {
    fail(fmt::format("'{}' is {}; it must be a positive number", key, shown(value)));
  }
  return number;
}

double JsonFields::positive_or(const char* key, double fallback) const {
  return has(key) ? positive(key) : fallback;
}

bool JsonFields::boolean_or(const char* key, bool fallback) const {
  const json* value = find(key);
  if (!value) return fallback;
  if (!value->is_boolean()) fail(fmt::format("'{}' is {}; it must be true or false", key, shown(*value)));
  return value->get<bool>();
}

std::string JsonFields::text(const char* key) const {
  const json& value = at(key);
  if (!value.is_string()) fail(fmt::format("'{}' is {}; it must be a string", key, shown(value)));
  return value.get<std::string>();
}

std::string JsonFields::text_or(const char* key, std::string fallback) const {
  return has(key) ? text(key) : std::move(fallback);
}

JsonFields JsonFields::object(const char* key) const {
  const json& value = at(key);
  if (!value.is_object()) fail(fmt::format("'{}' is {}; it must be an object", key, shown(value)));
  return {value, fmt::format("{} ({})", where_, key)};
}

}  // namespace attn
