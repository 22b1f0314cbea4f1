#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "optim/check.h"
#include "optim/host/host_layer.h"

// Batch norm (Ioffe & Szegedy 2015, arXiv:1502.03167, algorithm 1) and group norm (Wu & He 2018,
// arXiv:1803.08494, equation 7) differ in the elements that they average over: a "set" is a
// channel of all rows, or a group of channels of one row. Everything else is common.

namespace gv {
namespace {

// The four passes of a norm over one picture's block of channels. B channels are adjacent, the next
// pixel is `step` floats further; every loop over B is a vector instruction or two. Sums are in
// single precision over `single_run` pixels and in double beyond.

/// y = a x + b, with one a and b for every channel.
struct Affine {
  const float* a;
  const float* b;
};

/// A block of pixels, from the first pixel's first channel.
struct Pixels {
  std::size_t count, step;
};

constexpr std::size_t single_run = 64;

/// sum += x, square += x^2.
template <std::size_t B>
void add_moments(const float* x, Pixels pixels, double* sum, double* square) {
  for (std::size_t first = 0; first < pixels.count; first += single_run) {
    std::array<float, B> s{};
    std::array<float, B> q{};
    for (std::size_t p = first; p < std::min(first + single_run, pixels.count); ++p) {
      for (std::size_t l = 0; l < B; ++l) {
        const float value = x[p * pixels.step + l];
        s[l] += value;
        q[l] += value * value;
      }
    }
    for (std::size_t l = 0; l < B; ++l) sum[l] += static_cast<double>(s[l]);
    for (std::size_t l = 0; l < B; ++l) square[l] += static_cast<double>(q[l]);
  }
}

/// y <- a x + b, or its positive part.
template <std::size_t B, bool relu>
void scale(const float* x, Pixels pixels, Affine to, float* y) {
  std::array<float, B> a;
  std::array<float, B> b;
  std::copy_n(to.a, B, a.begin());
  std::copy_n(to.b, B, b.begin());
  for (std::size_t p = 0; p < pixels.count; ++p) {
    for (std::size_t l = 0; l < B; ++l) {
      const float z = x[p * pixels.step + l] * a[l] + b[l];
      y[p * pixels.step + l] = relu ? std::max(z, 0.0F) : z;
    }
  }
}

/// sum += dz, product += dz x; dz is dy, but with relu 0 unless a x + b > 0.
template <std::size_t B, bool relu>
void add_gradient_moments(
    const float* x, const float* dy, Pixels pixels, Affine to, double* sum, double* product) {
  std::array<float, B> a;
  std::array<float, B> b;
  std::copy_n(to.a, B, a.begin());
  std::copy_n(to.b, B, b.begin());
  for (std::size_t first = 0; first < pixels.count; first += single_run) {
    std::array<float, B> s{};
    std::array<float, B> q{};
    for (std::size_t p = first; p < std::min(first + single_run, pixels.count); ++p) {
      for (std::size_t l = 0; l < B; ++l) {
        const float value = x[p * pixels.step + l];
        const float d = dy[p * pixels.step + l];
        const float dz = !relu || value * a[l] + b[l] > 0 ? d : 0.0F;
        s[l] += dz;
        q[l] += dz * value;
      }
    }
    for (std::size_t l = 0; l < B; ++l) sum[l] += static_cast<double>(s[l]);
    for (std::size_t l = 0; l < B; ++l) product[l] += static_cast<double>(q[l]);
  }
}

/// dx <- p dz + q x + r.
template <std::size_t B, bool relu>
void scale_gradient(const float* x,
                    const float* dy,
                    Pixels pixels,
                    Affine to,
                    std::array<const float*, 3> pqr,
                    float* dx) {
  std::array<float, B> a;
  std::array<float, B> b;
  std::array<std::array<float, B>, 3> k;
  std::copy_n(to.a, B, a.begin());
  std::copy_n(to.b, B, b.begin());
  for (std::size_t i = 0; i < 3; ++i) std::copy_n(pqr[i], B, k[i].begin());
  for (std::size_t p = 0; p < pixels.count; ++p) {
    for (std::size_t l = 0; l < B; ++l) {
      const std::size_t at = p * pixels.step + l;
      const float dz = !relu || x[at] * a[l] + b[l] > 0 ? dy[at] : 0.0F;
      dx[at] = dz * k[0][l] + x[at] * k[1][l] + k[2][l];
    }
  }
}

class PictureNorm : public SingleInputLayer {
 public:
  explicit PictureNorm(const LayerPlace& place)
      : SingleInputLayer(place),
        batch_(place.node.op == Op::batch_norm),
        relu_(place.relu),
        epsilon_(static_cast<double>(place.node.epsilon)),
        weight_(place.tensor(0).offset),
        bias_(place.tensor(1).offset),
        layout_(layout_of(x_)),
        padded_(layout_.padded_channels()),
        group_(layout_.channels / place.node.groups),
        sets_(batch_ ? layout_.channels : layout_.rows * place.node.groups),
        given_(place.given) {
    GV_CHECK(!batch_ || given_ != nullptr, "moments of a batch norm");
    set_output(memory_.lend(x_.get_desc()));
    const std::size_t places = layout_.rows * padded_;
    sum_.resize(places);
    product_.resize(places);
    for (std::vector<float>* v : {&a_, &b_, &p_, &q_, &r_}) v->resize(places);
    mean_.resize(sets_);
    inverse_.resize(sets_);
  }

