#include "engine_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

#include "core/engine/block_manager.h"
#include "core/trace/state_hash.h"

namespace attn::test {

using trace::StepKind;

void NoDevice::fail() { throw std::logic_error("bookkeeping touched the device"); }

Ints range(std::int32_t first, std::int32_t last) {
  Ints values(static_cast<std::size_t>(last - first + 1));
  std::iota(values.begin(), values.end(), first);
  return values;
}

EngineConfig pool(int block_size, int num_blocks) {
  EngineConfig config;
  config.block_size = block_size;
  config.num_blocks = num_blocks;
  return config;
}

Request request(Ints token_ids, int max_tokens, int at_step) {
  Request result;
  result.at_step = at_step;
  result.token_ids = std::move(token_ids);
  result.sampling.max_tokens = max_tokens;
  return result;
}

std::vector<StepPtr> run_to_end(Engine& engine, int max_steps) {
  std::vector<StepPtr> steps;
  while (engine.has_work() && static_cast<int>(steps.size()) < max_steps) steps.push_back(engine.step());
  EXPECT_FALSE(engine.has_work()) << "still busy after " << max_steps << " steps";
  return steps;
}

std::vector<StepPtr> run(const EngineConfig& config, const std::vector<Request>& requests) {
  NoDevice device;
  Engine engine(device, nullptr, config);
  for (const Request& r : requests) engine.add_request(r);
  return run_to_end(engine);
}

EngineConfig random_bookkeeping(Dice& dice) {
  EngineConfig config = pool(dice.roll(1, 5), dice.roll(2, 14));
  config.max_num_seqs = dice.roll(1, 5);
  config.max_num_batched_tokens = dice.roll(1, 24);
  config.max_model_len = dice.roll(0, 2) == 0 ? dice.roll(4, 40) : 0;
  config.prefix_caching = dice.roll(0, 4) > 0;
  config.free_list = dice.roll(0, 1) == 0 ? FreeListOrder::ordered : FreeListOrder::scrambled;
  config.free_list_seed = static_cast<std::uint64_t>(dice.roll(0, 1000));
  return config;
}

std::vector<Request> random_requests(Dice& dice) {
  Ints beginning(static_cast<std::size_t>(dice.roll(0, 16)));
  for (std::int32_t& token : beginning) token = dice.roll(1, 2);
  std::vector<Request> requests;
  for (int i = dice.roll(1, 9); i > 0; --i) {
    Ints tokens;
    if (dice.roll(0, 3) > 0)
      tokens.assign(beginning.begin(), beginning.begin() + dice.roll(0, static_cast<int>(beginning.size())));
    for (int n = dice.roll(0, 12); n > 0; --n) tokens.push_back(dice.roll(1, 2));
    requests.push_back(request(tokens, dice.roll(1, 25), dice.roll(0, 12)));
  }
  return requests;
}

std::vector<StepPtr> run_model(const TinyModel& model, const EngineConfig& config,
                               const std::vector<Request>& requests, const SimtOptions& options) {
  const auto device = make_simt_device(options);
  Transformer transformer(*device, model.dir());
  Engine engine(*device, &transformer, config);
  for (const Request& r : requests) engine.add_request(r);
  return run_to_end(engine);
}

std::map<int, Ints> texts(const std::vector<StepPtr>& steps) {
  std::map<int, Ints> all;
  for (const StepPtr& step : steps) {
    for (const trace::Sampled& sampled : step->sampled) {
      if (!sampled.discarded) all[sampled.seq_id].push_back(sampled.token_id);
    }
  }
  return all;
}

EngineConfig graph_pool(int block_size, int num_blocks) {
  EngineConfig config = pool(block_size, num_blocks);
  config.cuda_graphs = true;
  return config;
}

std::vector<Request> three_prompts() {
  return {request(range(3, 8), 5), request(range(30, 39), 5), request({50, 51, 52}, 5)};
}

void expect_same_bits(const std::vector<StepPtr>& a, const std::vector<StepPtr>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "step " << a[i]->step);
    EXPECT_EQ(a[i]->path, b[i]->path);
    EXPECT_EQ(a[i]->state_hash, b[i]->state_hash);
    ASSERT_EQ(a[i]->layers.size(), b[i]->layers.size());
    for (std::size_t l = 0; l < a[i]->layers.size(); ++l) {
      const trace::LayerRecord &x = a[i]->layers[l], &y = b[i]->layers[l];
      for (const auto& [p, q] : {std::pair(&x.q, &y.q), std::pair(&x.k, &y.k), std::pair(&x.v, &y.v),
                                 std::pair(&x.o, &y.o), std::pair(&x.lse, &y.lse)}) {
        EXPECT_EQ(p->shape, q->shape);
        EXPECT_EQ(p->data, q->data) << "layer " << l;
      }
    }
    ASSERT_EQ(a[i]->sampled.size(), b[i]->sampled.size());
    for (std::size_t s = 0; s < a[i]->sampled.size(); ++s) {
      EXPECT_EQ(a[i]->sampled[s].token_id, b[i]->sampled[s].token_id);
    }
  }
}

