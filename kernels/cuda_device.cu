// The GPU as a Device: cudart memory, one stream, cuBLAS for matrix products.
#include <cublas_v2.h>

#include "kernels/common/cuda_text.h"
#include "kernels/cuda_parts.h"
#include "kernels/device.h"

namespace attn {
namespace {

using on_cuda::cuda_check;

constexpr int kNanByte = 0xFF;  // every dtype of ours reads it as NaN

void cublas_check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw DeviceError(fmt::format("cuBLAS: {} ({})", cublasGetStatusString(status), what));
  }
}

constexpr std::size_t kCublasWorkspaceBytes = std::size_t{32} << 20U;  // what cuBLAS recommends for Hopper

cudaDataType_t cublas_type(DType dtype) {
  if (dtype == DType::f32) return CUDA_R_32F;
  return dtype == DType::f16 ? CUDA_R_16F : CUDA_R_16BF;
}

/// Never launched: asking for its attributes tells whether this program holds code for the GPU.
__global__ void probe_kernel() {}

class CudaGraph final : public Graph {
 public:
  /// Takes `graph` over. `context` outlives this.
  CudaGraph(cudaGraph_t graph, LaunchContext& context, std::vector<LaunchRecord> launches)
      : context_(context), launches_(std::move(launches)) {
    const cudaError_t error = cudaGraphInstantiateWithFlags(&executable_, graph, 0);
    cudaGraphDestroy(graph);
    cuda_check(error, "cudaGraphInstantiate");
  }
  ~CudaGraph() override { cudaGraphExecDestroy(executable_); }
  void replay() override {
    context_.throw_if_stopped();
    cuda_check(cudaGraphLaunch(executable_, static_cast<cudaStream_t>(context_.stream)), "cudaGraphLaunch");
    if (context_.log) context_.log->insert(context_.log->end(), launches_.begin(), launches_.end());
  }

 private:
  LaunchContext& context_;
  std::vector<LaunchRecord> launches_;
  cudaGraphExec_t executable_ = nullptr;
};

