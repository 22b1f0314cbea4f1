#include <algorithm>

#include "gpu/device/launch.h"
#include "gpu/kernels/activation_kernels.h"
#include "gpu/layers/elementwise.h"
#include "gpu/layers/layer.h"

namespace gv::gpu {
namespace {

/// Work fused after the product: y[n * width + c] += bias[c], then residual and activation.
struct Behind {
  const float* bias;
  const float* residual;  ///< null if there is none
  float* before;          ///< receives a gelu's argument; null if not needed
  std::uint32_t width;
  Op then;
};

__global__ void bias_kernel(float* y, Behind behind, std::size_t count) {
  const std::size_t k = thread_index();
  if (k >= count) return;
  float z = y[k] + behind.bias[divide(k, behind.width).rest];
  if (behind.residual != nullptr) z += behind.residual[k];
  if (behind.before != nullptr) behind.before[k] = z;
  if (behind.then == Op::relu) z = relu(z);
  if (behind.then == Op::gelu) z = gelu(z);
  y[k] = z;
}

// Backward: a warp handles a tile of adjacent columns, and the warps of a block take the rows in
// turn; several blocks share a tile's rows.
constexpr std::uint32_t tile = 32;
constexpr std::uint32_t row_lanes = block_threads / tile;
constexpr std::uint32_t most_shares = 64;

/// The step back from the value to the product.
struct BackThrough {
  float* d;           ///< [rows][width]: gradient by the value, then by the product
  const float* from;  ///< a relu's value, a gelu's argument
  Op then;
  std::uint32_t rows, width;
  std::uint32_t shares;  ///< number of blocks per tile

  /// Returns the gradient by the product at k, and stores it there.
  __device__ float operator()(std::size_t k) const {
    if (then == Op::input) return d[k];
    const float slope = then == Op::gelu ? d[k] * gelu_slope(from[k]) : from[k] > 0 ? d[k] : 0.0F;
    d[k] = slope;
    return slope;
  }
};

/// Returns to every thread of a column the sum over the block's row lanes.
__device__ double sum_of_lanes(float mine) {
  __shared__ float lanes[block_threads];
  lanes[threadIdx.x] = mine;
  __syncthreads();
  double sum = 0;
  for (std::uint32_t lane = 0; lane < row_lanes; ++lane)
    sum += static_cast<double>(lanes[lane * tile + threadIdx.x % tile]);
  __syncthreads();  // the memory is free for the next sum
  return sum;
}

/// d_bias <- the sums of the gradient over the rows; block (tile, share). partial: [share][width].
__global__ void bias_back_kernel(BackThrough back,
                                 float* partial,
                                 std::uint32_t* came,
                                 float* d_bias) {
  const std::uint32_t of_tile = blockIdx.x / back.shares;
  const std::uint32_t share = blockIdx.x % back.shares;
  const std::uint32_t column = of_tile * tile + threadIdx.x % tile;
  const std::uint32_t lane = threadIdx.x / tile;
  const bool inside = column < back.width;
  float sum = 0;
  if (inside)
    for (std::uint32_t row = share * row_lanes + lane; row < back.rows;
         row += back.shares * row_lanes)
      sum += back(std::size_t{row} * back.width + column);
  const double mine = sum_of_lanes(sum);
  if (inside && lane == 0) partial[share * back.width + column] = static_cast<float>(mine);
  if (!last_to_come(came + of_tile, back.shares)) return;
  sum = 0;
  if (inside)
    for (std::uint32_t s = lane; s < back.shares; s += row_lanes)
      sum += partial[s * back.width + column];
  const double all = sum_of_lanes(sum);
  if (inside && lane == 0) d_bias[column] = static_cast<float>(all);
}

/// y = x W^T + b at each position, then residual and activation.
class Linear : public Layer {
 public:
  explicit Linear(const LayerPlan& plan)
      : in_(static_cast<std::uint32_t>(plan.in.elements() / plan.in.positions)),
        out_(plan.node.out.channels),
        positions_(plan.in.positions),
        then_(plan.then),
        residual_(plan.residual),
        weight_(plan.offset(0)),
        biased_(plan.has(1)),
        bias_(biased_ ? plan.offset(1) : 0),
        came_(biased_ ? (out_ + tile - 1) / tile : 0, "sums of a bias") {
    const std::size_t n = std::size_t{plan.most_rows} * positions_;
    const std::size_t weights = std::size_t{in_} * out_;
    // Factors: x and W, dy and x, dy and W.
    plan.context.reserve_factors(n * std::max(in_, out_), std::max(weights, n * in_));
    plan.context.reserve_scratch(std::size_t{most_shares} * out_);
  }

  void forward(const Pass& pass) override {
    const std::uint32_t n = pass.rows * positions_;
    multiply(pass.context,
             {.m = n,
              .n = out_,
              .k = in_,
              .a = {.data = pass.in, .row = in_},
              .b = {.data = pass.parameters + weight_, .transposed = true, .row = in_},
              .c = pass.out,
              .c_row = out_});
    if (!biased_) return;
    const std::size_t count = std::size_t{n} * out_;
    launch(bias_kernel, count, pass.context.stream, pass.out,
           Behind{.bias = pass.parameters + bias_,
                  .residual = residual_ ? pass.in2 : nullptr,
                  .before = pass.before,
                  .width = out_,
                  .then = then_},
           count);
  }

  void backward(const Pass& pass) override {
    const std::uint32_t n = pass.rows * positions_;
    if (biased_) {
      const std::uint32_t tiles = (out_ + tile - 1) / tile;
      const std::uint32_t shares = std::min(most_shares, (n + row_lanes - 1) / row_lanes);
      launch_blocks(bias_back_kernel, std::size_t{tiles} * shares, pass.context.stream,
                    BackThrough{.d = pass.d_out,
                                .from = then_ == Op::relu ? pass.out : pass.before,
                                .then = then_,
                                .rows = n,
                                .width = out_,
                                .shares = shares},
                    pass.context.scratch(), came_.data(), pass.gradient + bias_);
    }
    multiply(pass.context, {.m = out_,
                            .n = in_,
                            .k = n,
                            .a = {.data = pass.d_out, .transposed = true, .row = out_},
                            .b = {.data = pass.in, .row = in_},
                            .c = pass.gradient + weight_,
                            .c_row = in_});
    if (pass.d_in2 != nullptr)
      pass_on(pass.d_out, pass.d_in2, std::size_t{n} * out_, pass.add2, pass.context.stream);
    if (pass.d_in == nullptr) return;
    multiply(pass.context, {.m = n,
                            .n = in_,
                            .k = out_,
                            .a = {.data = pass.d_out, .row = out_},
                            .b = {.data = pass.parameters + weight_, .row = in_},
                            .c = pass.d_in,
                            .c_row = in_,
                            .beta = pass.add ? 1.0F : 0.0F});
  }

 private:
  std::uint32_t in_, out_, positions_;
  Op then_;
  bool residual_;
  std::size_t weight_;
  bool biased_;
  std::size_t bias_;
  DeviceArray<std::uint32_t> came_;
};

}  // namespace

std::unique_ptr<Layer> make_linear(const LayerPlan& plan) {
  return std::make_unique<Linear>(plan);
}

}  // namespace gv::gpu
