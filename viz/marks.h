// Every meaningful rectangle of a frame by name ("pool/block/3", "mask/cell/1,4") with its value.
// Tooltips, linked highlights, the text twin and tests use marks; a test clicks a mark, not a pixel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::viz {

struct Rect {
  float x = 0, y = 0, w = 0, h = 0;
  bool contains(float px, float py) const { return px >= x && py >= y && px < x + w && py < y + h; }
  float right() const { return x + w; }
  float bottom() const { return y + h; }
};

struct Mark {
  std::string name;    // "panel/thing/index"
  Rect rect;           // screen pixels
  std::string value;   // "ref_count 2", "0.1353"
  std::string source;  // where the number comes from: "weights[2, 5, 1] F32, decode_l2_tiled_kernel"
};

class Marks {
 public:
  /// Makes the mark of one member from what follows the family's prefix ("1,4"), or nothing. Called after
  /// the frame is drawn, so it must own (or share) what it reads.
  using Resolve = std::function<std::optional<Mark>(std::string_view rest)>;

  void clear() {
    marks_.clear();
    families_.clear();
  }
  void add(std::string name, Rect rect, std::string value = {}, std::string source = {}) {
    marks_.push_back({std::move(name), rect, std::move(value), std::move(source)});
  }
  /// Thousands of alike rectangles (cells, slots) as one entry: no text is made for those nobody asks for.
  void add_family(std::string prefix, Resolve resolve) {
    families_.push_back({std::move(prefix), std::move(resolve)});
  }
  /// Of the marks from `first` on what lies between two heights is kept.
  void cut(std::size_t first, float top, float bottom) {
    for (std::size_t i = first; i < marks_.size(); ++i) {
      Rect& rect = marks_[i].rect;
      const float end = rect.bottom() < bottom ? rect.bottom() : bottom;
      if (rect.y < top) rect.y = top;
      rect.h = end - rect.y;
    }
    const auto begin = marks_.begin() + static_cast<std::ptrdiff_t>(first);
    marks_.erase(std::remove_if(begin, marks_.end(), [](const Mark& mark) { return mark.rect.h <= 0.0F; }),
                 marks_.end());
  }
  const Mark* find(std::string_view name) const {
    for (const Mark& mark : marks_) {
      if (mark.name == name) return &mark;
    }
    return nullptr;
  }
  /// Like find, and also looks into the families.
  std::optional<Mark> get(std::string_view name) const {
    if (const Mark* mark = find(name)) return *mark;
    for (const Family& family : families_) {
      if (!name.starts_with(family.prefix)) continue;
      if (std::optional<Mark> mark = family.resolve(name.substr(family.prefix.size()))) return mark;
    }
    return std::nullopt;
  }
  const std::vector<Mark>& all() const { return marks_; }

 private:
  struct Family {
    std::string prefix;
    Resolve resolve;
  };
  std::vector<Mark> marks_;
  std::vector<Family> families_;
};

}  // namespace attn::viz
