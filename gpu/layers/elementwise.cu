#include "gpu/device/launch.h"
#include "gpu/layers/layer.h"
#include "optim/check.h"

namespace gv::gpu {
namespace {

/// Where another consumer's share is there already, it is added to.
__device__ void put(float* to, std::size_t k, float value, bool add) {
  to[k] = add ? to[k] + value : value;
}

__global__ void relu_kernel(const float* x, float* y, std::size_t count) {
  const std::size_t k = thread_index();
  if (k < count) y[k] = x[k] < 0 ? 0.0F : x[k];
}

/// By the output: where x was positive, y is.
__global__ void relu_back_kernel(
    const float* y, const float* dy, float* dx, std::size_t count, bool add) {
  const std::size_t k = thread_index();
  if (k < count) put(dx, k, y[k] > 0 ? dy[k] : 0.0F, add);
}

// gelu(x) = x/2 (1 + tanh u), u = a (x + b x^3); Hendrycks & Gimpel 2016, arXiv:1606.08415.
constexpr float gelu_a = 0.79788456080286536F;  // sqrt(2 / pi)
constexpr float gelu_b = 0.044715F;

__global__ void gelu_kernel(const float* x, float* y, std::size_t count) {
  const std::size_t k = thread_index();
  if (k >= count) return;
  const float v = x[k];
  y[k] = 0.5F * v * (1 + tanhf(gelu_a * (v + gelu_b * v * v * v)));
}

__global__ void gelu_back_kernel(
    const float* x, const float* dy, float* dx, std::size_t count, bool add) {
  const std::size_t k = thread_index();
  if (k >= count) return;
  const float v = x[k];
  const float t = tanhf(gelu_a * (v + gelu_b * v * v * v));
  const float slope = gelu_a * (1 + 3 * gelu_b * v * v);
  put(dx, k, dy[k] * (0.5F * (1 + t) + 0.5F * v * (1 - t * t) * slope), add);
}

__global__ void add_kernel(const float* a, const float* b, float* y, std::size_t count) {
  const std::size_t k = thread_index();
  if (k < count) y[k] = a[k] + b[k];
}

__global__ void pass_on_kernel(const float* dy, float* dx, std::size_t count, bool add) {
  const std::size_t k = thread_index();
  if (k < count) put(dx, k, dy[k], add);
}

class Elementwise : public Layer {
 public:
  explicit Elementwise(const LayerPlan& plan)
      : op_(plan.node.op), elements_(plan.node.out.elements()), done_(plan.relu_follows) {}

  void forward(const Pass& pass) override {
    const std::size_t count = pass.rows * elements_;
    if (op_ == Op::relu && !done_)
      launch(relu_kernel, count, pass.context.stream, pass.in, pass.out, count);
    if (op_ == Op::gelu) launch(gelu_kernel, count, pass.context.stream, pass.in, pass.out, count);
    if (op_ == Op::add)
      launch(add_kernel, count, pass.context.stream, pass.in, pass.in2, pass.out, count);
  }

  void backward(const Pass& pass) override {
    const std::size_t count = pass.rows * elements_;
    const cudaStream_t stream = pass.context.stream;
    if (op_ == Op::add) {
      if (pass.d_in != nullptr)
        launch(pass_on_kernel, count, stream, pass.d_out, pass.d_in, count, pass.add);
      if (pass.d_in2 != nullptr)
        launch(pass_on_kernel, count, stream, pass.d_out, pass.d_in2, count, pass.add2);
      return;
    }
    if (pass.d_in == nullptr) return;
    if (op_ == Op::relu)
      launch(relu_back_kernel, count, stream, pass.out, pass.d_out, pass.d_in, count, pass.add);
    else
      launch(gelu_back_kernel, count, stream, pass.in, pass.d_out, pass.d_in, count, pass.add);
  }

 private:
  Op op_;
  std::size_t elements_;
  bool done_;  ///< relu: by the layer before, in place
};

}  // namespace

std::unique_ptr<Layer> make_elementwise(const LayerPlan& plan) {
  GV_CHECK(plan.node.op == Op::relu || plan.node.op == Op::gelu || plan.node.op == Op::add,
           "an elementwise op");
  return std::make_unique<Elementwise>(plan);
}

}  // namespace gv::gpu
