#include "app/object_reader.h"

#include <algorithm>
#include <cmath>

namespace attn::app {
namespace {

using Json = nlohmann::json;

/// A value as it stands in the file, shortened.
std::string excerpt(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  constexpr std::size_t kLongest = 40;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

}  // namespace

ObjectReader::ObjectReader(const LocatedJson& document, std::string pointer)
    : document_(&document),
      pointer_(std::move(pointer)),
      object_(&document.value.at(Json::json_pointer(pointer_))) {
  if (!object_->is_object()) {
    refuse(pointer_, fmt::format("{} is {}", path_text(pointer_), excerpt(*object_)),
           "it must be an object: {...}");
  }
}

std::optional<ObjectReader> ObjectReader::object(const char* key) {
  if (find(key) == nullptr) return std::nullopt;
  return ObjectReader(*document_, child(key));
}

std::vector<ObjectReader> ObjectReader::objects(const char* key) {
  std::vector<ObjectReader> out;
  const Json* list = find(key);
  if (list == nullptr) return out;
  if (!list->is_array()) wrong_type(key, *list, "a list of objects: [{...}, ...]");
  for (std::size_t i = 0; i < list->size(); ++i) {
    out.emplace_back(*document_, fmt::format("{}/{}", child(key), i));
  }
  return out;
}

std::vector<std::string> ObjectReader::keys() {
  for (const auto& [key, value] : object_->items()) known_.push_back(key);
  return known_;
}

void ObjectReader::finish() const {
  for (const auto& [key, value] : object_->items()) {
    if (std::ranges::find(known_, key) != known_.end()) continue;
    refuse(child(key), fmt::format("unknown key '{}' in {}", key, path_text(pointer_)), suggest(key, known_));
  }
}

void ObjectReader::fail(const char* key, const std::string& what, const std::string& hint) const {
  refuse(key == nullptr ? pointer_ : child(key), what, hint);
}

const Json* ObjectReader::find(const char* key) {
  known_.emplace_back(key);
  const auto found = object_->find(key);
  return found == object_->end() ? nullptr : &*found;
}

void ObjectReader::refuse(const std::string& pointer, const std::string& what,
                          const std::string& hint) const {
  throw InputError(fmt::format("{} ({}); {}", what, document_->where(pointer), hint));
}

void ObjectReader::wrong_type(const char* key, const Json& value, const std::string& expected) const {
  refuse(child(key), fmt::format("{} is {}", path_text(child(key)), excerpt(value)),
         "it must be " + expected);
}

std::string ObjectReader::path_text(const std::string& pointer) {
  if (pointer.empty()) return "the scenario";
  std::string text;
  for (std::size_t begin = 1; begin <= pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', begin), pointer.size());
    const std::string part = pointer.substr(begin, end - begin);
    const bool index = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    text += index ? fmt::format("[{}]", part) : (text.empty() ? "" : ".") + part;
    begin = end + 1;
  }
  return text;
}

void ObjectReader::get(const char* key, const Json& json, bool& value) const {
  if (!json.is_boolean()) wrong_type(key, json, "true or false");
  value = json.get<bool>();
}

void ObjectReader::get(const char* key, const Json& json, float& value) const {
  if (!json.is_number() || !std::isfinite(json.get<float>())) wrong_type(key, json, "a number");
  value = json.get<float>();
}

void ObjectReader::get(const char* key, const Json& json, double& value) const {
  if (!json.is_number() || !std::isfinite(json.get<double>())) wrong_type(key, json, "a number");
  value = json.get<double>();
}

void ObjectReader::get(const char* key, const Json& json, std::string& value) const {
  if (!json.is_string()) wrong_type(key, json, "text in double quotes");
  value = json.get<std::string>();
}

void ObjectReader::get(const char* key, const Json& json, std::vector<std::int32_t>& value) const {
  if (!json.is_array()) wrong_type(key, json, "a list of token ids: [1, 2, ...]");
  value.clear();
  for (const Json& element : json) {
    if (!element.is_number_integer() || !std::in_range<std::int32_t>(element.get<std::int64_t>())) {
      wrong_type(key, element, "a list of token ids: [1, 2, ...]");
    }
    value.push_back(element.get<std::int32_t>());
  }
}

void ObjectReader::get(const char* key, const Json& json, std::vector<std::string>& value) const {
  const bool good = json.is_array() && std::ranges::all_of(json, [](const Json& e) { return e.is_string(); });
  if (!good) wrong_type(key, json, "a list of texts: [\"...\", ...]");
  value = json.get<std::vector<std::string>>();
}

}  // namespace attn::app