std::map<std::uint64_t, std::int32_t> hash_map(const trace::StepRecord& record) {
  return {record.hash_to_block.begin(), record.hash_to_block.end()};
}

std::vector<trace::Event> events_of(const trace::StepRecord& record, trace::EventKind kind) {
  std::vector<trace::Event> found;
  std::ranges::copy_if(record.events, std::back_inserter(found),
                       [kind](const trace::Event& event) { return event.kind == kind; });
  return found;
}

Auditor::Auditor(const EngineConfig& config)
    : config_(config), slots_(static_cast<std::size_t>(config.num_blocks) * config.block_size, 0) {}

void Auditor::check(const trace::StepRecord& record) {
  SCOPED_TRACE(testing::Message() << "step " << record.step);
  check_pool(record);
  check_batch(record);
  store_and_read(record);
  check_hashes(record);
  EXPECT_EQ(record.state_hash, trace::state_hash(record));
}

void Auditor::check_pool(const trace::StepRecord& record) const {
  std::map<int, int> occurrences;
  for (const trace::SeqState& seq : record.seqs_after) {
    for (const int block : seq.block_table) ++occurrences[block];
    EXPECT_LE(seq.num_cached_tokens, seq.num_tokens);
    EXPECT_EQ(seq.num_scheduled_tokens, 0);
    if (seq.status == trace::SeqStatus::finished) {
      EXPECT_TRUE(seq.block_table.empty());
    }
  }
  const std::set<int> free(record.free_blocks.begin(), record.free_blocks.end());
  EXPECT_EQ(free.size(), record.free_blocks.size()) << "a block is twice on the free list";
  ASSERT_EQ(record.blocks.size(), static_cast<std::size_t>(config_.num_blocks));
  for (const trace::BlockState& block : record.blocks) {
    EXPECT_EQ(block.ref_count, occurrences[block.id]) << "block " << block.id;
    EXPECT_EQ(block.ref_count == 0, free.contains(block.id)) << "block " << block.id;
    EXPECT_LE(block.num_filled, config_.block_size);
    if (block.hash) {
      EXPECT_EQ(block.num_filled, config_.block_size) << "block " << block.id;
    }
    EXPECT_EQ(block.token_ids.size(), block.hash ? config_.block_size : 0U);
  }
  for (const auto& [hash, block] : record.hash_to_block) {
    EXPECT_EQ(record.blocks[block].hash, hash) << "map entry of block " << block;
  }
  if (!config_.prefix_caching) {
    EXPECT_TRUE(record.hash_to_block.empty());
  }
}

