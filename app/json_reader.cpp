#include "app/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "kernels/common/check.h"

namespace attn::app {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best_distance * 2 <= std::max(name.size(), best.size()) ? best : "";
}

int JsonSource::line_of(std::string_view key) const {
  if (!text) return 0;
  const std::string quoted = fmt::format("\"{}\"", key);
  for (std::size_t at = text->find(quoted); at != std::string::npos; at = text->find(quoted, at + 1)) {
    const std::size_t next = text->find_first_not_of(" \t\r\n", at + quoted.size());
    if (next != std::string::npos && (*text)[next] == ':') {
      return 1 + static_cast<int>(
                     std::count(text->begin(), text->begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    }
  }
  return 0;
}

std::string JsonSource::at(std::string_view key) const {
  const int line = line_of(key);
  return line > 0 ? fmt::format("{}, line {}", file, line) : file;
}

ObjectReader::ObjectReader(const nlohmann::json& value, std::string where, const JsonSource& source)
    : value_(value), where_(std::move(where)), source_(source) {
  if (!value_.is_object()) {
    throw InputError(fmt::format("{} is {}, not an object ({}); write {{...}}",
                                 where_.empty() ? "the scenario" : where_, value_.type_name(), source_.file));
  }
}

std::string ObjectReader::path(std::string_view key) const {
  return where_.empty() ? std::string(key) : fmt::format("{}.{}", where_, key);
}

void ObjectReader::fail(const char* key, const std::string& what) const {
  throw InputError(fmt::format("{} {} ({})", path(key), what, source_.at(key)));
}

bool ObjectReader::has(const char* key) {
  asked_.emplace_back(key);
  return value_.contains(key);
}

const nlohmann::json* ObjectReader::child(const char* key) { return has(key) ? &value_.at(key) : nullptr; }

void ObjectReader::read(const char* key, int& out) {
  const nlohmann::json* value = child(key);
  if (!value) return;
  if (!value->is_number_integer()) fail(key, fmt::format("is {}; it must be a whole number", value->dump()));
  const auto wide = value->get<std::int64_t>();
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
    fail(key, fmt::format("is {}; it must fit 32 bits", value->dump()));
  }
  out = static_cast<int>(wide);
}

void ObjectReader::read(const char* key, std::uint64_t& out) {
  const nlohmann::json* value = child(key);
  if (!value) return;
  if (!value->is_number_unsigned())
    fail(key, fmt::format("is {}; it must be a whole number >= 0", value->dump()));
  out = value->get<std::uint64_t>();
}

void ObjectReader::read(const char* key, float& out) {
  const nlohmann::json* value = child(key);
  if (!value) return;
  if (!value->is_number()) fail(key, fmt::format("is {}; it must be a number", value->dump()));
  out = value->get<float>();
}

void ObjectReader::read(const char* key, bool& out) {
  const nlohmann::json* value = child(key);
  if (!value) return;
  if (!value->is_boolean()) fail(key, fmt::format("is {}; it must be true or false", value->dump()));
  out = value->get<bool>();
}

void ObjectReader::read(const char* key, std::string& out) {
  const nlohmann::json* value = child(key);
  if (!value) return;
  if (!value->is_string()) fail(key, fmt::format("is {}; it must be a text in quotes", value->dump()));
  out = value->get<std::string>();
}

void ObjectReader::finish() const {
  for (const auto& [key, unused] : value_.items()) {
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    const std::string near = nearest_name(key, asked_);
    throw InputError(fmt::format("unknown key '{}' ({}); {}", path(key), source_.at(key),
                                 near.empty() ? fmt::format("known here: {}", fmt::join(asked_, ", "))
                                              : fmt::format("did you mean '{}'?", near)));
  }
}

}  // namespace attn::app
