#include "app/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

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
constexpr int kSmallestWindow = 320, kLargestWindow = 16384;

std::string_view text_of(viz::ThemeId theme) { return viz::theme_of(theme).name; }
template <class E>
std::string_view text_of(E value) {
  return view_name(value);
}

template <class E>
std::optional<E> from_text(std::string_view text) {
  if constexpr (std::is_same_v<E, viz::ThemeId>) {
    return viz::theme_named(text);
  } else {
    return view_named<E>(text);
  }
}

/// What is allowed of a number; of the others the type says it.
template <class T>
struct Range {
  T low, high;
};

template <class Visit, class Splits>
void visit_splits(Visit& visit, const std::string& prefix, Splits& splits) {
  constexpr Range<float> kShare{0.0F, 1.0F};
  visit(prefix + "left", splits.left, kShare);
  visit(prefix + "right", splits.right, kShare);
  visit(prefix + "bottom", splits.bottom, kShare);
  visit(prefix + "stage", splits.stage, kShare);
  visit(prefix + "side", splits.side, kShare);
}

/// Every field with its name in the file; what reads and writes them visits this list.
template <class Visit, class S>
void visit_fields(Visit& visit, S& s) {
  visit("theme", s.theme);
  visit("present_theme", s.present_theme);
  visit("scale", s.scale, Range{0.5F, 4.0F});
  visit("mode", s.mode);
  visit("stage", s.stage);
  visit("side", s.side);
  visit_splits(visit, "split_", s.splits);
  visit_splits(visit, "present_split_", s.present_splits);
  visit("speed", s.speed, Range{0.25F, 4.0F});
  visit("reduced_motion", s.reduced_motion);
  visit("width", s.width, Range{kSmallestWindow, kLargestWindow});
  visit("height", s.height, Range{kSmallestWindow, kLargestWindow});
  visit("recent_files", s.recent_files);
  visit("lessons", s.lessons);
}

/// Takes members of the right type and within range; notes the others.
class SettingsReader {
 public:
  explicit SettingsReader(const Json& object) : object_(object) {}

  void operator()(const std::string& key, float& value, Range<float> range) {
    take(key, value, [&](const Json& json) {
      return json.is_number() && json.get<float>() >= range.low && json.get<float>() <= range.high;
    });
  }
  void operator()(const std::string& key, int& value, Range<int> range) {
    take(key, value, [&](const Json& json) {
      return json.is_number_integer() && json.get<std::int64_t>() >= range.low &&
             json.get<std::int64_t>() <= range.high;
    });
  }
  void operator()(const std::string& key, bool& value) {
    take(key, value, [](const Json& json) { return json.is_boolean(); });
  }
  void operator()(const std::string& key, std::vector<std::string>& values) {
    take(key, values, [](const Json& json) {
      return json.is_array() && std::ranges::all_of(json, [](const Json& one) { return one.is_string(); });
    });
  }
  template <class E>
  requires std::is_enum_v<E>
  void operator()(const std::string& key, E& value) {
    std::string text;
    take(key, text, [&](const Json& json) {
      return json.is_string() && from_text<E>(json.get_ref<const std::string&>()).has_value();
    });
    if (!text.empty()) value = *from_text<E>(text);
  }
  void operator()(const std::string& key, std::string& text) {
    take(key, text, [](const Json& json) { return json.is_string(); });
  }
  void operator()(const std::string& key, LessonsProgress& lessons) {
    const auto found = object_.find(key);
    if (found == object_.end()) return;
    bool good = found->is_object();
    const Json list = good ? *found : Json::object();
    for (const auto& [name, json] : list.items()) {
      SettingsReader one(json);
      LessonProgress progress;
      if (json.is_object()) one("seen", progress.seen);
      if (json.is_object()) one("done", progress.done);
      if (json.is_object()) one("at", progress.at);
      good = good && json.is_object() && one.refused().empty();
      lessons.emplace(name, std::move(progress));
    }
    if (!good) refused_ += (refused_.empty() ? "" : ", ") + key;
  }
  const std::string& refused() const { return refused_; }

 private:
  template <class T, class Good>
  void take(const std::string& key, T& value, Good good) {
    const auto found = object_.find(key);
    if (found == object_.end()) return;
    if (good(*found)) {
      value = found->template get<T>();
    } else {
      refused_ += (refused_.empty() ? "" : ", ") + key;
    }
  }

  const Json& object_;
  std::string refused_;
};

Json json_of(const LessonsProgress& lessons) {
  Json json = Json::object();
  for (const auto& [name, progress] : lessons)
    json[name] = {{"seen", progress.seen}, {"done", progress.done}, {"at", progress.at}};
  return json;
}

class Writer {
 public:
  template <class T, class... Limits>
  void operator()(const std::string& key, const T& value, const Limits&...) {
    if constexpr (std::is_enum_v<T>) {
      json[key] = text_of(value);
    } else if constexpr (std::is_same_v<T, LessonsProgress>) {
      json[key] = json_of(value);
    } else {
      json[key] = value;
    }
  }
  Json json;
};

Json json_of(const Settings& settings) {
  Writer writer;
  visit_fields(writer, settings);
  return std::move(writer.json);
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
    SettingsReader reader(json);
    visit_fields(reader, loaded.settings);
    std::vector<std::string>& recent = loaded.settings.recent_files;
    if (recent.size() > kMostRecent) recent.resize(kMostRecent);
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
  static_cast<viz::ViewSettings&>(view) = settings;
}

void take_settings(const viz::ViewState& view, float monitor_scale, Settings& settings) {
  static_cast<viz::ViewSettings&>(settings) = view;
  settings.scale /= monitor_scale;
}

}  // namespace attn::app
