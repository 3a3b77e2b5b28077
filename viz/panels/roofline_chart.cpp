// The roofline's chart: ceilings as lines, levels as points, both axes logarithmic.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "viz/layout/roofline_layout.h"
#include "viz/panels/roofline_parts.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr float kMarker = 6.0F;  // half of it, at scale 1

struct Chart {
  Rect plot;
  LogAxis x;  // FLOP per byte
  LogAxis y;  // TFLOP/s; unused without ceilings
  bool measured = false;
};

/// A point of the chart, with the levels that fall onto it.
struct LevelPoint {
  float x = 0.0F, y = 0.0F;
  bool bench = false;
  bool ran = false;
  std::string label;
  std::vector<const RooflineLevel*> levels;
};

double height_of(const RooflineLevel& level, const Ceilings& ceilings) {
  const double us = level.measured_us > 0.0 ? level.measured_us : floor_of(level.work, ceilings).us;
  return tflops(level.work, us);
}

/// TFLOP/s that the launches of a piece of work alone would allow.
double launch_roof(const Roofline& r) {
  for (const RooflineLevel& level : r.here) {
    if (level.ran) return tflops(level.work, floor_us(Bound::launch, level.work, r.ceilings));
  }
  return 0.0;
}

double exp_roof(const Roofline& r) {
  const KernelWork& work = r.here.back().work;
  return tflops(work, floor_us(Bound::exp, work, r.ceilings));
}

Chart chart_of(const Roofline& r, const Rect& plot) {
  Chart chart{plot, {}, {}, r.ceilings.measured()};
  double x0 = 1.0, x1 = 1.0, y0 = 1.0, y1 = 1.0;
  const auto include_x = [&](double v) {
    if (v > 0.0) x0 = std::min(x0, v), x1 = std::max(x1, v);
  };
  const auto include_y = [&](double v) {
    if (v > 0.0) y0 = std::min(y0, v), y1 = std::max(y1, v);
  };
  for (const auto* list : {&r.here, &r.bench}) {
    for (const RooflineLevel& level : *list) {
      include_x(level.work.intensity());
      if (chart.measured) include_y(height_of(level, r.ceilings));
    }
  }
  if (chart.measured) {
    include_x(r.ceilings.matmul_tflops * 1e3 / r.ceilings.read_gbs * 2.0);  // the ridge, and some roof
    include_y(r.ceilings.matmul_tflops * 1.2);
    include_y(launch_roof(r));
  }
  chart.x = log_axis(x0 / 1.5, x1 * 1.5, plot.x, plot.right());
  chart.y = log_axis(y0 / 1.5, y1, plot.bottom(), plot.y);
  return chart;
}

std::string power_text(int exponent) {
  if (exponent >= 0 && exponent <= 4) return fmt::format("{}", static_cast<int>(std::pow(10.0, exponent)));
  if (exponent >= -3 && exponent < 0) return fmt::format("{:.{}f}", std::pow(10.0, exponent), -exponent);
  return fmt::format("1e{}", exponent);
}

void draw_axes_of(Ui& ui, const Chart& c) {
  const float line_h = font_pixels(FontRole::small) + ui.px(4);
  const Rect& plot = c.plot;
  const float label_w = text_width(ui, FontRole::small, "0.001") + ui.px(10);
  for (int e = c.x.low; e <= c.x.high; ++e) {
    const float x = c.x.at(std::pow(10.0, e));
    line(ui, x, plot.y, x, plot.bottom(), ui[Color::border]);
  }
  LabelRoom room({plot.x - label_w, plot.bottom(), plot.w + label_w, 2.0F * line_h});
  for (const int e : c.x.ticks(label_w)) {
    const std::string text = power_text(e);
    const float x = c.x.at(std::pow(10.0, e)), w = text_width(ui, FontRole::small, text) + ui.px(2);
    Rect box{0, 0, w, line_h};
    const float y = plot.bottom() + ui.px(2);
    if (room.place(box, {{x - w * 0.5F, y}, {plot.right() - w, y}}))
      text_in(ui, FontRole::small, box, ui[Color::muted], text, Align::center);
  }
  text_in(ui, FontRole::small, {plot.x, plot.bottom() + line_h + ui.px(2), plot.w, line_h}, ui[Color::muted],
          "FLOP per byte", Align::center);
  line(ui, plot.x, plot.bottom(), plot.right(), plot.bottom(), ui[Color::stroke]);
  if (!c.measured) return;
  line(ui, plot.x, plot.y, plot.x, plot.bottom(), ui[Color::stroke]);
  text_in(ui, FontRole::small, {plot.x, plot.y - line_h, plot.w, line_h}, ui[Color::muted], "TFLOP/s",
          Align::left);
  for (int e = c.y.low; e <= c.y.high; ++e) {
    const float y = c.y.at(std::pow(10.0, e));
    line(ui, plot.x, y, plot.right(), y, ui[Color::border]);
  }
  for (const int e : c.y.ticks(line_h)) {
    const float y = c.y.at(std::pow(10.0, e));
    text_in(ui, FontRole::small, {plot.x - label_w - ui.px(4), y - line_h * 0.5F, label_w, line_h},
            ui[Color::muted], power_text(e), Align::right);
  }
}

