#include <algorithm>
#include <cmath>

#include "optim/host/gemm.h"
#include "optim/host/host_layer.h"

namespace gv {
namespace {

/// Vaswani et al. 2017, arXiv:1706.03762, equation 1 and section 3.2.3 (a position attends to
/// itself and earlier ones): products of one head at a time; the weights are kept for the backward
/// pass.
class Attention : public SingleInputLayer {
 public:
  explicit Attention(const LayerPlace& place)
      : SingleInputLayer(place),
        rows_(place.rows),
        heads_(place.node.heads),
        t_(static_cast<int>(place.node.out.positions)),
        width_(static_cast<int>(place.node.out.channels)),
        depth_(width_ / static_cast<int>(place.node.heads)),
        scale_(1 / std::sqrt(static_cast<float>(depth_))),
        training_(place.training) {
    set_output(memory_.lend(matrix_of(place.rows, place.node.out)));
    const auto square = static_cast<std::size_t>(t_) * static_cast<std::size_t>(t_);
    slices_ = slices_of(12.0 * t_ * t_ * width_ * place.rows, rows_);
    weights_.resize((place.training ? rows_ * heads_ : slices_) * square);
    score_gradient_.resize(place.training ? slices_ * square : 0);
  }

  void forward(std::span<const float>, Moments) override {
    each_head([this](const Head& head) {
      const float* q = floats(x_) + head.qkv;
      gemm(false, true, t_, t_, depth_, scale_, q, 3 * width_, q + width_, 3 * width_, 0,
           head.weights, t_);
      for (int i = 0; i < t_; ++i) softmax_row(head.weights + std::ptrdiff_t{i} * t_, i + 1);
      gemm(false, false, t_, depth_, t_, 1, head.weights, t_, q + 2 * width_, 3 * width_, 0,
           floats(y_) + head.out, width_);
    });
  }

  void backward(std::span<const float>, std::span<float>) override {
    incoming_.gather();
    each_head([this](const Head& head) {
      const float* q = floats(x_) + head.qkv;
      float* dq = floats(dx_) + head.qkv;
      const float* dy = floats(incoming_.tensor()) + head.out;
      float* ds = head.score_gradient;
      gemm(true, false, t_, depth_, t_, 1, head.weights, t_, dy, width_, 0, dq + 2 * width_,
           3 * width_);
      gemm(false, true, t_, t_, depth_, 1, dy, width_, q + 2 * width_, 3 * width_, 0, ds, t_);
      for (int i = 0; i < t_; ++i) {
        const std::ptrdiff_t row = std::ptrdiff_t{i} * t_;
        score_gradient_row(head.weights + row, ds + row, i + 1);
      }
      gemm(false, false, t_, depth_, t_, scale_, ds, t_, q + width_, 3 * width_, 0, dq, 3 * width_);
      gemm(true, false, t_, depth_, t_, scale_, ds, t_, q, 3 * width_, 0, dq + width_, 3 * width_);
    });
  }

 private:
  /// The offsets of a head of a row: its queries (keys and values are each `width` further), its
  /// output, its weights [t][t], and its gradient by the scores.
  struct Head {
    std::size_t qkv, out;
    float* weights;
    float* score_gradient;
  };
  /// Calls body for each head, slice by slice over the rows; memory not kept for the backward pass
  /// belongs to the slice.
  template <class Body>
  void each_head(Body body) {
    const auto t = static_cast<std::size_t>(t_);
    const auto width = static_cast<std::size_t>(width_);
    run_slices(slices_, [&](std::size_t slice) {
      const std::size_t end = slice_begin(slice + 1, slices_, rows_);
      for (std::size_t r = slice_begin(slice, slices_, rows_); r < end; ++r) {
        for (std::size_t h = 0; h < heads_; ++h) {
          const std::size_t column = h * static_cast<std::size_t>(depth_);
          const std::size_t kept = training_ ? r * heads_ + h : slice;
          body(Head{r * t * 3 * width + column, r * t * width + column,
                    weights_.data() + kept * t * t,
                    score_gradient_.data() + (training_ ? slice * t * t : 0)});
        }
      }
    });
  }

  /// Turns the first `seen` scores into weights, and sets the others to zero.
  void softmax_row(float* s, int seen) const {
    const float top = *std::max_element(s, s + seen);
    float sum = 0;
    for (int j = 0; j < seen; ++j) {
      s[j] = std::exp(s[j] - top);
      sum += s[j];
    }
    const float share = 1 / sum;
    for (int j = 0; j < seen; ++j) s[j] *= share;
    std::fill(s + seen, s + t_, 0.0F);
  }

  /// ds <- w (dw - sum_j w_j dw_j), the gradient by the scores.
  void score_gradient_row(const float* w, float* ds, int seen) const {
    float mean = 0;
    for (int j = 0; j < seen; ++j) mean += w[j] * ds[j];
    for (int j = 0; j < seen; ++j) ds[j] = w[j] * (ds[j] - mean);
    std::fill(ds + seen, ds + t_, 0.0F);
  }

  std::size_t rows_, heads_;
  int t_, width_, depth_;
  float scale_;
  bool training_;
  std::size_t slices_;
  std::vector<float> weights_;         ///< [rows][heads][t][t]; without training [slices][t][t]
  std::vector<float> score_gradient_;  ///< [slices][t][t]
};

}  // namespace

LayerPointer make_host_attention(const LayerPlace& place) {
  return std::make_unique<Attention>(place);
}

}  // namespace gv
