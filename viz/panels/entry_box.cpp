#include "viz/panels/entry_box.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

#include "viz/keys.h"
#include "viz/lookup.h"
#include "viz/widgets/dialog.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

constexpr std::array<std::string_view, 7> kTensors = {"q", "k", "v", "o", "lse", "weights", "scores"};

struct Question {
  std::string title;
  std::string hint;
  std::string done;  // label of the button
};

bool is_token(const ShellView& shell) { return shell.condition.kind == trace::ConditionKind::token_equals; }
bool is_share(const ShellView& shell) { return shell.condition.kind == trace::ConditionKind::stolen_mass; }

int first_step(const Frame& frame) { return step_number(frame, 0); }
int last_step(const Frame& frame) { return step_number(frame, frame.num_steps - 1); }

Question question_of(const Ui& ui) {
  const ShellView& shell = ui.view.shell;
  switch (shell.entry) {
    case Entry::go_to_step:
      return {"Go to step", fmt::format("{} to {}", first_step(ui.frame), last_step(ui.frame)), "Go"};
    case Entry::bookmark_note:
      return {fmt::format("Bookmark at step {}", step_number(ui.frame, ui.frame.index)),
              "a note, may be empty", "Keep"};
    case Entry::save_trace:
      return {"Save the trace", "path of an .attn file", "Save"};
    case Entry::export_tensor:
      return {"Export a tensor", "path ending in .safetensors or .csv", "Export"};
    case Entry::run_to_value:
    case Entry::stop_at_value:
      break;
  }
  const bool runs = shell.entry == Entry::run_to_value;
  const std::string_view verb = runs ? "Run to" : "Stop at";
  const char* done = runs ? "Run" : "Add break point";
  if (is_token(shell)) return {fmt::format("{}: a sampled token", verb), "token id", done};
  if (is_share(shell)) return {fmt::format("{}: stolen mass above", verb), "percent, such as 5", done};
  return {fmt::format("{}: max|\xCE\x94| of o above", verb), "such as 1e-5", done};
}

std::string first_text(const ShellView& shell) {
  switch (shell.entry) {
    case Entry::run_to_value:
    case Entry::stop_at_value:
      if (is_token(shell)) return fmt::format("{}", shell.condition.a);
      return is_share(shell) ? fmt::format("{:g}", shell.condition.x * 100.0)
                             : fmt::format("{:g}", shell.condition.x);
    case Entry::save_trace:
      return "run.attn";
    case Entry::export_tensor:
      return shell.tensor + ".safetensors";
    default:
      return {};
  }
}

