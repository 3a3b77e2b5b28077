#include "viz/layout/panel_names.h"

#include <array>

namespace attn::viz {
namespace {

struct PanelNames {
  std::string_view name;
  std::string_view title;
};

// In the order of PanelId.
constexpr std::array<PanelNames, kNumPanels> kPanelNames = {{
    {"header", ""},
    {"requests", "Requests"},
    {"strip", "Packed batch"},
    {"stage", ""},
    {"mask", "Mask"},
    {"weights", "Softmax weights"},
    {"tiles", "Tile by tile"},
    {"heads", "Heads"},
    {"compare", "Compare"},
    {"roofline", "Roofline"},
    {"numbers", "Numbers"},
    {"pool", "Block pool"},
    {"free_queue", "Free queue"},
    {"tables", "Block tables"},
    {"side", ""},
    {"code", "Code"},
    {"stages", "Stages and shapes"},
    {"costs", "Costs"},
    {"changes", "Changes"},
    {"timeline", ""},
    {"status", ""},
    {"caption", ""},
    {"banner", ""},
    {"lesson", ""},
}};

}  // namespace

std::string_view panel_name(PanelId id) {
  return id == PanelId::count_ ? std::string_view{} : kPanelNames[static_cast<std::size_t>(id)].name;
}

std::string_view panel_title(PanelId id) {
  return id == PanelId::count_ ? std::string_view{} : kPanelNames[static_cast<std::size_t>(id)].title;
}

PanelId panel_named(std::string_view name) {
  for (int i = 0; i < kNumPanels; ++i) {
    if (kPanelNames[static_cast<std::size_t>(i)].name == name) return static_cast<PanelId>(i);
  }
  return PanelId::count_;
}

}  // namespace attn::viz
