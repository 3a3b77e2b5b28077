#include "viz/fonts.h"

#include <fmt/format.h>
#include <imgui.h>

#include <array>
#include <cmath>
#include <filesystem>

namespace attn::viz {
namespace {

struct RoleSpec {
  float size;
  const char* file;      // extension decides nothing: the first existing of .otf, .ttf wins
  const char* fallback;  // carries the symbols
};

constexpr std::array<RoleSpec, kNumFontRoles> kRoles = {{
    {15.0F, "Inter-Regular", "DejaVuSans"},
    {15.0F, "Inter-SemiBold", "DejaVuSans-Bold"},
    {13.0F, "Inter-Regular", "DejaVuSans"},
    {18.0F, "Inter-SemiBold", "DejaVuSans-Bold"},
    {13.0F, "JetBrainsMono-Regular", "DejaVuSansMono"},
    {11.0F, "JetBrainsMono-Regular", "DejaVuSansMono"},
    {18.0F, "JetBrainsMono-Regular", "DejaVuSansMono"},
    {22.3F, "Inter-Regular", "DejaVuSans"},
}};

constexpr float kPresentSmallest = 20.0F / kPresentScale;  // at scale 1

constexpr std::array<const char*, 6> kUsualDirs = {"/usr/share/fonts/opentype/inter",
                                                   "/usr/share/fonts/truetype/inter",
                                                   "/usr/share/fonts/truetype/jetbrains-mono",
                                                   "/usr/share/fonts/truetype/dejavu",
                                                   "/usr/share/fonts/TTF",
                                                   "/usr/share/fonts/OTF"};

// Latin with accents, Greek, Cyrillic: what a prompt may hold. Zero-terminated pairs, kept alive by being
// static.
constexpr ImWchar kTextRanges[] = {0x0020, 0x017F, 0x0370, 0x03FF, 0x0400, 0x045F, 0};
// Punctuation, arrows, mathematical operators, box parts, geometric shapes, check marks.
constexpr ImWchar kSymbolRanges[] = {0x2010, 0x2027, 0x2030, 0x203A, 0x2070, 0x209C, 0x2190,
                                     0x21FF, 0x2200, 0x22FF, 0x2500, 0x257F, 0x2588, 0x259F,
                                     0x25A0, 0x25FF, 0x2713, 0x2717, 0xFFFD, 0xFFFD, 0};

std::string find_font(const std::vector<std::string>& dirs, const std::string& name) {
  const auto in = [&](const std::filesystem::path& dir) -> std::string {
    for (const char* extension : {".otf", ".ttf"}) {
      std::error_code ignored;
      const std::filesystem::path path = dir / (name + extension);
      if (std::filesystem::is_regular_file(path, ignored)) return path.string();
    }
    return {};
  };
  for (const std::string& dir : dirs) {
    if (std::string path = in(dir); !path.empty()) return path;
  }
  for (const char* dir : kUsualDirs) {
    if (std::string path = in(dir); !path.empty()) return path;
  }
  return {};
}

ImFontConfig config_for(bool merge) {
  ImFontConfig config;
  config.OversampleH = 2;
  config.OversampleV = 1;
  config.PixelSnapH = !merge;
  config.MergeMode = merge;
  return config;
}

/// One font of the atlas: the text face (ImGui's own where there is none), then the symbols it lacks.
void add_role(ImFontAtlas& atlas, const std::string& path, const std::string& symbols, float size) {
  const ImFontConfig base = config_for(false);
  const ImFontConfig merged = config_for(true);
  const bool loaded =
      !path.empty() && atlas.AddFontFromFileTTF(path.c_str(), size, &base, kTextRanges) != nullptr;
  if (loaded) {
    atlas.AddFontFromFileTTF(path.c_str(), size, &merged, kSymbolRanges);
  } else {
    ImFontConfig built_in = config_for(false);
    built_in.SizePixels = size;
    atlas.AddFontDefault(&built_in);
  }
  if (!symbols.empty()) atlas.AddFontFromFileTTF(symbols.c_str(), size, &merged, kSymbolRanges);
}

float size_of(const ImFont& baked) {
#if IMGUI_VERSION_NUM < 19200
  return baked.FontSize;
#else
  return baked.LegacySize;
#endif
}

/// Whether the atlas already holds every role at this scale, so that a change of theme bakes nothing.
bool built_for(const ImFontAtlas& atlas, float scale, bool present) {
  if (atlas.Fonts.Size != kNumFontRoles) return false;
  for (int i = 0; i < kNumFontRoles; ++i) {
    if (size_of(*atlas.Fonts[i]) != font_size(static_cast<FontRole>(i), scale, present)) return false;
  }
  return true;
}

}  // namespace

FontFace font_face(FontRole role) {
  switch (role) {
    case FontRole::strong:
    case FontRole::title:
      return {"strong", "Inter, 'DejaVu Sans', sans-serif", 600, 1.21F};
    case FontRole::mono:
    case FontRole::mono_small:
    case FontRole::number:
      return {"mono", "'JetBrains Mono', 'DejaVu Sans Mono', monospace", 400, 1.32F};
    default:
      return {"words", "Inter, 'DejaVu Sans', sans-serif", 400, 1.21F};
  }
}

float font_size(FontRole role, float scale, bool present) {
  const float size = kRoles[static_cast<std::size_t>(role)].size;
  return std::max(8.0F, std::round((present ? std::max(size, kPresentSmallest) : size) * scale));
}

float font_pixels(FontRole role) { return size_of(*font(role)); }

std::string load_fonts(const std::vector<std::string>& dirs, float scale, bool present) {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  const bool build = !built_for(atlas, scale, present);
  if (build) atlas.Clear();
  std::string missing;
  for (int i = 0; i < kNumFontRoles; ++i) {
    const RoleSpec& spec = kRoles[static_cast<std::size_t>(i)];
    const std::string path = find_font(dirs, spec.file);
    const bool named = missing.find(spec.file) != std::string::npos;
    if (path.empty() && !named) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", spec.file);
    if (build)
      add_role(atlas, path, find_font(dirs, spec.fallback),
               font_size(static_cast<FontRole>(i), scale, present));
  }
  if (build) atlas.Build();
  if (missing.empty()) return {};
  return fmt::format(
      "fonts not found: {}; install fonts-inter and fonts-jetbrains-mono for the intended look", missing);
}

float line_step(FontRole role) { return std::round(font_pixels(role) * 1.3F); }

ImFont* font(FontRole role) {
  const auto& fonts = ImGui::GetIO().Fonts->Fonts;
  const int index = static_cast<int>(role);
  return index < fonts.Size ? fonts[index] : ImGui::GetFont();
}

}  // namespace attn::viz
