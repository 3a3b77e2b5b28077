// A pair of little-endian archives that walk the same list of fields (record_fields.h), so that writing
// and reading cannot disagree. The reader trusts nothing: every read is bounds-checked, a count is checked
// against the bytes that are left before anything is allocated, enums and flags against their range.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/trace/enum_range.h"
#include "kernels/common/check.h"

namespace attn::trace {

static_assert(std::endian::native == std::endian::little, "the archives copy numbers as they lie in memory");
static_assert(sizeof(std::size_t) == 8, "sizes are stored as 64 bits");

/// Elements copied as one block of bytes (bool is not: std::vector<bool> has no such block).
template <class T>
inline constexpr bool kPlain = std::is_same_v<T, std::byte> ||
                               (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);

/// Appends values to a byte string.
class ByteWriter {
 public:
  template <class... Ts>
  void operator()(const Ts&... values) {
    (put(values), ...);
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  void raw(const void* data, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), begin, begin + size);
  }
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      put(static_cast<std::uint8_t>(value));
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      raw(&value, sizeof(T));
    } else {
      fields(*this, value);
    }
  }
  void put(const std::string& text) {
    put(text.size());
    raw(text.data(), text.size());
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(values.size());
    if constexpr (kPlain<T>) {
      raw(values.data(), values.size() * sizeof(T));
    } else {
      for (const T& value : values) put(value);
    }
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class A, class B>
  void put(const std::pair<A, B>& pair) {
    put(pair.first);
    put(pair.second);
  }

  std::vector<std::byte> bytes_;
};

/// Reads the same values back; throws InputError as soon as the bytes cannot be what a ByteWriter wrote.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class... Ts>
  void operator()(Ts&... values) {
    (get(values), ...);
  }
  /// Call after the last field: left-over bytes mean that writer and reader disagree.
  void expect_end() const {
    if (position_ != bytes_.size()) fail("has bytes after its last field");
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw InputError(fmt::format("data {} (byte {} of {})", what, position_, bytes_.size()));
  }
  std::size_t left() const { return bytes_.size() - position_; }
  void raw(void* data, std::size_t size) {
    if (size > left()) fail("ends inside a value");
    if (size != 0) std::memcpy(data, bytes_.data() + position_, size);
    position_ += size;
  }
  /// Number of elements that follow, each taking at least `element_bytes`.
  std::size_t count(std::size_t element_bytes) {
    std::size_t value = 0;
    get(value);
    if (value > left() / element_bytes) fail("gives a count larger than what follows");
    return value;
  }
  template <class T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t flag = 0;
      get(flag);
      if (flag > 1) fail("has a flag that is neither 0 nor 1");
      value = flag != 0;
    } else if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> number{};
      get(number);
      if (number > static_cast<std::underlying_type_t<T>>(kLastOf<T>)) fail("has an unknown enumerator");
      value = static_cast<T>(number);
    } else if constexpr (std::is_arithmetic_v<T>) {
      raw(&value, sizeof(T));
    } else {
      fields(*this, value);
    }
  }
  void get(std::string& text) {
    text.resize(count(1));
    raw(text.data(), text.size());
  }
  template <class T>
  void get(std::vector<T>& values) {
    values.clear();
    if constexpr (kPlain<T>) {
      values.resize(count(sizeof(T)));
      raw(values.data(), values.size() * sizeof(T));
    } else {
      // No reserve: an element in memory is larger than its smallest encoding.
      for (std::size_t left_to_read = count(1); left_to_read > 0; --left_to_read) get(values.emplace_back());
    }
  }
  template <class T>
  void get(std::optional<T>& value) {
    bool present = false;
    get(present);
    value.reset();
    if (present) get(value.emplace());
  }
  template <class A, class B>
  void get(std::pair<A, B>& pair) {
    get(pair.first);
    get(pair.second);
  }

  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
};

}  // namespace attn::trace
