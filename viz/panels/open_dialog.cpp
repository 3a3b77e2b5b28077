#include "viz/panels/open_dialog.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "viz/widgets/dialog.h"
#include "viz/widgets/paint.h"

namespace attn::viz {
namespace {

namespace fs = std::filesystem;

/// A line of the list and what it asks for.
struct FileLine {
  Choice choice;
  Command::Kind kind = Command::Kind::open_file;
  std::string path;
};

void add_paths(const std::vector<std::string>& paths, std::string_view heading, std::vector<FileLine>& out) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const fs::path path = paths[i];
    out.push_back({{.name = fmt::format("path/{}", paths[i]),
                    .title = path.filename().string(),
                    .right = path.parent_path().filename().string(),
                    .tip = paths[i],
                    .heading = i == 0 ? std::string(heading) : ""},
                   Command::Kind::open_file,
                   paths[i]});
  }
}

std::vector<FileLine> lines_of(const Frame& frame) {
  std::vector<FileLine> out;
  const FolderListing& folder = frame.folder;
  if (!folder.parent.empty()) {
    out.push_back(
        {{.name = "up", .title = "..  (one folder up)", .tip = folder.parent, .heading = folder.path},
         Command::Kind::list_folder,
         folder.parent});
  }
  for (const FolderEntry& entry : folder.entries) {
    // A folder with a kind is a model directory and is opened, not entered.
    const bool enter = entry.is_folder && entry.kind.empty();
    const std::string path = (fs::path(folder.path) / entry.name).string();
    out.push_back({{.name = fmt::format("entry/{}", entry.name),
                    .title = entry.is_folder ? entry.name + "/" : entry.name,
                    .right = entry.kind.empty() ? "folder" : entry.kind,
                    .tip = path,
                    .heading = out.empty() ? folder.path : ""},
                   enter ? Command::Kind::list_folder : Command::Kind::open_file,
                   path});
  }
  add_paths(frame.scenarios, "Lessons and scenarios", out);
  add_paths(frame.recent_files, "Opened lately", out);
  return out;
}

void ask(Ui& ui, Command::Kind kind, std::string path) {
  Command command;
  command.kind = kind;
  command.text = std::move(path);
  ui.commands.push_back(std::move(command));
  if (kind == Command::Kind::open_file) {
    ui.view.shell.close();
  } else {
    ui.view.shell.chosen = 0;
    ui.view.shell.follow = true;
  }
}

}  // namespace

void draw_open_dialog(Ui& ui, const Rect& screen) {
  ShellView& shell = ui.view.shell;
  begin_card(ui, "open", card_on(ui, screen, 760.0F, 560.0F), screen, true);
  const float row = ui.px(32);
  text_in(ui, FontRole::strong, {ui.body.x, ui.body.y, ui.body.w * 0.4F, ui.px(26)}, ui[Color::text], "Open",
          Align::left);
  text_in(ui, FontRole::small, {ui.body.x + ui.body.w * 0.4F, ui.body.y, ui.body.w * 0.6F, ui.px(26)},
          ui[Color::muted], "scenario, model, trace or tensor case; or drop it on the window", Align::right);
  const Rect field{ui.body.x, ui.body.y + ui.px(30), ui.body.w - ui.px(92), row};
  const bool entered = text_line(ui, "open/path", field, shell.text, "path, or choose below", shell.fresh);
  if (shell.fresh && ui.frame.folder.path.empty()) send(ui, Command::Kind::list_folder);
  shell.fresh = false;
  const bool typed = !shell.text.empty();
  const bool go = button(ui, "open/go", {field.right() + ui.px(8), field.y, ui.px(84), row}, "Open",
                         typed ? "open this path" : "write a path first", typed, typed);
  Rect list{ui.body.x, field.bottom() + ui.px(8), ui.body.w, ui.body.bottom() - field.bottom() - ui.px(8)};
  if (!ui.frame.folder.note.empty()) {
    text_in(ui, FontRole::small, {list.x, list.y, list.w, ui.px(22)}, ui[Color::warning],
            ui.frame.folder.note, Align::left);
    list.y += ui.px(24);
    list.h -= ui.px(24);
  }
  const std::vector<FileLine> lines = lines_of(ui.frame);
  std::vector<Choice> choices;
  for (const FileLine& line : lines) choices.push_back(line.choice);
  const int chosen = choose(ui, "open", list, choices);
  if ((go || entered) && typed) {
    ask(ui, Command::Kind::open_file, shell.text);
  } else if (chosen >= 0 && !typed) {
    const FileLine& line = lines[static_cast<std::size_t>(chosen)];
    ask(ui, line.kind, line.path);
  }
  end_panel(ui);
}

}  // namespace attn::viz
