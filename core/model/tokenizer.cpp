#include "core/model/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/model/added_tokens.h"
#include "core/model/bpe.h"
#include "core/model/byte_level.h"
#include "core/model/json_fields.h"
#include "core/model/pre_tokenizer.h"
#include "core/model/utf8.h"
#include "kernels/common/check.h"

namespace attn {

namespace {

using nlohmann::json;

/// One id: the bytes it stands for.
struct Token {
  std::string bytes;
  bool known = false;
  bool special = false;
};

/// Ids around the text, from the post_processor.
struct Template {
  std::vector<std::int32_t> before;
  std::vector<std::int32_t> after;
};

/// NFC is accepted and passed through: composed text (what keyboards type) is its own NFC. Text with separate
/// combining marks gets other ids here than from the `tokenizers` library.
void check_normalizer(const JsonFields& fields) {
  if (!fields.has("normalizer")) return;
  const JsonFields normalizer = fields.object("normalizer");
  const std::string type = normalizer.text("type");
  if (type == "NFC") return;
  if (type == "Sequence" && normalizer.at("normalizers").is_array()) {
    const json& list = normalizer.at("normalizers");
    if (std::all_of(list.begin(), list.end(),
                    [](const json& n) { return n.is_object() && n.value("type", json()) == "NFC"; })) {
      return;
    }
  }
  normalizer.fail(fmt::format("'{}' is not supported; only NFC or none is", type));
}

std::vector<std::int32_t> special_ids(const JsonFields& processor, const std::string& name) {
  const JsonFields token = processor.object("special_tokens").object(name.c_str());
  const json& ids = token.at("ids");
  std::vector<std::int32_t> result;
  for (const json& id : ids) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() > std::numeric_limits<std::int32_t>::max()) {
      token.fail("ids must be token ids");
    }
    result.push_back(id.get<std::int32_t>());
  }
  return result;
}

/// A list of {"SpecialToken": {"id": "<s>"}} around one {"Sequence": {"id": "A"}}.
void read_template(const JsonFields& processor, Template& result) {
  const json& items = processor.at("single");
  if (!items.is_array()) processor.fail("'single' is no list");
  Template around;
  bool text_seen = false;
  for (const json& item : items) {
    const JsonFields fields(item, processor.where());
    if (fields.has("Sequence")) {
      if (std::exchange(text_seen, true)) processor.fail("'single' holds the text twice");
      continue;
    }
    const std::vector<std::int32_t> ids = special_ids(processor, fields.object("SpecialToken").text("id"));
    std::vector<std::int32_t>& side = text_seen ? around.after : around.before;
    side.insert(side.end(), ids.begin(), ids.end());
  }
  if (!text_seen) processor.fail("'single' has no place for the text");
  // A later template stands around the earlier ones.
  result.before.insert(result.before.begin(), around.before.begin(), around.before.end());
  result.after.insert(result.after.end(), around.after.begin(), around.after.end());
}

void read_post_processor(const JsonFields& processor, Template& result) {
  const std::string type = processor.text("type");
  if (type == "ByteLevel") return;  // concerns offsets, not ids
  if (type == "TemplateProcessing") {
    read_template(processor, result);
  } else if (type == "Sequence") {
    const json& list = processor.at("processors");
    if (!list.is_array()) processor.fail("processors is no list");
    for (const json& item : list) {
      const JsonFields inner(item, processor.where());
      if (inner.text("type") == "Sequence") processor.fail("a Sequence in a Sequence is not supported");
      read_post_processor(inner, result);
    }
  } else {
    processor.fail(
        fmt::format("'{}' is not supported; use ByteLevel, TemplateProcessing or a Sequence of these", type));
  }
}

}  // namespace

struct Tokenizer::State {
  explicit State(const JsonFields& fields)
      : bpe(fields.object("model")),
        pre_tokenizer(fields.object("pre_tokenizer")),
        added(read_added_tokens(fields)) {
    check_normalizer(fields);
    if (fields.has("post_processor")) read_post_processor(fields.object("post_processor"), around);
    fill_tokens(fields);
  }

