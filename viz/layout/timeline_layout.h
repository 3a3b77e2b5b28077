// Where each engine step lies on the timeline: prefill wide, decode narrow. The whole recording fits until
// somebody zooms; then a window of it is laid out. Which lanes a height has room for. Pure, in pixels.
#pragma once

#include <vector>

namespace attn::viz {

struct TimelineLayout {
  int first = 0;  // steps [first, end) are on screen, the outer two perhaps in part
  int end = 0;
  float unit = 0;        // width of a decode step
  float x0 = 0, x1 = 0;  // the lane; what lies outside is cut off
  std::vector<float> x;  // [end - first + 1] left edges, then the right end; not cut
  /// Cut to the lane.
  float left(int step) const;
  float right(int step) const;
  /// Step at a pixel, clamped to what is laid out; -1 when nothing is.
  int at(float pixel) const;
};

/// What is shown: `zoom` 1 = the whole recording (or steps of `unit_max`, if that is less); `center` in units
/// of a decode step from the start.
struct TimelineWindow {
  float zoom = 1.0F;
  double center = 0.0;
  bool operator==(const TimelineWindow&) const = default;
};

/// A prefill is as wide as three decode steps.
inline constexpr int kPrefillUnits = 3;

/// `starts[i]` is where step i begins, in units; its last entry is the end (size = steps + 1). A decode step
/// is never wider than `unit_max`.
TimelineLayout layout_timeline(const std::vector<int>& starts, const TimelineWindow& window, float x,
                               float width, float unit_max);
/// Zoom at which a decode step is about `unit` wide.
float zoom_for(const std::vector<int>& starts, float width, float unit_max, float unit);

/// Heights of the lanes from top to bottom, at scale 1; 0: left out.
struct TimelineStack {
  float flags = 14.0F;
  float steps = 18.0F;
  float stages = 0.0F;                   // of the current step
  float gantt = 0.0F;                    // sequences
  float block = 0.0F;                    // uses of the selected block
  float pool = 0.0F;                     // occupancy
  float legend = 0.0F;                   // of flags and of what sequences do
  static constexpr float kGap = 4.0F;    // above the sequences
  static constexpr float kApart = 2.0F;  // above block and pool, within their heights
};

/// By the height alone, so that no lane moves from step to step. Mode present has no stages before the
/// sequences have their letters: it is read from afar.
TimelineStack stack_timeline(float height, bool present, bool block_selected);

}  // namespace attn::viz