  void forward(std::span<const float> x, Moments moments) override {
    if (batch_ && moments == Moments::given) {
      take_given();
    } else {
      measure();
    }
    each_channel([&](std::size_t c, std::size_t at, std::size_t s) {
      const double a = static_cast<double>(x[weight_ + c]) * inverse_[s];
      a_[at] = static_cast<float>(a);
      b_[at] = static_cast<float>(static_cast<double>(x[bias_ + c]) - mean_[s] * a);
    });
    each_block([&]<std::size_t B>(std::size_t from, Pixels pixels, std::size_t at) {
      const Affine to{&a_[at], &b_[at]};
      if (relu_) {
        scale<B, true>(floats(x_) + from, pixels, to, floats(y_) + from);
      } else {
        scale<B, false>(floats(x_) + from, pixels, to, floats(y_) + from);
      }
    });
  }

  /// Recomputes the sign before the ReLU from x. The incoming gradient is by y, before the ReLU's
  /// mask.
  void backward(std::span<const float> x, std::span<float> g) override {
    incoming_.gather();
    const float* dy = floats(incoming_.tensor());
    sum_.assign(sum_.size(), 0);
    product_.assign(product_.size(), 0);
    each_block([&]<std::size_t B>(std::size_t from, Pixels pixels, std::size_t at) {
      const Affine to{&a_[at], &b_[at]};
      const auto pass = relu_ ? add_gradient_moments<B, true> : add_gradient_moments<B, false>;
      pass(floats(x_) + from, dy + from, pixels, to, &sum_[at], &product_[at]);
    });
    own_gradients(x, g);
    each_block([&]<std::size_t B>(std::size_t from, Pixels pixels, std::size_t at) {
      const Affine to{&a_[at], &b_[at]};
      const auto pass = relu_ ? scale_gradient<B, true> : scale_gradient<B, false>;
      pass(floats(x_) + from, dy + from, pixels, to, {&p_[at], &q_[at], &r_[at]},
           floats(dx_) + from);
    });
  }

 private:
  std::size_t set_of(std::size_t row, std::size_t channel) const {
    return batch_ ? channel : row * (layout_.channels / group_) + channel / group_;
  }
  double set_elements() const {
    return static_cast<double>(layout_.pixels() * (batch_ ? layout_.rows : group_));
  }

  /// body<B>(offset of the block, its pixels, its number in [rows][padded channels])
  template <class Body>
  void each_block(Body body) const {
    if (layout_.block == 16) return each_block_of<16>(body);
    if (layout_.block == 8) return each_block_of<8>(body);
    each_block_of<1>(body);
  }
  template <std::size_t B, class Body>
  void each_block_of(Body body) const {
    for (std::size_t r = 0; r < layout_.rows; ++r)
      for (std::size_t c = 0; c < padded_; c += B)
        body.template operator()<B>(layout_.at(r, c), Pixels{layout_.pixels(), layout_.block},
                                    r * padded_ + c);
  }

