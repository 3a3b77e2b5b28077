// Costs in words: of one step, and prefill against decode over the run so far. What the costs panel and the
// text twin both say. All numbers are launch records and recorded batches; what is arithmetic instead says
// "by formula".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viz/frame.h"

namespace attn::viz {

/// 1,234,567.
std::string count_text(std::uint64_t count);
/// "1.23 MFLOP".
std::string flop_text(std::uint64_t flop);
/// "0.042 ms", or "not measured".
std::string time_text(float ms);
/// FLOP per byte moved, "-" without bytes.
std::string intensity_text(const trace::Cost& cost);

struct CostFact {
  const char* name;  // of its mark
  std::string label;
  std::string value;
  std::string source;
};
/// Of the step on screen.
std::vector<CostFact> step_facts(const Frame& frame, const trace::StepCosts& costs);

struct PhaseLine {
  const char* name;  // of its mark
  std::string label;
  std::string prefill;
  std::string decode;
  std::string source;
  bool by_formula = false;
  bool in_words = false;
};
/// Prefill beside decode, steps up to and including the one on screen: numbers, then what is said in words.
/// Empty while not summed up. A line and a fact of the step that count the same have the same name.
std::vector<PhaseLine> phase_lines(const Frame& frame);

/// Of the run so far: score dots and K/V rows with the cache, and what the same tokens would need without
/// one.
struct CacheGain {
  std::uint64_t dots = 0, dots_uncached = 0;  // per head
  std::uint64_t rows = 0, rows_uncached = 0;  // K/V rows computed
  bool known = false;
};
CacheGain cache_gain(const Frame& frame);

}  // namespace attn::viz
