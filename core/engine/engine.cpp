#include "core/engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

#include "core/engine/model_runner.h"
#include "core/engine/poison.h"
#include "core/engine/prepare.h"
#include "core/engine/scheduler.h"
#include "core/model/transformer.h"
#include "core/trace/state_hash.h"
#include "kernels/common/check.h"

namespace attn {

using trace::EventKind;
using trace::StepKind;
using trace::StepRecord;

namespace {

struct Pending {
  int id;
  Request request;
};

EngineConfig resolve(EngineConfig config, const Transformer* transformer) {
  config.validate();
  if (!config.kv_cache) config.prefix_caching = false;  // it lives in the same cache
  if (transformer == nullptr) return config;
  const int limit = transformer->config().max_position_embeddings;
  if (config.max_model_len == 0 || config.max_model_len > limit) config.max_model_len = limit;
  return config;
}

/// Whatever else is alive, this sampling can never be done; nothing if it can.
std::optional<std::string> why_not(const SamplingParams& sampling) {
  if (sampling.max_tokens < 1) return fmt::format("max_tokens is {}; use 1 or more", sampling.max_tokens);
  if (!(sampling.temperature >= 0.0F) || std::isinf(sampling.temperature)) {
    return fmt::format("temperature is {}; use 0 (greedy) or more", sampling.temperature);
  }
  if (sampling.top_k < 0) return fmt::format("top_k is {}; use 0 (off) or more", sampling.top_k);
  if (!(sampling.top_p > 0.0F && sampling.top_p <= 1.0F)) {
    return fmt::format("top_p is {}; use more than 0 and at most 1 (off)", sampling.top_p);
  }
  return std::nullopt;
}

}  // namespace

std::int32_t fake_token(int seq_id, int position) { return 1000 * (seq_id + 1) + position; }

struct Engine::State {
  State(Device& device, Transformer* model, const EngineConfig& resolved, TokenText text)
      : config(resolved),
        transformer(model),
        token_text(std::move(text)),
        scheduler(config, model ? model->config().eos_token_ids : std::vector<std::int32_t>{}, log) {
    if (model) runner = std::make_unique<ModelRunner>(device, *model, config);
    if (runner && !config.warmup) runner->allocate_kv_cache();
  }

  std::shared_ptr<StepRecord> open_record(StepKind kind) const;
  void admit_due_requests();
  void admit(Pending pending);
  std::optional<std::string> why_impossible(const Request& request) const;
  void run(const std::vector<SequencePtr>& seqs, StepRecord& record);
  void close(StepRecord& record);
  std::vector<SequencePtr> in_record_order(const std::vector<SequencePtr>& scheduled) const;
  std::shared_ptr<const StepRecord> warm_up();
  void note_texts(StepRecord& record);

