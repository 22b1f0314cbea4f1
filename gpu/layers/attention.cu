#include <cmath>

#include "gpu/device/launch.h"
#include "gpu/layers/layer.h"

// Causal attention of several heads, Vaswani et al. 2017 (arXiv:1706.03762), equation 1: for each
// row and head A = softmax(Q K^T / sqrt(width)), O = A V. Products are batched over the rows, one
// call for each head.

namespace gv::gpu {
namespace {

constexpr unsigned warp = 32;

__device__ float warp_max(float v) {
  for (unsigned o = warp / 2; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(~0U, v, o));
  return v;
}

__device__ float warp_sum(float v) {
  for (unsigned o = warp / 2; o > 0; o /= 2) v += __shfl_xor_sync(~0U, v, o);
  return v;
}

/// A warp to a row of scores: a[i][j] <- softmax over j <= i, 0 behind. lines: positions of all
/// matrices.
__global__ void softmax_kernel(float* a, std::uint32_t positions, std::size_t lines) {
  const std::size_t line = thread_index() / warp;
  const unsigned lane = threadIdx.x % warp;
  if (line >= lines) return;  // the whole warp
  const auto last = static_cast<std::uint32_t>(line % positions);
  float* row = a + line * positions;
  float top = -INFINITY;
  for (std::uint32_t j = lane; j <= last; j += warp) top = fmaxf(top, row[j]);
  top = warp_max(top);
  float sum = 0;
  for (std::uint32_t j = lane; j <= last; j += warp) {
    row[j] = expf(row[j] - top);
    sum += row[j];
  }
  sum = warp_sum(sum);
  for (std::uint32_t j = lane; j < positions; j += warp) row[j] = j <= last ? row[j] / sum : 0.0F;
}

/// d[i][j] <- a[i][j] (d[i][j] - sum_j' a[i][j'] d[i][j']): through the softmax.
__global__ void softmax_back_kernel(const float* a,
                                    float* d,
                                    std::uint32_t positions,
                                    std::size_t lines) {
  const std::size_t line = thread_index() / warp;
  const unsigned lane = threadIdx.x % warp;
  if (line >= lines) return;  // the whole warp
  const auto last = static_cast<std::uint32_t>(line % positions);
  const float* own = a + line * positions;
  float* row = d + line * positions;
  float dot = 0;
  for (std::uint32_t j = lane; j <= last; j += warp) dot += own[j] * row[j];
  dot = warp_sum(dot);
  for (std::uint32_t j = lane; j < positions; j += warp)
    row[j] = j <= last ? own[j] * (row[j] - dot) : 0.0F;
}

class Attention : public Layer {
 public:
  explicit Attention(const LayerPlan& plan)
      : positions_(plan.node.out.positions),
        channels_(plan.node.out.channels),
        heads_(plan.node.heads),
        width_(channels_ / heads_),
        square_(std::size_t{positions_} * positions_),
        scale_(1.0F / std::sqrt(static_cast<float>(width_))),
        a_(plan.most_rows * heads_ * square_, "attention weights"),
        d_(plan.most_rows * heads_ * square_, "gradients by attention weights") {}

  void forward(const Pass& pass) override {
    for (std::uint32_t h = 0; h < heads_; ++h) {
      multiply(pass.context,
               product(pass,
                       positions_,
                       positions_,
                       width_,
                       part(pass.in, 0, h),
                       flipped(part(pass.in, 1, h)),
                       scores(a_.data(), pass, h),
                       scale_));
    }
    launch(softmax_kernel,
           lines(pass) * warp,
           pass.context.stream,
           a_.data(),
           positions_,
           lines(pass));
    for (std::uint32_t h = 0; h < heads_; ++h) {
      multiply(pass.context,
               product(pass,
                       positions_,
                       width_,
                       positions_,
                       scores(a_.data(), pass, h),
                       part(pass.in, 2, h),
                       output(pass.out, h)));
    }
  }

  void backward(const Pass& pass) override {
    if (pass.d_in == nullptr) return;
    const float beta = pass.add ? 1.0F : 0.0F;
    for (std::uint32_t h = 0; h < heads_; ++h) {  // dV = A^T dO, dA = dO V^T
      const Matrix d_out = output(pass.d_out, h);
      multiply(pass.context,
               product(pass,
                       positions_,
                       width_,
                       positions_,
                       flipped(scores(a_.data(), pass, h)),
                       d_out,
                       part(pass.d_in, 2, h),
                       1,
                       beta));
      multiply(pass.context,
               product(pass,
                       positions_,
                       positions_,
                       width_,
                       d_out,
                       flipped(part(pass.in, 2, h)),
                       scores(d_.data(), pass, h)));
    }
    launch(softmax_back_kernel,
           lines(pass) * warp,
           pass.context.stream,
           a_.data(),
           d_.data(),
           positions_,
           lines(pass));
    for (std::uint32_t h = 0; h < heads_; ++h) {  // dQ = dS K / sqrt, dK = dS^T Q / sqrt
      const Matrix d_scores = scores(d_.data(), pass, h);
      multiply(pass.context,
               product(pass,
                       positions_,
                       width_,
                       positions_,
                       d_scores,
                       part(pass.in, 1, h),
                       part(pass.d_in, 0, h),
                       scale_,
                       beta));
      multiply(pass.context,
               product(pass,
                       positions_,
                       width_,
                       positions_,
                       flipped(d_scores),
                       part(pass.in, 0, h),
                       part(pass.d_in, 1, h),
                       scale_,
                       beta));
    }
  }

 private:
  /// Head h of the queries (0), keys (1) or values (2) of all rows.
  Matrix part(const float* qkv, std::uint32_t which, std::uint32_t h) const {
    return {.data = qkv + std::size_t{which} * channels_ + std::size_t{h} * width_,
            .row = 3 * std::size_t{channels_},
            .stride = 3 * std::size_t{channels_} * positions_};
  }
  Matrix output(const float* out, std::uint32_t h) const {
    return {.data = out + std::size_t{h} * width_,
            .row = channels_,
            .stride = std::size_t{channels_} * positions_};
  }
  /// [heads][rows][positions][positions].
  Matrix scores(const float* a, const Pass& pass, std::uint32_t h) const {
    return {.data = a + h * pass.rows * square_, .row = positions_, .stride = square_};
  }
  static Matrix flipped(Matrix m) {
    m.transposed = true;
    return m;
  }
  std::size_t lines(const Pass& pass) const { return std::size_t{pass.rows} * heads_ * positions_; }

  /// The places of results are given as matrices too; they are the pass's own buffers, written to.
  static Product product(const Pass& pass,
                         std::uint32_t m,
                         std::uint32_t n,
                         std::uint32_t k,
                         const Matrix& a,
                         const Matrix& b,
                         const Matrix& c,
                         float alpha = 1,
                         float beta = 0) {
    return {.m = m,
            .n = n,
            .k = k,
            .a = a,
            .b = b,
            .c = const_cast<float*>(c.data),
            .c_row = c.row,
            .c_stride = c.stride,
            .alpha = alpha,
            .beta = beta,
            .batch = pass.rows,
            .keeps_factors = true};
  }

  std::uint32_t positions_, channels_, heads_, width_;
  std::size_t square_;
  float scale_;
  DeviceArray<float> a_, d_;
};

}  // namespace

std::unique_ptr<Layer> make_attention(const LayerPlan& plan) {
  return std::make_unique<Attention>(plan);
}

}  // namespace gv::gpu
