#include "sample_frame.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "sample_attention.h"
#include "viz/lookup.h"

namespace attn::viz::sample {
namespace {

using trace::AttentionPath;
using trace::EventKind;
using trace::Stage;
using trace::StepKind;

constexpr const char* kWords[] = {"First",   " Cit", "izen",   ":",     "\n",       "Before",
                                  " we",     " pro", "ceed",   " any",  " further", ",",
                                  " hear",   " me",  " speak", ".",     "All",      " resolved",
                                  " rather", " to",  " die",   " than", " fam",     "ish"};
constexpr int kNumWords = static_cast<int>(std::size(kWords));

std::int32_t token_at(int seq, int pos) {
  // Sequences 0 and 1 begin alike; the rest differ from the start.
  const std::int64_t voice = seq == 1 && pos < 8 ? 0 : seq;
  return static_cast<std::int32_t>((pos * 5 + voice * 7 + (pos * voice) % 3) % kNumWords);
}

trace::SeqState state_of(const Seq& seq, StepKind kind, int tokens) {
  trace::SeqState out;
  out.id = seq.id;
  out.status = seq.scheduled > 0 || seq.cached > 0 ? trace::SeqStatus::running : trace::SeqStatus::waiting;
  out.num_tokens = tokens;
  out.num_prompt_tokens = seq.prompt;
  out.num_cached_tokens = seq.cached;
  out.num_scheduled_tokens = seq.scheduled;
  out.block_table = seq.table;
  for (int i = 0; i < tokens; ++i) out.token_ids.push_back(token_at(seq.id, i));
  if (kind == StepKind::decode) out.num_cached_tokens = seq.tokens - 1;
  return out;
}

void fill_batch(trace::StepRecord& step, const Spec& spec) {
  step.cu_seqlens_q = {0};
  step.cu_seqlens_k = {0};
  std::vector<std::int32_t> lens;
  for (const Seq& seq : spec.seqs) {
    step.seqs.push_back(state_of(seq, spec.kind, seq.tokens));
    step.seqs_after.push_back(state_of(seq, spec.kind, seq.tokens + (seq.scheduled > 0 ? 1 : 0)));
    if (seq.scheduled == 0) continue;
    ++step.num_scheduled;
    const int start = spec.kind == StepKind::decode ? seq.tokens - 1 : seq.cached;
    const int end = start + seq.scheduled;
    step.cu_seqlens_q.push_back(step.cu_seqlens_q.back() + seq.scheduled);
    step.cu_seqlens_k.push_back(step.cu_seqlens_k.back() + end);
    step.max_seqlen_q = std::max(step.max_seqlen_q, seq.scheduled);
    step.max_seqlen_k = std::max(step.max_seqlen_k, end);
    lens.push_back(end);
    for (int pos = start; pos < end; ++pos) {
      const auto block = static_cast<std::size_t>(pos / spec.block_size);
      step.slot_mapping.push_back(
          block < seq.table.size() ? seq.table[block] * spec.block_size + pos % spec.block_size : -1);
      step.input_ids.push_back(token_at(seq.id, pos));
      step.positions.push_back(pos);
    }
    const std::int32_t next = token_at(seq.id, seq.tokens);
    step.sampled.push_back({seq.id, next, kWords[next], false, {{next, 7.5F}}});
  }
  if (spec.kind == StepKind::decode) step.context_lens = lens;
}

void fill_pool(trace::StepRecord& step, const Spec& spec) {
  for (int id = 0; id < spec.num_blocks; ++id) {
    trace::BlockState block;
    block.id = id;
    step.blocks.push_back(block);
  }
  for (const Seq& seq : spec.seqs) {
    for (std::size_t i = 0; i < seq.table.size(); ++i) {
      trace::BlockState& block = step.blocks[static_cast<std::size_t>(seq.table[i])];
      ++block.ref_count;
      const int from = static_cast<int>(i) * spec.block_size;
      block.num_filled = std::clamp(seq.tokens - from, 0, spec.block_size);
      if (block.num_filled == spec.block_size) {
        block.hash = 0x73f859a04f669e6dULL * static_cast<std::uint64_t>(block.id + 3);
        block.token_ids.clear();
        for (int k = from; k < from + spec.block_size; ++k) block.token_ids.push_back(token_at(seq.id, k));
      }
    }
  }
  for (int id = spec.num_blocks - 1; id >= 0; --id) {
    trace::BlockState& block = step.blocks[static_cast<std::size_t>(id)];
    if (block.ref_count > 0) continue;
    step.free_blocks.push_back(id);
    if (id % 5 != 1) continue;  // some free blocks are still cached
    block.hash = 0x0878842417000000ULL + static_cast<std::uint64_t>(id);
    block.num_filled = spec.block_size;
    for (int k = 0; k < spec.block_size; ++k) block.token_ids.push_back(token_at(4, k));
  }
}

void fill_stages(trace::StepRecord& step, const Spec& spec) {
  const std::int64_t n = static_cast<std::int64_t>(step.input_ids.size());
  const std::int64_t heads = spec.heads;
  step.shapes.push_back({Stage::prepare, -1, "input_ids", "I32", {n}, ""});
  step.shapes.push_back({Stage::prepare, -1, "slot_mapping", "I32", {n}, ""});
  for (int layer = 0; layer < spec.layers; ++layer) {
    step.shapes.push_back({Stage::qkv_rope, layer, "q", "F32", {n, heads, 16}, "after RoPE"});
    step.shapes.push_back({Stage::store_kvcache, layer, "k", "F32", {n, 2, 16}, ""});
    step.shapes.push_back({Stage::gather,
                           layer,
                           "k_dense",
                           "F32",
                           {step.num_scheduled, step.max_seqlen_k, 2, 16},
                           "zero-padded to max_len"});
    step.shapes.push_back({Stage::attention, layer, "o", "F32", {n, heads, 16}, ""});
    LaunchRecord launch;
    launch.kernel = "rms_norm_kernel<float>";
    launch.grid = {static_cast<unsigned>(n), 1, 1};
    launch.block = {128, 1, 1};
    launch.bytes = 48'128;
    step.launches.push_back({Stage::qkv_rope, layer, launch});
    launch.kernel =
        spec.kind == StepKind::decode ? "decode_l2_tiled_kernel<float>" : "prefill_l2_tiled_kernel<float>";
    launch.ms = layer == 0 ? 0.042F : NAN;
    step.launches.push_back({Stage::attention, layer, launch});
  }
  step.shapes.push_back(
      {Stage::lm_head, -1, "logits", "F32", {step.num_scheduled, kNumWords}, "last rows only"});
  step.shapes.push_back({Stage::sample, -1, "token_ids", "I32", {step.num_scheduled}, ""});
}

std::shared_ptr<std::vector<StepSummary>> history_of(const Spec& spec) {
  auto history = std::make_shared<std::vector<StepSummary>>();
  for (int i = 0; i < spec.num_steps; ++i) {
    StepSummary step;
    step.step = i + 1;
    step.kind = i == spec.index ? spec.kind : i < 2 || i == 7 ? StepKind::prefill : StepKind::decode;
    for (const Seq& seq : spec.seqs) {
      const bool prefill_turn = step.kind == StepKind::prefill && (seq.id == 0) == (i == 0);
      if (step.kind == StepKind::decode || prefill_turn)
        step.scheduled.push_back(seq.id);
      else if (i < 2 && seq.id != 0)
        step.waiting.push_back(seq.id);
    }
    step.num_tokens = step.kind == StepKind::prefill ? 8 : static_cast<int>(step.scheduled.size());
    step.blocks_used = std::min(spec.num_blocks, 3 + i / 2);
    step.blocks_cached_free = i > 6 ? 2 : 0;
    step.events = {EventKind::allocate};
    if (i == 1) step.events = {EventKind::prefix_hit, EventKind::share};
    if (i == 5) step.events = {EventKind::preempt};
    if (i == 5 && spec.seqs.size() > 1) step.preempted.push_back(spec.seqs[1].id);
    if (i + 1 == spec.num_steps) step.finished = step.scheduled;
    history->push_back(step);
  }
  return history;
}

Sample finish(const Spec& spec, Sample sample) {
  sample.manifest = std::make_shared<trace::Manifest>();
  sample.manifest->scenario_name = "same-beginning";
  sample.manifest->model = {
      "shakespeare-1m", "LlamaForCausalLM", spec.layers, spec.heads, 2, 16, 128, 1024, DType::f32, 0.25F};
  sample.manifest->device = "SIMT emulator";
  sample.manifest->request_labels = {"A", "B", "C"};
  sample.frame.manifest = sample.manifest.get();
  sample.frame.step = sample.step;
  sample.frame.attention = sample.attention;
  sample.frame.live = spec.live;
  sample.frame.engine_has_work = spec.live;
  sample.frame.device = "SIMT emulator, 2 threads";
  for (const char* word : kWords) sample.frame.token_texts.emplace_back(word);
  return sample;
}

trace::CompareSide side_of(const Sample& sample, const trace::Variant& variant, std::uint64_t bytes) {
  trace::CompareSide side;
  side.variant = variant;
  side.text = trace::variant_text(variant, *sample.step, sample.manifest->model, sample.frame.traits);
  side.view = sample.attention;
  side.launches = {
      {trace::Stage::gather, 0, {.kernel = "gather_kv_kernel<float>", .grid = {}, .block = {}}},
      {trace::Stage::attention, 0, {.kernel = "decode_l2_tiled_kernel<float>", .grid = {}, .block = {}}}};
  side.bytes = bytes;
  side.flop = 1000;
  side.ms = NAN;
  return side;
}

}  // namespace

Sample make(const Spec& spec) {
  Sample sample;
  sample.step = std::make_shared<trace::StepRecord>();
  trace::StepRecord& step = *sample.step;
  step.step = spec.index + 1;
  step.kind = spec.kind;
  step.path = spec.path;
  step.paged = reads_cache(step);
  step.config.block_size = spec.block_size;
  step.config.num_blocks = spec.num_blocks;
  fill_batch(step, spec);
  fill_pool(step, spec);
  fill_stages(step, spec);
  sample.attention = attention_of(step, spec);
  sample.frame.index = spec.index;
  sample.frame.num_steps = spec.num_steps;
  sample.frame.history = history_of(spec);
  return finish(spec, std::move(sample));
}

Sample prefill() {
  return make(
      {.path = AttentionPath::prefill_gather_flatten,
       .seqs = {{1, 12, 12, 8, 4, {5, 2, 11}}, {2, 7, 7, 0, 7, {0, 8}}, {0, 10, 11, 10, 0, {5, 2, 9}}}});
}

Sample padded_decode() {
  return make({.kind = StepKind::decode,
               .path = AttentionPath::decode_gather_padded,
               .seqs = {{0, 10, 18, 17, 1, {5, 2, 9, 3, 14}},
                        {1, 12, 14, 13, 1, {5, 2, 11, 7}},
                        {2, 7, 9, 8, 1, {0, 8, 4}}},
               .index = 8,
               .num_steps = 14});
}

Sample many(int count, int tokens, int block_size, StepKind kind, int first_id) {
  Spec spec;
  spec.kind = kind;
  spec.path = kind == StepKind::decode ? AttentionPath::decode_gather_padded : AttentionPath::prefill_packed;
  spec.block_size = block_size;
  spec.heads = tokens > 1000 ? 1 : 4;
  const int blocks_each = (tokens + block_size - 1) / block_size;
  spec.num_blocks = count * blocks_each;
  spec.num_steps = 400;
  spec.index = 200;
  for (int s = 0; s < count; ++s) {
    Seq seq{first_id + s,
            tokens,
            tokens,
            kind == StepKind::decode ? tokens - 1 : 0,
            kind == StepKind::decode ? 1 : tokens,
            {}};
    seq.table.resize(static_cast<std::size_t>(blocks_each));
    std::iota(seq.table.begin(), seq.table.end(), s * blocks_each);
    spec.seqs.push_back(std::move(seq));
  }
  return make(spec);
}

Sample compared(Sample sample) {
  auto compare = std::make_shared<trace::CompareView>();
  const trace::AttentionView& view = *sample.attention;
  const bool decode = sample.step->path >= trace::AttentionPath::decode_paged;
  compare->a = side_of(sample, {}, 1000);
  compare->b = side_of(sample,
                       decode ? trace::Variant{.path = trace::AttentionPath::decode_gather_masked}
                              : trace::Variant{.level = 1},
                       3400);
  compare->max_abs_diff_o.assign(static_cast<std::size_t>(view.num_heads * view.num_q), 0.001F);
  compare->worst = 0.25;
  compare->worst_head = 2;
  compare->worst_row = view.num_q - 1;
  compare->max_abs_diff_o[view.at(2, view.num_q - 1, 1, 0)] = 0.25F;
  compare->rows = view.num_q;
  sample.frame.compare = compare;
  return sample;
}

Sample measured(Sample sample) {
  const bool decode = sample.step->kind == StepKind::decode;
  MachineView machine{.device = "NVIDIA H200",
                      .file = "bench.json",
                      .ceilings = {.read_gbs = 4580.0,
                                   .copy_gbs = 3971.0,
                                   .matmul_tflops = 809.0,
                                   .fp32_tflops = 64.9,
                                   .exp_tps = 4.17,
                                   .launch_us = 0.56},
                      .levels = {}};
  const auto add = [&](const char* name, bool of_decode, int level, double us, double flop, double bytes) {
    machine.levels.push_back({name, of_decode, level, us, flop, bytes, flop / 512.0, level == 1 ? 3 : 1});
  };
  add("prefill B4 S4096 H32/8 D128, packed", false, 4, 971.0, 550e9, 338e6);
  add("prefill B4 S4096 H32/8 D128, packed", false, 3, 1542.0, 550e9, 338e6);
  add("prefill B4 S4096 H32/8 D128, packed", false, 2, 56'662.0, 550e9, 338e6);
  add("prefill B8 S2048 H16/8 D64, packed", false, 1, 99'179.0, 69e9, 21e9);
  add("decode B64 ctx8192 H32/8 D128, paged 16", true, 3, 474.0, 8.6e9, 2.15e9);
  add("decode B64 ctx8192 H32/8 D128, paged 16", true, 2, 2520.0, 8.6e9, 2.15e9);
  add("decode B64 ctx8192 H32/8 D128, paged 16", true, 1, 16'616.0, 8.6e9, 9.1e9);
  sample.frame.machine = std::make_shared<const MachineView>(machine);
  sample.attention->levels.push_back(
      {3, decode ? "decode_l3_kernel" : "prefill_l3_kernel", 48'128, 180'000, 2800, 1});
  if (!decode) sample.attention->levels.push_back({4, "prefill_l4_kernel<float>", 48'128, 180'000, 2800, 1});
  return sample;
}

Sample empty() {
  Spec spec;
  Sample sample = finish(spec, {});
  sample.frame.index = 0;
  sample.frame.num_steps = 0;
  return sample;
}

}  // namespace attn::viz::sample
