#include "core/trace/state_hash.h"

#include <xxhash.h>

#include "core/trace/record_fields.h"

namespace attn::trace {

std::uint64_t state_hash(const StepRecord& record) {
  ByteWriter writer;
  writer(record.seqs_after, record.blocks, record.free_blocks, record.hash_to_block);
  for (const Sampled& sample : record.sampled) writer(sample.seq_id, sample.token_id, sample.discarded);
  return XXH64(writer.bytes().data(), writer.bytes().size(), 0);
}

}  // namespace attn::trace
