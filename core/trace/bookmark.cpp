#include "core/trace/bookmark.h"

#include <cstdint>

#include "core/trace/binary.h"
#include "core/trace/chunk_file.h"
#include "core/trace/record_fields.h"

namespace attn::trace {

template <class A, Of<Bookmark> R>
void fields(A& a, R& r) {
  a(r.cursor.index, r.cursor.stage, r.cursor.layer, r.cursor.head, r.cursor.tile, r.cursor.cell);
  a(r.seq, r.note);
}

std::vector<Bookmark> read_bookmarks(const std::filesystem::path& trace) {
  const ChunkReader file(trace);
  std::vector<std::uint64_t> lists;  // where they begin
  std::uint64_t offset = kFileHeaderBytes;
  while (const auto place = file.place_at(offset)) {
    if (place->kind == ChunkKind::bookmarks) lists.push_back(offset);
    offset = place->offset + place->length;
  }
  std::vector<std::byte> payload;
  std::string problem;
  while (!lists.empty() && !file.scan(lists.back(), payload, problem)) lists.pop_back();  // damaged
  std::vector<Bookmark> bookmarks;
  if (lists.empty()) return bookmarks;
  try {
    ByteReader reader(payload);
    reader(bookmarks);
    reader.expect_end();
  } catch (const InputError& error) {
    throw InputError(fmt::format("the bookmarks of trace '{}' are damaged: {}; save them again",
                                 trace.string(), error.what()));
  }
  return bookmarks;
}

void save_bookmarks(const std::filesystem::path& trace, const std::vector<Bookmark>& bookmarks) {
  ByteWriter bytes;
  bytes(bookmarks);
  ChunkWriter::open(trace).append(ChunkKind::bookmarks, bytes.bytes());
}

}  // namespace attn::trace
