// The safetensors reader against honest, lying and damaged files, and the writer against the reader.
#include <unistd.h>

#include <cstring>
#include <optional>
#include <utility>

#include "core/model/safetensors.h"
#include "tests/core/model_support.h"

namespace attn::test {

namespace {

using nlohmann::json;

/// A file from a header text and data, with the length field as given or as true.
std::string file_of(const std::string& header, std::size_t data_bytes,
                    std::optional<std::uint64_t> length = {}) {
  const std::uint64_t value = length.value_or(header.size());
  std::string file(sizeof value, '\0');
  std::memcpy(file.data(), &value, sizeof value);
  return file + header + std::string(data_bytes, 'x');
}

std::string entry(const char* dtype, const char* shape, const char* offsets) {
  return std::string("{\"dtype\":\"") + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets +
         "}";
}

/// The message for a file with these bytes.
std::string error_of(const std::string& bytes) {
  const ScratchDir dir;
  dir.write("bad.safetensors", bytes);
  const std::string message = input_error([&] { SafetensorsFile(dir.path() / "bad.safetensors"); });
  expect_mentions(message, {"bad.safetensors"});
  return message;
}

std::string error_of(const std::string& header, std::size_t data_bytes) {
  return error_of(file_of(header, data_bytes));
}

std::vector<std::byte> counting_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i % 251);
  return bytes;
}

}  // namespace

TEST(Safetensors, RoundTripOfEveryDType) {
  const ScratchDir dir;
  const std::filesystem::path path = dir.path() / "a.safetensors";
  const std::vector<std::byte> data = counting_bytes(96);
  const auto bytes = [&](std::size_t count) { return std::span(data).first(count); };
  const TensorMap tensors = {
      {"f32", {TensorDType::f32, {2, 3}, bytes(24)}},      {"f16", {TensorDType::f16, {5}, bytes(10)}},
      {"bf16", {TensorDType::bf16, {1, 1, 7}, bytes(14)}}, {"i32", {TensorDType::i32, {3}, bytes(12)}},
      {"i64", {TensorDType::i64, {12, 1}, bytes(96)}},     {"scalar", {TensorDType::f32, {}, bytes(4)}},
      {"empty", {TensorDType::f32, {0, 4}, bytes(0)}}};
  write_safetensors(path, tensors, {{"scale", "0.25"}, {"note", "q \"k\"\n"}});

  const SafetensorsFile file(path);
  EXPECT_EQ(file.metadata().at("scale"), "0.25");
  EXPECT_EQ(file.metadata().at("note"), "q \"k\"\n");
  ASSERT_EQ(file.tensors().size(), tensors.size());
  for (const auto& [name, expected] : tensors) {
    const TensorView& got = file.at(name);
    EXPECT_EQ(got.dtype, expected.dtype) << name;
    EXPECT_EQ(got.shape, expected.shape) << name;
    EXPECT_TRUE(std::equal(got.data.begin(), got.data.end(), expected.data.begin(), expected.data.end()))
        << name;
  }
  EXPECT_EQ(file.at("f32").count(), 6);
  EXPECT_EQ(file.at("empty").count(), 0);
  EXPECT_EQ(file.find("none"), nullptr);
  expect_mentions(input_error([&] { (void)file.at("none"); }), {"a.safetensors", "none"});
  std::uint64_t header = 0;
  std::memcpy(&header, dir.read("a.safetensors").data(), sizeof header);
  EXPECT_EQ(header % 8, 0U);
}

TEST(Safetensors, ViewsSurviveAMove) {
  const ScratchDir dir;
  const std::vector<std::byte> data = counting_bytes(8);
  write_safetensors(dir.path() / "a.safetensors", {{"x", {TensorDType::f32, {2}, data}}});
  SafetensorsFile first(dir.path() / "a.safetensors");
  const TensorView view = first.at("x");
  const SafetensorsFile second = std::move(first);
  EXPECT_EQ(view.data.data(), second.at("x").data.data());
  EXPECT_EQ(std::memcmp(view.data.data(), data.data(), 8), 0);
}

TEST(Safetensors, NoTensorsIsAFile) {
  const ScratchDir dir;
  dir.write("none.safetensors", file_of("{}", 0));
  EXPECT_TRUE(SafetensorsFile(dir.path() / "none.safetensors").tensors().empty());
}

TEST(Safetensors, TheHeaderLengthIsNotTrusted) {
  expect_mentions(error_of(std::string()), {"0 bytes"});
  expect_mentions(error_of(std::string(7, '\0')), {"7 bytes"});
  expect_mentions(error_of(file_of("{}", 0, 3)), {"3 bytes", "cut short"});
  expect_mentions(error_of(file_of("{}", 0, ~0ULL)), {"100000000"});
  expect_mentions(error_of(file_of("{}", 0, 100'000'001)), {"100000000"});
  expect_mentions(error_of(file_of("{}", 0, 100'000'000)), {"cut short"});
  expect_mentions(error_of(file_of("{}", 0, 0)), {"not valid JSON"});
  expect_mentions(error_of(file_of("{}", 0, 1)), {"not valid JSON"});
  expect_mentions(error_of(std::string("\x7f"
                                       "ELF....") +
                           std::string(90, 'q')),
                  {"no safetensors file"});
}

