#include "app/located_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "kernels/common/check.h"

namespace attn::app {
namespace {

using Json = nlohmann::json;

/// Walks over text and counts lines. The parser copies its iterators, so the count lives outside.
struct CountingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at = nullptr;
  int* line = nullptr;

  reference operator*() const { return *at; }
  CountingIterator& operator++() {
    if (*at == '\n') ++*line;
    ++at;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at == other.at; }
};

/// Follows the parser through the document and notes the line of every key and array element.
class PathRecorder {
 public:
  PathRecorder(const int& line, std::map<std::string, std::string>& places, const std::string& source)
      : line_(line), places_(places), source_(source) {}

  void event(Json::parse_event_t kind, const Json& parsed) {
    switch (kind) {
      case Json::parse_event_t::key:
        open_.back().name = parsed.get<std::string>();
        note(open_.back().name);
        break;
      case Json::parse_event_t::object_start:
      case Json::parse_event_t::array_start:
        begin_value();
        open_.push_back({kind == Json::parse_event_t::array_start, 0, {}});
        break;
      case Json::parse_event_t::object_end:
      case Json::parse_event_t::array_end:
        open_.pop_back();
        break;
      case Json::parse_event_t::value:
        begin_value();
        break;
    }
  }

 private:
  struct Open {
    bool is_array;
    int count;
    std::string name;  // of the member being read
  };

  /// An element of an array has no key event: its place is its number.
  void begin_value() {
    if (open_.empty() || !open_.back().is_array) return;
    open_.back().name = std::to_string(open_.back().count++);
    note(open_.back().name);
  }
  void note(const std::string& name) {
    Json::json_pointer pointer;
    for (const Open& open : open_) pointer.push_back(open.name);
    const std::string place = fmt::format("{}:{}", source_, line_);
    if (!places_.emplace(pointer.to_string(), place).second) {
      throw InputError(
          fmt::format("the key '{}' stands twice in one object ({}); keep one of them", name, place));
    }
  }

  const int& line_;
  std::map<std::string, std::string>& places_;
  const std::string& source_;
  std::vector<Open> open_;
};

/// nlohmann's message without its "[json.exception.parse_error.101] parse error at line 3, column 5: ".
std::string reason_of(const Json::parse_error& error) {
  const std::string text = error.what();
  const std::size_t colon = text.find(": ");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}

}  // namespace

const std::string& LocatedJson::where(const std::string& pointer) const {
  const auto found = places.find(pointer);
  return found == places.end() ? source : found->second;
}

void LocatedJson::set(std::string_view path, Json new_value, const std::string& place) {
  Json* at = &value;
  Json::json_pointer pointer;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t dot = std::min(path.find('.', begin), path.size());
    const std::string part(path.substr(begin, dot - begin));
    begin = dot + 1;
    if (part.empty())
      throw InputError(fmt::format("a part of the path is empty ({}); use names with dots", place));
    if (at->is_array()) {
      std::size_t index = 0;
      const auto end = std::from_chars(part.data(), part.data() + part.size(), index);
      if (end.ptr != part.data() + part.size() || end.ec != std::errc() || index >= at->size()) {
        throw InputError(
            fmt::format("'{}' is no element of a list of {} ({}); count from 0", part, at->size(), place));
      }
      at = &(*at)[index];
    } else if (at->is_object() || at->is_null()) {
      at = &(*at)[part];
    } else {
      throw InputError(fmt::format("'{}' is inside a plain value ({}); shorten the path", part, place));
    }
    pointer.push_back(part);
  }
  *at = std::move(new_value);
  places[pointer.to_string()] = place;
}

LocatedJson parse_located(std::string_view text, std::string source) {
  LocatedJson out;
  out.source = std::move(source);
  int line = 1;
  PathRecorder recorder(line, out.places, out.source);
  const auto callback = [&](int, Json::parse_event_t kind, Json& parsed) {
    recorder.event(kind, parsed);
    return true;
  };
  try {
    out.value = Json::parse(CountingIterator{text.data(), &line},
                            CountingIterator{text.data() + text.size(), &line}, callback);
  } catch (const Json::parse_error& error) {
    throw InputError(
        fmt::format("this is not JSON: {} ({}:{}); correct it there", reason_of(error), out.source, line));
  }
  return out;
}

}  // namespace attn::app
