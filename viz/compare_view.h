// What the compare panel remembers between frames.
#pragma once

#include "core/trace/compare.h"
#include "viz/attention_views.h"

namespace attn::viz {

struct CompareViews {
  trace::Variant a, b;   // compared last, or asked for
  int open_list = -1;    // side whose list of variants is open: 0 A, 1 B, -1 none
  int asked_for = -1;    // step index for which a comparison was begun without being told to
  MatrixView matrix[2];  // of the two pictures
  DecodeView decode[2];
};

}  // namespace attn::viz
