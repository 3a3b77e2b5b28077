#include "viz/panels/tables_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "viz/lookup.h"
#include "viz/palette.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr int kMapColumns = 64;     // of longer tables a column is the first of several entries
constexpr float kMostLine = 10.0F;  // px at scale 1
constexpr float kMostEntry = 14.0F;

struct TablesMap {
  Rect area;
  float line = 0.0F;  // pitch of the lines, may be less than a pixel
  float w = 0.0F;     // of a column
  int lines = 0, columns = 0, step = 1;

  Rect at(int row) const {
    const float y0 = std::round(area.y + line * static_cast<float>(row));
    const float y1 = std::round(area.y + line * static_cast<float>(row + 1));
    const float gap = line >= 3.0F ? 1.0F : 0.0F;
    return {area.x, y0, w * static_cast<float>(columns), std::max(1.0F, y1 - y0 - gap)};
  }
};

TablesMap map_of(const Ui& ui, const std::vector<const trace::SeqState*>& seqs, const Rect& area) {
  TablesMap out;
  out.area = area;
  out.lines = static_cast<int>(seqs.size());
  std::size_t longest = 1;
  for (const trace::SeqState* seq : seqs) longest = std::max(longest, seq->block_table.size());
  out.step = (static_cast<int>(longest) + kMapColumns - 1) / kMapColumns;
  out.columns = (static_cast<int>(longest) + out.step - 1) / out.step;
  out.line = std::min(area.h / static_cast<float>(std::max(1, out.lines)), ui.px(kMostLine));
  out.w = std::min(area.w / static_cast<float>(out.columns), ui.px(kMostEntry));
  if (out.w >= 2.0F) out.w = std::floor(out.w);
  return out;
}

/// Neighbours of one colour are one rectangle.
void draw_line(const Ui& ui, const TablesMap& map, const trace::SeqState& seq, int row) {
  const float most = static_cast<float>(std::max<std::size_t>(2, ui.frame.step->blocks.size()) - 1);
  const Rect line_box = map.at(row);
  const auto entry = [&](int column) {
    const auto i = static_cast<std::size_t>(column * map.step);
    return i < seq.block_table.size() ? seq.block_table[i] : -1;
  };
  const auto color = [&](int block) {
    return palette_color(Palette::cividis, std::clamp(static_cast<float>(block) / most, 0.0F, 1.0F));
  };
  for (int c = 0; c < map.columns;) {
    if (entry(c) < 0) {
      ++c;
      continue;
    }
    const Rgb shade = color(entry(c));
    int end = c + 1;
    while (end < map.columns && entry(end) >= 0 && color(entry(end)) == shade) ++end;
    fill(ui,
         {line_box.x + map.w * static_cast<float>(c), line_box.y, map.w * static_cast<float>(end - c),
          line_box.h},
         shade);
    c = end;
  }
}

std::string line_text(const trace::SeqState& seq) {
  std::string text = fmt::format("{}: {} blocks", seq_letter(seq.id), seq.block_table.size());
  constexpr std::size_t kNamedBlocks = 12;
  for (std::size_t i = 0; i < std::min(kNamedBlocks, seq.block_table.size()); ++i)
    text += fmt::format("{} {}", i == 0 ? ":" : ",", seq.block_table[i]);
  return text + (seq.block_table.size() > kNamedBlocks ? ", \xE2\x80\xA6" : "");
}

void answer_map(Ui& ui, const TablesMap& map, const std::vector<const trace::SeqState*>& seqs) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const Rect all{map.area.x, map.area.y, map.w * static_cast<float>(map.columns),
                 map.line * static_cast<float>(map.lines)};
  if (map.lines == 0 || !touch(ui, all).hovered) return;
  const int row = std::clamp(static_cast<int>((mouse.y - all.y) / map.line), 0, map.lines - 1);
  const int column = static_cast<int>((mouse.x - all.x) / map.w) * map.step;
  const trace::SeqState& seq = *seqs[static_cast<std::size_t>(row)];
  const auto i = static_cast<std::size_t>(column);
  const int block = i < seq.block_table.size() ? seq.block_table[i] : -1;
  ui.view.next_hover.block = block;
  ui.view.next_hover.seq = seq.id;
  tooltip(ui, line_text(seq), fmt::format("block_table of sequence {} [{}] I32", seq.id, column));
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left))
    select(ui, [&](Selection& s) {
      s.seq = seq.id;
      if (block >= 0) s.block = block;
    });
}

}  // namespace

void draw_tables_map(Ui& ui, const std::vector<const trace::SeqState*>& seqs, const Rect& area, int focus) {
  const TablesMap map = map_of(ui, seqs, area);
  for (int row = 0; row < map.lines; ++row) draw_line(ui, map, *seqs[static_cast<std::size_t>(row)], row);
  for (int row = 0; row < map.lines; ++row) {
    if (seqs[static_cast<std::size_t>(row)]->id != focus) continue;
    const Rect box = map.at(row);
    const float edge = ui.px(2);
    outline(ui, {box.x - edge, box.y - edge, box.w + 2.0F * edge, box.h + 2.0F * edge}, ui[Color::selection],
            edge);
  }
  mark(ui, "tables/map", area,
       fmt::format("{} tables; colour: place of the block in the pool, from 0 (dark) to {}", map.lines,
                   ui.frame.step->blocks.size() - 1),
       fmt::format("block tables I32, when step {} ran", ui.frame.step->step));
  ui.marks.add_family(
      "tables/line/", [map, seqs, step = ui.frame.step](std::string_view rest) -> std::optional<Mark> {
        int id = -1;
        if (std::from_chars(rest.data(), rest.data() + rest.size(), id).ec != std::errc{})
          return std::nullopt;
        const auto at = std::ranges::find_if(seqs, [&](const auto* seq) { return seq->id == id; });
        if (at == seqs.end()) return std::nullopt;
        return Mark{fmt::format("tables/line/{}", id), map.at(static_cast<int>(at - seqs.begin())),
                    line_text(**at),
                    fmt::format("block_table of sequence {} I32, when step {} ran", id, step->step)};
      });
  answer_map(ui, map, seqs);
}

}  // namespace attn::viz
