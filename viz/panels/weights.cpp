#include "viz/panels/weights.h"

#include <fmt/format.h>

#include "viz/lookup.h"
#include "viz/panels/decode_strip.h"
#include "viz/panels/weights_matrix.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

/// Why there is nothing to draw, or "".
std::string missing(const Ui& ui, const BatchRows& rows) {
  if (!ui.frame.step) return "Softmax weights of the selected sequence, layer and head appear here.";
  if (ui.frame.step->path == trace::AttentionPath::identity) {
    return "No attention in this step: without context or cache the output is q itself.";
  }
  if (rows.batch < 0)
    return fmt::format("{} has no rows in this step; select a sequence that runs.", seq_letter(rows.seq));
  if (!ui.frame.attention) {
    return ui.frame.attention_note.empty()
               ? "Running the attention kernel again with its probe on \xE2\x80\xA6"
               : ui.frame.attention_note;
  }
  const trace::AttentionView& view = *ui.frame.attention;
  const bool whole =
      view.weights.size() >= static_cast<std::size_t>(view.num_heads) * view.num_q * view.max_k;
  if (!whole || rows.q0 + rows.q_len > view.num_q || ui.selection.head < 0 ||
      ui.selection.head >= view.num_heads) {
    return fmt::format("The inspector's record has no weights for head {} of these rows.", ui.selection.head);
  }
  return {};
}

}  // namespace

void draw_weights(Ui& ui, const Rect& rect) {
  const BatchRows rows = batch_rows(ui.frame, focus_seq(ui.frame, ui.selection));
  const std::string note = missing(ui, rows);
  std::string title = "Softmax weights";
  if (rows.batch >= 0) title += fmt::format(" of {}", seq_letter(rows.seq));
  std::string caption;
  if (note.empty()) {
    caption = fmt::format("layer {}, head {}  \xC2\xB7  {}", ui.frame.attention->layer, ui.selection.head,
                          ui.frame.attention->kernel);
  }
  if (!begin_panel(ui, "weights", rect, title, caption)) return;
  if (!note.empty()) {
    empty_note(ui, note);
  } else if (is_prefill(*ui.frame.step)) {
    draw_weights_matrix(ui, rows);
  } else {
    draw_decode_strip(ui, rows);
  }
  end_panel(ui);
}

}  // namespace attn::viz