/// Lines pass behind it.
void draw_label(Ui& ui, FontRole role, const Rect& box, Rgb ink, const std::string& text) {
  fill(ui, box, ui[Color::panel]);
  text_in(ui, role, box, ink, text, Align::left);
}

/// A ceiling: flat at `height` TFLOP/s from where the memory line meets it, or the memory line itself.
struct Roof {
  const char* name;  // of the mark
  std::string text;
  double height = 0.0;
  Color color = Color::text;
  float thickness = 2.0F;
  bool dashed = false;
};

std::vector<Roof> roofs_of(const Roofline& r) {
  const Ceilings& c = r.ceilings;
  std::vector<Roof> out;
  out.push_back({"tensor_cores", fmt::format("tensor cores {}", figures(c.matmul_tflops)), c.matmul_tflops});
  out.push_back({"cuda_cores", fmt::format("CUDA cores {}", figures(c.fp32_tflops)), c.fp32_tflops,
                 Color::muted, 2.0F});
  out.push_back({"exp", fmt::format("exp of this, {} T/s", figures(c.exp_tps)), exp_roof(r), Color::warning,
                 2.0F, true});
  out.push_back({"launch", fmt::format("launch of this, {} \xC2\xB5s", figures(c.launch_us)), launch_roof(r),
                 Color::muted, 2.0F, true});
  return out;
}

void stroke(Ui& ui, float x0, float y0, float x1, float y1, const Roof& roof) {
  const float step = ui.px(10), dash = ui.px(6);
  if (!roof.dashed) return line(ui, x0, y0, x1, y1, ui[roof.color], ui.px(roof.thickness));
  for (float x = x0; x < x1; x += step)
    line(ui, x, y0, std::min(x1, x + dash), y1, ui[roof.color], ui.px(roof.thickness));
}

void draw_roofs(Ui& ui, const Chart& c, const Roofline& r, LabelRoom& room) {
  const double slope = r.ceilings.read_gbs * 1e-3;  // TFLOP/s at 1 FLOP per byte
  const float line_h = font_pixels(FontRole::small) + ui.px(2);
  const auto label = [&](const char* name, const std::string& text, Color ink, const std::string& tip,
                         std::initializer_list<LabelRoom::Corner> places) {
    Rect box{0, 0, text_width(ui, FontRole::small, text) + ui.px(2), line_h};
    if (room.place(box, places)) {
      draw_label(ui, FontRole::small, box, ui[ink], text);
    } else {  // among many points only its tooltip is there
      box.x = places.begin()->x;
      box.y = places.begin()->y;
    }
    mark(ui, fmt::format("roofline/roof/{}", name), box, tip, "attnscope bench on " + r.device);
  };
  const double x_low = std::max(std::pow(10.0, c.x.low), std::pow(10.0, c.y.low) / slope);
  const double ridge = r.ceilings.matmul_tflops / slope;
  line(ui, c.x.at(x_low), c.y.at(x_low * slope), c.x.at(ridge), c.y.at(ridge * slope), ui[Color::text],
       ui.px(2));
  const std::string memory = fmt::format("memory {} GB/s", figures(r.ceilings.read_gbs));
  const float w = text_width(ui, FontRole::small, memory) + ui.px(2);
  const auto beside = [&](double share) {  // left of the slope, `share` of the way up
    const float x = c.x.at(x_low) + (c.x.at(ridge) - c.x.at(x_low)) * static_cast<float>(share);
    const float y =
        c.y.at(x_low * slope) + (c.y.at(ridge * slope) - c.y.at(x_low * slope)) * static_cast<float>(share);
    return LabelRoom::Corner{x - w - ui.px(8), y - line_h};
  };
  label("memory", memory, Color::text,
        fmt::format("{}: reading; below the ridge of {} FLOP per byte memory is what bounds", memory,
                    figures(ridge)),
        {beside(0.75), beside(0.6), beside(0.9), beside(0.45), beside(0.3)});
  for (const Roof& roof : roofs_of(r)) {
    if (!c.y.holds(roof.height)) continue;
    const float y = c.y.at(roof.height), from = c.x.at(std::max(x_low, roof.height / slope));
    stroke(ui, roof.name == std::string_view("launch") ? c.plot.x : from, y, c.plot.right(), y, roof);
    const float text_w = text_width(ui, FontRole::small, roof.text) + ui.px(2);
    const float x = c.plot.right() - text_w - ui.px(4);
    const Color ink = roof.color == Color::text ? Color::text : Color::muted;
    label(roof.name, roof.text, ink,
          fmt::format("{}: {} TFLOP/s for this attention", roof.text, figures(roof.height)),
          {{x, y + ui.px(3)},
           {x, y - line_h - ui.px(2)},
           {from + ui.px(4), y + ui.px(3)},
           {from + ui.px(4), y - line_h - ui.px(2)}});
  }
}

