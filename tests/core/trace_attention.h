// A double-precision attention to hold the inspector and tensor cases against, and records to inspect.
#pragma once

#include <memory>
#include <vector>

#include "core/trace/names.h"
#include "core/trace/step_record.h"
#include "core/trace/trace_file.h"
#include "kernels/device.h"

namespace attn::trace::test {

/// One sequence: its queries follow each other in q; keys and values as rows of Hkv * D.
struct ReferenceSeq {
  int q_len = 0;
  std::vector<std::vector<float>> k, v;
};

struct ReferenceShape {
  int num_heads = 0;
  int num_kv_heads = 0;
  int head_dim = 0;
  double scale = 0.0;
  MaskAlignment mask = MaskAlignment::bottom_right;
  HeadMap head_map = HeadMap::grouped;
};

struct Reference {
  std::vector<double> o;        // [Nq, H, D]
  std::vector<double> lse;      // [H, Nq]
  std::vector<double> weights;  // [H, Nq, max_k], 0 where hidden
};

Reference reference_attention(const std::vector<float>& q, const std::vector<ReferenceSeq>& seqs,
                              const ReferenceShape& shape);

/// Largest difference at most `tolerance` times the largest reference value; infinities must match.
void expect_near(const std::vector<float>& values, const std::vector<double>& reference, double tolerance);

}  // namespace attn::trace::test
