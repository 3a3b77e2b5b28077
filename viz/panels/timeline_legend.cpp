// What the signs of the timeline mean: letters of events, looks of the sequences' lanes.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "viz/panels/timeline_lanes.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr std::array<std::string_view, kNumSeqPhases> kPhaseWords = {"waiting", "prefill", "decode",
                                                                     "preempted"};

/// Of the steps on screen; the last entry: whether a sequence finished.
std::array<bool, kNumSeqPhases + 1> phases_shown(const TimelineLanes& lanes) {
  std::array<bool, kNumSeqPhases + 1> shown{};
  for (const auto& [seq, runs] : lanes.facts.rows) {
    for (const SeqRun& run : runs) {
      if (run.end <= lanes.layout.first || run.first >= lanes.layout.end) continue;
      shown[static_cast<std::size_t>(run.phase)] = true;
      shown[kNumSeqPhases] |= run.finished && run.end <= lanes.layout.end;
    }
  }
  return shown;
}

/// Lays its entries out from left to right; without `drawn` it only measures.
struct Line {
  Ui& ui;
  const TimelineLanes& lanes;
  const LaneRows rows;
  bool brief = false;
  bool drawn = false;
  float x = 0.0F;

  void words(std::string_view text) {
    if (drawn)
      text_in(ui, FontRole::small, {x, lanes.legend.y, lanes.legend.right() - x, lanes.legend.h},
              ui[Color::muted], text, Align::left);
    x += text_width(ui, FontRole::small, text) + ui.px(brief ? 9 : 14);
  }
  void flag(const FlagMeaning& flag) {
    if (drawn)
      text_in(ui, FontRole::mono_small, {x, lanes.legend.y, ui.px(12), lanes.legend.h}, flag.color,
              flag.glyph, Align::left);
    x += text_width(ui, FontRole::mono_small, "H") + ui.px(4);
    words(brief ? flag.brief : flag.words);
  }
  /// A piece of lane as high as those above, in no sequence's hue.
  Rect swatch(float w) {
    const float h = rows.h > 0.0F ? std::min(box_in({0, 0, w, rows.h}).h, ui.px(10)) : ui.px(8);
    const Rect box{x, lanes.legend.y + std::round((lanes.legend.h - h) * 0.5F), w, h};
    x += w + ui.px(4);
    return box;
  }
  void phase(SeqPhase phase) {
    const Rect box = swatch(ui.px(26));
    if (drawn && rows.h <= 0.0F) draw_crowd_part(ui, box, phase);
    if (drawn && rows.h > 0.0F) draw_phase(ui, box, phase, ui[Color::stroke], ui.px(9), rows.sparse);
    words(kPhaseWords[static_cast<std::size_t>(phase)]);
  }
  void finished() {
    const Rect box = swatch(ui.px(3));
    if (drawn) fill(ui, box, ui[Color::text]);
    words("finished");
  }
};

}  // namespace

void draw_legend(Ui& ui, const TimelineLanes& lanes, bool hidden) {
  const Rect label{lanes.label_x, lanes.flags.y, lanes.flags.x - lanes.label_x - ui.px(4), lanes.flags.h};
  const std::string all =
      all_flags_text() +
      "\nlanes: hollow or dotted waiting, solid prefill, dashed decode, hatched or barred "
      "preempted, a bar at the end finished";
  mark(ui, "timeline/legend", label, all, "history: events of every step");
  if (lanes.legend.h <= 0.0F) return;
  std::vector<FlagMeaning> flags = flags_shown(ui, lanes);
  if (hidden) flags.push_back({"\xE2\x80\xA6", "more", "more", ui[Color::warning]});
  const std::array<bool, kNumSeqPhases + 1> phases = phases_shown(lanes);
  Line line{ui, lanes, rows_of(ui, lanes)};
  const auto run = [&](bool with_phases) {
    line.x = lanes.legend.x;
    for (const FlagMeaning& flag : flags) line.flag(flag);
    if (!flags.empty()) line.x += ui.px(8);
    for (int p = 0; p < kNumSeqPhases && with_phases; ++p) {
      if (phases[static_cast<std::size_t>(p)]) line.phase(static_cast<SeqPhase>(p));
    }
    if (with_phases && phases[kNumSeqPhases] && line.rows.h > 0.0F) line.finished();
    return line.x <= lanes.legend.right();
  };
  // Shorter words, then none for the lanes, which tell themselves apart: letters are not guessed.
  bool with_phases = true;
  line.brief = !run(true);
  if (line.brief) {
    with_phases = run(true);
    if (!with_phases) line.brief = !run(false);
  }
  line.drawn = true;
  run(with_phases);
  if (touch(ui, lanes.legend).hovered) tooltip(ui, all, "history: events of every step");
}

}  // namespace attn::viz
