#include "app/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "app/part_file.h"
#include "app/scenario.h"
#include "core/trace/trace_file.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostEntries = 2000;

/// By its name alone: a folder of thousands of files is listed without opening one of them.
std::string kind_by_name(const fs::directory_entry& entry, bool is_folder) {
  std::error_code error;
  if (is_folder) return fs::exists(entry.path() / "config.json", error) ? "model" : "";
  const std::string extension = entry.path().extension().string();
  if (extension == ".attn") return "trace";
  if (extension == ".safetensors") return "tensors";
  return extension == ".json" && !entry.path().filename().string().ends_with(".schema.json") ? "scenario"
                                                                                             : "";
}

}  // namespace

viz::FolderListing list_folder(const fs::path& folder) {
  viz::FolderListing listing;
  std::error_code error;
  fs::path path = fs::absolute(folder.empty() ? fs::path(".") : folder, error).lexically_normal();
  if (!path.has_filename() && path.has_relative_path()) path = path.parent_path();  // "a/b/" is "a/b"
  listing.path = path.string();
  if (path.has_relative_path()) listing.parent = path.parent_path().string();
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code unreadable;
    const bool is_folder = entry->is_directory(unreadable);
    const std::string kind = kind_by_name(*entry, is_folder);
    if (name.starts_with('.') || (!is_folder && kind.empty())) continue;
    if (listing.entries.size() == kMostEntries) {
      listing.note = fmt::format("only {} entries are listed", kMostEntries);
      break;
    }
    listing.entries.push_back({.name = name, .is_folder = is_folder, .kind = kind});
  }
  if (error) listing.note = fmt::format("the folder cannot be read ({}): {}", listing.path, error.message());
  std::ranges::sort(listing.entries, [](const viz::FolderEntry& a, const viz::FolderEntry& b) {
    return a.is_folder != b.is_folder ? a.is_folder : a.name < b.name;
  });
  return listing;
}

std::vector<std::string> bundled_scenarios() {
  const viz::FolderListing lessons = list_folder(assets_dir() / "lessons");
  std::vector<std::string> paths;
  for (const viz::FolderEntry& entry : lessons.entries) {
    if (entry.kind == "scenario") paths.push_back((fs::path(lessons.path) / entry.name).string());
  }
  return paths;
}

fs::path free_path(const fs::path& folder, const std::string& stem, std::string_view extension) {
  std::error_code error;
  fs::path path = folder / fmt::format("{}{}", stem, extension);
  for (int i = 2; fs::exists(path, error); ++i) path = folder / fmt::format("{}-{}{}", stem, i, extension);
  return path;
}

fs::path output_path(const std::string& wanted, const std::string& stem, std::string_view extension) {
  if (!wanted.empty()) {
    fs::path path = wanted;
    if (!path.has_extension()) path += extension;
    return path;
  }
  std::error_code error;
  fs::path folder = fs::current_path(error);
  const char* home = std::getenv("HOME");
  if ((error || access(folder.c_str(), W_OK) != 0) && home != nullptr) folder = home;
  return free_path(folder, stem.empty() ? "attnscope" : stem, extension);
}

std::string window_title(const viz::Frame& frame) {
  const std::string name = fs::path(frame.file).filename().string();
  return fmt::format("{}{} - attnscope", name, frame.saved ? "" : " *");
}

std::string still_stem(const viz::Frame& frame) {
  const std::string name = fs::path(frame.file).stem().string();
  return frame.step ? fmt::format("{}-step-{:03d}", name, frame.step->step) : name;
}

void write_trace(const fs::path& path, const trace::Manifest& manifest, const trace::Store& store, int steps,
                 const std::vector<trace::Bookmark>& bookmarks, Job::Control& control) {
  PartFile part(path);
  {
    trace::Writer writer(part.path(), manifest);
    for (int i = 0; i < steps; ++i) {
      if (control.stopped()) return;
      writer.append(*store.step(i));
      control.progress(i + 1, steps);
    }
  }
  if (!bookmarks.empty()) trace::save_bookmarks(part.path(), bookmarks);
  part.commit();
}

}  // namespace attn::app