void Auditor::check_batch(const trace::StepRecord& r) const {
  const auto batch = static_cast<std::size_t>(r.num_scheduled);
  ASSERT_EQ(r.cu_seqlens_q.size(), batch + 1);
  ASSERT_EQ(r.cu_seqlens_k.size(), batch + 1);
  ASSERT_EQ(r.sampled.size(), batch);
  EXPECT_LE(r.num_scheduled, config_.max_num_seqs);
  EXPECT_EQ(std::set(r.slot_mapping.begin(), r.slot_mapping.end()).size(), r.slot_mapping.size())
      << "two tokens of a batch share a slot";
  EXPECT_EQ(static_cast<std::size_t>(r.cu_seqlens_q.back()), r.input_ids.size());
  EXPECT_EQ(r.slot_mapping.size(), r.input_ids.size());
  EXPECT_EQ(r.paged, r.block_tables.has_value());
  EXPECT_EQ(r.context_lens.has_value(), r.kind == StepKind::decode);
  bool any_cached = false;
  for (std::size_t b = 0; b < batch; ++b) {
    const trace::SeqState& seq = r.seqs[b];
    const int q_len = r.cu_seqlens_q[b + 1] - r.cu_seqlens_q[b];
    EXPECT_EQ(q_len, seq.num_scheduled_tokens);
    EXPECT_GE(q_len, 1) << "a scheduled sequence computes nothing";
    EXPECT_EQ(r.cu_seqlens_k[b + 1] - r.cu_seqlens_k[b], seq.num_cached_tokens + q_len);
    any_cached = any_cached || seq.num_cached_tokens > 0;
    if (r.kind == StepKind::decode) {
      EXPECT_EQ(seq.num_cached_tokens, seq.num_tokens - 1);
      EXPECT_EQ((*r.context_lens)[b], seq.num_tokens);
    } else if (b > 0) {
      EXPECT_EQ(seq.num_cached_tokens + q_len, seq.num_tokens) << "only the first sequence may be chunked";
    }
  }
  EXPECT_EQ(r.block_tables.has_value(), r.kind == StepKind::decode || any_cached);
  if (r.kind == StepKind::prefill) {
    EXPECT_LE(r.cu_seqlens_q.back(), config_.max_num_batched_tokens);
  }
}

/// Hash of the whole text up to and including position `pos`, never 0.
static std::uint64_t text_hash(const trace::SeqState& seq, int pos) {
  return BlockManager::compute_hash(std::span(seq.token_ids).first(static_cast<std::size_t>(pos) + 1), 0) |
         1U;
}

void Auditor::store_and_read(const trace::StepRecord& r) {
  const auto slot_of = [&](const trace::SeqState& seq, int pos) {
    return static_cast<std::size_t>(seq.block_table.at(pos / config_.block_size)) * config_.block_size +
           pos % config_.block_size;
  };
  for (int b = 0, row = 0; b < r.num_scheduled; ++b) {
    const trace::SeqState& seq = r.seqs[b];
    for (int i = 0; i < seq.num_scheduled_tokens; ++i, ++row) {
      const int pos = seq.num_cached_tokens + i;
      EXPECT_EQ(r.positions[row], pos);
      EXPECT_EQ(r.input_ids[row], seq.token_ids[pos]);
      ASSERT_EQ(static_cast<std::size_t>(r.slot_mapping[row]), slot_of(seq, pos));
      slots_[slot_of(seq, pos)] = text_hash(seq, pos);
    }
  }
  for (int b = 0; b < r.num_scheduled; ++b) {
    const trace::SeqState& seq = r.seqs[b];
    if (r.block_tables) {
      Ints row = (*r.block_tables)[b];
      while (!row.empty() && row.back() == -1) row.pop_back();
      EXPECT_EQ(row, seq.block_table);
    }
    for (int pos = 0; pos < seq.num_cached_tokens + seq.num_scheduled_tokens; ++pos) {
      EXPECT_EQ(slots_[slot_of(seq, pos)], text_hash(seq, pos))
          << "sequence " << seq.id << " reads another text's key at position " << pos;
    }
  }
}

void Auditor::check_hashes(const trace::StepRecord& r) const {
  if (!config_.prefix_caching) return;
  for (const trace::SeqState& seq : r.seqs_after) {
    std::optional<std::uint64_t> hash;
    for (int i = 0; (i + 1) * config_.block_size <= seq.num_cached_tokens; ++i) {
      const auto tokens = std::span(seq.token_ids)
                              .subspan(static_cast<std::size_t>(i) * config_.block_size,
                                       static_cast<std::size_t>(config_.block_size));
      hash = BlockManager::compute_hash(tokens, hash);
      EXPECT_EQ(r.blocks[seq.block_table[i]].hash, hash) << "sequence " << seq.id << " block " << i;
    }
  }
}

}  // namespace attn::test
