#include "viz/mark_names.h"

#include <algorithm>
#include <array>

#include "viz/layout/panel_names.h"

namespace attn::viz {
namespace {

// "*" stands for a number, a letter, a name of the run's: one part between two slashes. First it is a panel.
constexpr std::array kMarkPatterns = {"arrows/*",
                                      "*/*/more",
                                      "*/*/*/more",
                                      "banner/measured",
                                      "banner/what",
                                      "caption/cancel",
                                      "caption/step",
                                      "changes/bookmark/*/*",
                                      "changes/breakpoint/*/*",
                                      "changes/new_note",
                                      "changes/stopped",
                                      "changes/*/more",
                                      "changes/*/*",
                                      "code/below",
                                      "code/copy",
                                      "code/launch",
                                      "code/launch/*",
                                      "code/name/*",
                                      "code/next/*",
                                      "code/ran/*",
                                      "code/title",
                                      "code/watch/*",
                                      "compare/begin",
                                      "compare/cost/rows",
                                      "compare/cost/*/*",
                                      "compare/diff/*",
                                      "compare/*/choices",
                                      "compare/*/*",
                                      "compare/*/*/*",
                                      "costs/kernel/*",
                                      "costs/phase/*",
                                      "costs/step/*",
                                      "costs/*/*",
                                      "free/title",
                                      "free/*",
                                      "header/head",
                                      "header/help",
                                      "header/kind",
                                      "header/layer",
                                      "header/menu",
                                      "header/menu/*",
                                      "header/model",
                                      "header/page",
                                      "header/path",
                                      "header/pen",
                                      "header/present",
                                      "header/step",
                                      "header/theme",
                                      "header/time",
                                      "header/title",
                                      "header/*/next",
                                      "header/*/previous",
                                      "heads/bytes/*",
                                      "heads/head/*",
                                      "heads/kv/*",
                                      "heads/map/*",
                                      "heads/veil",
                                      "heads/verdict",
                                      "lesson/choice/*",
                                      "lesson/handle/*",
                                      "lesson/turn/*",
                                      "lesson/turn/*/*",
                                      "lesson/*",
                                      "mask/align/*",
                                      "mask/allowed",
                                      "mask/cell/*",
                                      "mask/cells",
                                      "mask/rule",
                                      "mask/seq/*",
                                      "mask/veil",
                                      "mask/zoom/*",
                                      "numbers/*",
                                      "pool/badge/*",
                                      "pool/block/*",
                                      "pool/changed/*",
                                      "pool/hash/*",
                                      "pool/last_id",
                                      "pool/legend/*",
                                      "pool/read/*",
                                      "pool/slot/*",
                                      "pool/sum",
                                      "pool/surface",
                                      "pool/zoom/*",
                                      "requests/add",
                                      "requests/max_tokens",
                                      "requests/prompt",
                                      "requests/rejected/*",
                                      "requests/seq/*",
                                      "requests/temperature",
                                      "requests/token/*/*",
                                      "roofline/note",
                                      "roofline/roof/*",
                                      "roofline/*",
                                      "roofline/*/*",
                                      "stages/graph/*",
                                      "stages/launch/*",
                                      "stages/shape/*",
                                      "stages/stage/*",
                                      "status/*",
                                      "strip/caption",
                                      "strip/cu_seqlens_k/*",
                                      "strip/cu_seqlens_q/*",
                                      "strip/lit/*",
                                      "strip/row/*",
                                      "strip/seq/*",
                                      "strip/true_memory",
                                      "strip/zoom/*",
                                      "tables/cell/*/*",
                                      "tables/line/*",
                                      "tables/map",
                                      "tables/slot",
                                      "tiles/alpha/*",
                                      "tiles/bar/*",
                                      "tiles/check/*",
                                      "tiles/cursor",
                                      "tiles/gauge/*",
                                      "tiles/invariant",
                                      "tiles/k_tile",
                                      "tiles/l/*",
                                      "tiles/level2",
                                      "tiles/m/*",
                                      "tiles/m_tile/*",
                                      "tiles/merge",
                                      "tiles/merge/*",
                                      "tiles/next",
                                      "tiles/o/*",
                                      "tiles/overview",
                                      "tiles/prev",
                                      "tiles/rescale",
                                      "tiles/row/*",
                                      "tiles/row_down",
                                      "tiles/row_up",
                                      "tiles/score/*",
                                      "tiles/score_label/*",
                                      "tiles/size/*",
                                      "tiles/split/*",
                                      "tiles/tile/*",
                                      "tiles/veil",
                                      "timeline/bookmark/*",
                                      "timeline/layer/*",
                                      "timeline/pool/*",
                                      "timeline/seq/*",
                                      "timeline/stage/*",
                                      "timeline/step/*",
                                      "timeline/tile/*",
                                      "timeline/*",
                                      "weights/block/*",
                                      "weights/block_id/*",
                                      "weights/cell/*",
                                      "weights/cells",
                                      "weights/colors",
                                      "weights/dot/*",
                                      "weights/head/*",
                                      "weights/key/*",
                                      "weights/mass/*",
                                      "weights/masses",
                                      "weights/notes",
                                      "weights/pads",
                                      "weights/palette",
                                      "weights/row_sum/*",
                                      "weights/scale",
                                      "weights/score",
                                      "weights/stolen",
                                      "weights/veil",
                                      "weights/window",
                                      "weights/zoom/*",
                                      "scale_note",
                                      "*/maximise",
                                      "*/tab/*"};

std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool fits(std::string_view pattern, const std::vector<std::string_view>& parts) {
  const std::vector<std::string_view> wanted = parts_of(pattern);
  return std::ranges::equal(
             wanted, parts,
             [](std::string_view a, std::string_view b) { return a == b || (a == "*" && !b.empty()); }) &&
         (wanted[0] != "*" || panel_named(parts[0]) != PanelId::count_);
}

}  // namespace

bool is_mark_name(std::string_view name) {
  if (panel_named(name) != PanelId::count_) return true;
  const std::vector<std::string_view> parts = parts_of(name);
  return std::ranges::any_of(kMarkPatterns, [&](std::string_view pattern) { return fits(pattern, parts); });
}

std::vector<std::string> mark_names_like(std::string_view name) {
  std::vector<std::string> names;
  for (int i = 0; i < kNumPanels; ++i) names.emplace_back(panel_name(static_cast<PanelId>(i)));
  const std::vector<std::string_view> given = parts_of(name);
  for (const char* pattern : kMarkPatterns) {
    const std::vector<std::string_view> parts = parts_of(pattern);
    if (parts.size() != given.size() || parts[0] == "*") continue;
    std::string mark;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      mark += i == 0 ? "" : "/";
      mark += parts[i] == "*" ? given[i] : parts[i];
    }
    names.push_back(std::move(mark));
  }
  return names;
}

}  // namespace attn::viz
