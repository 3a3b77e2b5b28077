// Generated models and damaged files for the loader, tokenizer and transformer tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/model/safetensors.h"
#include "kernels/common/check.h"

namespace attn::test {

/// A directory that lives as long as the object.
class ScratchDir {
 public:
  ScratchDir();
  ~ScratchDir();
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;
  const std::filesystem::path& path() const { return path_; }
  void write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;

 private:
  std::filesystem::path path_;
};

/// Weights by Hugging Face name, already rounded to the dtype they are stored in.
struct ModelWeights {
  struct Entry {
    std::vector<std::int64_t> shape;
    std::vector<float> values;
  };
  std::map<std::string, Entry, std::less<>> entries;

  const std::vector<float>& operator[](const std::string& name) const { return entries.at(name).values; }
};

/// config.json with the keys of a small Llama; tests change keys before writing.
nlohmann::json small_config();

/// Random weights for a config, everything the architecture needs and nothing else.
ModelWeights random_weights(const nlohmann::json& config, std::uint64_t seed);

/// The tensors as a file holds them, and write_safetensors of all or of some.
void write_weights(const std::filesystem::path& path, const ModelWeights& weights, DType dtype);

/// config.json and model.safetensors into a directory; weights come back as stored.
ModelWeights write_model(const ScratchDir& dir, const nlohmann::json& config, std::uint64_t seed);

/// A byte-level BPE file: 256 bytes, a few merges, <|endoftext|> = 0 put before every text.
nlohmann::json small_tokenizer();

/// The message of the InputError that f must throw: one sentence, no line break.
template <class F>
std::string input_error(F&& f) {
  try {
    f();
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  ADD_FAILURE() << "no InputError";
  return "";
}

/// Every part must stand in the message.
void expect_mentions(const std::string& message, const std::vector<std::string>& parts);

}  // namespace attn::test
