// The bundled model against the transformers library: assets/models/goldens, made by make_logit_goldens.py
// there.
#include <cmath>
#include <fstream>

#include "core/model/tokenizer.h"
#include "core/model/transformer.h"
#include "core/model/utf8.h"
#include "tests/core/model_support.h"
#include "tests/core/transformer_reference.h"
#include "tests/paths.h"

namespace attn::test {

namespace {

using nlohmann::json;
using Ids = std::vector<std::int32_t>;

const std::filesystem::path kModelFolder = tree::source_dir() / "assets/models";
const std::filesystem::path kModel = kModelFolder / "shakespeare-1m";

json goldens() {
  std::ifstream file(kModelFolder / "goldens/shakespeare-1m.json");
  return json::parse(file);
}

/// Bytes as Python shows them: one U+FFFD for every beginning of a character that breaks off, and for every
/// stray byte.
std::string replace_invalid(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t valid = utf8_valid_prefix(bytes);
    text += bytes.substr(0, valid);
    bytes.remove_prefix(valid);
    if (bytes.empty()) break;
    text += "\xEF\xBF\xBD";
    // A lead byte takes along the continuation bytes that could have followed it.
    const auto lead = static_cast<unsigned char>(bytes.front());
    const std::size_t length = lead >= 0xF0 && lead <= 0xF4 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 1;
    std::size_t taken = 1;
    while (taken < length - 1 && taken < bytes.size() &&
           (static_cast<unsigned char>(bytes[taken]) & 0xC0U) == 0x80U)
      ++taken;
    bytes.remove_prefix(taken);
  }
  return text;
}

/// Largest |logit - golden| over the rows of one prompt relative to the largest |golden|, in steps of `steps`
/// tokens.
double worst_error(Device& device, Transformer& model, const json& prompt, const std::vector<int>& steps) {
  std::vector<int> rows;
  for (const json& golden : prompt.at("logits")) rows.push_back(golden.at("position"));
  const std::vector<float> logits =
      transformer_logits(device, model, prompt.at("token_ids").get<Ids>(), steps, rows);
  const int vocab = model.config().vocab_size;
  if (logits.size() != rows.size() * vocab) return INFINITY;
  double worst = 0.0, largest = 0.0;
  const auto compare = [&](std::size_t row, std::int32_t id, double golden) {
    worst = std::max(worst, std::abs(static_cast<double>(logits[row * vocab + id]) - golden));
    largest = std::max(largest, std::abs(golden));
  };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (const char* list : {"top", "fixed"}) {
      for (const json& pair : prompt.at("logits")[row].at(list)) compare(row, pair[0], pair[1]);
    }
  }
  if (prompt.contains("last_logits")) {
    for (int id = 0; id < vocab; ++id) compare(rows.size() - 1, id, prompt.at("last_logits")[id]);
  }
  return worst / largest;
}

void expect_golden_logits(Device& device) {
  Transformer model(device, kModel);
  const json all = goldens();
  ASSERT_GE(all.at("prompts").size(), 5U);
  for (const json& prompt : all.at("prompts")) {
    const int tokens = static_cast<int>(prompt.at("token_ids").size());
    EXPECT_LE(worst_error(device, model, prompt, {tokens}), 1e-4) << prompt.at("name");
    if (tokens > 3) {
      EXPECT_LE(worst_error(device, model, prompt, {tokens - 3, 1, 1, 1}), 1e-4) << prompt.at("name");
    }
  }
}

}  // namespace

TEST(BundledModel, LogitsAreThoseOfTransformers) { expect_golden_logits(*make_simt_device()); }

TEST(GpuBundledModel, LogitsAreThoseOfTransformers) {
  std::unique_ptr<Device> device;
  try {
    device = make_cuda_device();
  } catch (const DeviceError& error) {
    GTEST_SKIP() << error.what();
  }
  expect_golden_logits(*device);
}

TEST(BundledModel, TokenIdsAreThoseOfTransformers) {
  const Tokenizer tokenizer = Tokenizer::load(kModel);
  const json all = goldens();
  EXPECT_EQ(tokenizer.vocab_size(), 1024);
  ASSERT_GE(all.at("encode").size(), 80U);
  for (const json& c : all.at("encode")) {
    EXPECT_EQ(tokenizer.encode(c.at("text").get<std::string>()), c.at("token_ids").get<Ids>())
        << c.at("text");
  }
  for (const json& c : all.at("prompts")) {
    EXPECT_EQ(tokenizer.encode(c.at("text").get<std::string>()), c.at("token_ids").get<Ids>())
        << c.at("text");
  }
  for (const json& c : all.at("decode")) {
    EXPECT_EQ(replace_invalid(tokenizer.decode(c.at("token_ids").get<Ids>())),
              c.at("text").get<std::string>());
  }
}

}  // namespace attn::test
