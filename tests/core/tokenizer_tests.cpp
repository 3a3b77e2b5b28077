// The tokenizer: byte-level BPE by hand-made files, ids of the `tokenizers` library, and files it must
// refuse.
#include <ctime>
#include <fstream>
#include <random>

#include "core/model/byte_level.h"
#include "core/model/pre_tokenizer.h"
#include "core/model/tokenizer.h"
#include "core/model/utf8.h"
#include "tests/core/model_support.h"
#include "tests/paths.h"

namespace attn::test {

namespace {

using nlohmann::json;
using Ids = std::vector<std::int32_t>;

Tokenizer load_tokenizer(const json& tokenizer) {
  const ScratchDir dir;
  dir.write("tokenizer.json", tokenizer.dump());
  return Tokenizer::load(dir.path());
}

std::string error_of(const json& tokenizer) {
  const std::string message = input_error([&] { load_tokenizer(tokenizer); });
  expect_mentions(message, {"tokenizer.json"});
  return message;
}

/// Text of every token, special ones included.
std::vector<std::string> texts(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::string> result;
  for (const std::int32_t id : tokenizer.encode(text)) result.push_back(tokenizer.token_text(id));
  return result;
}

using Texts = std::vector<std::string>;

/// 256 single bytes and no merge that applies to what the splitting tests use: words become bytes, so to see
/// the words themselves the tests go through the PreTokenizer.
Texts words_of(const json& pre_tokenizer, const std::string& text) {
  const JsonFields fields(pre_tokenizer, "pre_tokenizer");
  return PreTokenizer(fields).words(text);
}

json split_by(const std::string& regex, const std::string& behavior, bool invert = false) {
  return {{"type", "Sequence"},
          {"pretokenizers",
           {{{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", behavior}, {"invert", invert}},
            {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
}

}  // namespace

TEST(Utf8, AcceptsCharactersAndNothingElse) {
  EXPECT_EQ(utf8_valid_prefix("aä€🎭"), 10U);
  EXPECT_EQ(utf8_front("🎭").code, 0x1F3ADU);
  EXPECT_EQ(utf8_front("").length, 0U);
  for (const std::string_view bad :
       {"\x80", "\xC3", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xE2\x82", "\xE2\x28\xA1"}) {
    EXPECT_EQ(utf8_front(bad).length, 0U);
    EXPECT_EQ(utf8_valid_prefix(std::string("ab") + std::string(bad)), 2U);
  }
  EXPECT_EQ(utf8_printable("a\xE4"
                           "b\xC3\xA4\xF0"),
            "a<0xE4>bä<0xF0>");
}

TEST(ByteLevel, EveryByteHasAStandInAndBack) {
  EXPECT_EQ(byte_level_char(' '), "Ġ");
  EXPECT_EQ(byte_level_char('\n'), "Ċ");
  EXPECT_EQ(byte_level_char('A'), "A");
  EXPECT_EQ(byte_level_char(0xE4), "ä");
  for (int byte = 0; byte < 256; ++byte) {
    EXPECT_EQ(byte_level_bytes(byte_level_char(static_cast<unsigned char>(byte))),
              std::string(1, static_cast<char>(byte)));
  }
  EXPECT_FALSE(byte_level_bytes("a b"));  // a space is no stand-in
  EXPECT_FALSE(byte_level_bytes("日"));
}

TEST(Tokenizer, MergesInTheOrderTheyWereLearned) {
  const Tokenizer t = load_tokenizer(small_tokenizer());
  EXPECT_EQ(texts(t, "the the"), (Texts{"<|endoftext|>", "the", " the"}));
  EXPECT_EQ(texts(t, "th e"), (Texts{"<|endoftext|>", "th", " ", "e"}));
  EXPECT_EQ(texts(t, "ababab"), (Texts{"<|endoftext|>", "abab", "ab"}));  // leftmost first
  EXPECT_EQ(texts(t, ""), (Texts{"<|endoftext|>"}));
  EXPECT_EQ(t.vocab_size(), 263);
}

TEST(Tokenizer, MergesAsPairsAreTheSame) {
  json pairs = small_tokenizer();
  for (json& merge : pairs["model"]["merges"]) {
    const std::string text = merge;
    const std::size_t space = text.find(' ');
    merge = {text.substr(0, space), text.substr(space + 1)};
  }
  EXPECT_EQ(load_tokenizer(pairs).encode("the abab ä"),
            load_tokenizer(small_tokenizer()).encode("the abab ä"));
}

TEST(Tokenizer, IgnoreMergesTakesWholeWordsFirst) {
  json file = small_tokenizer();
  file["model"]["vocab"]["cat"] = 263;  // a token no merge leads to
  EXPECT_EQ(texts(load_tokenizer(file), "cat"), (Texts{"<|endoftext|>", "c", "a", "t"}));
  file["model"]["ignore_merges"] = true;
  EXPECT_EQ(texts(load_tokenizer(file), "cat"), (Texts{"<|endoftext|>", "cat"}));
  EXPECT_EQ(texts(load_tokenizer(file), "cath"), (Texts{"<|endoftext|>", "c", "a", "th"}));
}

TEST(Tokenizer, AByteThatIsNoTokenBecomesUnknownOrNothing) {
  json file = small_tokenizer();
  file["model"]["vocab"].erase("x");
  EXPECT_EQ(texts(load_tokenizer(file), "axb"), (Texts{"<|endoftext|>", "ab"}));
  file["model"]["unk_token"] = "?";
  EXPECT_EQ(texts(load_tokenizer(file), "axb"), (Texts{"<|endoftext|>", "a", "?", "b"}));
}

TEST(Tokenizer, DecodeGivesTheBytesBack) {
  const Tokenizer t = load_tokenizer(small_tokenizer());
  const std::string text = "the Ünïcöde\n\n🎭  \xE4\xFF tail\xC3";  // not UTF-8 in three places
  EXPECT_EQ(t.decode(t.encode(text)), text);
  EXPECT_EQ(t.decode({0, 84, -1, 100000, 84}), "SS");  // special and unknown ids are left out
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  EXPECT_EQ(t.decode(t.encode(bytes)), bytes);
}

TEST(Tokenizer, TokenTextShowsWhatIsNoUtf8) {
  const Tokenizer t = load_tokenizer(small_tokenizer());
  EXPECT_EQ(t.token_text(1 + 0xE4), "<0xE4>");
  EXPECT_EQ(t.token_text(262), "ä");  // C3 A4 merged
  EXPECT_EQ(t.token_text(0), "<|endoftext|>");
  EXPECT_EQ(t.token_text(-1), "<id -1>");
  EXPECT_EQ(t.token_text(5000), "<id 5000>");
}

TEST(Tokenizer, SpecialTokensInTheTextAreFound) {
  const Tokenizer t = load_tokenizer(small_tokenizer());
  EXPECT_EQ(texts(t, "a<|endoftext|>the"), (Texts{"<|endoftext|>", "a", "<|endoftext|>", "the"}));
  EXPECT_EQ(t.encode("<|endoftext|>"), (Ids{0, 0}));
  EXPECT_EQ(t.encode("<|endoftext").size(), 12U);
}

TEST(Tokenizer, AddedTokensStripAndStandAlone) {
  json file = small_tokenizer();
  file["added_tokens"].push_back({{"id", 300}, {"content", "[A]"}, {"lstrip", true}, {"rstrip", true}});
  file["added_tokens"].push_back({{"id", 301}, {"content", "the"}, {"single_word", true}});
  file["added_tokens"].push_back({{"id", 302}, {"content", "[A]B"}, {"special", false}});
  const Tokenizer t = load_tokenizer(file);
  EXPECT_EQ(t.encode("  [A]\n "), (Ids{0, 300}));
  EXPECT_EQ(t.encode("[A]B"), (Ids{0, 302}));  // the longest wins
  EXPECT_EQ(t.encode("the"), (Ids{0, 301}));
  EXPECT_EQ(texts(t, "them"), (Texts{"<|endoftext|>", "the", "m"}));
  EXPECT_NE(t.encode("them")[1], 301);
  EXPECT_EQ(t.decode({300, 302}), "[A][A]B");
  EXPECT_EQ(t.vocab_size(), 303);
}

TEST(Tokenizer, TemplatesStandAroundTheText) {
  json file = small_tokenizer();
  json around = file["post_processor"];
  around["single"].push_back({{"SpecialToken", {{"id", "<|endoftext|>"}}}});
  file["post_processor"] = {{"type", "Sequence"}, {"processors", {{{"type", "ByteLevel"}}, around}}};
  EXPECT_EQ(load_tokenizer(file).encode("S"), (Ids{0, 84, 0}));
  file["post_processor"] = nullptr;
  EXPECT_EQ(load_tokenizer(file).encode("S"), (Ids{84}));
}

TEST(Tokenizer, NfcIsAcceptedOthersAreNot) {
  json file = small_tokenizer();
  file["normalizer"] = {{"type", "NFC"}};
  EXPECT_EQ(texts(load_tokenizer(file), "ä"), (Texts{"<|endoftext|>", "ä"}));
  file["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}}}};
  EXPECT_EQ(load_tokenizer(file).encode("S"), (Ids{0, 84}));
  file["normalizer"] = {{"type", "Lowercase"}};
  expect_mentions(error_of(file), {"normalizer", "Lowercase"});
}

TEST(PreTokenizer, Gpt2Words) {
  const json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  EXPECT_EQ(words_of(byte_level, "I'll go,  2024!\n\n x"),
            (Texts{"I", "'ll", " go", ",", " ", " 2024", "!", "\n\n", " x"}));
  EXPECT_EQ(words_of(byte_level, "naïve Straße"), (Texts{"naïve", " Straße"}));
  EXPECT_EQ(words_of(byte_level, ""), Texts{});
  EXPECT_EQ(words_of({{"type", "ByteLevel"}}, "a b"), (Texts{" a", " b"}));  // add_prefix_space by default
}

TEST(PreTokenizer, SplitBehaviors) {
  EXPECT_EQ(words_of(split_by("-", "Isolated"), "a--b-"), (Texts{"a", "-", "-", "b", "-"}));
  EXPECT_EQ(words_of(split_by("-", "Removed"), "a--b-"), (Texts{"a", "b"}));
  EXPECT_EQ(words_of(split_by("-", "Removed", true), "a--b-"), (Texts{"-", "-", "-"}));
  EXPECT_EQ(words_of(split_by("-", "MergedWithPrevious"), "a--b-"), (Texts{"a-", "-", "b-"}));
  EXPECT_EQ(words_of(split_by("-", "MergedWithNext"), "a--b-"), (Texts{"a", "-", "-b", "-"}));
  EXPECT_EQ(words_of(split_by("-", "Contiguous"), "a--b-"), (Texts{"a", "--", "b", "-"}));
  EXPECT_EQ(words_of(split_by("x*", "Isolated"), "aäxb"),
            (Texts{"a", "ä", "x", "b"}));  // empty matches move on by characters
}

TEST(PreTokenizer, DigitsAndLiteralPatterns) {
  const auto sequence = [](const json& step) -> json {
    return {{"type", "Sequence"},
            {"pretokenizers",
             {step, {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
  };
  EXPECT_EQ(words_of(sequence({{"type", "Digits"}, {"individual_digits", true}}), "a12b"),
            (Texts{"a", "1", "2", "b"}));
  EXPECT_EQ(words_of(sequence({{"type", "Digits"}}), "a12b"), (Texts{"a", "12", "b"}));
  EXPECT_EQ(
      words_of(sequence({{"type", "Split"}, {"pattern", {{"String", "."}}}, {"behavior", "Removed"}}), "a.b"),
      (Texts{"a", "b"}));
}

TEST(Tokenizer, RefusesWhatIsNotByteLevelBpe) {
  const auto with = [](const json::json_pointer& where, const json& value) {
    json file = small_tokenizer();
    file[where] = value;
    return error_of(file);
  };
  using P = json::json_pointer;
  expect_mentions(with(P("/model/merges"), json::array()), {"model", "no merges"});
  expect_mentions(with(P("/model/merges"), nullptr), {"merges", "missing"});
  expect_mentions(with(P("/model/merges/0"), "t h e"), {"merge 0"});
  expect_mentions(with(P("/model/merges/0"), {"t"}), {"merge 0"});
  expect_mentions(with(P("/model/merges/1"), "q zz"), {"merge 1", "qzz", "vocabulary"});
  expect_mentions(with(P("/model/type"), "Unigram"), {"Unigram", "byte-level BPE"});
  expect_mentions(with(P("/model/byte_fallback"), true), {"byte_fallback", "SentencePiece"});
  expect_mentions(with(P("/model/end_of_word_suffix"), "</w>"), {"end_of_word_suffix"});
  expect_mentions(with(P("/model/vocab"), json::object()), {"vocab"});
  expect_mentions(with(P("/model/vocab/a"), -1), {"token 'a'"});
  expect_mentions(with(P("/model/vocab/a"), 2'000'000'000), {"2000000000", "damaged"});
  expect_mentions(with(P("/pre_tokenizer"), nullptr), {"pre_tokenizer"});
  expect_mentions(with(P("/pre_tokenizer/type"), "Whitespace"), {"Whitespace"});
  expect_mentions(with(P("/pre_tokenizer"), {{"type", "Digits"}}), {"no ByteLevel"});
  expect_mentions(with(P("/pre_tokenizer"), split_by("(", "Isolated")), {"pattern '('"});
  expect_mentions(with(P("/pre_tokenizer"), split_by("a", "Sideways")), {"Sideways"});
  expect_mentions(with(P("/post_processor/type"), "RobertaProcessing"), {"RobertaProcessing"});
  expect_mentions(with(P("/post_processor/single"), json::array()), {"no place for the text"});
  expect_mentions(with(P("/post_processor/special_tokens"), json::object()), {"<|endoftext|>"});
  expect_mentions(with(P("/post_processor/special_tokens/<|endoftext|>/ids"), {900}),
                  {"900", "does not exist"});
  expect_mentions(with(P("/added_tokens/0/content"), ""), {"added_tokens 0", "empty"});
  expect_mentions(with(P("/added_tokens/0/id"), "x"), {"added_tokens 0", "id"});
  const ScratchDir dir;
  expect_mentions(input_error([&] { Tokenizer::load(dir.path()); }), {"tokenizer.json", "cannot read"});
  dir.write("tokenizer.json", small_tokenizer().dump().substr(0, 500));
  expect_mentions(input_error([&] { Tokenizer::load(dir.path()); }), {"tokenizer.json", "not valid JSON"});
}

// Six pre-tokenizers, random text from many scripts: tests/core/goldens/tokenizers.json, made by
// make_tokenizers.py beside it with the `tokenizers` library.
TEST(Tokenizer, SameIdsAsTheTokenizersLibrary) {
  std::ifstream stream(tree::source_dir() / "tests/core/goldens/tokenizers.json");
  const json goldens = json::parse(stream);
  ASSERT_GE(goldens.size(), 6U);
  for (const json& golden : goldens) {
    const Tokenizer t = load_tokenizer(golden.at("tokenizer"));
    ASSERT_GE(golden.at("cases").size(), 100U);
    for (const json& c : golden.at("cases")) {
      EXPECT_EQ(t.encode(c[0].get<std::string>()), c[1].get<Ids>()) << golden.at("name") << " " << c[0];
    }
  }
}

TEST(Tokenizer, AMegabyteTakesLessThanTwoSeconds) {
  const Tokenizer t = load_tokenizer(small_tokenizer());
  std::string prose, noise;
  std::mt19937 random(1);
  while (prose.size() < 1'000'000) prose += "the quick brown fox, ab 12 times; don't!\n";
  while (noise.size() < 1'000'000) noise += static_cast<char>(random());
  for (const std::string& text : {prose, noise, std::string(1'000'000, 'a'), std::string(1'000'000, ' '),
                                  std::string(1'000'000, '\xFF')}) {
    const std::clock_t start = std::clock();  // of this process: other programs do not count
    const Ids ids = t.encode(text);
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_EQ(t.decode(ids), text);
    EXPECT_LT(seconds, 2.0);
  }
}

}  // namespace attn::test
