#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/trace/chunk_file.h"
#include "core/trace/manifest_json.h"
#include "core/trace/record_check.h"
#include "core/trace/record_fields.h"
#include "core/trace/trace_file.h"

namespace attn::trace {
namespace {

/// What opening keeps of each step; the rest is decoded when asked for.
struct IndexEntry {
  ChunkPlace place;
  std::vector<std::int32_t> slot_mapping;
};

/// Steps decoded last, most recent first, under a budget counted in encoded bytes.
class StepCache {
 public:
  explicit StepCache(std::size_t budget) : budget_(budget) {}

  std::shared_ptr<const StepRecord> find(int index) {
    const auto found = by_index_.find(index);
    if (found == by_index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->step;
  }
  void insert(int index, std::shared_ptr<const StepRecord> step, std::size_t bytes) {
    if (by_index_.contains(index)) return;
    entries_.push_front({index, std::move(step), bytes});
    by_index_[index] = entries_.begin();
    used_ += bytes;
    while (used_ > budget_ && entries_.size() > 1) {
      used_ -= entries_.back().bytes;
      by_index_.erase(entries_.back().index);
      entries_.pop_back();
    }
  }

 private:
  struct Entry {
    int index;
    std::shared_ptr<const StepRecord> step;
    std::size_t bytes;
  };
  std::size_t budget_;
  std::size_t used_ = 0;
  std::list<Entry> entries_;
  std::unordered_map<int, std::list<Entry>::iterator> by_index_;
};

class FileStore : public Store {
 public:
  FileStore(const std::filesystem::path& path, std::size_t memory_budget)
      : file_(path), cache_(memory_budget) {
    scan();
  }

  const Manifest& manifest() const override { return manifest_; }
  int num_steps() const override { return static_cast<int>(index_.size()); }
  std::string note() const override { return note_; }

  std::string token_text(std::int32_t id) const override {
    const auto found = token_texts_.find(id);
    return found == token_texts_.end() ? std::string() : found->second;
  }

  std::vector<std::int32_t> slot_mapping(int index) const override { return entry(index).slot_mapping; }

  std::shared_ptr<const StepRecord> step(int index) const override {
    const IndexEntry& found = entry(index);
    {
      const std::lock_guard lock(mutex_);
      if (auto cached = cache_.find(index)) return cached;
    }
    auto step = decode(index, found.place);
    const std::lock_guard lock(mutex_);
    cache_.insert(index, step, found.place.length);
    return step;
  }

 private:
  const IndexEntry& entry(int index) const {
    if (index < 0 || static_cast<std::size_t>(index) >= index_.size()) {
      const std::size_t count = index_.size();
      throw InputError(
          count == 0 ? fmt::format("trace '{}' holds no whole step; record it again", file_.path().string())
                     : fmt::format("trace '{}' has no step at place {}; choose 0 to {}",
                                   file_.path().string(), index, count - 1));
    }
    return index_[static_cast<std::size_t>(index)];
  }

  std::shared_ptr<const StepRecord> decode(int index, const ChunkPlace& place) const {
    const std::vector<std::byte> payload = file_.read(place);
    auto step = std::make_shared<StepRecord>();
    try {
      ByteReader reader(payload);
      reader(*step);
      reader.expect_end();
      check_record(*step, manifest_.model);
    } catch (const InputError& error) {
      throw InputError(fmt::format("step {} of trace '{}' is damaged: {}; record the trace again", index,
                                   file_.path().string(), error.what()));
    }
    return step;
  }

  /// Walks the chunks once, checking each checksum; stops at the first that is not whole.
  void scan() {
    std::vector<std::byte> payload;
    std::string problem;
    auto place = file_.scan(kFileHeaderBytes, payload, problem);
    if (!place || place->kind != ChunkKind::manifest) {
      throw InputError(fmt::format("trace '{}' has no whole manifest ({}); record it again",
                                   file_.path().string(), problem.empty() ? "it ends before it" : problem));
    }
    try {
      manifest_ = manifest_from_json({reinterpret_cast<const char*>(payload.data()), payload.size()});
    } catch (const InputError& error) {
      throw InputError(fmt::format("trace '{}': {}; record it again", file_.path().string(), error.what()));
    }
    while ((place = file_.scan(place->offset + place->length, payload, problem))) {
      try {
        take(*place, payload);
      } catch (const InputError& error) {
        problem = error.what();
        break;
      }
    }
    if (!problem.empty()) {
      note_ = fmt::format(
          "Trace '{}' is cut short or damaged after {} whole step{} ({}); what follows is left out.",
          file_.path().string(), index_.size(), index_.size() == 1 ? "" : "s", problem);
    }
  }

  void take(const ChunkPlace& place, const std::vector<std::byte>& payload) {
    if (place.kind == ChunkKind::label) {
      manifest_.request_labels.emplace_back(reinterpret_cast<const char*>(payload.data()), payload.size());
    }
    if (place.kind != ChunkKind::step) return;
    StepRecord head;
    ByteReader reader(payload);
    head_fields(reader, head);
    for (auto& [id, text] : head.token_texts) token_texts_.insert_or_assign(id, std::move(text));
    if (!head.stored) head.slot_mapping.clear();
    index_.push_back({place, std::move(head.slot_mapping)});
  }

  ChunkReader file_;
  Manifest manifest_;
  std::vector<IndexEntry> index_;
  std::unordered_map<std::int32_t, std::string> token_texts_;
  std::string note_;
  mutable std::mutex mutex_;  // of the cache; everything else is fixed after opening
  mutable StepCache cache_;
};

}  // namespace

std::unique_ptr<Store> open_trace(const std::filesystem::path& path, std::size_t memory_budget) {
  return std::make_unique<FileStore>(path, memory_budget);
}

}  // namespace attn::trace
