// Frames for looking at and testing the viewer: bookkeeping that is consistent with itself, and attention
// weights from a plain softmax over invented scores, so that sums, pads and lse fit together.
#pragma once

#include <memory>
#include <vector>

#include "viz/frame.h"

namespace attn::viz::sample {

struct Seq {
  int id = 0;
  int prompt = 8;     // tokens of the prompt
  int tokens = 8;     // known when the step runs
  int cached = 0;     // K/V in the cache before the step
  int scheduled = 8;  // 0: alive, not in this step
  std::vector<std::int32_t> table;
};

struct Spec {
  trace::StepKind kind = trace::StepKind::prefill;
  trace::AttentionPath path = trace::AttentionPath::prefill_packed;
  int block_size = 4;
  int num_blocks = 16;
  int layers = 4;
  int heads = 8;
  std::vector<Seq> seqs;  // scheduled ones first
  int index = 1;
  int num_steps = 12;
  bool live = true;
  int k_tile = 4;
  int num_splits = 1;  // of a decode
};

/// A frame and what its pointers point to.
struct Sample {
  std::shared_ptr<trace::Manifest> manifest;
  std::shared_ptr<trace::StepRecord> step;
  std::shared_ptr<trace::AttentionView> attention;
  Frame frame;
};

Sample make(const Spec& spec);

/// B shares 8 tokens with A and is prefilled together with C, through gather and flatten; A has run before.
Sample prefill();
/// A, B and C decode together by gather with zero padding that is attended.
Sample padded_decode();
/// `count` sequences of `tokens` keys each, one step of the kind.
Sample many(int count, int tokens, int block_size, trace::StepKind kind, int first_id = 0);
/// With a comparison of the step: B moves 3.4 times the bytes, head 2 of the last row is the worst.
Sample compared(Sample sample);
/// On a machine that the bench measured, with every level of the kernels; the step ran at level 2.
Sample measured(Sample sample);
/// No step yet.
Sample empty();

}  // namespace attn::viz::sample