  /// Computes mean and 1 / sqrt(variance + epsilon) of each set of this batch.
  void measure() {
    sum_.assign(sum_.size(), 0);
    product_.assign(product_.size(), 0);
    each_block([&]<std::size_t B>(std::size_t from, Pixels pixels, std::size_t at) {
      add_moments<B>(floats(x_) + from, pixels, &sum_[at], &product_[at]);
    });
    mean_.assign(sets_, 0);
    inverse_.assign(sets_, 0);
    each_channel([&](std::size_t, std::size_t at, std::size_t s) {
      mean_[s] += sum_[at] / set_elements();
      inverse_[s] += product_[at] / set_elements();
    });
    for (std::size_t s = 0; s < sets_; ++s) {
      const double variance = std::max(0.0, inverse_[s] - mean_[s] * mean_[s]);
      if (batch_) {
        given_->mean[s] = static_cast<float>(mean_[s]);
        given_->variance[s] = static_cast<float>(variance);
      }
      inverse_[s] = 1 / std::sqrt(variance + epsilon_);
    }
  }

  void take_given() {
    for (std::size_t c = 0; c < sets_; ++c) {
      mean_[c] = static_cast<double>(given_->mean[c]);
      inverse_[c] = 1 / std::sqrt(static_cast<double>(given_->variance[c]) + epsilon_);
    }
  }

  /// dx = w (n dz - A - xhat B) / n with n elements in a set, A = sum w dz / w and B = sum w dz
  /// xhat / w over the set, w = weight / sqrt(variance + epsilon); section 3 of arXiv:1502.03167.
  void own_gradients(std::span<const float> x, std::span<float> g) {
    set_sum_.assign(sets_, 0);
    set_product_.assign(sets_, 0);
    own_.assign(2 * layout_.channels, 0);
    each_channel([&](std::size_t c, std::size_t at, std::size_t s) {
      const double with_xhat = inverse_[s] * (product_[at] - mean_[s] * sum_[at]);
      own_[c] += with_xhat;
      own_[layout_.channels + c] += sum_[at];
      set_sum_[s] += static_cast<double>(x[weight_ + c]) * sum_[at];
      set_product_[s] += static_cast<double>(x[weight_ + c]) * with_xhat;
    });
    for (std::size_t c = 0; c < layout_.channels; ++c) {
      g[weight_ + c] = static_cast<float>(own_[c]);
      g[bias_ + c] = static_cast<float>(own_[layout_.channels + c]);
    }
    each_channel([&](std::size_t c, std::size_t at, std::size_t s) {
      const double share = inverse_[s] / set_elements();
      const double slope = share * inverse_[s] * set_product_[s];
      p_[at] = static_cast<float>(static_cast<double>(x[weight_ + c]) * inverse_[s]);
      q_[at] = static_cast<float>(-slope);
      r_[at] = static_cast<float>(mean_[s] * slope - share * set_sum_[s]);
    });
  }

  /// body(channel, its number in [rows][padded channels], its set), rows outside.
  template <class Body>
  void each_channel(Body body) const {
    for (std::size_t r = 0; r < layout_.rows; ++r)
      for (std::size_t c = 0; c < layout_.channels; ++c) body(c, r * padded_ + c, set_of(r, c));
  }

  bool batch_, relu_;
  double epsilon_;
  std::size_t weight_, bias_;  ///< offsets in the flat vector
  PictureLayout layout_;
  std::size_t padded_;
  std::size_t group_;  ///< channels per group
  std::size_t sets_;
  ChannelMoments* given_;
  std::vector<double> sum_, product_;          ///< [rows][padded channels], sums of a pass
  std::vector<double> mean_, inverse_;         ///< by set
  std::vector<double> set_sum_, set_product_;  ///< A w and B w, by set
  std::vector<double> own_;                    ///< by the weights, then by the biases
  std::vector<float> a_, b_, p_, q_, r_;       ///< [rows][padded channels]; zero in the padding
};

}  // namespace

LayerPointer make_host_picture_norm(const LayerPlace& place) {
  return std::make_unique<PictureNorm>(place);
}

}  // namespace gv
