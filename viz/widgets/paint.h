// Drawing words of the viewer: fills, outlines, the hatches that tell the four kinds of "nothing" apart, and
// text that knows its box. Colours come from the theme, never from here.
#pragma once

#include <initializer_list>
#include <string_view>

#include "viz/widgets/ui.h"

namespace attn::viz {

enum class Align : unsigned char { left, center, right };

ImU32 rgba(Rgb color, float alpha = 1.0F);

void fill(const Ui& ui, const Rect& rect, Rgb color, float alpha = 1.0F, float rounding = 0.0F);
/// Inside the rectangle, `thickness` pixels.
void outline(const Ui& ui, const Rect& rect, Rgb color, float thickness = 1.0F, float rounding = 0.0F);
void dotted(const Ui& ui, const Rect& rect, Rgb color);
/// Inside the rectangle, `thickness` pixels, in dashes that meet at the corners.
void dashed(const Ui& ui, const Rect& rect, Rgb color, float thickness);
/// Small disc at a centre: this differs from the step before.
void change_dot(const Ui& ui, float x, float y);
void line(const Ui& ui, float x0, float y0, float x1, float y1, Rgb color, float thickness = 1.0F);
/// 45 degree lines: masked cells.
void hatch(const Ui& ui, const Rect& rect, Rgb color, float spacing);
/// Both diagonals and an outline: zero pads.
void cross_hatch(const Ui& ui, const Rect& rect, Rgb color, float spacing);
void triangle_down(const Ui& ui, float x, float y, float size, Rgb color);
/// Hollow, pointing up.
void triangle_up(const Ui& ui, float x, float y, float size, Rgb color);

float text_width(const Ui& ui, FontRole role, std::string_view text);
/// Top-left at (x, y); returns the width. A line that the panel's upper or lower edge would cut is left out,
/// here and in what follows.
float text_at(const Ui& ui, FontRole role, float x, float y, Rgb color, std::string_view text);
/// One line, vertically centred, cut with "…" when it does not fit; returns the width drawn.
float text_in(const Ui& ui, FontRole role, const Rect& rect, Rgb color, std::string_view text, Align align);
inline constexpr float kLeastShrunk = 0.75F;  // of a font's size
/// In smaller letters where the line is wider than its box; left out where they would be too
/// small to read. The box may be as low as a digit.
void text_shrunk(const Ui& ui, FontRole role, const Rect& rect, Rgb color, std::string_view text,
                 Align align = Align::left);
/// The first of the variants that fits into `width`, else the last.
std::string_view first_fitting(const Ui& ui, FontRole role, float width,
                               std::initializer_list<std::string_view> variants);
/// Parts are separated by "  ·  ": as many from the front as fit, at least the first.
std::string_view whole_parts(const Ui& ui, FontRole role, float width, std::string_view text);
/// Wrapped to the rectangle's width; returns the height. The last of `max_lines` lines holds the rest, cut
/// with "…".
float text_wrapped(const Ui& ui, FontRole role, const Rect& rect, Rgb color, std::string_view text,
                   Align align = Align::left, int max_lines = 1000);
/// Height it would take.
float wrapped_height(const Ui& ui, FontRole role, float width, std::string_view text);
/// Turned by 90 degrees to read upwards; (x, y) is the lower left corner of the turned line.
void text_up(const Ui& ui, FontRole role, float x, float y, Rgb color, std::string_view text);

/// Lights up while `name` is meant anywhere, and means it while the mouse is here.
void name_tag(Ui& ui, const Rect& rect, std::string_view name);

/// Hue, tint and the text colour on the hue of a sequence.
Rgb hue_of(const Ui& ui, int seq);
Rgb tint_of(const Ui& ui, int seq);
Rgb on_hue_of(const Ui& ui, int seq);
/// Square chip with the sequence's letter.
void letter_chip(const Ui& ui, const Rect& rect, int seq);
/// Texture of the left edge that tells hues apart without colour: 1 .. 6 teeth.
int notch_teeth(int seq);
void notch(const Ui& ui, const Rect& rect, int seq);

}  // namespace attn::viz
