// What `attnscope bench` measured on this machine, for the roofline.
#pragma once

#include <string>
#include <vector>

#include "kernels/common/ceilings.h"

namespace attn::viz {

/// One level of one case, as it was measured.
struct MeasuredLevel {
  std::string name;  // "decode B64 ctx8192 H32/8 D128, paged 16"
  bool decode = false;
  int level = 0;
  double us = 0.0;
  double flop = 0.0;
  double bytes = 0.0;  // that its launches count
  double exps = 0.0;
  int launches = 0;
};

struct MachineView {
  std::string device;
  std::string file;  // it was read from
  Ceilings ceilings;
  std::vector<MeasuredLevel> levels;  // cases in order, the levels of one together
};

}  // namespace attn::viz
