#include "viz/mark_names.h"

#include <algorithm>
#include <array>

#include "viz/layout/panel_names.h"

namespace attn::viz {
namespace {

// "*" stands for a number, a letter, a name of the run's: one part between two slashes. First it is a panel.
constexpr std::array kMarkPatterns = {"*/maximise",
                                      "*/tab/*",
                                      "free/title",
                                      "free/*",
                                      "arrows/*",
                                      "banner/what",
                                      "banner/measured",
                                      "caption/step",
                                      "caption/cancel",
                                      "changes/stopped",
                                      "changes/*/more",
                                      "changes/*/*",
                                      "changes/bookmark/*/*",
                                      "changes/breakpoint/*/*",
                                      "code/title",
                                      "code/below",
                                      "code/copy",
                                      "code/launch",
                                      "code/launch/*",
                                      "code/name/*",
                                      "code/next/*",
                                      "code/ran/*",
                                      "code/watch/*",
                                      "compare/begin",
                                      "compare/*/choices",
                                      "compare/cost/rows",
                                      "compare/cost/*/*",
                                      "compare/diff/*",
                                      "compare/*/*",
                                      "compare/*/*/*",
                                      "costs/kernel/*",
                                      "costs/phase/*",
                                      "costs/step/*",
                                      "costs/*/*",
                                      "header/title",
                                      "header/model",
                                      "header/path",
                                      "header/kind",
                                      "header/time",
                                      "header/step",
                                      "header/layer",
                                      "header/head",
                                      "header/page",
                                      "header/pen",
                                      "header/present",
                                      "header/theme",
                                      "header/help",
                                      "header/menu",
                                      "header/menu/*",
                                      "header/*/previous",
                                      "header/*/next",
                                      "heads/bytes/*",
                                      "heads/head/*",
                                      "heads/kv/*",
                                      "heads/map/*",
                                      "heads/verdict",
                                      "lesson/*",
                                      "lesson/choice/*",
                                      "lesson/handle/*",
                                      "lesson/turn/*",
                                      "lesson/turn/*/*",
                                      "mask/align/*",
                                      "mask/allowed",
                                      "mask/cell/*",
                                      "mask/cells",
                                      "mask/rule",
                                      "mask/seq/*",
                                      "mask/zoom/*",
                                      "numbers/*",
                                      "pool/block/*",
                                      "pool/slot/*",
                                      "pool/sum",
                                      "pool/zoom/*",
                                      "requests/add",
                                      "requests/prompt",
                                      "requests/max_tokens",
                                      "requests/temperature",
                                      "requests/seq/*",
                                      "requests/rejected/*",
                                      "requests/token/*/*",
                                      "roofline/note",
                                      "roofline/roof/*",
                                      "roofline/*",
                                      "roofline/*/*",
                                      "stages/launch/*",
                                      "stages/shape/*",
                                      "stages/stage/*",
                                      "status/*",
                                      "strip/row/*",
                                      "strip/seq/*",
                                      "strip/true_memory",
                                      "tables/cell/*/*",
                                      "tables/line/*",
                                      "tables/map",
                                      "tables/slot",
                                      "strip/cu_seqlens_q/*",
                                      "strip/cu_seqlens_k/*",
                                      "strip/zoom/*",
                                      "changes/new_note",
                                      "tiles/alpha/*",
                                      "tiles/check/*",
                                      "tiles/l/*",
                                      "tiles/m/*",
                                      "tiles/m_tile/*",
                                      "tiles/o/*",
                                      "tiles/cursor",
                                      "tiles/gauge/*",
                                      "tiles/invariant",
                                      "tiles/k_tile",
                                      "tiles/level2",
                                      "tiles/merge",
                                      "tiles/merge/*",
                                      "tiles/next",
                                      "tiles/prev",
                                      "tiles/overview",
                                      "tiles/rescale",
                                      "tiles/row/*",
                                      "tiles/row_down",
                                      "tiles/row_up",
                                      "tiles/score/*",
                                      "tiles/size/*",
                                      "tiles/split/*",
                                      "tiles/tile/*",

                                      "timeline/*",
                                      "timeline/bookmark/*",
                                      "timeline/layer/*",
                                      "timeline/pool/*",
                                      "timeline/seq/*",
                                      "timeline/stage/*",
                                      "timeline/step/*",
                                      "timeline/tile/*",
                                      "weights/block/*",
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
                                      "weights/zoom/*"};

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
