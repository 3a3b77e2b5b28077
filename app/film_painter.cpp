#include "app/film_painter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>
#include <utility>

#include "app/lesson.h"
#include "app/sha256.h"
#include "core/trace/number_text.h"
#include "viz/fonts.h"
#include "viz/layout/panel_place.h"
#include "viz/lookup.h"

namespace attn::app {
namespace {

constexpr float kLettersOfCaption = 30.0F;  // pixels, of a picture 1080 pixels high
constexpr float kLargestPanel = 2.6F;       // times a window's letters
constexpr float kLargerCells = 2.0F;        // times those of a window that is enlarged as much

/// A panel alone is enlarged from what a window of 1920x1080 shows of it until it fills the picture.
void fill_with_panel(const FilmLook& look, viz::ViewState& view) {
  view.maximised = look.panel;
  view.picture.alone = true;
  view.picture.cells = kLargerCells;
  view.picture.caption_px = kLettersOfCaption * film_scale(look.width, look.height);
  const auto width = static_cast<float>(look.width), height = static_cast<float>(look.height);
  const viz::LayoutInput alone{.width = width,
                               .height = height,
                               .scale = viz::asked_scale(view),
                               .mode = look.mode,
                               .maximised = look.panel,
                               .caption = look.caption,
                               .alone = true,
                               .caption_h = viz::caption_height_alone(view, width)};
  const viz::Rect free = viz::layout_screen(alone)[look.panel];
  const viz::Rect place = viz::panel_place({.width = 1920.0F, .height = 1080.0F}, look.panel);
  const float per = look.mode == viz::ScreenMode::present ? viz::kPresentScale : 1.0F;
  view.scale = std::clamp(std::min(free.w / place.w, free.h / place.h) / per, view.scale,
                          view.scale * kLargestPanel / viz::kPresentScale);
}

/// a + (b - a) * part / whole, in integers. Most rows of two pictures of a film are the same.
Image blend(const Image& a, const Image& b, int part, int whole) {
  Image out = a;
  const int weight = 256 * part / whole;
  const std::size_t row = static_cast<std::size_t>(a.width) * 4;
  for (std::size_t begin = 0; begin < out.rgba.size(); begin += row) {
    const std::uint8_t* from = a.rgba.data() + begin;
    const std::uint8_t* to = b.rgba.data() + begin;
    std::uint8_t* pixel = out.rgba.data() + begin;
    if (std::memcmp(from, to, row) == 0) continue;
    for (std::size_t i = 0; i < row; ++i)
      pixel[i] = static_cast<std::uint8_t>((from[i] * (256 - weight) + to[i] * weight + 128) >> 8);
  }
  return out;
}

}  // namespace

float film_scale(int width, int height) {
  return std::clamp(static_cast<float>(std::min(width, height)) / 1080.0F, 0.5F, 4.0F);
}

const Shown& shown_of(const Script& script, const Shot& shot) {
  return shot.stop < 0 ? script.shown : script.stops[static_cast<std::size_t>(shot.stop)].shown;
}

viz::ViewState view_of(const FilmLook& look, const Shot& shot, const Shown& shown) {
  viz::ViewState view;
  view.scale = film_scale(look.width, look.height);
  view.mode = look.mode;
  viz::theme_to_change(view) = look.theme;
  show(shown, view);
  view.stage = shown.stage.value_or(look.stage);
  view.side = shown.side.value_or(look.side);
  view.picture.ringed = shown.annotate;
  if (look.panel != viz::PanelId::count_) {
    fill_with_panel(look, view);
  }
  view.picture.still = true;
  view.picture.no_caption = !look.caption;
  view.picture.caption = shot.caption;
  view.picture.question = shot.question;
  view.picture.choices = shot.choices;
  return view;
}

std::string provenance_of(const viz::Frame& frame, const viz::Selection& selection,
                          std::uint64_t trace_hash) {
  constexpr const char* kDot = " \xC2\xB7 ";
  std::string text =
      fmt::format("{}{}L{} H{}", frame.manifest->model.name, kDot, selection.layer, selection.head);
  if (frame.step) text += fmt::format("{}{}", kDot, viz::path_text(frame.step->path));
  if (frame.attention && !std::isnan(frame.attention->max_abs_diff_o))
    text += fmt::format("{}max|\xCE\x94| {:.2g}", kDot, num(frame.attention->max_abs_diff_o));
  return text + fmt::format("{}trace {}", kDot, viz::hash_tag(trace_hash));
}

/// Counts the frames of a section while they go into the sink, and lets only those through that are wanted.
struct FilmPainter::Frames {
  const FrameRange range;
  FrameSink& sink;
  std::string* hashes;
  int next;  // frame of the film
  const Advance& advance;
  int told = -1;  // frames of the range at the last telling

