// The font roles of the program. Inter for words, JetBrains Mono for numbers and tokens (its digits are all
// of one width), DejaVu for the symbols they lack. Dear ImGui 1.86 bakes glyphs per size, so the atlas is
// rebuilt for every scale; sizes are whole pixels, which keeps text crisp.
#pragma once

#include <string>
#include <vector>

struct ImFont;

namespace attn::viz {

enum class FontRole : unsigned char {
  text,        // 15 px at scale 1
  strong,      // 15 px semibold: panel titles, labels
  small,       // 13 px: captions, sources
  title,       // 18 px semibold: scenario name
  mono,        // 13 px: numbers, tokens
  mono_small,  // 11 px: numbers inside cells and slots
  number,      // 18 px mono: the numbers that matter
  caption,     // 22 px: the sentence in mode present
  count_
};
inline constexpr int kNumFontRoles = static_cast<int>(FontRole::count_);

/// Mode present enlarges everything by this and has smallest sizes of its own, for the back row.
inline constexpr float kPresentScale = 1.35F;

/// As a style sheet names it.
struct FontFace {
  const char* css_class;
  const char* families;
  int weight;
  float line;  // from its highest to its lowest letter, which is what font sizes mean here, in em
};
FontFace font_face(FontRole role);

/// Whole pixels of a role at a scale. `present`: `scale` has kPresentScale in it, no text is under 20 px,
/// numbers that matter are 24 px and the caption 30 px at 1.35.
float font_size(FontRole role, float scale, bool present = false);
/// Whole pixels of a role in the current atlas.
float font_pixels(FontRole role);
/// From one line of text to the next, in whole pixels: follows the letters, which mode present makes larger
/// than the panels' own measures.
float line_step(FontRole role);

/// Fills ImGui's atlas with every role, in order, from the first directory of `dirs` that has each file
/// (then the usual Debian ones). Returns "" or one sentence naming what was not found; that role then uses
/// ImGui's built-in font.
std::string load_fonts(const std::vector<std::string>& dirs, float scale, bool present = false);

/// The role's font in the current atlas; ImGui's current font when load_fonts was never called.
ImFont* font(FontRole role);

}  // namespace attn::viz
