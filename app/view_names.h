// Names of layouts, views and grains, as the settings and the command line write them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/cursor.h"
#include "viz/attention_views.h"
#include "viz/layout/screen_layout.h"

namespace attn::app {

/// In the order of the enumerators.
template <class E>
inline constexpr std::array<std::string_view, 0> kViewNames{};
template <>
inline constexpr std::array<std::string_view, 2> kViewNames<viz::ScreenMode>{"explore", "present"};
template <>
inline constexpr std::array<std::string_view, viz::kNumStageViews> kViewNames<viz::StageView>{
    "weights", "tiles", "heads", "compare", "roofline"};
template <>
inline constexpr std::array<std::string_view, 4> kViewNames<viz::SideView>{"code", "stages", "costs",
                                                                           "changes"};
template <>
inline constexpr std::array<std::string_view, 5> kViewNames<trace::Grain>{"step", "stage", "head", "tile",
                                                                          "cell"};

template <>
inline constexpr std::array<std::string_view, 3> kViewNames<viz::WeightScale>{"linear", "log10", "rank"};

template <class E>
std::string_view view_name(E value) {
  return kViewNames<E>.at(static_cast<std::size_t>(value));
}

template <class E>
std::optional<E> view_named(std::string_view name) {
  for (std::size_t i = 0; i < kViewNames<E>.size(); ++i) {
    if (kViewNames<E>[i] == name) return static_cast<E>(i);
  }
  return std::nullopt;
}

template <class E>
std::vector<std::string> view_names() {
  return {kViewNames<E>.begin(), kViewNames<E>.end()};
}

}  // namespace attn::app
