#include "core/engine/switches.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <type_traits>

#include "core/engine/config_fields.h"
#include "core/engine/nearest.h"
#include "core/trace/names.h"
#include "kernels/common/check.h"

namespace attn {
namespace {

template <class T>
std::string text_of(T value) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(trace::name_of(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else {
    return fmt::format("{}", value);
  }
}

[[noreturn]] void refuse(std::string_view name, std::string_view value, const std::string& hint) {
  throw InputError(fmt::format("engine.{} is '{}'; {}", name, value, hint));
}

template <class T>
T parse(std::string_view name, std::string_view text) {
  if constexpr (std::is_enum_v<T>) {
    if (const auto value = trace::from_name<T>(text)) return *value;
    std::vector<std::string> names;
    for (int i = 0; i <= static_cast<int>(trace::kLastOf<T>); ++i)
      names.push_back(text_of(static_cast<T>(i)));
    refuse(name, text, suggest(text, names));
  } else if constexpr (std::is_same_v<T, bool>) {
    if (text != "true" && text != "false") refuse(name, text, suggest(text, {"true", "false"}));
    return text == "true";
  } else {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) refuse(name, text, "use a whole number");
    return value;
  }
}

/// Calls use(field) for the field of that name.
template <class Config, class Use>
void with_field(Config& config, std::string_view name, Use&& use) {
  std::vector<std::string> names;
  bool found = false;
  visit_fields(
      [&](const char* key, auto& field) {
        names.emplace_back(key);
        if (key != name) return;
        found = true;
        use(field);
      },
      config);
  if (!found) throw InputError(fmt::format("there is no engine switch '{}'; {}", name, suggest(name, names)));
}

std::vector<std::string> levels(int highest) {
  std::vector<std::string> values;
  for (int level = 1; level <= highest; ++level) values.push_back(text_of(level));
  return values;
}

/// Default values are read off a default EngineConfig, so they are written down once.
class Menu {
 public:
  void choice(const char* name, std::vector<std::string> values, const char* title, const char* text) {
    switches_.push_back({.name = name,
                         .values = std::move(values),
                         .default_value = switch_value(EngineConfig{}, name),
                         .break_it = false,
                         .title = title,
                         .text = text,
                         .number = false});
  }
  void flag(const char* name, const char* title, const char* text) {
    choice(name, {"false", "true"}, title, text);
  }
  void number(const char* name, std::vector<std::string> examples, const char* title, const char* text) {
    choice(name, std::move(examples), title, text);
    switches_.back().number = true;
  }
  /// The last entry breaks the answer.
  void breaks() { switches_.back().break_it = true; }
  std::vector<EngineSwitch> take() { return std::move(switches_); }

