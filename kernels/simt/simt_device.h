// The emulator as a Device.
#pragma once

#include "kernels/device.h"
#include "kernels/simt/executor.h"
#include "kernels/simt/guarded_memory.h"
#include "kernels/simt/simt_graph.h"

namespace attn::simt {

class SimtDevice final : public Device {
 public:
  explicit SimtDevice(const SimtOptions& options);

  DeviceKind kind() const override { return DeviceKind::simt; }
  std::string name() const override;

  void* allocate(std::size_t bytes, std::string_view label) override;
  void deallocate(void* pointer) noexcept override;
  void upload(void* device, const void* host, std::size_t bytes) override;
  void download(void* host, const void* device, std::size_t bytes) override;
  void copy(void* device_to, const void* device_from, std::size_t bytes) override;
  void fill(void* device, unsigned char byte, std::size_t bytes) override;
  void synchronize() override { require_no_capture("synchronize"); }  // launches return when they are done

  const Kernels& kernels() const override { return simt_kernels(); }
  void matmul(const MatmulParams& params) override;
  void begin_capture() override;
  std::unique_ptr<Graph> end_capture() override;

 private:
  void multiply(const MatmulParams& params);
  /// A GPU refuses this inside a capture, so the emulator does.
  void require_no_capture(const char* what) const;

  GuardedMemory memory_;
  Executor executor_;
  std::unique_ptr<SimtGraph> capture_;  // being captured, or null
};

}  // namespace attn::simt
