#include "core/trace/manifest_json.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include "core/engine/config_fields.h"
#include "core/trace/names.h"
#include "core/trace/record_fields.h"
#include "kernels/common/check.h"

namespace attn::trace {
namespace {

using OrderedJson = nlohmann::ordered_json;

// One list of named fields per struct, for both directions, as in record_fields.h.
template <class A, Of<EngineConfig> R>
void named_fields(A& a, R& r) {
  visit_fields(a, r);
}

template <class A, Of<ModelShape> R>
void named_fields(A& a, R& r) {
  a("name", r.name);
  a("architecture", r.architecture);
  a("num_layers", r.num_layers);
  a("num_heads", r.num_heads);
  a("num_kv_heads", r.num_kv_heads);
  a("head_dim", r.head_dim);
  a("hidden_size", r.hidden_size);
  a("vocab_size", r.vocab_size);
  a("dtype", r.dtype);
  a("scale", r.scale);
}

template <class A, Of<Manifest> R>
void named_fields(A& a, R& r) {
  a("scenario_name", r.scenario_name);
  a("scenario_json", r.scenario_json);
  a("config", r.config);
  a("model", r.model);
  a("device", r.device);
  a("build", r.build);
  a("request_labels", r.request_labels);
}

template <class T>
inline constexpr bool kNested = std::is_same_v<T, EngineConfig> || std::is_same_v<T, ModelShape>;

struct JsonWriter {
  OrderedJson json = OrderedJson::object();
  template <class T>
  void operator()(const char* key, const T& value) {
    if constexpr (kNested<T>) {
      JsonWriter nested;
      named_fields(nested, value);
      json[key] = std::move(nested.json);
    } else if constexpr (std::is_enum_v<T>) {
      json[key] = name_of(value);
    } else if constexpr (std::is_same_v<T, std::optional<float>>) {
      json[key] = value ? OrderedJson(*value) : OrderedJson();
    } else {
      json[key] = value;
    }
  }
};

struct JsonReader {
  const OrderedJson& json;
  template <class T>
  void operator()(const char* key, T& value) {
    const auto found = json.find(key);
    if (found == json.end()) throw InputError(fmt::format("manifest has no '{}'", key));
    if constexpr (kNested<T>) {
      if (!found->is_object()) throw InputError(fmt::format("manifest '{}' is not an object", key));
      JsonReader nested{*found};
      named_fields(nested, value);
    } else if constexpr (std::is_enum_v<T>) {
      const auto name = found->template get<std::string>();
      const auto picked = from_name<T>(name);
      if (!picked) {
        throw InputError(fmt::format("manifest '{}' is '{}', not one of {}", key, name, all_names<T>()));
      }
      value = *picked;
    } else if constexpr (std::is_same_v<T, std::optional<float>>) {
      value.reset();
      if (!found->is_null()) value = found->template get<float>();
    } else {
      value = found->template get<T>();
    }
  }
};

}  // namespace

std::string manifest_to_json(const Manifest& manifest) {
  JsonWriter writer;
  named_fields(writer, manifest);
  // Labels are user text: bytes that are not UTF-8 become U+FFFD rather than an exception.
  return writer.json.dump(2, ' ', false, OrderedJson::error_handler_t::replace);
}

Manifest manifest_from_json(std::string_view text) {
  try {
    const OrderedJson json = OrderedJson::parse(text);
    if (!json.is_object()) throw InputError("manifest is not a JSON object");
    Manifest manifest;
    JsonReader reader{json};
    named_fields(reader, manifest);
    return manifest;
  } catch (const OrderedJson::exception& error) {
    throw InputError(fmt::format("manifest is not valid ({})", error.what()));
  }
}

}  // namespace attn::trace