TEST(Safetensors, TheHeaderMustBeTrue) {
  expect_mentions(error_of("[]", 0), {"not a JSON object"});
  expect_mentions(error_of("{\"w\":3}", 0), {"tensor w", "object"});
  expect_mentions(error_of("{\"w\":{}}", 0), {"tensor w", "dtype", "missing"});
  expect_mentions(error_of("{\"w\":" + entry("F64", "[1]", "[0,8]") + "}", 8), {"tensor w", "F64"});
  expect_mentions(error_of("{\"w\":" + entry("F32", "[1.5]", "[0,4]") + "}", 4), {"tensor w", "shape"});
  expect_mentions(error_of("{\"w\":" + entry("F32", "[-1]", "[0,4]") + "}", 4), {"tensor w", "shape"});
  expect_mentions(error_of("{\"w\":" + entry("F32", "3", "[0,12]") + "}", 12), {"tensor w", "shape"});
  expect_mentions(error_of("{\"w\":" + entry("F32", "[2]", "[0]") + "}", 8), {"tensor w", "data_offsets"});
  expect_mentions(error_of("{\"w\":" + entry("F32", "[2]", "[8,0]") + "}", 8), {"tensor w", "data_offsets"});
  expect_mentions(error_of("{\"w\":" + entry("F32", "[2]", "[0,8]") + "}", 7), {"tensor w", "cut short"});
  expect_mentions(error_of("{\"w\":" + entry("F32", "[3]", "[0,8]") + "}", 8),
                  {"tensor w", "[3]", "12 bytes", "8"});
  expect_mentions(error_of("{\"w\":" + entry("F32", "[4611686018427387904]", "[0,0]") + "}", 0),
                  {"tensor w", "2^63"});
  expect_mentions(error_of("{\"w\":" + entry("F16", "[4294967296,4294967296]", "[0,0]") + "}", 0),
                  {"tensor w", "2^63"});
  expect_mentions(error_of("{\"w\":" + entry("F32", "[2]", "[18446744073709551612,4]") + "}", 8),
                  {"tensor w"});
  expect_mentions(error_of("{\"__metadata__\":{\"a\":1}}", 0), {"__metadata__"});
  expect_mentions(error_of("{\"__metadata__\":[]}", 0), {"__metadata__"});
}

TEST(Safetensors, AZeroDimensionMakesAnyShapeEmpty) {
  const ScratchDir dir;
  dir.write(
      "z.safetensors",
      file_of("{\"w\":" + entry("F32", "[9223372036854775807,0,9223372036854775807]", "[0,0]") + "}", 0));
  EXPECT_EQ(SafetensorsFile(dir.path() / "z.safetensors").at("w").count(), 0);
}

TEST(Safetensors, TensorsLieBackToBack) {
  const auto two = [](const char* a, const char* b) {
    return "{\"a\":" + entry("F32", "[2]", a) + ",\"b\":" + entry("F32", "[2]", b) + "}";
  };
  const ScratchDir dir;
  dir.write("ok.safetensors", file_of(two("[8,16]", "[0,8]"), 16));  // any order in the header
  EXPECT_EQ(SafetensorsFile(dir.path() / "ok.safetensors").tensors().size(), 2U);
  expect_mentions(error_of(two("[0,8]", "[12,20]"), 20), {"tensor b", "12", "8", "gaps"});
  expect_mentions(error_of(two("[0,8]", "[4,12]"), 12), {"tensor b", "overlap"});
  expect_mentions(error_of(two("[0,8]", "[0,8]"), 8), {"overlap"});
  expect_mentions(error_of(two("[4,12]", "[12,20]"), 20), {"tensor a", "0 was expected"});
  expect_mentions(error_of(two("[0,8]", "[8,16]"), 17), {"1 bytes follow"});
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const ScratchDir dir;
  const std::vector<std::byte> data = counting_bytes(40);
  write_safetensors(dir.path() / "a.safetensors", {{"x", {TensorDType::f32, {5, 2}, data}}});
  const std::string whole = dir.read("a.safetensors");
  for (std::size_t length = 0; length < whole.size(); ++length) error_of(whole.substr(0, length));
}

TEST(Safetensors, WhatIsNoFileIsNamed) {
  const ScratchDir dir;
  expect_mentions(input_error([&] { SafetensorsFile(dir.path() / "missing.safetensors"); }),
                  {"missing.safetensors"});
  expect_mentions(input_error([&] { SafetensorsFile{dir.path()}; }), {dir.path().string(), "regular file"});
}

