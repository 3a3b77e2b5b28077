// Online softmax: the exact softmax-weighted sum of values, with the keys taken in bites.
//
// After any number of keys with scores s_j and values v_j the state says
//     m = max s_j        l = sum exp(s_j - m)        o = sum exp(s_j - m) v_j   (kept by the owner)
// A new tile may raise the maximum. Everything accumulated so far was measured against the old one, so it
// is rescaled by alpha = exp(m_old - m_new); then the tile is added. l * exp(m) = sum exp(s_j) holds after
// every tile, whatever the order of the tiles. At the end o / l is the attention output and
// lse = m + log(l) is the natural logarithm of the sum of all exp(s_j).
//
// A finished partial result (o / l, lse) behaves like one single key with score lse and value o / l. That is
// why merging split-KV partials is this same algorithm run over the splits (see merge_states.cuh).
//
// Sources: Milakov & Gimelshein 2018 (online normaliser), FlashAttention (Dao et al. 2022); the struct with
// init / merge / normalize is an idea of flashinfer's state_t.
#pragma once

#include <math.h>  // defines: expf, logf, fmaxf, INFINITY, in the global namespace for nvcc too

#include "kernels/common/host_device.h"

namespace attn {

struct OnlineSoftmax {
  float m = -INFINITY;  // running maximum; -inf = no key seen yet, o is 0
  float l = 0.0F;       // running sum of exp(s - m)

  /// Raises the maximum to cover a tile. Returns alpha, which the owner multiplies its o by.
  ///   first tile:  m_old = -inf, alpha = exp(-inf) = 0: there was nothing to keep.
  ///   empty tile:  tile_max = -inf leaves m as it is, alpha = 1. Guarded, since -inf - -inf is NaN.
  ATTN_HD float raise(float tile_max) {
    const float m_old = m;
    m = fmaxf(m, tile_max);
    return m == m_old ? 1.0F : expf(m_old - m);
  }

  /// Unnormalised weight of a key: in [0, 1] once raise() has covered it. A masked key (score -inf)
  /// weighs 0 even while m is -inf itself, where exp(-inf - -inf) would be NaN.
  ATTN_HD float weight(float score) const { return score == -INFINITY ? 0.0F : expf(score - m); }

  /// Adds a tile's sum of weights after raise() returned alpha.
  ATTN_HD void add(float alpha, float tile_sum) { l = l * alpha + tile_sum; }

  /// Joins the state of other keys. Returns what the two owners' o must be multiplied by before they are
  /// added. Empty states are neutral on either side; two empties stay empty (0, -inf), never NaN.
  struct Scales {
    float mine, other;
  };
  ATTN_HD Scales merge(const OnlineSoftmax& other) {
    const float mine = raise(other.m);
    const float theirs = weight(other.m);  // exp(m_other - m): 0 for an empty one
    add(mine, theirs * other.l);
    return {mine, theirs};
  }

  /// What o is multiplied by at the end: 1 / l. Without any key o is 0 and stays 0 (no 0 / 0).
  ATTN_HD float normalizer() const { return l == 0.0F ? 1.0F : 1.0F / l; }

  /// Natural log of the sum of exp(s). -inf for a row without a key: neutral when merged
  /// (flash-attention writes +inf there, which must be turned into -inf before merging).
  ATTN_HD float lse() const { return l == 0.0F ? -INFINITY : m + logf(l); }
};

}  // namespace attn
