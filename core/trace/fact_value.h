// What a fact of a run comes to: a number, a text or a list of them; how it is compared with what a lesson
// expects, and how it is written into a sentence.
#pragma once

#include <concepts>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace attn::trace {

enum class FactKind : std::uint8_t { number, list, text };

struct FactValue {
  using List = std::vector<FactValue>;
  std::variant<double, std::string, List> is;

  FactValue() : is(0.0) {}
  template <class T>
  requires std::is_arithmetic_v<T> FactValue(T number) : is(static_cast<double>(number)) {}
  FactValue(std::string text) : is(std::move(text)) {}
  FactValue(std::string_view text) : is(std::string(text)) {}
  FactValue(List list) : is(std::move(list)) {}
  template <class T>
  static FactValue list_of(const std::vector<T>& values) {
    List list;
    for (const T& value : values) list.emplace_back(value);
    return list;
  }

  FactKind kind() const;
  /// PRECOND: a number.
  double number() const { return std::get<double>(is); }
};

/// Why `expected` cannot be what a fact of that kind is compared with; "" when it can.
std::string why_no_expectation(FactKind kind, const nlohmann::json& expected);

/// An integer is met exactly; a decimal when the value rounds to it at its last digit (0.667 by 0.6667); a
/// number by [low, high] when it lies between, ends included; lists element by element; texts exactly.
/// PRECOND: why_no_expectation gave "".
bool meets(const FactValue& value, const nlohmann::json& expected);

/// "2576", "0.6667", "[0, 4, 9]", "decode". `spec` is how numbers are written: "" (up to four digits behind
/// the point), ".3f", ".1%", ".2e", with a comma in front (",", ",.1f") in groups of three. Throws InputError
/// for another one.
std::string text_of(const FactValue& value, std::string_view spec = {});
/// Whether text_of takes it.
bool is_number_format(std::string_view spec);
/// The sentence for one that it does not take.
std::string no_number_format(std::string_view spec);

}  // namespace attn::trace
