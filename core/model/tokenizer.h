// Byte-level BPE from tokenizer.json (GPT-2 / Llama 3 / Qwen family).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

class Tokenizer {
 public:
  /// Throws InputError when the file is missing, not JSON, not byte-level BPE, or has no merges.
  static Tokenizer load(const std::filesystem::path& model_dir);
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  /// Same ids as the `tokenizers` library, special tokens of the post_processor included. Bytes that are not
  /// UTF-8 are kept: decode gives them back. A normalizer NFC is not applied: text with separate combining
  /// marks differs.
  std::vector<std::int32_t> encode(std::string_view text) const;
  /// Raw bytes of the ids; special tokens skipped.
  std::string decode(const std::vector<std::int32_t>& ids) const;
  /// One token for the screen: its text, bytes that are not UTF-8 as <0xE4>.
  std::string token_text(std::int32_t id) const;
  int vocab_size() const;

 private:
  struct State;
  explicit Tokenizer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace attn