class CudaDevice final : public Device {
 public:
  CudaDevice() {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) {
      throw DeviceError(fmt::format("CUDA: no usable GPU ({})", cudaGetErrorString(error)));
    }
    if (count == 0) throw DeviceError("CUDA: no GPU found");
    cuda_check(cudaSetDevice(0), "cudaSetDevice");
    cuda_check(cudaGetDeviceProperties(&properties_, 0), "cudaGetDeviceProperties");
    cudaFuncAttributes attributes{};
    if (const cudaError_t missing = cudaFuncGetAttributes(&attributes, probe_kernel);
        missing != cudaSuccess) {
      throw DeviceError(fmt::format("CUDA: {} (compute capability {}.{}) cannot run this build ({})",
                                    properties_.name, properties_.major, properties_.minor,
                                    cudaGetErrorString(missing)));
    }
    cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    const cublasStatus_t status = cublasCreate(&cublas_);
    if (status != CUBLAS_STATUS_SUCCESS) {
      cudaStreamDestroy(stream_);
      cublas_check(status, "cublasCreate");
    }
    cublas_check(cublasSetStream(cublas_, stream_), "cublasSetStream");
    // A workspace of our own: without it cuBLAS would allocate one inside every captured graph.
    cuda_check(cudaMalloc(&cublas_workspace_, kCublasWorkspaceBytes), "cudaMalloc for cuBLAS");
    cublas_check(cublasSetWorkspace(cublas_, cublas_workspace_, kCublasWorkspaceBytes), "cublasSetWorkspace");
    // Full float products: TF32 would round the inputs to 10 bits.
    cublas_check(cublasSetMathMode(cublas_, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");
    context_.stream = stream_;
    context_.traits = {.num_sms = properties_.multiProcessorCount,
                       .shared_bytes = properties_.sharedMemPerBlockOptin,
                       .tensor_cores = properties_.major >= 8,
                       .wgmma = properties_.major == 9 && cuda_parts::hopper_code()};
  }
  ~CudaDevice() override {
    cublasDestroy(cublas_);
    cudaFree(cublas_workspace_);
    cudaStreamDestroy(stream_);
  }

  DeviceKind kind() const override { return DeviceKind::cuda; }
  std::string name() const override { return properties_.name; }

  void* allocate(std::size_t bytes, std::string_view label) override {
    void* pointer = nullptr;
    const cudaError_t error = cudaMalloc(&pointer, bytes);
    if (error != cudaSuccess) {
      cudaGetLastError();  // a failed allocation is not a fault of the next launch
      throw DeviceError(fmt::format("CUDA: {} bytes for '{}' cannot be allocated ({})", bytes, label,
                                    cudaGetErrorString(error)));
    }
    cuda_check(cudaMemsetAsync(pointer, kNanByte, bytes, stream_), "cudaMemset");
    return pointer;
  }
  void deallocate(void* pointer) noexcept override { cudaFree(pointer); }

  void upload(void* device, const void* host, std::size_t bytes) override {
    transfer(device, host, bytes, cudaMemcpyHostToDevice);
  }
  void download(void* host, const void* device, std::size_t bytes) override {
    transfer(host, device, bytes, cudaMemcpyDeviceToHost);
  }
  void copy(void* device_to, const void* device_from, std::size_t bytes) override {
    cuda_check(cudaMemcpyAsync(device_to, device_from, bytes, cudaMemcpyDeviceToDevice, stream_), "copy");
  }
  void fill(void* device, unsigned char byte, std::size_t bytes) override {
    cuda_check(cudaMemsetAsync(device, byte, bytes, stream_), "fill");
  }
  void synchronize() override { cuda_check(cudaStreamSynchronize(stream_), "a kernel failed"); }

  const Kernels& kernels() const override { return cuda_kernels(); }
  void matmul(const MatmulParams& p) override;

  /// ThreadLocal: another thread's device (the inspector) may go on allocating meanwhile.
  void begin_capture() override {
    cuda_check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    outer_log_ = std::exchange(context_.log, &captured_);
    outer_timing_ = std::exchange(context_.timing, false);  // event times need synchronization
  }
  std::unique_ptr<Graph> end_capture() override {
    context_.log = outer_log_;
    context_.timing = outer_timing_;
    std::vector<LaunchRecord> launches = std::exchange(captured_, {});
    cudaGraph_t graph = nullptr;
    const cudaError_t error = cudaStreamEndCapture(stream_, &graph);
    if (error != cudaSuccess) cudaGetLastError();  // the launches after this one are not to blame
    cuda_check(error, "cudaStreamEndCapture");
    return std::make_unique<CudaGraph>(graph, context_, std::move(launches));
  }

 private:
  /// Host memory is pageable, so the copy must be over before the caller goes on.
  void transfer(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    cuda_check(cudaMemcpyAsync(to, from, bytes, kind, stream_), "transfer");
    synchronize();
  }
  /// cuBLAS is column-major: y^T [n, m] = w [n, k] * x^T [k, m].
  void multiply(const MatmulParams& p) {
    const float one = 1.0F, zero = 0.0F;
    const cudaDataType_t type = cublas_type(p.dtype);
    cublas_check(
        cublasGemmEx(cublas_, CUBLAS_OP_T, CUBLAS_OP_N, p.n, p.m, p.k, &one, p.w, type, p.k, p.x, type, p.k,
                     &zero, p.y, p.y_f32 ? CUDA_R_32F : type, p.n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
        "cublasGemmEx");
  }

  cudaDeviceProp properties_{};
  cudaStream_t stream_ = nullptr;
  cublasHandle_t cublas_ = nullptr;
  void* cublas_workspace_ = nullptr;
  std::vector<LaunchRecord> captured_;  // launches of the capture at hand
  std::vector<LaunchRecord>* outer_log_ = nullptr;
  bool outer_timing_ = false;
};

void CudaDevice::matmul(const MatmulParams& p) {
  ATTN_CHECK(p.m >= 0 && p.n >= 0 && p.k > 0, "matmul: m {}, n {}, k {}", p.m, p.n, p.k);
  if (p.m == 0 || p.n == 0) return;
  context_.throw_if_stopped();
  LaunchRecord record;
  record.kernel = "matmul";
  const auto m = static_cast<std::uint64_t>(p.m), n = static_cast<std::uint64_t>(p.n),
             k = static_cast<std::uint64_t>(p.k);
  const std::size_t in_bytes = dtype_size(p.dtype);
  record.bytes = (m * k + n * k) * in_bytes + m * n * (p.y_f32 ? sizeof(float) : in_bytes);
  record.flop = 2 * m * n * k;
  if (context_.timing) {
    record.ms = on_cuda::time_on_stream(stream_, [&] { multiply(p); });
  } else {
    multiply(p);
  }
  if (context_.log) context_.log->push_back(std::move(record));
}

}  // namespace

bool cuda_backend_built() { return true; }

std::unique_ptr<Device> make_cuda_device() { return std::make_unique<CudaDevice>(); }

}  // namespace attn
