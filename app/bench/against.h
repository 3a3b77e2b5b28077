// What peer_bench.py measured, beside ours.
#pragma once

#include <string>
#include <vector>

#include "app/bench/cases.h"
#include "app/bench/report.h"

namespace attn::app {

struct PeerRow {
  std::string section, name, implementation;
  double ms = 0.0;
};

struct PeerBench {
  std::string device;         // "" when the file names none
  std::vector<PeerRow> rows;  // that were measured and gave the right answer
};

/// Reads peer_bench.json. Throws InputError naming `source`: what is wrong and what to give instead.
PeerBench peers_from_json(const std::string& text, const std::string& source);

/// Why ratios to peers of another GPU than `device` do not compare like with like.
std::string measured_elsewhere(const PeerBench& bench, const std::string& device);

/// Times of those that did this work, fastest first.
std::vector<PeerTime> peers_of(const PeerBench& bench, const PeerKey& key);

}  // namespace attn::app