 private:
  std::vector<EngineSwitch> switches_;
};

void add_choices(Menu& menu) {
  menu.choice(
      "decode_path", {"paged", "gather_masked", "gather_padded"}, "Decode reads the cache",
      "Through the block tables, or gathered into a dense tensor first, whose padding is then left out "
      "of the softmax or attended.");
  menu.flag("repeat_kv", "K and V are repeated for every query head",
            "Decode's gather paths copy each KV head once for every query head that reads it, as the gather "
            "variant does; off, the kernel lets them share it. The answer is the same.");
  menu.choice("prefill_path", {"paged", "gather_flatten"}, "Prefill reads a cached prefix",
              "Through the block tables, or gathered, flattened and packed first.");
  menu.choice(
      "prefill_level", levels(kPrefillLevels), "Prefill kernel level",
      "1 keeps every score in memory, 2 works tile by tile with an online softmax, 3 computes on tensor "
      "cores: 16-bit models with head_dim 64 or 128 only, level 2 runs for others. 4 is level 3 for Hopper's "
      "warpgroups: on other devices level 3 runs.");
  menu.choice(
      "decode_level", levels(kDecodeLevels), "Decode kernel level",
      "1 keeps every score in memory, 2 works tile by tile with an online softmax, 3 computes on tensor "
      "cores: 16-bit models with head_dim 64 or 128 only, level 2 runs for others.");
  menu.number("num_splits", {"0", "1", "2", "4"}, "Splits of the keys in decode",
              "Into how many parts the keys of one query are cut before their results are merged; 0 lets the "
              "plan choose.");
  menu.number(
      "k_tile", {"0", "4", "8", "16", "32"}, "Keys per tile",
      "Of the online softmax, from level 2 on; the answer is the same but for rounding. 0 lets the plan "
      "choose.");
  menu.flag("cuda_graphs", "Decode runs as captured graphs",
            "Decode steps are captured once per batch size and replayed; a smaller batch is padded with rows "
            "that store nothing.");
  menu.flag(
      "kv_cache", "K/V cache",
      "Off, nothing is kept between steps: each new token computes its whole sequence again. The answer "
      "is the same.");
  menu.flag("prefix_caching", "Prefix caching",
            "Full blocks of equal beginnings are computed once and shared.");
  menu.choice("policy", {"head", "old"}, "When blocks are hashed",
              "After their keys exist (head), or when they are allocated (old), which can give false hits.");
  menu.choice("free_list", {"ordered", "scrambled"}, "Order of the free blocks",
              "At the start free blocks are taken in order or shuffled; the answer is the same.");
  menu.number(
      "max_num_batched_tokens", {"2", "3", "4", "8", "512"}, "Tokens of a prefill step",
      "At most so many prompt tokens go through the model in one step; a longer prompt is read in chunks.");
  menu.choice(
      "scores", {"computed", "0", "2", "-2"}, "Scores of the keys",
      "Computed, or set: q and k of every layer are put so that each key has that score. The answer is "
      "then not the model's.");
  menu.flag("warmup", "Warm-up is recorded",
            "The forward that an engine runs before it has a cache is recorded as step 0.");
  menu.flag("warmup_identity", "Warm-up returns q",
            "Without a cache attention returns its query, as the gather variant's guard does.");
}

void add_breaks(Menu& menu) {
  menu.choice(
      "decode_path", {"paged", "gather_padded"}, "Padding is attended",
      "Shorter sequences of a batch are padded with zero keys, and the zeros take part in the softmax "
      "and steal weight.");
  menu.breaks();
  menu.choice("mask_alignment", {"bottom_right", "top_left"}, "Mask hangs from the top left",
              "After a cached prefix each new token sees only the first keys instead of everything up to "
              "itself.");
  menu.breaks();
  menu.choice("mask_alignment", {"bottom_right", "none"}, "No mask",
              "In a prefill every token also sees the tokens that come after it.");
  menu.breaks();
  menu.choice("head_map", {"grouped", "modulo"}, "Query heads read the wrong KV heads",
              "Query head h reads KV head h % Hkv instead of h / (H / Hkv).");
  menu.breaks();
  menu.number("forget_store", {"-1", "2"}, "One store is forgotten",
              "In the step of this number the last row of its first sequence is not written to the cache, so "
              "later queries read whatever its slot held.");
  menu.breaks();
  menu.flag(
      "stale_hash", "A stale hash still hits",
      "A block that is taken again keeps its old entry in the hash map, and a prompt that hits it reads "
      "another text's keys.");
  menu.breaks();
  menu.flag("positions_restart", "Positions restart at 0",
            "After a cached prefix the new tokens are rotated as if they stood at positions 0, 1, 2, ...");
  menu.breaks();
  menu.flag("cu_seqlens_k_from_q", "cu_seqlens_k is cu_seqlens_q",
            "A prefill after a cached prefix is told that there are as many keys as new tokens, and reads "
            "only the first keys.");
  menu.breaks();
  menu.flag("identity_decode", "Decode returns q",
            "Decode gets no context, takes the warm-up's way out and returns its query unchanged.");
  menu.breaks();
  menu.flag("graph_skip_cache_ops", "Graph captured without cache operations",
            "While the graph is captured, store and attention over the cache are skipped, so no replay ever "
            "does them.");
  menu.breaks();
}

}  // namespace

const std::vector<EngineSwitch>& engine_switches() {
  static const std::vector<EngineSwitch> kSwitches = [] {
    Menu menu;
    add_choices(menu);
    add_breaks(menu);
    return menu.take();
  }();
  return kSwitches;
}

std::string switch_value(const EngineConfig& config, std::string_view name) {
  std::string text;
  with_field(config, name, [&](const auto& field) { text = text_of(field); });
  return text;
}

void set_switch(EngineConfig& config, std::string_view name, std::string_view value) {
  EngineConfig changed = config;
  with_field(changed, name,
             [&](auto& field) { field = parse<std::remove_reference_t<decltype(field)>>(name, value); });
  if (name == "graph_skip_cache_ops" && changed.graph_skip_cache_ops) changed.cuda_graphs = true;
  if (name == "cuda_graphs" && !changed.cuda_graphs) changed.graph_skip_cache_ops = false;
  changed.validate();
  config = changed;
}

std::vector<std::string> broken(const EngineConfig& config) {
  std::vector<std::string> titles;
  for (const EngineSwitch& entry : engine_switches()) {
    if (!entry.break_it) continue;
    const std::string value = switch_value(config, entry.name);
    const bool wrong = entry.number ? value != entry.default_value : value == entry.values.back();
    if (wrong) titles.push_back(entry.title);
  }
  return titles;
}

}  // namespace attn