  EngineConfig config;
  Transformer* transformer;
  TokenText token_text;
  StepLog log;
  Scheduler scheduler;
  std::optional<Schedule> at_hand;  // of the step that is computed; still there when it was stopped
  std::unique_ptr<ModelRunner> runner;
  std::deque<Pending> pending;  // by at_step, then by id
  int next_id = 0;
  int steps_run = 0;
  bool warmed_up = false;
  std::unordered_set<std::int32_t> seen_tokens;
};

Engine::Engine(Device& device, Transformer* transformer, EngineConfig config, TokenText token_text)
    : state_(std::make_unique<State>(device, transformer, resolve(std::move(config), transformer),
                                     std::move(token_text))) {}

Engine::~Engine() = default;

const EngineConfig& Engine::config() const { return state_->config; }

trace::ModelShape Engine::model_shape() const {
  return state_->transformer ? shape_of(state_->transformer->config()) : trace::ModelShape{};
}

int Engine::add_request(Request request) {
  auto& pending = state_->pending;
  const auto later = std::ranges::upper_bound(pending, request.at_step, {},
                                              [](const Pending& p) { return p.request.at_step; });
  pending.insert(later, {state_->next_id, std::move(request)});
  return state_->next_id++;
}

void Engine::record_logits(bool on) {
  if (state_->runner) state_->runner->record_logits(on);
}

void Engine::watch(StepWatch watch) {
  if (state_->runner) state_->runner->watch(std::move(watch));
}

int Engine::next_entry() const { return state_->steps_run + (state_->at_hand ? 1 : 0); }

bool Engine::has_work() const {
  const bool warmup_due = state_->config.warmup && !state_->warmed_up;
  return warmup_due || !state_->pending.empty() || !state_->scheduler.is_finished();
}

std::shared_ptr<const StepRecord> Engine::step() {
  ATTN_CHECK(has_work(), "step() without work");
  State& s = *state_;
  if (s.config.warmup && !s.warmed_up) return s.warm_up();
  if (!s.at_hand) {
    s.admit_due_requests();
    s.at_hand = s.scheduler.schedule();
  }
  const Schedule& schedule = *s.at_hand;
  const auto record = s.open_record(schedule.is_prefill ? StepKind::prefill : StepKind::decode);
  const std::vector<SequencePtr> alive = s.in_record_order(schedule.seqs);
  record->num_scheduled = static_cast<int>(schedule.seqs.size());
  for (const SequencePtr& seq : alive) record->seqs.push_back(snapshot(*seq));
  schedule.is_prefill ? prepare_prefill(schedule.seqs, *record) : prepare_decode(schedule.seqs, *record);
  s.run(schedule.seqs, *record);
  std::vector<std::int32_t> token_ids;
  for (const trace::Sampled& sampled : record->sampled) token_ids.push_back(sampled.token_id);
  s.scheduler.postprocess(schedule, token_ids);
  for (const SequencePtr& seq : alive) record->seqs_after.push_back(snapshot(*seq));
  s.at_hand.reset();
  s.close(*record);
  return record;
}

std::shared_ptr<StepRecord> Engine::State::open_record(StepKind kind) const {
  auto record = std::make_shared<StepRecord>();
  record->step = kind == StepKind::warmup ? 0 : steps_run + 1;
  record->kind = kind;
  record->config = config;
  return record;
}

void Engine::State::admit_due_requests() {
  do {
    const bool idle = scheduler.is_finished() && !pending.empty();
    const int clock = idle ? std::max(steps_run, pending.front().request.at_step) : steps_run;
    while (!pending.empty() && pending.front().request.at_step <= clock) {
      admit(std::move(pending.front()));
      pending.pop_front();
    }
  } while (scheduler.is_finished() && !pending.empty());  // all of them were impossible
}

void Engine::State::admit(Pending entry) {
  if (const auto reason = why_impossible(entry.request)) {
    log.reject(entry.id, *reason);
    return;
  }
  Request& request = entry.request;
  log.add(EventKind::admit, entry.id, -1,
          fmt::format("Sequence {} enters the waiting queue with {} tokens.", entry.id,
                      request.token_ids.size()));
  scheduler.add(std::make_shared<Sequence>(entry.id, std::move(request.token_ids), request.sampling,
                                           config.block_size));
}

std::optional<std::string> Engine::State::why_impossible(const Request& request) const {
  const auto num_tokens = static_cast<std::int64_t>(request.token_ids.size());
  if (num_tokens == 0) return "the prompt has no tokens; give it at least one";
  const std::int64_t vocab =
      transformer ? transformer->config().vocab_size : std::numeric_limits<std::int32_t>::max();
  for (const std::int32_t id : request.token_ids) {
    if (id < 0 || id >= vocab) {
      return fmt::format("token id {} is outside the vocabulary; use 0 to {}", id, vocab - 1);
    }
  }
  if (const auto reason = why_not(request.sampling)) return reason;
  if (config.max_model_len > 0 && num_tokens > config.max_model_len) {
    return fmt::format("the prompt has {} tokens and max_model_len is {}; shorten it", num_tokens,
                       config.max_model_len);
  }
  const std::int64_t blocks = (num_tokens + config.block_size - 1) / config.block_size;
  if (blocks > config.num_blocks) {
    return fmt::format(
        "the prompt has {} tokens and needs {} blocks of {} tokens but the pool has {}; shorten it "
        "or raise num_blocks",
        num_tokens, blocks, config.block_size, config.num_blocks);
  }
  return std::nullopt;
}

std::vector<SequencePtr> Engine::State::in_record_order(const std::vector<SequencePtr>& scheduled) const {
  std::vector<SequencePtr> order = scheduled;
  const auto add_others = [&](const std::deque<SequencePtr>& queue) {
    for (const SequencePtr& seq : queue) {
      if (std::ranges::find(scheduled, seq) == scheduled.end()) order.push_back(seq);
    }
  };
  add_others(scheduler.running());
  add_others(scheduler.waiting());
  return order;
}

/// Forward and sampling; in bookkeeping-only mode the samples are fake. Fills path and sampled.
void Engine::State::run(const std::vector<SequencePtr>& seqs, StepRecord& record) {
  record.path = select_path(record);
  if (seqs.empty()) return;
  if (runner) {
    record.sampled = runner->run(seqs, record);
  } else {
    for (const SequencePtr& seq : seqs) {
      const int position = seq->num_cached_tokens + seq->num_scheduled_tokens;
      record.sampled.push_back({.seq_id = seq->seq_id,
                                .token_id = fake_token(seq->seq_id, position),
                                .text = {},
                                .top_logits = {}});
    }
  }
  for (std::size_t i = 0; i < seqs.size(); ++i) {
    record.sampled[i].discarded = record.kind == StepKind::warmup || !completes(*seqs[i]);
    if (token_text) record.sampled[i].text = token_text(record.sampled[i].token_id);
  }
  note_poison(record, log);
}

void Engine::State::close(StepRecord& record) {
  if (record.kind != StepKind::warmup) ++steps_run;
  log.move_to(record);
  scheduler.block_manager().snapshot(record);
  note_texts(record);
  record.state_hash = trace::state_hash(record);
}

void Engine::State::note_texts(StepRecord& record) {
  if (!token_text) return;
  const auto note = [&](std::int32_t id) {
    if (seen_tokens.insert(id).second) record.token_texts.emplace_back(id, token_text(id));
  };
  for (const trace::SeqState& seq : record.seqs_after) std::ranges::for_each(seq.token_ids, note);
  for (const trace::Sampled& sampled : record.sampled) {
    note(sampled.token_id);
    for (const auto& [id, logit] : sampled.top_logits) note(id);
  }
}

/// nano-vllm's warmup_model: as many sequences of zeros as one prefill step can hold, run before there is a
/// K/V pool, so nothing is stored and attention reads the packed tensors (or, under the gather variant's
/// guard, returns q). They have ids -1, -2, ... and leave nothing behind.
std::shared_ptr<const StepRecord> Engine::State::warm_up() {
  const auto record = open_record(StepKind::warmup);
  const int budget = config.max_num_batched_tokens;
  const int seq_len = config.max_model_len > 0 ? std::min(budget, config.max_model_len) : budget;
  std::vector<SequencePtr> seqs;
  for (int i = 0; i < std::min(budget / seq_len, config.max_num_seqs); ++i) {
    const std::vector<std::int32_t> zeros(static_cast<std::size_t>(seq_len), 0);
    seqs.push_back(std::make_shared<Sequence>(-1 - i, zeros, SamplingParams{}, config.block_size));
    seqs.back()->num_scheduled_tokens = seq_len;
    record->seqs.push_back(snapshot(*seqs.back()));
  }
  record->num_scheduled = static_cast<int>(seqs.size());
  prepare_prefill(seqs, *record);
  run(seqs, *record);
  if (runner) runner->allocate_kv_cache();
  warmed_up = true;
  record->seqs_after = record->seqs;
  for (trace::SeqState& seq : record->seqs_after) {
    seq.status = trace::SeqStatus::finished;
    seq.num_scheduled_tokens = 0;
  }
  close(*record);
  return record;
}

}  // namespace attn