std::optional<double> number_in(const std::string& text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// What is wrong with the text; "" when it can be used.
std::string wrong_with(const Ui& ui) {
  const ShellView& shell = ui.view.shell;
  const std::optional<double> number = number_in(shell.text);
  switch (shell.entry) {
    case Entry::bookmark_note:
      return {};
    case Entry::go_to_step:
      return number && *number >= first_step(ui.frame) && *number <= last_step(ui.frame) &&
                     *number == std::floor(*number)
                 ? ""
                 : fmt::format("write a number from {} to {}", first_step(ui.frame), last_step(ui.frame));
    case Entry::save_trace:
      return shell.text.empty() ? "write a path" : "";
    case Entry::export_tensor: {
      const std::string extension = std::filesystem::path(shell.text).extension().string();
      return extension == ".safetensors" || extension == ".csv" ? ""
                                                                : "the path must end in .safetensors or .csv";
    }
    default:
      break;
  }
  if (is_token(shell)) return number && *number >= 0.0 ? "" : "write a token id, 0 or more";
  if (is_share(shell))
    return number && *number >= 0.0 && *number <= 100.0 ? "" : "write a number from 0 to 100";
  return number && *number >= 0.0 ? "" : "write a number, 0 or more";
}

Command condition_command(ShellView& shell) {
  const double number = number_in(shell.text).value_or(0.0);
  if (is_token(shell)) {
    shell.condition.a = static_cast<int>(number);
  } else {
    shell.condition.x = is_share(shell) ? number / 100.0 : number;
  }
  Command command;
  command.kind = shell.entry == Entry::run_to_value ? Command::Kind::run_to : Command::Kind::add_breakpoint;
  command.a = 1;
  command.condition = shell.condition;
  if (shell.entry == Entry::run_to_value) shell.has_condition = true;
  return command;
}

Command command_of(const Frame& frame, ShellView& shell) {
  Command command;
  command.text = shell.text;
  switch (shell.entry) {
    case Entry::go_to_step:
      command.kind = Command::Kind::seek;
      command.a = index_of_step(frame, static_cast<int>(number_in(shell.text).value_or(0.0)));
      return command;
    case Entry::bookmark_note:
      command.kind = Command::Kind::add_bookmark;
      return command;
    case Entry::save_trace:
      command.kind = Command::Kind::save_trace;
      return command;
    case Entry::export_tensor:
      command.kind = Command::Kind::export_tensor;
      command.value = shell.tensor;
      return command;
    default:
      return condition_command(shell);
  }
}

/// A row of buttons for what to export; the name in the path follows.
void draw_tensors(Ui& ui, const Rect& row) {
  ShellView& shell = ui.view.shell;
  const float gap = ui.px(4);
  const float w = std::floor((row.w - gap * static_cast<float>(kTensors.size() - 1)) /
                             static_cast<float>(kTensors.size()));
  float x = row.x;
  for (const std::string_view tensor : kTensors) {
    if (button(ui, fmt::format("entry/tensor/{}", tensor), {x, row.y, w, row.h}, tensor,
               fmt::format("export {} of this step and layer", tensor), true, shell.tensor == tensor)) {
      std::filesystem::path path = shell.text;
      if (path.stem() == shell.tensor)
        shell.text = (path.parent_path() / (std::string(tensor) + path.extension().string())).string();
      shell.tensor = tensor;
    }
    x += w + gap;
  }
}

}  // namespace

void draw_entry_box(Ui& ui, const Rect& screen) {
  ShellView& shell = ui.view.shell;
  const bool fresh = std::exchange(shell.fresh, false);
  if (fresh) shell.text = first_text(shell);
  const bool tensors = shell.entry == Entry::export_tensor;
  begin_card(ui, "entry", card_on(ui, screen, 480.0F, tensors ? 170.0F : 132.0F), screen, true);
  const Question question = question_of(ui);
  const float row = ui.px(32);
  Rect line{ui.body.x, ui.body.y, ui.body.w, ui.px(26)};
  text_in(ui, FontRole::strong, line, ui[Color::text], question.title, Align::left);
  line.y += line.h + ui.px(4);
  const Rect choices{line.x, line.y, line.w, ui.px(28)};
  if (tensors) line.y += ui.px(36);
  const bool entered =
      text_line(ui, "entry/text", {line.x, line.y, line.w, row}, shell.text, question.hint, fresh);
  // Behind the text field, which else would write its own text over the new one.
  if (tensors) draw_tensors(ui, choices);
  line.y += row + ui.px(8);
  const std::string wrong = wrong_with(ui);
  const float w = ui.px(84);
  const Rect cancel{line.right() - w, line.y, w, ui.px(30)};
  const float done_w = std::max(w, text_width(ui, FontRole::strong, question.done) + ui.px(20));
  const Rect done{cancel.x - ui.px(8) - done_w, line.y, done_w, cancel.h};
  text_in(ui, FontRole::small, {line.x, line.y, done.x - line.x - ui.px(8), cancel.h}, ui[Color::muted],
          wrong, Align::left);
  const bool go = button(ui, "entry/done", done, question.done, wrong, wrong.empty(), wrong.empty());
  if (button(ui, "entry/cancel", cancel, "Cancel", "Esc")) shell.close();
  if ((go || entered) && wrong.empty()) {
    ui.commands.push_back(command_of(ui.frame, shell));
    shell.close();
  }
  end_panel(ui);
}

}  // namespace attn::viz
