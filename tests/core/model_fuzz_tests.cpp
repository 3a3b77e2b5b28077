// 2,000 mutations of a valid file of each kind: it loads, or throws InputError with one sentence. Anything
// else (another exception, a crash, a report of a sanitizer) fails. Fixed seeds.
#include <cstring>
#include <fstream>
#include <functional>
#include <random>

#include "core/model/model_config.h"
#include "core/model/tokenizer.h"
#include "core/model/transformer.h"
#include "tests/core/model_support.h"

namespace attn::test {

namespace {

using nlohmann::json;
constexpr int kMutations = 2000;

/// One of: flipped bits, a cut, a doubled stretch, a lost stretch, a number replaced by an awkward one, a
/// swapped length field (first 8 bytes).
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::string operator()(std::string text) {
    for (std::size_t rounds = 1 + below(3); rounds > 0 && !text.empty(); --rounds) mutate(text);
    return text;
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  void mutate(std::string& text) {
    const std::size_t at = below(text.size()),
                      length = 1 + below(std::min<std::size_t>(40, text.size() - at));
    switch (below(6)) {
      case 0:
        text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:
        text.resize(at);
        break;
      case 2:
        text.insert(below(text.size() + 1), text.substr(at, length));
        break;
      case 3:
        text.erase(at, length);
        break;
      case 4:
        replace_number(text, at);
        break;
      default:
        if (text.size() >= 8) {
          const std::uint64_t value = below(2) == 0 ? random_() : below(2 * text.size());
          std::memcpy(text.data(), &value, sizeof value);
        }
    }
  }

  /// The next run of digits after `at`.
  void replace_number(std::string& text, std::size_t at) {
    constexpr const char* kAwkward[] = {
        "0",   "-1",    "1e308",    "2147483648", "18446744073709551615", "9223372036854775807", "{}", "null",
        "0.5", "\"x\"", "[[[[]]]]", "true"};
    const std::size_t begin = text.find_first_of("0123456789", at);
    if (begin == std::string::npos) return;
    std::size_t end = begin;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    text.replace(begin, end - begin, kAwkward[below(std::size(kAwkward))]);
  }

  std::mt19937_64 random_;
};

/// Puts mutations of `file` into a directory that holds `others`, and loads. Both outcomes must occur.
void fuzz(const std::string& name, const std::string& valid, std::uint64_t seed,
          const std::function<void(const std::filesystem::path&)>& load,
          const std::function<void(const ScratchDir&)>& prepare = {}) {
  const ScratchDir dir;
  if (prepare) prepare(dir);
  Mutator mutate(seed);
  int refused = 0;
  for (int i = 0; i < kMutations; ++i) {
    dir.write(name, mutate(valid));
    try {
      load(dir.path());
    } catch (const InputError& error) {
      ++refused;
      ASSERT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    } catch (const std::exception& error) {
      ASSERT_TRUE(false) << name << " mutation " << i << ": " << error.what();
    }
  }
  EXPECT_GT(refused, kMutations / 10);
  EXPECT_LT(refused, kMutations);
}

/// Reads every byte of every tensor, so that a view beyond the file shows.
std::size_t sum_of(const TensorMap& tensors) {
  std::size_t sum = 0;
  for (const auto& [name, view] : tensors) {
    for (const std::byte byte : view.data) sum += static_cast<std::size_t>(byte);
  }
  return sum;
}

}  // namespace

TEST(ModelFuzz, Safetensors) {
  const ScratchDir source;
  const std::vector<std::byte> data(96, std::byte{1});
  write_safetensors(source.path() / "a",
                    {{"a", {TensorDType::f32, {2, 3}, std::span(data).first(24)}},
                     {"b", {TensorDType::i64, {3}, std::span(data).first(24)}},
                     {"c", {TensorDType::bf16, {4, 1, 6}, std::span(data).first(48)}}},
                    {{"scale", "0.5"}});
  fuzz("x.safetensors", source.read("a"), 1, [](const std::filesystem::path& dir) {
    const SafetensorsFile file(dir / "x.safetensors");
    EXPECT_LE(sum_of(file.tensors()), 96U * 255);
  });
}

TEST(ModelFuzz, Config) {
  json config = small_config();
  config["rope_scaling"] = {{"rope_type", "llama3"},
                            {"factor", 8.0},
                            {"low_freq_factor", 1.0},
                            {"high_freq_factor", 4.0},
                            {"original_max_position_embeddings", 8192}};
  fuzz("config.json", config.dump(), 2, [](const std::filesystem::path& dir) {
    const ModelConfig loaded = load_model_config(dir);
    EXPECT_EQ(rope_inv_freq(loaded).size(), static_cast<std::size_t>(loaded.head_dim / 2));
  });
}

TEST(ModelFuzz, Tokenizer) {
  json tokenizer = small_tokenizer();
  tokenizer["added_tokens"].push_back(
      {{"id", 264}, {"content", "[A]"}, {"lstrip", true}, {"single_word", true}});
  tokenizer["pre_tokenizer"] = {{"type", "Sequence"},
                                {"pretokenizers",
                                 {{{"type", "Split"},
                                   {"pattern", {{"Regex", "\\p{L}+|\\s+(?!\\S)|[0-9]{1,3}"}}},
                                   {"behavior", "Isolated"}},
                                  {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"use_regex", true}}}}};
  fuzz("tokenizer.json", tokenizer.dump(), 3, [](const std::filesystem::path& dir) {
    const Tokenizer loaded = Tokenizer::load(dir);
    const std::vector<std::int32_t> ids = loaded.encode("the [A] ab<|endoftext|>12345 \xFF ä \n\n");
    for (const std::int32_t id : ids) EXPECT_LT(id, loaded.vocab_size());
    loaded.decode(ids);
  });
}

TEST(ModelFuzz, Index) {
  const auto prepare = [](const ScratchDir& dir) {
    const std::vector<std::byte> data(8, std::byte{1});
    write_safetensors(dir.path() / "model-1.safetensors", {{"a", {TensorDType::f32, {2}, data}}});
    write_safetensors(dir.path() / "model-2.safetensors", {{"b", {TensorDType::f32, {2}, data}}});
  };
  const std::string index =
      R"({"metadata":{"total_size":16},"weight_map":{"a":"model-1.safetensors","b":"model-2.safetensors"}})";
  fuzz(
      "model.safetensors.index.json", index, 4,
      [](const std::filesystem::path& dir) { EXPECT_LE(sum_of(ModelTensors(dir).tensors()), 16U); }, prepare);
}

TEST(ModelFuzz, WholeModel) {
  const ScratchDir source;
  json config = small_config();
  for (const auto& [key, value] :
       std::initializer_list<std::pair<const char*, int>>{{"vocab_size", 5},
                                                          {"hidden_size", 8},
                                                          {"intermediate_size", 3},
                                                          {"num_hidden_layers", 1},
                                                          {"num_attention_heads", 1},
                                                          {"num_key_value_heads", 1}}) {
    config[key] = value;
  }
  write_model(source, config, 1);
  const auto device = make_simt_device();
  fuzz(
      "model.safetensors", source.read("model.safetensors"), 5,
      [&](const std::filesystem::path& dir) {
        Transformer(*device, dir).begin({0, 4}, {0, 1});
      },
      [&](const ScratchDir& dir) { dir.write("config.json", config.dump()); });
}

}  // namespace attn::test
