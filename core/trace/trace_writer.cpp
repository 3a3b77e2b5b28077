#include <string>

#include "core/trace/chunk_file.h"
#include "core/trace/manifest_json.h"
#include "core/trace/record_fields.h"
#include "core/trace/trace_file.h"

namespace attn::trace {

struct Writer::State {
  explicit State(const std::filesystem::path& path) : file(path) {}
  ChunkWriter file;
  ByteWriter bytes;  // reused from step to step
};

Writer::Writer(const std::filesystem::path& path, const Manifest& manifest)
    : state_(std::make_unique<State>(path)) {
  const std::string json = manifest_to_json(manifest);
  state_->file.append(ChunkKind::manifest, std::as_bytes(std::span(json)));
}

Writer::~Writer() = default;

void Writer::append(const StepRecord& step) {
  state_->bytes.clear();
  state_->bytes(step);
  state_->file.append(ChunkKind::step, state_->bytes.bytes());
}

void Writer::append_request_label(const std::string& label) {
  state_->file.append(ChunkKind::label, std::as_bytes(std::span(label)));
}

}  // namespace attn::trace
