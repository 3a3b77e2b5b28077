// Glyphs baked once per size of letters and kept while the tests run: to bake them anew for every window of
// every test was two thirds of what the tests of the screen cost.
#pragma once

#include <imgui.h>

#include <map>
#include <utility>

#include "viz/screen.h"

namespace attn::viz {

inline ImFontAtlas& atlas_of(const StyleKey& style) {
  static std::map<std::pair<float, ScreenMode>, ImFontAtlas> atlases;
  return atlases[{style.scale, style.mode}];
}

/// A context that does not own its atlas.
inline ImGuiContext* context_of_baked_fonts() {
  return ImGui::CreateContext(IMGUI_VERSION_NUM < 19200 ? &atlas_of({}) : nullptr);
}

/// Gives the current context the atlas of this style's letters and applies the style, which bakes only into
/// an atlas that is not of that size yet.
inline void apply_baked_style(const ViewState& view) {
#if IMGUI_VERSION_NUM < 19200  // later ones bake each glyph when it is first drawn
  ImGui::GetIO().Fonts = &atlas_of(style_key(view));
#endif
  apply_style(view);
}

}  // namespace attn::viz
