#include "text_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace attn::viz {
namespace {

constexpr float kTolerance = 1.0F;  // pixels: glyphs keep about that from the edges of their lines

std::string told(const TextLog::Entry& entry) {
  return fmt::format("\"{}\" in {} at {:.0f},{:.0f} {:.0f}x{:.0f}, seen from {:.0f},{:.0f} to {:.0f},{:.0f}",
                     entry.text, entry.panel, entry.rect.x, entry.rect.y, entry.rect.w, entry.rect.h,
                     entry.clip.x, entry.clip.y, entry.clip.right(), entry.clip.bottom());
}

/// The part that the eye meets: digits and capitals leave a fifth of their line above and below.
Rect ink_of(const TextLog::Entry& entry) {
  const float inset = std::floor(entry.rect.h * 0.15F);
  return {entry.rect.x, entry.rect.y + inset, entry.rect.w, entry.rect.h - 2.0F * inset};
}

bool cover(const Rect& a, const Rect& b) {
  const float w = std::min(a.right(), b.right()) - std::max(a.x, b.x);
  const float h = std::min(a.bottom(), b.bottom()) - std::max(a.y, b.y);
  return w > kTolerance && h > kTolerance;
}

/// A line is thinner than what `cover` takes for glyphs' distance from their edges.
bool touches(const Rect& line, const Rect& ink) {
  return line.x < ink.right() && ink.x < line.right() && line.y < ink.bottom() && ink.y < line.bottom();
}

/// Scrolled away, whole.
bool off_screen(const TextLog::Entry& entry) {
  const Rect ink = ink_of(entry);
  return entry.scrolled && (entry.clip.h <= 0.0F || ink.bottom() <= entry.clip.y + kTolerance ||
                            ink.y >= entry.clip.bottom() - kTolerance);
}

bool cut(const TextLog::Entry& entry) {
  const Rect ink = ink_of(entry);
  const bool sideways = ink.x < entry.clip.x - kTolerance || ink.right() > entry.clip.right() + kTolerance;
  const bool upright = ink.y < entry.clip.y - kTolerance || ink.bottom() > entry.clip.bottom() + kTolerance;
  return sideways || upright;
}

/// A number that ends with "…" reads as another number.
bool cut_number(const TextLog::Entry& entry) {
  constexpr std::string_view kDots = "\xE2\x80\xA6";
  if (!entry.shortened || entry.text.size() <= kDots.size()) return false;
  const std::string_view kept(entry.text.data(), entry.text.size() - kDots.size());
  const auto digit = [&](std::size_t from_end) {
    return kept.size() >= from_end && kept[kept.size() - from_end] >= '0' &&
           kept[kept.size() - from_end] <= '9';
  };
  return digit(1) || (kept.ends_with('.') && digit(2));
}

/// Neither whole nor out of sight. What is higher than its part cannot be whole.
bool cut(const TextLog::Box& box) {
  const Rect& rect = box.rect;
  const Rect& clip = box.clip;
  if (clip.w <= 0.0F || clip.h <= 0.0F || rect.right() <= clip.x + kTolerance ||
      rect.x >= clip.right() - kTolerance)
    return false;
  if (rect.bottom() <= clip.y + kTolerance || rect.y >= clip.bottom() - kTolerance) return false;
  const bool sideways = rect.x < clip.x - kTolerance || rect.right() > clip.right() + kTolerance;
  const bool upright = rect.y < clip.y - kTolerance || rect.bottom() > clip.bottom() + kTolerance;
  return sideways || (upright && (box.part_h == 0.0F || rect.h <= box.part_h));
}

std::string told(const TextLog::Box& box) {
  return fmt::format("{} in {} at {:.0f},{:.0f} {:.0f}x{:.0f}, seen from {:.0f},{:.0f} to {:.0f},{:.0f}",
                     box.name, box.panel, box.rect.x, box.rect.y, box.rect.w, box.rect.h, box.clip.x,
                     box.clip.y, box.clip.right(), box.clip.bottom());
}

}  // namespace

std::vector<std::string> faults_of(const TextLog& log) {
  std::vector<std::string> out;
  std::map<std::string, std::vector<const TextLog::Entry*>> panels;
  for (const TextLog::Entry& entry : log.entries) {
    if (off_screen(entry)) continue;
    if (entry.left_out) out.push_back("left out: " + told(entry));
    if (cut(entry)) out.push_back("cut: " + told(entry));
    if (cut_number(entry)) out.push_back("cut number: " + told(entry));
    panels[entry.panel].push_back(&entry);
  }
  for (const TextLog::Box& box : log.boxes) {
    if (cut(box)) out.push_back("cut box: " + told(box));
  }
  for (const TextLog::Stroke& stroke : log.strokes) {
    for (const auto& [panel, entries] : panels) {
      for (const TextLog::Entry* entry : entries) {
        if (touches(stroke.rect, ink_of(*entry)))
          out.push_back("struck by " + stroke.name + ": " + told(*entry));
      }
    }
  }
  for (auto& [panel, entries] : panels) {
    std::sort(entries.begin(), entries.end(),
              [](const auto* a, const auto* b) { return a->rect.y < b->rect.y; });
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const Rect ink = ink_of(*entries[i]);
      for (std::size_t j = i + 1; j < entries.size() && entries[j]->rect.y < ink.bottom(); ++j) {
        if (cover(ink, ink_of(*entries[j])))
          out.push_back("overlap: " + told(*entries[i]) + " and " + told(*entries[j]));
      }
    }
  }
  return out;
}

}  // namespace attn::viz
