// Bookmarks in the trace file: they come back, they do not disturb the steps, and no bytes crash the reader.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "core/trace/bookmark.h"
#include "core/trace/chunk_file.h"
#include "core/trace/trace_file.h"
#include "kernels/common/check.h"
#include "tests/core/trace_random.h"

namespace attn::trace::test {
namespace {

std::vector<Bookmark> some_bookmarks() {
  return {
      {.cursor = {2, Stage::attention, 1, 3, 4, 65}, .seq = 1, .note = "the rescale \xe2\x86\x93 \"here\""},
      {.cursor = {0, Stage::schedule, 0, 0, -1, -1}, .seq = -1, .note = ""}};
}

std::filesystem::path random_trace(const TemporaryFolder& folder, int steps) {
  const auto path = folder / "a.attn";
  Writer writer(path, small_manifest());
  RandomSteps random(3);
  for (int i = 0; i < steps; ++i) writer.append(random.next());
  return path;
}

TEST(TraceBookmarks, TheLastListSavedComesBackAndTheStepsStay) {
  TemporaryFolder folder;
  const auto path = random_trace(folder, 3);
  EXPECT_TRUE(read_bookmarks(path).empty());
  save_bookmarks(path, {{.cursor = {}, .seq = 5, .note = "old"}});
  save_bookmarks(path, some_bookmarks());
  EXPECT_EQ(read_bookmarks(path), some_bookmarks());
  EXPECT_EQ(open_trace(path)->num_steps(), 3);
  EXPECT_EQ(open_trace(path)->note(), "");
  save_bookmarks(path, {});
  EXPECT_TRUE(read_bookmarks(path).empty());
}

TEST(TraceBookmarks, ALiveRunGoesOnBehindThem) {
  TemporaryFolder folder;
  const auto path = folder / "live.attn";
  Writer writer(path, small_manifest());
  RandomSteps random(4);
  std::thread saver([&] {
    for (int i = 0; i < 20; ++i) save_bookmarks(path, some_bookmarks());
  });
  for (int i = 0; i < 20; ++i) writer.append(random.next());
  saver.join();
  EXPECT_EQ(open_trace(path)->num_steps(), 20);
  EXPECT_EQ(open_trace(path)->note(), "");
  EXPECT_EQ(read_bookmarks(path), some_bookmarks());
}

TEST(TraceBookmarks, ACutEndIsRemovedBeforeTheyAreSaved) {
  TemporaryFolder folder;
  const auto path = random_trace(folder, 2);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 7);
  ASSERT_EQ(open_trace(path)->num_steps(), 1);
  save_bookmarks(path, some_bookmarks());
  EXPECT_EQ(read_bookmarks(path), some_bookmarks());
  EXPECT_EQ(open_trace(path)->num_steps(), 1);
  EXPECT_EQ(open_trace(path)->note(), "");
}

TEST(TraceBookmarks, ADamagedListLeavesTheOneBefore) {
  TemporaryFolder folder;
  const auto path = random_trace(folder, 1);
  save_bookmarks(path, {some_bookmarks()[0]});
  save_bookmarks(path, some_bookmarks());
  auto bytes = read_file(path);
  bytes[bytes.size() - 3] ^= std::byte{0x10};
  write_file(path, bytes);
  EXPECT_EQ(read_bookmarks(path), std::vector{some_bookmarks()[0]});
}

TEST(TraceBookmarks, CutsAndFlippedBytesNeverCrash) {
  TemporaryFolder folder;
  const auto path = random_trace(folder, 1);
  save_bookmarks(path, some_bookmarks());
  const auto bytes = read_file(path);
  std::mt19937 random(6);
  for (int i = 0; i < 400; ++i) {
    auto damaged = bytes;
    damaged[random() % damaged.size()] ^= static_cast<std::byte>(1 + random() % 255);
    if (i % 3 == 0) damaged.resize(random() % damaged.size());
    write_file(folder / "damaged.attn", damaged);
    try {
      const auto read = read_bookmarks(folder / "damaged.attn");
      EXPECT_TRUE(read.empty() || read == some_bookmarks());
    } catch (const InputError&) {
    }
  }
}

/// Damage under a matching checksum, as a hostile file would have it.
TEST(TraceBookmarks, ForgedListsAreRefusedOrHarmless) {
  TemporaryFolder folder;
  const auto path = random_trace(folder, 1);
  const auto before = read_file(path);
  save_bookmarks(path, some_bookmarks());
  const auto after = read_file(path);
  const std::vector<std::byte> payload(
      after.begin() + static_cast<std::ptrdiff_t>(before.size() + kChunkHeaderBytes), after.end());
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 400; ++i) {
    auto forged = payload;
    forged[random() % forged.size()] = static_cast<std::byte>(random() % 2 ? 0xFF : random());
    if (i % 4 == 0) forged.resize(random() % forged.size());
    write_file(folder / "forged.attn", before);
    ChunkWriter::open(folder / "forged.attn").append(ChunkKind::bookmarks, forged);
    EXPECT_EQ(open_trace(folder / "forged.attn")->num_steps(), 1);
    try {
      read_bookmarks(folder / "forged.attn");
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("bookmarks of trace"), std::string::npos);
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(TraceBookmarks, WhatIsNoTraceSaysSo) {
  TemporaryFolder folder;
  write_file(folder / "x.attn", std::vector<std::byte>(100));
  EXPECT_THROW(read_bookmarks(folder / "x.attn"), InputError);
  EXPECT_THROW(save_bookmarks(folder / "x.attn", {}), InputError);
  EXPECT_EQ(read_file(folder / "x.attn").size(), 100U) << "a file that is no trace stays as it is";
  EXPECT_THROW(save_bookmarks(folder / "none.attn", {}), InputError);
  EXPECT_FALSE(std::filesystem::exists(folder / "none.attn"));
}

TEST(TraceFileStore, AStepThatIsNotThereIsAnInputError) {
  TemporaryFolder folder;
  const auto path = random_trace(folder, 2);
  const auto message = [](const Store& store, int index) {
    try {
      store.step(index);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto store = open_trace(path);
  EXPECT_NE(message(*store, 2).find("has no step at place 2; choose 0 to 1"), std::string::npos);
  EXPECT_NE(message(*store, -1).find("choose 0 to 1"), std::string::npos);
  Writer(folder / "empty.attn", small_manifest());
  const auto empty = open_trace(folder / "empty.attn");
  EXPECT_NE(message(*empty, 0).find("holds no whole step; record it again"), std::string::npos);
  EXPECT_THROW(empty->slot_mapping(0), InputError);
}

}  // namespace
}  // namespace attn::trace::test