  /// Every so many frames: a long one under load must not look as if nothing went on.
  void tell(int written) {
    constexpr int kTell = 10;
    if (told >= 0 && written < told + kTell) return;
    told = written;
    if (!advance(written)) throw Footage::Cancelled{};
  }

  void write(const Image& picture, int times) {
    const int begin = std::max(next, range.first), end = std::min(next + times, range.last + 1);
    next += times;
    if (begin >= end) return;
    int written = begin - range.first;
    sink.write(picture, end - begin, [&] { tell(++written); });
    if (hashes == nullptr) return;
    const std::string hash = sha256(picture.rgba);
    for (int frame = begin; frame < end; ++frame) *hashes += fmt::format("{}  {:06d}\n", hash, frame);
  }
};

FilmPainter::FilmPainter(Footage& footage, const Script& script, const EditList& list, const FilmLook& look)
    : footage_(footage), script_(script), list_(list), look_(look), headless_(look.width, look.height) {}

void FilmPainter::start(const Shot& shot) {
  const Shown& shown = shown_of(script_, shot);
  Session& session = footage_.session(shot.run);
  viz::ViewState view = view_of(look_, shot, shown);
  view.picture.title = footage_.title();
  // A walk through stages shows each as it was then, not as the step left it.
  if (shot.stop >= 0) {
    if (const auto& walk = script_.stops[static_cast<std::size_t>(shot.stop)].walk) view.grain = walk->grain;
  }
  session.select(shot.selection);
  session.frame();  // a comparison is of the step that is shown
  viz::Command compare;
  compare.kind = viz::Command::Kind::compare_off;
  if (shown.compare) {
    compare.kind = viz::Command::Kind::compare;
    std::tie(compare.variant_a, compare.variant_b) = *shown.compare;
  }
  session.apply(viz::Commands{compare}, view);
  session.wait_idle();
  if (look_.provenance) {
    view.picture.provenance = provenance_of(session.frame(), session.selection(), footage_.hash(shot.run));
  }
  headless_.start_picture(session, view);
}

void FilmPainter::paint(const Section& section, const FrameRange& range, FrameSink& sink, std::string* hashes,
                        const Advance& advance) {
  const auto wanted = [&](int i) {
    if (i >= section.num_shots) return false;
    const Shot& shot = list_.shots[static_cast<std::size_t>(section.first_shot + i)];
    return shot.first <= range.last && shot.first + shot.frames > range.first;
  };
  std::vector<const Shot*> shots;  // with the one before the first wanted: a picture may come out of it
  for (int i = 0; i < section.num_shots; ++i) {
    if (wanted(i) || wanted(i + 1))
      shots.push_back(&list_.shots[static_cast<std::size_t>(section.first_shot + i)]);
  }
  Frames frames{range, sink, hashes, shots.empty() ? 0 : shots.front()->first, advance};
  frames.tell(0);
  Image before;
  const auto take = [&](const Shot& shot) {
    Image picture = headless_.take_picture();
    int left = shot.frames;
    if (!before.rgba.empty() && before.rgba != picture.rgba) {
      const int tween = std::min(list_.tween, shot.frames / 2);
      for (int i = 1; i <= tween; ++i, --left) frames.write(blend(before, picture, i, tween + 1), 1);
    }
    frames.write(picture, left);
    before = std::move(picture);
  };
  // One picture is read back while the next place is prepared and drawn.
  for (std::size_t i = 0; i < shots.size(); ++i) {
    start(*shots[i]);
    if (i > 0) take(*shots[i - 1]);
  }
  if (!shots.empty()) take(*shots.back());
}

}  // namespace attn::app
