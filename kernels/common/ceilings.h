// Rates that nothing on a machine beats, as `attnscope bench` measures them there.
#pragma once

namespace attn {

/// 0 = not measured (the emulator has none).
struct Ceilings {
  double read_gbs = 0.0;       // memory, bytes read
  double copy_gbs = 0.0;       // memory, bytes read plus bytes written
  double matmul_tflops = 0.0;  // tensor cores: bf16, 8192 x 8192 x 8192
  double fp32_tflops = 0.0;    // CUDA cores: fused multiply-adds in registers
  double exp_tps = 0.0;        // 10^12 exponentials a second
  double launch_us = 0.0;      // an empty kernel among others in a graph
  bool measured() const { return read_gbs > 0.0 && matmul_tflops > 0.0; }
  bool operator==(const Ceilings&) const = default;
};

}  // namespace attn
