// The trace file: round trip, cuts, damage, versions, lying lengths, and reading beside a writer.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <thread>

#include "core/trace/chunk_file.h"
#include "core/trace/record_check.h"
#include "core/trace/record_fields.h"
#include "core/trace/state_hash.h"
#include "kernels/common/check.h"
#include "tests/core/trace_random.h"

namespace attn::trace::test {
namespace {

/// Writes `count` random steps and returns the file's bytes; `ends` gets the size after each step.
std::vector<std::byte> random_file(const std::filesystem::path& path, std::uint32_t seed, int count,
                                   std::vector<std::size_t>* ends = nullptr) {
  Writer writer(path, small_manifest());
  RandomSteps steps(seed);
  for (int i = 0; i < count; ++i) {
    writer.append(steps.next());
    if (ends) ends->push_back(std::filesystem::file_size(path));
  }
  return read_file(path);
}

/// Reads everything; a damaged trace may refuse with InputError and nothing else.
void read_all(const std::filesystem::path& path) {
  try {
    const auto store = open_trace(path);
    for (int i = 0; i < store->num_steps(); ++i) store->step(i);
  } catch (const InputError&) {
  }
}

std::string error_of(const std::filesystem::path& path) {
  try {
    open_trace(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(TraceRandom, RecordsPassTheCheck) {
  RandomSteps steps(1);
  for (int i = 0; i < 200; ++i) EXPECT_NO_THROW(check_record(steps.next(), small_manifest().model));
}

TEST(TraceRandom, AGraphThatDoesNotFitItsStepIsRefused) {
  RandomSteps steps(3);
  StepRecord step = steps.next();
  while (!step.graph || step.graph->bucket <= step.num_scheduled) step = steps.next();
  const auto refused = [&](const std::function<void(GraphRecord&)>& change) {
    StepRecord changed = step;
    change(*changed.graph);
    try {
      check_record(changed, small_manifest().model);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refused([](GraphRecord&) {}), "accepted");
  EXPECT_NE(refused([](GraphRecord& g) { g.bucket = -1; }), "accepted");
  EXPECT_NE(refused([](GraphRecord& g) { g.fresh_rows = g.bucket; }), "accepted");
  EXPECT_NE(refused([](GraphRecord& g) { g.slot_mapping.pop_back(); }), "accepted");
  EXPECT_NE(refused([](GraphRecord& g) { g.slot_mapping[0] = 9999; }), "accepted");
  EXPECT_NE(refused([](GraphRecord& g) { g.block_tables[0].pop_back(); }), "accepted");
  EXPECT_NE(refused([](GraphRecord& g) { g.block_tables.clear(); }), "accepted");
  EXPECT_NE(refused([](GraphRecord& g) { g.fresh_columns = 6; }), "accepted");
  EXPECT_NE(refused([](GraphRecord& g) { g.block_tables[0][0] = 99; }), "accepted");
}

TEST(TraceFile, RoundTripKeepsEveryField) {
  TemporaryFolder folder;
  const auto path = folder / "a.attn";
  Writer writer(path, small_manifest());
  RandomSteps steps(2);
  std::vector<StepRecord> written;
  for (int i = 0; i < 40; ++i) {
    written.push_back(steps.next());
    writer.append(written.back());
    if (i == 20) writer.append_request_label("typed later");
  }
  const auto store = open_trace(path);
  EXPECT_EQ(store->note(), "");
  ASSERT_EQ(store->num_steps(), 40);
  for (int i = 39; i >= 0; --i) {
    expect_same_record(*store->step(i), written[static_cast<std::size_t>(i)]);
    EXPECT_EQ(state_hash(*store->step(i)), written[static_cast<std::size_t>(i)].state_hash);
    EXPECT_EQ(store->slot_mapping(i), written[static_cast<std::size_t>(i)].slot_mapping);
  }
  const auto& [token, text] = written.back().token_texts.front();
  EXPECT_EQ(store->token_text(token), text);
  EXPECT_EQ(store->token_text(1000), "");

  const Manifest& manifest = store->manifest();
  const Manifest expected = small_manifest();
  EXPECT_EQ(manifest.scenario_name, expected.scenario_name);
  EXPECT_EQ(manifest.scenario_json, expected.scenario_json);
  EXPECT_EQ(manifest.config.num_blocks, expected.config.num_blocks);
  EXPECT_EQ(manifest.model.name, expected.model.name);
  EXPECT_EQ(manifest.model.architecture, expected.model.architecture);
  EXPECT_EQ(manifest.model.num_layers, expected.model.num_layers);
  EXPECT_EQ(manifest.model.head_dim, expected.model.head_dim);
  EXPECT_EQ(manifest.model.dtype, expected.model.dtype);
  EXPECT_EQ(manifest.model.scale, expected.model.scale);
  EXPECT_EQ(manifest.device, expected.device);
  EXPECT_EQ(manifest.build, expected.build);
  ASSERT_EQ(manifest.request_labels.size(), 3U);
  EXPECT_EQ(manifest.request_labels[1], expected.request_labels[1]);
  EXPECT_EQ(manifest.request_labels[2], "typed later");
}

TEST(TraceFile, StepsStayValidUnderATinyMemoryBudget) {
  TemporaryFolder folder;
  random_file(folder / "a.attn", 3, 10);
  const auto roomy = open_trace(folder / "a.attn");
  const auto tight = open_trace(folder / "a.attn", 1);
  const auto first = tight->step(0);
  for (int i = 0; i < 10; ++i) expect_same_record(*tight->step(i), *roomy->step(i));
  expect_same_record(*first, *roomy->step(0));
}

TEST(TraceFile, CutAtEveryByteOpensUpToTheLastWholeStep) {
  TemporaryFolder folder;
  std::vector<std::size_t> ends;
  const auto bytes = random_file(folder / "whole.attn", 4, 2, &ends);
  const auto manifest_end = [&] {
    Writer(folder / "empty.attn", small_manifest());
    return std::filesystem::file_size(folder / "empty.attn");
  }();
  write_file(folder / "cut.attn", bytes);
  for (std::size_t size = bytes.size(); size-- > 0;) {
    std::filesystem::resize_file(folder / "cut.attn", size);
    if (size < manifest_end) {
      EXPECT_NE(error_of(folder / "cut.attn"), "") << size;
      continue;
    }
    const auto store = open_trace(folder / "cut.attn");
    EXPECT_EQ(store->num_steps(), size >= ends[0] ? 1 : 0) << size;
    const bool between_chunks = size == manifest_end || size == ends[0];
    EXPECT_EQ(store->note().empty(), between_chunks) << size << ": " << store->note();
  }
}

TEST(TraceFile, TwoThousandFlippedBytesNeverCrash) {
  TemporaryFolder folder;
  const auto bytes = random_file(folder / "a.attn", 5, 3);
  std::mt19937 random(6);
  int opened_short = 0;
  for (int i = 0; i < 2000; ++i) {
    auto damaged = bytes;
    damaged[random() % damaged.size()] ^= static_cast<std::byte>(1 + random() % 255);
    write_file(folder / "damaged.attn", damaged);
    read_all(folder / "damaged.attn");
    try {
      const auto store = open_trace(folder / "damaged.attn");
      EXPECT_LT(store->num_steps(), 3) << "a flipped byte must be noticed";
      EXPECT_NE(store->note(), "");
      ++opened_short;
    } catch (const InputError&) {
    }
  }
  EXPECT_GT(opened_short, 1000);
}

/// Damage under a matching checksum, as a hostile file would have it: the decoder itself must hold.
TEST(TraceFile, ForgedChunksNeverCrash) {
  TemporaryFolder folder;
  ByteWriter encoded;
  encoded(RandomSteps(7).next());
  const Manifest manifest = small_manifest();
  std::mt19937 random(8);
  int decoded = 0, refused = 0;
  for (int i = 0; i < 4000; ++i) {
    auto payload = encoded.bytes();
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips) {
      // Half of the flips hit the part in front of the tensors, where counts and enums are dense.
      const std::size_t range = random() % 2 ? payload.size() : payload.size() / 8;
      payload[random() % range] = static_cast<std::byte>(random() % 2 ? 0xFF : random());
    }
    if (random() % 8 == 0) payload.resize(random() % payload.size());
    StepRecord record;
    try {
      ByteReader reader(payload);
      reader(record);
      reader.expect_end();
      check_record(record, manifest.model);
      ++decoded;
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(decoded, 100);  // a flipped tensor byte is a legal value
  EXPECT_GT(refused, 1000);
}

TEST(TraceFile, ForgedStepIsAnInputErrorNamingTheStep) {
  TemporaryFolder folder;
  Writer(folder / "a.attn", small_manifest());
  ByteWriter encoded;
  StepRecord record = RandomSteps(9).next();
  record.blocks[2].id = 99;
  encoded(record);
  {
    auto bytes = read_file(folder / "a.attn");
    const std::uint64_t header[3] = {static_cast<std::uint64_t>(ChunkKind::step), encoded.bytes().size(),
                                     chunk_checksum(ChunkKind::step, encoded.bytes())};
    const auto* begin = reinterpret_cast<const std::byte*>(header);
    bytes.insert(bytes.end(), begin, begin + sizeof header);
    bytes.insert(bytes.end(), encoded.bytes().begin(), encoded.bytes().end());
    write_file(folder / "a.attn", bytes);
  }
  const auto store = open_trace(folder / "a.attn");
  ASSERT_EQ(store->num_steps(), 1);
  try {
    store->step(0);
    FAIL() << "block 99 of 6 must be refused";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("blocks[2] is block 99"), std::string::npos) << error.what();
  }
}

TEST(TraceFile, AnImpossibleLengthIsACutNotAnAllocation) {
  TemporaryFolder folder;
  auto bytes = random_file(folder / "a.attn", 10, 1);
  std::uint64_t manifest_length = 0;
  std::memcpy(&manifest_length, bytes.data() + kFileHeaderBytes + 8, 8);
  const std::uint64_t lie = ~std::uint64_t{0} - 7;
  std::memcpy(bytes.data() + kFileHeaderBytes + kChunkHeaderBytes + manifest_length + 8, &lie, 8);
  write_file(folder / "a.attn", bytes);
  const auto store = open_trace(folder / "a.attn");
  EXPECT_EQ(store->num_steps(), 0);
  EXPECT_NE(store->note().find("18446744073709551608 bytes"), std::string::npos) << store->note();
}

TEST(TraceFile, UnknownChunksAreSkipped) {
  TemporaryFolder folder;
  const auto path = folder / "a.attn";
  random_file(path, 11, 1);
  const std::byte note[5] = {};
  const auto kind = static_cast<ChunkKind>(0x45544f4e);  // "NOTE", from a later program
  const std::uint64_t header[3] = {0x45544f4e, sizeof note, chunk_checksum(kind, note)};
  auto bytes = read_file(path);
  const auto* begin = reinterpret_cast<const std::byte*>(header);
  bytes.insert(bytes.end(), begin, begin + sizeof header);
  bytes.insert(bytes.end(), note, note + sizeof note);
  write_file(path, bytes);
  EXPECT_EQ(open_trace(path)->num_steps(), 1);
  EXPECT_EQ(open_trace(path)->note(), "");
}

TEST(TraceFile, WhatIsNotATraceSaysSo) {
  TemporaryFolder folder;
  write_file(folder / "empty", {});
  std::ofstream(folder / "text") << "this is a text file, long enough";
  auto bytes = random_file(folder / "a.attn", 12, 1);
  bytes[8] = std::byte{99};
  write_file(folder / "future.attn", bytes);
  EXPECT_NE(error_of(folder / "missing.attn").find("No such file"), std::string::npos);
  EXPECT_NE(error_of(folder / "empty").find("is not a trace"), std::string::npos);
  EXPECT_NE(error_of(folder / "text").find("is not a trace"), std::string::npos);
  EXPECT_NE(error_of(folder / "").find("is not a file"), std::string::npos);
  EXPECT_NE(error_of(folder / "future.attn").find("version 99"), std::string::npos);
}

TEST(TraceFile, UnwritablePathSaysWhy) {
  try {
    Writer writer("/no-such-folder/a.attn", small_manifest());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("/no-such-folder/a.attn' (No such file or directory)"),
              std::string::npos);
  }
}

TEST(TraceFile, AFullDiskSaysWhatIsSaved) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "needs /dev/full";
  EXPECT_THROW(Writer("/dev/full", small_manifest()), InputError);
}

TEST(TraceStateHash, IsOverTheBookkeepingOnly) {
  StepRecord record = RandomSteps(13).next();
  const std::uint64_t before = state_hash(record);
  EXPECT_EQ(before, record.state_hash);
  record.layers.clear();
  record.launches.clear();
  record.sampled[0].top_logits.clear();
  EXPECT_EQ(state_hash(record), before);
  StepRecord other = record;
  other.sampled[0].token_id += 1;
  EXPECT_NE(state_hash(other), before);
  other = record;
  std::swap(other.blocks[0].ref_count, other.blocks[0].num_filled);
  EXPECT_NE(state_hash(other) == before, record.blocks[0].ref_count != record.blocks[0].num_filled);
  other = record;
  other.free_blocks.push_back(0);
  EXPECT_NE(state_hash(other), before);
}

TEST(TraceRecording, ReadersBesideAWriterSeeWholeSteps) {
  Recording recording(small_manifest());
  constexpr int kSteps = 200;
  std::thread writer([&] {
    RandomSteps steps(14);
    for (int i = 0; i < kSteps; ++i) {
      recording.append(std::make_shared<StepRecord>(steps.next()));
      if (i % 20 == 0) recording.add_request_label("prompt " + std::to_string(i));
    }
  });
  const auto read = [&] {
    int seen = 0;
    while (seen < kSteps) {
      seen = recording.num_steps();
      if (seen == 0) continue;
      const auto step = recording.step(seen - 1);
      EXPECT_EQ(step->state_hash, state_hash(*step));
      EXPECT_EQ(recording.token_text(step->token_texts[0].first), step->token_texts[0].second);
      const Manifest& manifest = recording.manifest();
      EXPECT_GE(manifest.request_labels.size(), 2U);
      EXPECT_EQ(manifest.request_labels[0], "A");
    }
  };
  std::thread reader(read);
  read();
  reader.join();
  writer.join();
  EXPECT_EQ(recording.manifest().request_labels.size(), 12U);
}

TEST(TraceFile, ManyReadersOfOneFile) {
  TemporaryFolder folder;
  random_file(folder / "a.attn", 15, 30);
  const auto store = open_trace(folder / "a.attn", 20000);
  const auto read = [&](std::uint32_t seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 200; ++i) {
      const auto step = store->step(static_cast<int>(random() % 30));
      EXPECT_EQ(step->state_hash, state_hash(*step));
    }
  };
  std::thread other(read, 16);
  read(17);
  other.join();
}

}  // namespace
}  // namespace attn::trace::test
