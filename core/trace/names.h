// Names of the recorded enums, as JSON, the text twin and the command line write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/trace/enum_range.h"

namespace attn::trace {

std::string_view name_of(StepKind kind);
std::string_view name_of(SeqStatus status);
std::string_view name_of(Stage stage);
std::string_view name_of(AttentionPath path);
std::string_view name_of(EventKind kind);
std::string_view name_of(MaskAlignment mask);
std::string_view name_of(HeadMap map);
std::string_view name_of(DecodePath path);
std::string_view name_of(PrefillPath path);
std::string_view name_of(FreeListOrder order);
std::string_view name_of(HashPolicy policy);
std::string_view name_of(Scores scores);
inline std::string_view name_of(DType dtype) { return dtype_name(dtype); }

/// The enumerator of that name, or nothing.
template <class E>
std::optional<E> from_name(std::string_view name) {
  using Number = std::underlying_type_t<E>;
  for (Number i = 0; i <= static_cast<Number>(kLastOf<E>); ++i) {
    if (name_of(static_cast<E>(i)) == name) return static_cast<E>(i);
  }
  return std::nullopt;
}

/// All names of E in one line, for messages: "paged, gather_masked, gather_padded".
template <class E>
std::string all_names() {
  using Number = std::underlying_type_t<E>;
  std::string names;
  for (Number i = 0; i <= static_cast<Number>(kLastOf<E>); ++i) {
    names += names.empty() ? "" : ", ";
    names += name_of(static_cast<E>(i));
  }
  return names;
}

/// 0x%016x, the form in which every 64-bit hash is written.
std::string hash_text(std::uint64_t hash);

}  // namespace attn::trace
