#include <algorithm>
#include <cmath>

#include "optim/host/host_layer.h"

namespace gv {
namespace {

/// Ba, Kiros & Hinton 2016, "Layer normalization", arXiv:1607.06450, equation 4: each position by
/// the mean and deviation of its own channels.
class LayerNorm : public SingleInputLayer {
 public:
  explicit LayerNorm(const LayerPlace& place)
      : SingleInputLayer(place),
        epsilon_(place.node.epsilon),
        weight_(place.tensor(0).offset),
        bias_(place.tensor(1).offset),
        channels_(place.node.out.channels),
        positions_(std::size_t{place.rows} * place.node.out.positions),
        mean_(positions_),
        inverse_(positions_) {
    set_output(memory_.lend(x_.get_desc()));
  }

  void forward(std::span<const float> x, Moments) override {
    const float* weight = x.data() + weight_;
    const float* bias = x.data() + bias_;
    const auto n = static_cast<float>(channels_);
    for (std::size_t p = 0; p < positions_; ++p) {
      const float* in = floats(x_) + p * channels_;
      float* out = floats(y_) + p * channels_;
      float sum = 0;
      for (std::size_t c = 0; c < channels_; ++c) sum += in[c];
      const float mean = sum / n;
      float squares = 0;
      for (std::size_t c = 0; c < channels_; ++c) squares += (in[c] - mean) * (in[c] - mean);
      const float inverse = 1 / std::sqrt(squares / n + epsilon_);
      for (std::size_t c = 0; c < channels_; ++c)
        out[c] = (in[c] - mean) * inverse * weight[c] + bias[c];
      mean_[p] = mean;
      inverse_[p] = inverse;
    }
  }

  void backward(std::span<const float> x, std::span<float> g) override {
    incoming_.gather();
    const float* weight = x.data() + weight_;
    float* own_weight = g.data() + weight_;
    float* own_bias = g.data() + bias_;
    std::fill_n(own_weight, channels_, 0.0F);
    std::fill_n(own_bias, channels_, 0.0F);
    const auto n = static_cast<float>(channels_);
    for (std::size_t p = 0; p < positions_; ++p) {
      const float* in = floats(x_) + p * channels_;
      const float* dy = floats(incoming_.tensor()) + p * channels_;
      float* dx = floats(dx_) + p * channels_;
      float sum = 0;
      float product = 0;
      for (std::size_t c = 0; c < channels_; ++c) {
        const float normal = (in[c] - mean_[p]) * inverse_[p];
        own_weight[c] += dy[c] * normal;
        own_bias[c] += dy[c];
        sum += dy[c] * weight[c];
        product += dy[c] * weight[c] * normal;
      }
      for (std::size_t c = 0; c < channels_; ++c) {
        const float normal = (in[c] - mean_[p]) * inverse_[p];
        dx[c] = inverse_[p] * (dy[c] * weight[c] - sum / n - normal * product / n);
      }
    }
  }

 private:
  float epsilon_;
  std::size_t weight_, bias_, channels_, positions_;
  std::vector<float> mean_, inverse_;  ///< of each position
};

}  // namespace

LayerPointer make_host_layer_norm(const LayerPlace& place) {
  return std::make_unique<LayerNorm>(place);
}

}  // namespace gv
