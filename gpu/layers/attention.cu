#include <cmath>
#include <utility>

#include "gpu/device/launch.h"
#include "gpu/layers/layer.h"

// Causal attention of several heads, Vaswani et al. 2017 (arXiv:1706.03762), equation 1: for each
// row and head A = softmax(Q K^T / sqrt(width)), O = A V. One call multiplies the matrices of all
// rows and heads.

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

/// One warp per row of scores: a[i][j] <- softmax over j <= i, and 0 for j > i. lines: positions of
/// all matrices.
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

/// Matrices of every row and head: queries, keys and values, the attention weights, the output, and
/// the gradient by each.
enum Kind : std::uint32_t { q, k, v, a, o, dq, dk, dv, da, d_o, kinds };

/// Addresses of the matrices of a pass.
struct Places {
  float* in;       ///< queries, keys and values, adjacent at each position
  float* weights;  ///< positions x positions, for each row and head
  float* out;
  float* d_in;
  float* d_weights;
  float* d_out;
  std::uint32_t positions, channels, heads;

  __device__ float* at(std::uint32_t kind, std::size_t matrix) const {
    const std::size_t row = matrix / heads;
    const std::size_t head = matrix % heads * (channels / heads);
    const std::size_t value = row * positions * channels + head;
    const std::size_t part = 3 * (value - head) + head;
    const std::size_t square = matrix * positions * positions;
    switch (kind) {
      case q:
      case k:
      case v:
        return in + part + (kind - q) * channels;
      case a:
        return weights + square;
      case o:
        return out + value;
      case dq:
      case dk:
      case dv:
        return d_in == nullptr ? nullptr : d_in + part + (kind - dq) * channels;
      case da:
        return d_weights + square;
      default:
        return d_out + value;
    }
  }
};

/// list[kind * matrices + matrix] <- its address.
__global__ void list_kernel(Places places, float** list, std::size_t matrices) {
  const std::size_t i = thread_index();
  if (i < kinds * matrices)
    list[i] = places.at(static_cast<std::uint32_t>(i / matrices), i % matrices);
}

/// Addresses of a pass's matrices, listed once: values and gradients never move.
class Lists {
 public:
  explicit Lists(std::size_t matrices)
      : matrices_(matrices), list_(kinds * matrices, "the matrices of attention") {}

  void make(const Places& places, cudaStream_t stream) {
    if (std::exchange(made_, true)) return;
    launch(list_kernel, kinds * matrices_, stream, places, list_.data(), matrices_);
  }
  Matrices of(Kind kind, std::size_t row, bool transposed = false) {
    return {.data = list_.data() + kind * matrices_, .transposed = transposed, .row = row};
  }

 private:
  std::size_t matrices_;
  bool made_ = false;
  DeviceArray<float*> list_;
};

class Attention : public Layer {
 public:
  explicit Attention(const LayerPlan& plan)
      : positions_(plan.node.out.positions),
        channels_(plan.node.out.channels),
        heads_(plan.node.heads),
        width_(channels_ / heads_),
        scale_(1.0F / std::sqrt(static_cast<float>(width_))),
        weights_(plan.kept_rows * heads_ * square(), "attention weights"),
        kept_(std::size_t{plan.kept_rows} * heads_),
        seen_(std::size_t{plan.most_rows} * heads_) {
    plan.context.reserve_scratch(plan.most_rows * heads_ * square());
  }

  void forward(const Pass& pass) override {
    float* const weights = pass.kept ? weights_.data() : pass.context.scratch();
    Lists& lists = pass.kept ? kept_ : seen_;
    lists.make({.in = const_cast<float*>(pass.in),  // a factor, which is only read
                .weights = weights,
                .out = pass.out,
                .d_in = pass.d_in,
                .d_weights = pass.context.scratch(),
                .d_out = pass.d_out,
                .positions = positions_,
                .channels = channels_,
                .heads = heads_},
               pass.context.stream);
    scores(pass, lists.of(q, in_row()), lists.of(k, in_row(), true), lists.of(a, positions_),
           scale_);
    launch(softmax_kernel, lines(pass) * warp, pass.context.stream, weights, positions_,
           lines(pass));
    values(pass, lists.of(a, positions_), lists.of(v, in_row()), lists.of(o, channels_));
  }

  void backward(const Pass& pass) override {
    if (pass.d_in == nullptr) return;
    const float beta = pass.add ? 1.0F : 0.0F;
    Lists& all = kept_;
    const Matrices d_out = all.of(d_o, channels_);
    // dV = A^T dO, dA = dO V^T
    values(pass, all.of(a, positions_, true), d_out, all.of(dv, in_row()), 1, beta);
    scores(pass, d_out, all.of(v, in_row(), true), all.of(da, positions_), 1);
    launch(softmax_back_kernel, lines(pass) * warp, pass.context.stream, weights_.data(),
           pass.context.scratch(), positions_, lines(pass));
    // dQ = dS K / sqrt, dK = dS^T Q / sqrt
    values(pass, all.of(da, positions_), all.of(k, in_row()), all.of(dq, in_row()), scale_, beta);
    values(pass, all.of(da, positions_, true), all.of(q, in_row()), all.of(dk, in_row()), scale_,
           beta);
  }

 private:
  std::size_t square() const { return std::size_t{positions_} * positions_; }
  std::size_t in_row() const { return 3 * std::size_t{channels_}; }
  std::uint32_t pairs(const Pass& pass) const { return pass.rows * heads_; }
  std::size_t lines(const Pass& pass) const { return std::size_t{pairs(pass)} * positions_; }

  /// Multiplies positions x width with width x positions.
  void scores(const Pass& pass,
              const Matrices& left,
              const Matrices& right,
              const Matrices& to,
              float alpha) const {
    multiply(pass.context, Products{.m = positions_,
                                    .n = positions_,
                                    .k = width_,
                                    .a = left,
                                    .b = right,
                                    .c = to,
                                    .alpha = alpha,
                                    .pairs = pairs(pass)});
  }
  /// Multiplies positions x positions with positions x width.
  void values(const Pass& pass,
              const Matrices& left,
              const Matrices& right,
              const Matrices& to,
              float alpha = 1,
              float beta = 0) const {
    multiply(pass.context, Products{.m = positions_,
                                    .n = width_,
                                    .k = positions_,
                                    .a = left,
                                    .b = right,
                                    .c = to,
                                    .alpha = alpha,
                                    .beta = beta,
                                    .pairs = pairs(pass)});
  }

  std::uint32_t positions_, channels_, heads_, width_;
  float scale_;
  DeviceArray<float> weights_;
  Lists kept_, seen_;
};

}  // namespace

std::unique_ptr<Layer> make_attention(const LayerPlan& plan) {
  return std::make_unique<Attention>(plan);
}

}  // namespace gv::gpu
