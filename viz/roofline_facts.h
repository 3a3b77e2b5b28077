// The arithmetic of the roofline: how long a piece of work must take at least, and what makes it so. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "viz/frame.h"

namespace attn::viz {

/// What can bind an attention kernel.
enum class Bound : unsigned char { memory, tensor_cores, cuda_cores, exp, launch };
inline constexpr int kNumBounds = 5;
std::string_view bound_text(Bound bound);

struct KernelWork {
  double flop = 0.0;
  double bytes = 0.0;
  double exps = 0.0;
  int launches = 0;
  bool tensor_cores = false;  // else its products run on CUDA cores

  double intensity() const { return bytes > 0.0 ? flop / bytes : 0.0; }  // FLOP per byte
};
/// Level 3 is the first whose products are the tensor cores'.
constexpr bool on_tensor_cores(int level) { return level >= 3; }

/// Microseconds that one ceiling alone would take; 0 when that ceiling is not measured, or not this work's.
double floor_us(Bound bound, const KernelWork& work, const Ceilings& ceilings);
/// The longest of them, and whose it is.
struct Floor {
  Bound bound = Bound::memory;
  double us = 0.0;
};
Floor floor_of(const KernelWork& work, const Ceilings& ceilings);
double tflops(const KernelWork& work, double us);

/// One level in the picture.
struct RooflineLevel {
  int level = 0;
  std::string name;    // "tiled"
  std::string idea;    // one line
  std::string kernel;  // of this op; "" for one that the bench measured
  KernelWork work;
  bool ran = false;          // the step ran at it
  double measured_us = 0.0;  // of the bench; 0: not measured
};

struct Roofline {
  bool decode = false;
  std::string op;                    // decode, step 5, layer 2, paged, 3 sequences
  std::vector<RooflineLevel> here;   // of this op, ascending
  std::string absent;                // levels that this op does not have, and why; "" none
  std::vector<RooflineLevel> bench;  // of the bench case beside it, ascending
  std::string bench_name;            // the case of this op nearest to it in FLOP and bytes; "" none
  Ceilings ceilings;                 // all 0: not measured on this machine
  std::string device;                // that they are of
  std::string note;                  // what is not there and what to do; "" when all is
};

/// Why there is nothing to show, or "".
std::string roofline_missing(const Frame& frame);
/// PRECOND: roofline_missing gave "".
Roofline roofline_of(const Frame& frame);

/// "read at level 2, the step ran level 3": what must be said beside numbers of a probe that stood in for the
/// kernel that the step ran; "" when the probe is in that very kernel.
std::string probe_note(const Frame& frame);
/// The note, when there is one, and then `text`.
std::string with_probe_note(const Frame& frame, std::string text, std::string_view between = "  \xC2\xB7  ");

}  // namespace attn::viz
