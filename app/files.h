// The files a session reads and leaves behind besides what is open: folders for the open dialog, saved
// traces, names for what the user gave no name.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/job.h"
#include "core/trace/bookmark.h"
#include "core/trace/store.h"
#include "viz/frame.h"

namespace attn::app {

/// Never throws: what is wrong stands in the listing's note.
viz::FolderListing list_folder(const std::filesystem::path& folder);
/// The bundled scenarios, by name.
std::vector<std::string> bundled_scenarios();

/// "stem.ext" in that folder, or "stem-2.ext", ...: one that is not there.
std::filesystem::path free_path(const std::filesystem::path& folder, const std::string& stem,
                                std::string_view extension);
/// Where a file goes: `wanted`, with `extension` when it has none; without a name of its own, a free name
/// "stem.ext", "stem-2.ext" in the current folder, or in the home folder when that one cannot be written.
std::filesystem::path output_path(const std::string& wanted, const std::string& stem,
                                  std::string_view extension);

/// "three-prompts * - attnscope": what is open, marked while no file holds it.
std::string window_title(const viz::Frame& frame);
/// "three-prompts-step-012": a name for a picture of the step that is shown.
std::string still_stem(const viz::Frame& frame);

/// Writes the first `steps` steps and the bookmarks into a trace that takes its name when it is whole. Throws
/// InputError. Leaves nothing behind when the job is cancelled.
void write_trace(const std::filesystem::path& path, const trace::Manifest& manifest,
                 const trace::Store& store, int steps, const std::vector<trace::Bookmark>& bookmarks,
                 Job::Control& control);

}  // namespace attn::app
