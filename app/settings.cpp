#include "app/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <system_error>

#include "app/output_file.h"
#include "app/view_names.h"
#include "core/model/json_fields.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::json;

constexpr std::uintmax_t kLargestFile = 1U << 20U;
constexpr std::size_t kMostRecent = 12;
constexpr int kSmallestSide = 320, kLargestSide = 16384;

/// Takes members of the right type and within range; notes the others.
class Reader {
 public:
  explicit Reader(const Json& object) : object_(object) {}

  void number(const char* key, float low, float high, float& value) {
    take(key, value, [&](const Json& json) {
      return json.is_number() && json.get<float>() >= low && json.get<float>() <= high;
    });
  }
  void number(const char* key, int low, int high, int& value) {
    take(key, value, [&](const Json& json) {
      return json.is_number_integer() && json.get<std::int64_t>() >= low && json.get<std::int64_t>() <= high;
    });
  }
  void flag(const char* key, bool& value) {
    take(key, value, [](const Json& json) { return json.is_boolean(); });
  }
  template <class E, class FromName>
  void name(const char* key, E& value, FromName from_name) {
    std::string text;
    take(key, text, [&](const Json& json) {
      return json.is_string() && from_name(json.get_ref<const std::string&>()).has_value();
    });
    if (!text.empty()) value = *from_name(text);
  }
  void texts(const char* key, std::vector<std::string>& values) {
    take(key, values, [](const Json& json) {
      return json.is_array() && std::ranges::all_of(json, [](const Json& one) { return one.is_string(); });
    });
  }
  const std::string& refused() const { return refused_; }

 private:
  template <class T, class Good>
  void take(const char* key, T& value, Good good) {
    const auto found = object_.find(key);
    if (found == object_.end()) return;
    if (good(*found)) {
      value = found->template get<T>();
    } else {
      refused_ += (refused_.empty() ? "" : ", ") + std::string(key);
    }
  }

  const Json& object_;
  std::string refused_;
};

void read_all(Reader& reader, Settings& s) {
  reader.name("theme", s.theme, viz::theme_named);
  reader.number("scale", 0.5F, 4.0F, s.scale);
  reader.name("mode", s.mode, view_named<viz::ScreenMode>);
  reader.name("stage", s.stage, view_named<viz::StageView>);
  reader.name("side", s.side, view_named<viz::SideView>);
  reader.number("split_left", 0.0F, 1.0F, s.splits.left);
  reader.number("split_right", 0.0F, 1.0F, s.splits.right);
  reader.number("split_bottom", 0.0F, 1.0F, s.splits.bottom);
  reader.number("split_stage", 0.0F, 1.0F, s.splits.stage);
  reader.number("split_side", 0.0F, 1.0F, s.splits.side);
  reader.number("speed", 0.25F, 4.0F, s.speed);
  reader.flag("reduced_motion", s.reduced_motion);
  reader.number("width", kSmallestSide, kLargestSide, s.width);
  reader.number("height", kSmallestSide, kLargestSide, s.height);
  reader.texts("recent_files", s.recent_files);
  if (s.recent_files.size() > kMostRecent) s.recent_files.resize(kMostRecent);
}

Json json_of(const Settings& s) {
  return {{"theme", viz::theme_of(s.theme).name},
          {"scale", s.scale},
          {"mode", view_name(s.mode)},
          {"stage", view_name(s.stage)},
          {"side", view_name(s.side)},
          {"split_left", s.splits.left},
          {"split_right", s.splits.right},
          {"split_bottom", s.splits.bottom},
          {"split_stage", s.splits.stage},
          {"split_side", s.splits.side},
          {"speed", s.speed},
          {"reduced_motion", s.reduced_motion},
          {"width", s.width},
          {"height", s.height},
          {"recent_files", s.recent_files}};
}

}  // namespace

fs::path settings_path() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  fs::path folder;
  if (config != nullptr && fs::path(config).is_absolute()) {
    folder = config;
  } else if (home != nullptr && *home != '\0') {
    folder = fs::path(home) / ".config";
  } else {
    return {};
  }
  return folder / "attnscope" / "settings.json";
}

LoadedSettings load_settings(const fs::path& path) {
  LoadedSettings loaded;
  std::error_code error;
  if (path.empty() || !fs::exists(path, error)) return loaded;
  try {
    const Json json = Json::parse(read_text_file(path, kLargestFile), nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) throw InputError("it is not a JSON object");
    Reader reader(json);
    read_all(reader, loaded.settings);
    if (!reader.refused().empty()) {
      loaded.note =
          fmt::format("settings that make no sense are ignored ({}: {})", path.string(), reader.refused());
    }
  } catch (const InputError& problem) {
    loaded.note = fmt::format("the settings are ignored ({}): {}", path.string(), problem.what());
  }
  return loaded;
}

void save_settings(const fs::path& path, const Settings& settings) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  OutputFile file(path);
  // Names of recent files may be no UTF-8: those bytes are replaced instead of nothing being saved.
  file.write(json_of(settings).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  file.commit();
}

void apply_settings(const Settings& settings, viz::ViewState& view) {
  view.theme = settings.theme;
  view.scale = settings.scale;
  view.mode = settings.mode;
  view.stage = settings.stage;
  view.side = settings.side;
  view.splits = settings.splits;
  view.speed = settings.speed;
  view.reduced_motion = settings.reduced_motion;
}

void take_settings(const viz::ViewState& view, float monitor_scale, Settings& settings) {
  settings.theme = view.theme;
  settings.scale = view.scale / monitor_scale;
  settings.mode = view.mode;
  settings.stage = view.stage;
  settings.side = view.side;
  settings.splits = view.splits;
  settings.speed = view.speed;
  settings.reduced_motion = view.reduced_motion;
}

}  // namespace attn::app
