// Permutations that depend on a seed alone, not on the standard library's choice of algorithm.
#pragma once

#include <cstdint>
#include <utility>

namespace attn::simt {

/// splitmix64 (Steele, Lea, Flood 2014) with a Fisher-Yates shuffle.
class RandomOrder {
 public:
  RandomOrder(std::uint64_t seed, std::uint64_t stream) : state_(seed * 0x9E3779B97F4A7C15ULL + stream) {
    next();
  }

  template <class T>
  void shuffle(T* begin, std::uint64_t count) {
    for (std::uint64_t i = count; i > 1; --i) std::swap(begin[i - 1], begin[next() % i]);
  }

 private:
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
  }

  std::uint64_t state_;
};

}  // namespace attn::simt
