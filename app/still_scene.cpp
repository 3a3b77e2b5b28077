#include "app/still_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "app/commands.h"
#include "app/film_painter.h"
#include "app/footage.h"
#include "app/machine.h"
#include "app/picture_options.h"
#include "core/trace/compare.h"
#include "kernels/common/check.h"
#include "viz/layout/panel_names.h"
#include "viz/layout/panel_place.h"

namespace attn::app {
namespace {

constexpr float kLeastPanel = 16.0F;  // pixels a side that show something
constexpr float kPanelMargin = 8.0F;  // around a panel alone, pixels at scale 1: as between two panels

viz::ViewState view_of(const StillOptions& options) {
  viz::ViewState view;
  view.scale = options.scale;
  view.mode = options.mode;
  viz::theme_to_change(view) = *viz::theme_named(options.theme);  // of that mode
  view.stage = options.compare ? viz::StageView::compare : options.stage;
  view.side = options.side;
  view.weight_scale = options.weights;
  view.page = std::max(0, options.page - 1);
  const float scale = options.scale * static_cast<float>(options.scale_out);
  if (!(scale >= 0.5F) || scale > 4.0F) {
    throw InputError(
        fmt::format("a scale of {} is out of range; use 0.5 to 4 (--scale times --scale-out)", scale));
  }
  if (!options.panel.empty()) view.stage = viz::stage_that_shows(parse_panel(options.panel), view.stage);
  view.picture.clear = options.transparent;
  return view;
}

/// How the step ran, and how it did not.
void compare_step(Session& session, viz::ViewState& view) {
  viz::Command compare;
  compare.kind = viz::Command::Kind::compare;
  std::tie(compare.variant_a, compare.variant_b) = trace::first_comparison(
      *session.frame().step, session.store().manifest().model, session.frame().traits);
  session.apply(viz::Commands{compare}, view);
  session.wait_idle();
}

/// Where the link points; with a comparison when one is to be seen.
void go_to_place(Session& session, const Link& link, viz::ViewState& view) {
  go_to_link(session, link);
  if (link.stage) view.grain = trace::Grain::stage;
  if (view.stage == viz::StageView::compare) compare_step(session, view);
}

}  // namespace

Scene::Scene(const StillOptions& options)
    : size(parse_size(options.size)),
      view(view_of(options)),
      choice(device_choice(options.device)),
      subject(open_subject(options.file, choice, options.overrides)),
      session(subject, choice, [] {}) {
  if (options.ask && !subject.link.stop)
    throw InputError("--ask is of a stop of a lesson; write LESSON#stop=3");
  session.set_machine(read_machine(options.bench));
  if (subject.link.stop) {
    go_to_stop(options.ask);
    if (options.page > 0) {
      view.page = options.page - 1;
      view.wanted = viz::PanelId::count_;
    }
  } else {
    go_to_place(session, subject.link, view);
  }
  if (options.panel.empty()) {
    require_window_size(size.first * options.scale_out, size.second * options.scale_out);
  } else {
    require_window_size(size.first, size.second);
  }
  source = provenance_of(session.frame(), session.selection(), trace_hash(session.store()));
  if (options.provenance) view.picture.provenance = source;
  if (!options.panel.empty()) cut_out_panel(parse_panel(options.panel));
  view.scale *= static_cast<float>(options.scale_out);
  size.first *= options.scale_out;
  size.second *= options.scale_out;
}

/// As the window comes to it: its run first, then its place, then the numbers of its texts.
void Scene::go_to_stop(bool ask) {
  const viz::ViewState asked = view;
  const auto settle = [&] {
    do {
      session.tick(view, {});
      session.wait_idle();
    } while (!session.lesson()->arrived() || session.working());
    session.tick(view, {});
  };
  session.wait_idle();
  session.tell_scripts({});
  settle();
  const bool asks = session.lesson()->now().asking;
  if (ask && !asks) {
    throw InputError(fmt::format("stop {} asks nothing ({}); leave out --ask", *subject.link.stop,
                                 subject.link.path.string()));
  }
  if (asks && !ask) {
    viz::Command answer;
    answer.kind = viz::Command::Kind::answer;
    session.apply(viz::Commands{answer}, view);
    settle();
  }
  keep_views_asked_for(asked);
}

/// What the stop does not say is as the options have it, as in a film.
void Scene::keep_views_asked_for(const viz::ViewState& asked) {
  const Shown shown = session.lesson()->shown();
  view.side = shown.side.value_or(asked.side);
  if (shown.stage) return;
  view.stage = asked.stage;
  if (view.stage == viz::StageView::compare && !shown.compare) compare_step(session, view);
}

/// The picture becomes the panel as the window of that size shows it, with a margin around.
void Scene::cut_out_panel(viz::PanelId id) {
  view.stage = viz::stage_that_shows(id, view.stage);
  view.side = viz::side_that_shows(id, view.side);
  const auto width = static_cast<float>(size.first), height = static_cast<float>(size.second);
  const float asked = viz::asked_scale(view);
  const float scale = std::min(asked, viz::fitting_scale(view.mode, width, height));
  const viz::Rect place = viz::panel_place({.width = width,
                                            .height = height,
                                            .scale = scale,
                                            .mode = view.mode,
                                            .stage = view.stage,
                                            .side = view.side,
                                            .broken = session.frame().broken.has_value(),
                                            .lesson = session.frame().lesson.has_value(),
                                            .tables = viz::most_tables(session.frame())},
                                           id);
  if (std::min(place.w, place.h) < kLeastPanel)
    throw InputError(fmt::format(
        "a window of {}x{} has no room for the panel '{}'; give a larger --size, such as 1600x900",
        size.first, size.second, viz::panel_name(id)));
  view.scale *= scale / asked;
  view.maximised = id;
  view.picture.alone = view.picture.still = view.picture.no_caption = true;
  view.picture.margin = kPanelMargin;
  const auto framed = [&](float length) {
    return static_cast<int>(std::ceil(length) + 2.0F * std::round(kPanelMargin * scale));
  };
  const float foot = view.picture.provenance.empty() ? 0.0F : viz::provenance_height(scale);
  size = {framed(place.w), framed(place.h) + static_cast<int>(foot)};
}

}  // namespace attn::app
