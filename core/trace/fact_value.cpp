#include "core/trace/fact_value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/trace/number_text.h"
#include "kernels/common/check.h"

namespace attn::trace {
namespace {

using Json = nlohmann::json;

bool is_range(const Json& json) {
  return json.is_array() && json.size() == 2 && json[0].is_number() && json[1].is_number();
}

/// Half a unit of the last digit that the number is written with; 0 for integers.
double tolerance_of(const Json& number) {
  if (number.is_number_integer()) return 0.0;
  const std::string text = number.dump();  // the shortest that reads back: 0.667, 1e-06
  const std::size_t e = text.find('e'), dot = text.find('.');
  const std::string_view mantissa = std::string_view(text).substr(0, e);
  const int exponent = e == std::string::npos ? 0 : std::stoi(text.substr(e + 1));
  const int decimals = dot == std::string::npos ? 0 : static_cast<int>(mantissa.size() - dot - 1);
  return 0.5 * std::pow(10.0, exponent - decimals);
}

bool meets_number(double value, const Json& expected) {
  if (is_range(expected)) return value >= expected[0].get<double>() && value <= expected[1].get<double>();
  if (!expected.is_number()) return false;
  const double wanted = expected.get<double>(), tolerance = tolerance_of(expected);
  constexpr double kRounding = 1e-9;  // of the tolerance: 0.5 units are still a hit
  return value == wanted || std::abs(value - wanted) <= tolerance * (1.0 + kRounding);
}

bool meets_element(const FactValue& value, const Json& expected) {
  if (value.kind() == FactKind::number) return expected.is_number() && meets_number(value.number(), expected);
  return meets(value, expected);
}

/// A spec taken apart: [,][.digits][f e g %]
struct Format {
  bool grouped = false;
  int digits = -1;  // -1: not said
  char type = 0;
};

bool parse_format(std::string_view spec, Format& format) {
  if (spec.starts_with(',')) {
    format.grouped = true;
    spec.remove_prefix(1);
  }
  if (spec.starts_with('.')) {
    if (spec.size() < 2 || spec[1] < '0' || spec[1] > '9') return false;
    format.digits = spec[1] - '0';
    spec.remove_prefix(2);
  }
  if (!spec.empty() && std::string_view("feg%").find(spec[0]) != std::string_view::npos) {
    format.type = spec[0];
    spec.remove_prefix(1);
  }
  return spec.empty();
}

/// 1234567.5 -> 1,234,567.5
std::string group_digits(std::string text) {
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  std::size_t at = std::min(text.find_first_not_of("0123456789", first), text.size());
  while (at > first + 3) text.insert(at -= 3, ",");
  return text;
}

std::string number_text(double value, const Format& format) {
  if (!std::isfinite(value)) return fmt::format("{}", num(value));
  if (format.type == '%')
    return fmt::format("{:.{}f} %", 100.0 * value, format.digits < 0 ? 1 : format.digits);
  if (format.type == 'e') return fmt::format("{:.{}e}", value, format.digits < 0 ? 2 : format.digits);
  if (format.type == 'g') return fmt::format("{:.{}g}", value, format.digits < 0 ? 4 : format.digits);
  std::string text;
  constexpr double kWhole = 1e15;
  if (format.type == 'f' || format.digits >= 0) {
    text = fmt::format("{:.{}f}", value, format.digits < 0 ? 3 : format.digits);
  } else if (value == std::floor(value) && std::abs(value) < kWhole) {
    text = fmt::format("{:.0f}", value);
  } else {
    text = std::abs(value) < 1e-3 ? fmt::format("{:.2e}", value) : fmt::format("{:.4f}", value);
  }
  return format.grouped ? group_digits(std::move(text)) : text;
}

std::string text_of(const FactValue& value, const Format& format) {
  switch (value.kind()) {
    case FactKind::number:
      return number_text(value.number(), format);
    case FactKind::text:
      return std::get<std::string>(value.is);
    case FactKind::list:
      break;
  }
  std::vector<std::string> parts;
  for (const FactValue& element : std::get<FactValue::List>(value.is))
    parts.push_back(text_of(element, format));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

}  // namespace

FactKind FactValue::kind() const {
  if (std::holds_alternative<double>(is)) return FactKind::number;
  return std::holds_alternative<std::string>(is) ? FactKind::text : FactKind::list;
}

std::string why_no_expectation(FactKind kind, const Json& expected) {
  switch (kind) {
    case FactKind::number:
      if (expected.is_number() || is_range(expected)) return "";
      return "it is a number; give one, or a range [low, high]";
    case FactKind::list:
      return expected.is_array() ? "" : "it is a list; give one: [1, 2, ...]";
    case FactKind::text:
      break;
  }
  return expected.is_string() ? "" : "it is a text; give one in double quotes";
}

bool meets(const FactValue& value, const Json& expected) {
  switch (value.kind()) {
    case FactKind::number:
      return meets_number(value.number(), expected);
    case FactKind::text:
      return expected.is_string() && expected.get<std::string>() == std::get<std::string>(value.is);
    case FactKind::list:
      break;
  }
  const auto& list = std::get<FactValue::List>(value.is);
  return expected.is_array() &&
         std::equal(list.begin(), list.end(), expected.begin(), expected.end(), meets_element);
}

bool is_number_format(std::string_view spec) {
  Format format;
  return parse_format(spec, format);
}

std::string no_number_format(std::string_view spec) {
  return fmt::format("'{}' is no number format; use one such as .3f, .1% or ,", spec);
}

std::string text_of(const FactValue& value, std::string_view spec) {
  Format format;
  if (!parse_format(spec, format)) throw InputError(no_number_format(spec));
  return text_of(value, format);
}

}  // namespace attn::trace