TEST(Safetensors, WritingNeverLeavesHalfAFile) {
  const ScratchDir dir;
  const std::vector<std::byte> data = counting_bytes(8);
  const TensorMap tensors = {{"x", {TensorDType::f32, {2}, data}}};
  expect_mentions(input_error([&] { write_safetensors(dir.path() / "no" / "such.safetensors", tensors); }),
                  {"such.safetensors", "cannot write"});
  std::filesystem::create_directory(dir.path() / "taken.safetensors");
  dir.write("taken.safetensors/inside", "keep");
  expect_mentions(input_error([&] { write_safetensors(dir.path() / "taken.safetensors", tensors); }),
                  {"taken.safetensors"});
  EXPECT_EQ(dir.read("taken.safetensors/inside"), "keep");
  write_safetensors(dir.path() / "again.safetensors", tensors);
  write_safetensors(dir.path() / "again.safetensors", tensors);
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& item : std::filesystem::directory_iterator(dir.path())) ++entries;
  EXPECT_EQ(entries, 2U);  // no temporary file is left over
  if (std::filesystem::exists("/dev/full")) {
    const ScratchDir links;  // a temporary name that leads to a full disk
    std::filesystem::create_symlink("/dev/full", links.path() / ("x." + std::to_string(::getpid()) + ".tmp"));
    expect_mentions(input_error([&] { write_safetensors(links.path() / "x", tensors); }), {"cannot write"});
    EXPECT_FALSE(std::filesystem::exists(links.path() / "x"));
  }
}

TEST(Safetensors, AShapeThatDoesNotFitTheDataIsOurOwnMistake) {
  const ScratchDir dir;
  const std::vector<std::byte> data = counting_bytes(8);
  EXPECT_THROW(write_safetensors(dir.path() / "x", {{"x", {TensorDType::f32, {3}, data}}}), std::logic_error);
}

TEST(ModelTensors, ShardsByIndexAndWithout) {
  const ScratchDir dir;
  const std::vector<std::byte> data = counting_bytes(8);
  write_safetensors(dir.path() / "model-1.safetensors", {{"a", {TensorDType::f32, {2}, data}}});
  write_safetensors(dir.path() / "model-2.safetensors", {{"b", {TensorDType::f32, {1, 2}, data}}});
  EXPECT_EQ(ModelTensors(dir.path()).tensors().size(), 2U);
  dir.write("model.safetensors.index.json",
            R"({"metadata":{},"weight_map":{"a":"model-1.safetensors","b":"model-2.safetensors"}})");
  const ModelTensors tensors(dir.path());
  EXPECT_EQ(tensors.tensors().at("b").shape, (std::vector<std::int64_t>{1, 2}));
  expect_mentions(tensors.file_of("b"), {"model-2.safetensors"});
}

TEST(ModelTensors, RefusesAnIndexThatLies) {
  const ScratchDir dir;
  const std::vector<std::byte> data = counting_bytes(8);
  write_safetensors(dir.path() / "model-1.safetensors", {{"a", {TensorDType::f32, {2}, data}}});
  const auto error_with = [&](const std::string& index) {
    dir.write("model.safetensors.index.json", index);
    return input_error([&] { ModelTensors(dir.path()); });
  };
  expect_mentions(error_with(R"({"weight_map":{"a":"model-2.safetensors"}})"), {"model-2.safetensors"});
  expect_mentions(error_with(R"({"weight_map":{"a":"model-1.safetensors","b":"model-1.safetensors"}})"),
                  {"tensor b", "index"});
  expect_mentions(error_with(R"({"weight_map":{"a":"../model-1.safetensors"}})"),
                  {"tensor a", "this directory"});
  expect_mentions(error_with(R"({"weight_map":{"a":"/etc/passwd"}})"), {"tensor a", "this directory"});
  expect_mentions(error_with(R"({"weight_map":{"a":7}})"), {"tensor a"});
  expect_mentions(error_with(R"({"weight_map":{}})"), {"weight_map"});
  expect_mentions(error_with(R"({})"), {"weight_map", "missing"});
  expect_mentions(error_with("{"), {"model.safetensors.index.json", "JSON"});
}

TEST(ModelTensors, OneNameInTwoFilesAndNoFileAtAll) {
  const ScratchDir dir;
  expect_mentions(input_error([&] { ModelTensors(dir.path()); }), {"no *.safetensors"});
  expect_mentions(input_error([&] { ModelTensors(dir.path() / "nowhere"); }), {"nowhere"});
  const std::vector<std::byte> data = counting_bytes(8);
  write_safetensors(dir.path() / "x.safetensors", {{"a", {TensorDType::f32, {2}, data}}});
  write_safetensors(dir.path() / "y.safetensors", {{"a", {TensorDType::f32, {2}, data}}});
  expect_mentions(input_error([&] { ModelTensors(dir.path()); }),
                  {"tensor a", "x.safetensors", "y.safetensors"});
}

}  // namespace attn::test
