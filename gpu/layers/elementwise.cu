#include "gpu/device/launch.h"
#include "gpu/kernels/activation_kernels.h"
#include "gpu/layers/elementwise.h"
#include "gpu/layers/layer.h"
#include "optim/check.h"

namespace gv::gpu {
namespace {

__global__ void relu_kernel(const float* x, float* y, std::size_t count) {
  const std::size_t k = thread_index();
  if (k < count) y[k] = relu(x[k]);
}

/// Uses the output: y is positive exactly if x was.
__global__ void relu_back_kernel(
    const float* y, const float* dy, float* dx, std::size_t count, bool add) {
  const std::size_t k = thread_index();
  if (k < count) put(dx, k, y[k] > 0 ? dy[k] : 0.0F, add);
}

__global__ void gelu_kernel(const float* x, float* y, std::size_t count) {
  const std::size_t k = thread_index();
  if (k < count) y[k] = gelu(x[k]);
}

__global__ void gelu_back_kernel(
    const float* x, const float* dy, float* dx, std::size_t count, bool add) {
  const std::size_t k = thread_index();
  if (k < count) put(dx, k, dy[k] * gelu_slope(x[k]), add);
}

__global__ void add_kernel(
    const float* a, const float* b, float* y, std::size_t count, bool then_relu) {
  const std::size_t k = thread_index();
  if (k >= count) return;
  const float sum = a[k] + b[k];
  y[k] = then_relu ? relu(sum) : sum;
}

__global__ void pass_on_kernel(const float* dy, float* dx, std::size_t count, bool add) {
  const std::size_t k = thread_index();
  if (k < count) put(dx, k, dy[k], add);
}

/// Relu or gelu by itself.
class Activation : public Layer {
 public:
  explicit Activation(const LayerPlan& plan)
      : op_(plan.node.op), elements_(plan.node.out.elements()) {}

  void forward(const Pass& pass) override {
    activate(op_, pass.in, pass.out, pass.rows * elements_, pass.context.stream);
  }
  void backward(const Pass& pass) override {
    if (pass.d_in == nullptr) return;
    go_back_through(op_, op_ == Op::relu ? pass.out : pass.in, pass.d_out, pass.d_in,
                    pass.rows * elements_, pass.add, pass.context.stream);
  }

 private:
  Op op_;
  std::size_t elements_;
};

/// A sum of two values that no other layer computes, and the relu after it.
class Sum : public Layer {
 public:
  explicit Sum(const LayerPlan& plan)
      : elements_(plan.node.out.elements()), then_relu_(plan.then == Op::relu) {}

  void forward(const Pass& pass) override {
    const std::size_t count = pass.rows * elements_;
    launch(add_kernel, count, pass.context.stream, pass.in, pass.in2, pass.out, count, then_relu_);
  }
  void backward(const Pass& pass) override {
    const std::size_t count = pass.rows * elements_;
    const cudaStream_t stream = pass.context.stream;
    if (then_relu_)
      go_back_through(Op::relu, pass.out, pass.d_out, pass.d_out, count, false, stream);
    if (pass.d_in2 != nullptr) pass_on(pass.d_out, pass.d_in2, count, pass.add2, stream);
    if (pass.d_in != nullptr) pass_on(pass.d_out, pass.d_in, count, pass.add, stream);
  }

 private:
  std::size_t elements_;
  bool then_relu_;
};

}  // namespace

void activate(Op op, const float* x, float* y, std::size_t count, cudaStream_t stream) {
  launch(op == Op::relu ? relu_kernel : gelu_kernel, count, stream, x, y, count);
}

void go_back_through(Op op,
                     const float* from,
                     const float* dy,
                     float* dx,
                     std::size_t count,
                     bool add,
                     cudaStream_t stream) {
  const auto kernel = op == Op::relu ? relu_back_kernel : gelu_back_kernel;
  launch(kernel, count, stream, from, dy, dx, count, add);
}

void pass_on(const float* dy, float* dx, std::size_t count, bool add, cudaStream_t stream) {
  if (dx != dy || add) launch(pass_on_kernel, count, stream, dy, dx, count, add);
}

std::unique_ptr<Layer> make_elementwise(const LayerPlan& plan) {
  if (plan.node.op == Op::add) return std::make_unique<Sum>(plan);
  GV_CHECK(plan.node.op == Op::relu || plan.node.op == Op::gelu, "an elementwise op");
  return std::make_unique<Activation>(plan);
}

namespace {

__global__ void bias_kernel(float* y,
                            const float* bias,
                            std::size_t count,
                            std::uint32_t channels,
                            std::uint32_t pixels,
                            bool relu) {
  const std::size_t k = thread_index();
  if (k >= count) return;
  const float z = y[k] + bias[divide(divide(k, pixels).by, channels).rest];
  y[k] = relu && z < 0 ? 0.0F : z;
}

/// One block per channel.
__global__ void sum_kernel(const float* dy,
                           float* d_bias,
                           std::uint32_t rows,
                           std::uint32_t channels,
                           std::uint32_t pixels) {
  const std::size_t count = std::size_t{rows} * pixels;
  SumPair sum;
  for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) {
    const Divided at = divide(i, pixels);
    sum.a += static_cast<double>(dy[(at.by * channels + blockIdx.x) * pixels + at.rest]);
  }
  const SumPair total = block_sum(sum);
  if (threadIdx.x == 0) d_bias[blockIdx.x] = static_cast<float>(total.a);
}

}  // namespace

void add_channel_bias(float* y,
                      const float* bias,
                      std::uint32_t rows,
                      std::uint32_t channels,
                      std::uint32_t pixels,
                      bool relu,
                      cudaStream_t stream) {
  const std::size_t count = std::size_t{rows} * channels * pixels;
  launch(bias_kernel, count, stream, y, bias, count, channels, pixels, relu);
}

void sum_channels(const float* dy,
                  float* d_bias,
                  std::uint32_t rows,
                  std::uint32_t channels,
                  std::uint32_t pixels,
                  cudaStream_t stream) {
  launch_blocks(sum_kernel, channels, stream, dy, d_bias, rows, channels, pixels);
}

}  // namespace gv::gpu