std::vector<LevelPoint> points_of(const Ui& ui, const Chart& c, const Roofline& r) {
  std::vector<LevelPoint> out;
  for (const auto* list : {&r.here, &r.bench}) {
    const bool bench = list == &r.bench;
    for (const RooflineLevel& level : *list) {
      if (level.work.intensity() <= 0.0) continue;
      const float x = c.x.at(level.work.intensity());
      const float y = c.measured ? c.y.at(height_of(level, r.ceilings)) : c.plot.y + c.plot.h * 0.5F;
      const auto same = std::ranges::find_if(out, [&](const LevelPoint& p) {
        return p.bench == bench && std::abs(p.x - x) + std::abs(p.y - y) < ui.px(kMarker);
      });
      LevelPoint& point =
          same != out.end() ? *same : out.emplace_back(LevelPoint{x, y, bench, false, {}, {}});
      point.ran = point.ran || level.ran;
      point.label += fmt::format("{}l{}", point.label.empty() ? "" : " ", level.level);
      point.levels.push_back(&level);
    }
  }
  return out;
}

/// From a measured level up to what bounds it: what is still to be had.
void draw_gap(Ui& ui, const Chart& c, const Roofline& r, const RooflineLevel& level) {
  const float x = c.x.at(level.work.intensity());
  const float y0 = c.y.at(height_of(level, r.ceilings));
  const float y1 = c.y.at(tflops(level.work, floor_of(level.work, r.ceilings).us));
  for (float y = y1; y < y0; y += ui.px(5))
    line(ui, x, y, x, std::min(y0, y + ui.px(2)), ui[Color::ok], ui.px(1));
}

void draw_points(Ui& ui, const std::vector<LevelPoint>& points, const Roofline& r, LabelRoom& room) {
  const float reach = ui.px(kMarker), gap = reach + ui.px(3), h = font_pixels(FontRole::mono) + ui.px(2);
  for (const LevelPoint& p : points) {
    draw_roofline_marker(ui, p.x, p.y, p.bench, p.ran);
    Rect box{0, 0, text_width(ui, FontRole::mono, p.label) + ui.px(2), h};
    const float right = p.x + gap, left = p.x - gap - box.w, middle = p.y - h * 0.5F, over = p.y - gap - h,
                under = p.y + gap, centre = p.x - box.w * 0.5F;
    if (room.place(box, {{right, middle},
                         {left, middle},
                         {centre, under},
                         {centre, over},
                         {right, under},
                         {left, under},
                         {right, over},
                         {left, over}}))
      draw_label(ui, FontRole::mono, box, ui[Color::text], p.label);
    std::string tip;
    for (const RooflineLevel* level : p.levels) tip += (tip.empty() ? "" : "\n\n") + level_tip(r, *level);
    mark(ui, fmt::format("roofline/{}/{}", p.bench ? "measured" : "here", p.levels.front()->level),
         {p.x - reach, p.y - reach, 2.0F * reach, 2.0F * reach}, tip,
         p.bench ? "attnscope bench on " + r.device
                 : "launch records of each level, at the measured ceilings");
  }
}

}  // namespace

void draw_roofline_marker(Ui& ui, float x, float y, bool bench, bool ran) {
  const float r = ui.px(kMarker);
  if (bench) {
    ui.draw->AddCircleFilled({x, y}, r, rgba(ui[Color::ok]), 20);
    return;
  }
  const std::array<ImVec2, 4> diamond = {{{x, y - r}, {x + r, y}, {x, y + r}, {x - r, y}}};
  ui.draw->AddQuadFilled(diamond[0], diamond[1], diamond[2], diamond[3],
                         rgba(ui[ran ? Color::accent : Color::panel]));
  ui.draw->AddQuad(diamond[0], diamond[1], diamond[2], diamond[3], rgba(ui[Color::accent]), ui.px(2));
}

void draw_roofline_chart(Ui& ui, const Roofline& r, const Rect& plot) {
  if (plot.w < ui.px(60) || plot.h < ui.px(40) || r.here.empty()) return;
  const Chart chart = chart_of(r, plot);
  draw_axes_of(ui, chart);
  const std::vector<LevelPoint> points = points_of(ui, chart, r);
  const float line_h = font_pixels(FontRole::small) + ui.px(4);
  LabelRoom room({plot.x, plot.y - line_h, plot.w, plot.h + line_h});
  room.take({plot.x, plot.y - line_h, text_width(ui, FontRole::small, "TFLOP/s"), line_h});
  const float reach = ui.px(kMarker + 1);
  for (const LevelPoint& p : points) room.take({p.x - reach, p.y - reach, 2.0F * reach, 2.0F * reach});
  for (const LevelPoint& p : points) {
    if (!chart.measured) line(ui, p.x, p.y, p.x, plot.bottom(), ui[Color::accent], ui.px(2));
  }
  if (chart.measured) {
    for (const RooflineLevel& level : r.bench) draw_gap(ui, chart, r, level);
    draw_roofs(ui, chart, r, room);
  }
  draw_points(ui, points, r, room);
}

}  // namespace attn::viz