  void fill_tokens(const JsonFields& fields) {
    const std::vector<AddedToken> added_tokens = read_added_tokens(fields);
    std::int64_t top = 0;
    for (const auto& [token, id] : bpe.vocab()) top = std::max<std::int64_t>(top, id);
    for (const AddedToken& token : added_tokens) top = std::max<std::int64_t>(top, token.id);
    // Real vocabularies have few holes; without this limit one wild id would cost gigabytes.
    const auto count = static_cast<std::int64_t>(bpe.vocab().size() + added_tokens.size());
    if (top >= 4 * count + 4096) {
      fields.fail(fmt::format(
          "token id {} is far beyond the {} tokens of the vocabulary; the file is damaged", top, count));
    }
    tokens.resize(static_cast<std::size_t>(top) + 1);
    for (const auto& [token, id] : bpe.vocab()) {
      tokens[static_cast<std::size_t>(id)] = {byte_level_bytes(token).value_or(token), true, false};
    }
    for (const AddedToken& token : added_tokens) {
      tokens[static_cast<std::size_t>(token.id)] = {token.content, true, token.special};
    }
    for (const auto* side : {&around.before, &around.after}) {
      for (const std::int32_t id : *side) {
        if (!find(id)) fields.fail(fmt::format("the post_processor adds token {}, which does not exist", id));
      }
    }
  }

  /// Null when no token has this id.
  const Token* find(std::int32_t id) const {
    if (id < 0 || static_cast<std::size_t>(id) >= tokens.size()) return nullptr;
    const Token& token = tokens[static_cast<std::size_t>(id)];
    return token.known ? &token : nullptr;
  }

  /// PRECOND: text is valid UTF-8.
  void encode_valid(std::string_view text, std::vector<std::int32_t>& ids) const {
    for (const TextPiece& piece : added.split(text)) {
      if (piece.id >= 0) {
        ids.push_back(piece.id);
        continue;
      }
      for (const std::string& word : pre_tokenizer.words(piece.text)) bpe.encode(word, ids);
    }
  }

  Bpe bpe;
  PreTokenizer pre_tokenizer;
  AddedTokenSplitter added;
  Template around;
  std::vector<Token> tokens;  // by id
};

Tokenizer::Tokenizer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;

Tokenizer Tokenizer::load(const std::filesystem::path& model_dir) {
  const std::filesystem::path path = model_dir / "tokenizer.json";
  const json document = parse_json_object(read_text_file(path, 200'000'000), path.string());
  return Tokenizer(std::make_unique<State>(JsonFields(document, path.string())));
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text) const {
  std::vector<std::int32_t> ids = state_->around.before;
  while (!text.empty()) {
    const std::size_t valid = utf8_valid_prefix(text);
    state_->encode_valid(text.substr(0, valid), ids);
    text.remove_prefix(valid);
    // Bytes that are not UTF-8 are a word of their own: no pattern can judge them, and none is lost.
    std::size_t invalid = 0;
    while (invalid < text.size() && utf8_front(text.substr(invalid)).length == 0) ++invalid;
    if (invalid > 0) state_->bpe.encode(text.substr(0, invalid), ids);
    text.remove_prefix(invalid);
  }
  ids.insert(ids.end(), state_->around.after.begin(), state_->around.after.end());
  return ids;
}

std::string Tokenizer::decode(const std::vector<std::int32_t>& ids) const {
  std::string bytes;
  for (const std::int32_t id : ids) {
    const Token* token = state_->find(id);
    if (token && !token->special) bytes += token->bytes;
  }
  return bytes;
}

std::string Tokenizer::token_text(std::int32_t id) const {
  const Token* token = state_->find(id);
  return token ? utf8_printable(token->bytes) : fmt::format("<id {}>", id);
}

int Tokenizer::vocab_size() const { return static_cast<int>(state_->tokens.size()); }

}  // namespace attn
