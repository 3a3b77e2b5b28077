// A device is where kernels run: the GPU or the SIMT emulator. Both can live in one process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/common/check.h"
#include "kernels/kernels.h"

namespace attn {

enum class DeviceKind : std::uint8_t { simt, cuda };

/// Launches that were captured once and run again with the arguments they had: between replays only what
/// their pointers lead to can change. A cudaGraph on the GPU, a list of launches on the emulator.
class Graph {
 public:
  virtual ~Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  /// Appends the launches to the device's log in the order of their capture; `ms` of each is measured on the
  /// emulator only, where they run one by one.
  virtual void replay() = 0;

 protected:
  Graph() = default;
};

/// Memory, launchers and matrix products of one device. Not thread-safe: one thread uses a Device at
/// a time (the engine and the inspector each own one).
class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  virtual DeviceKind kind() const = 0;
  virtual std::string name() const = 0;  // "NVIDIA H200" or "SIMT emulator (2 threads)"
  const DeviceTraits& traits() const { return context_.traits; }

  /// New memory is filled with NaN bytes (0xFF) so that a read of what nobody wrote shows.
  virtual void* allocate(std::size_t bytes, std::string_view label) = 0;
  virtual void deallocate(void* pointer) noexcept = 0;
  virtual void upload(void* device, const void* host, std::size_t bytes) = 0;
  virtual void download(void* host, const void* device, std::size_t bytes) = 0;
  virtual void copy(void* device_to, const void* device_from, std::size_t bytes) = 0;
  virtual void fill(void* device, unsigned char byte, std::size_t bytes) = 0;
  /// Waits for all launches; throws DeviceError for a kernel fault.
  virtual void synchronize() = 0;

  virtual const Kernels& kernels() const = 0;
  /// cuBLAS on the GPU, OpenBLAS on the emulator; appends a LaunchRecord named "matmul".
  virtual void matmul(const MatmulParams& params) = 0;

  /// From here to end_capture() launches, matmul, copy and fill are noted instead of run. Nothing else of
  /// this device may be used in between (no allocation, transfer or synchronize): run the same work once
  /// before, so that every buffer has its size. Throws DeviceError.
  virtual void begin_capture() = 0;
  /// The device and the memory that was captured outlive the graph. Throws DeviceError when something in the
  /// capture was not allowed.
  virtual std::unique_ptr<Graph> end_capture() = 0;

  LaunchContext& context() { return context_; }

 protected:
  Device() = default;
  LaunchContext context_;
};

/// Order in which the emulator runs the threads of a block, the warps, and the blocks.
enum class SimtOrder : std::uint8_t { forward, reverse, shuffled };

struct SimtOptions {
  SimtOrder order = SimtOrder::forward;
  std::uint64_t seed = 0;  // for shuffled
  int num_threads = 0;     // OS threads; 0 = all cores
  bool strict = false;     // guard zones checked at every thread switch: slow, names the thread
};

std::unique_ptr<Device> make_simt_device(const SimtOptions& options = {});
/// Throws DeviceError saying why when there is no usable GPU or the CUDA backend is not built.
std::unique_ptr<Device> make_cuda_device();
bool cuda_backend_built();

enum class DeviceChoice : std::uint8_t { automatic, cuda, simt };
struct DevicePick {
  std::unique_ptr<Device> device;
  std::string note;  // why automatic fell back to the emulator; empty when it did not
};
DevicePick make_device(DeviceChoice choice);

/// A capture that ends with its scope, whatever happens in it.
class Capture {
 public:
  explicit Capture(Device& device) : device_(&device) { device.begin_capture(); }
  ~Capture() {
    if (!device_) return;
    try {
      device_->end_capture();
    } catch (const DeviceError&) {  // the error that cut the capture short is already on its way
    }
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  std::unique_ptr<Graph> finish() { return std::exchange(device_, nullptr)->end_capture(); }

 private:
  Device* device_;
};

/// Device memory with an owner. Moves, never copies.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Device& device, std::size_t bytes, std::string_view label)
      : device_(&device), pointer_(bytes ? device.allocate(bytes, label) : nullptr), bytes_(bytes) {}
  ~Buffer() { reset(); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  template <class T = void>
  T* as() const {
    return static_cast<T*>(pointer_);
  }
  std::size_t bytes() const { return bytes_; }
  explicit operator bool() const { return pointer_ != nullptr; }

  template <class T>
  void upload(const std::vector<T>& host) {
    device_->upload(pointer_, host.data(), host.size() * sizeof(T));
  }
  template <class T>
  std::vector<T> download() const {
    std::vector<T> host(bytes_ / sizeof(T));
    if (!host.empty()) device_->download(host.data(), pointer_, host.size() * sizeof(T));
    return host;
  }
  void reset() noexcept {
    if (pointer_) device_->deallocate(pointer_);
    device_ = nullptr;
    pointer_ = nullptr;
    bytes_ = 0;
  }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(pointer_, other.pointer_);
    std::swap(bytes_, other.bytes_);
  }
  Device* device_ = nullptr;
  void* pointer_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace attn
