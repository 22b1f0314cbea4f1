#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "optim/data/minibatch.h"
#include "optim/host/cross_entropy.h"
#include "optim/host/fully_connected.h"
#include "optim/models/objective.h"

// Forward and backward of fully connected layers on flat parameters; llm.c's layout idea: one
// vector, offsets into it.

namespace gv {
namespace {

/// Widths from the input to the logits. Softmax regression is the perceptron without a hidden
/// layer.
struct PerceptronSpec {
  std::vector<std::uint32_t> widths;
  bool numbered = true;      ///< "fc1", "fc2", ...; otherwise "fc"
  bool random_start = true;  ///< He initialization; otherwise zeros
};

/// One layer's place in the flat vector: weight [out, in] row-major, then bias [out].
struct Layer {
  std::size_t weight, bias;
  std::uint32_t in, out;
};

std::vector<Layer> place_layers(const std::vector<std::uint32_t>& widths) {
  std::vector<Layer> layers;
  std::size_t offset = 0;
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    const std::size_t weights = std::size_t{widths[l]} * widths[l + 1];
    layers.push_back({offset, offset + weights, widths[l], widths[l + 1]});
    offset += weights + widths[l + 1];
  }
  return layers;
}

class Perceptron : public Objective {
 public:
  Perceptron(PerceptronSpec spec, Share share)
      : spec_(std::move(spec)),
        layers_(place_layers(spec_.widths)),
        train_(std::move(share.train)),
        test_(std::move(share.test)),
        batches_(std::move(share.rows), share.rng, share.augment),
        activations_(spec_.widths.size()) {}

  std::vector<Parameter> parameters() const override {
    std::vector<Parameter> list;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const std::string name = spec_.numbered ? "fc" + std::to_string(l + 1) : "fc";
      list.push_back({name + ".weight", {layers_[l].out, layers_[l].in}});
      list.push_back({name + ".bias", {layers_[l].out}});
    }
    return list;
  }
  std::uint32_t samples() const override { return batches_.rows(); }

  void initialize(std::span<float> x, Rng rng) const override {
    std::ranges::fill(x, 0.0F);
    if (!spec_.random_start) return;
    for (const Layer& layer : layers_) {
      const std::span<float> weight = x.subspan(layer.weight, layer.bias - layer.weight);
      rng.fill_normal(weight);
      const float deviation =
          std::sqrt(2.0F / static_cast<float>(layer.in));  // He et al. 2015, eq. 10
      for (float& w : weight) w *= deviation;
    }
  }

  double value_and_gradient(std::span<const float> x,
                            std::uint32_t batch,
                            std::span<float> g) override {
    const std::span<const std::uint32_t> rows = batches_.next(batch);
    gather(*train_, rows, batches_.views());
    forward(x, batch);
    const double loss = softmax_cross_entropy(activations_.back(), labels_, spec_.widths.back());
    backward(x, g, batch);
    return loss;
  }

  Evaluation evaluate(std::span<const float> x) override {
    constexpr std::uint32_t chunk = 256;
    Score total;
    std::vector<std::uint32_t> rows;
    for (std::uint32_t first = 0; first < test_->rows; first += chunk) {
      rows.resize(std::min(chunk, test_->rows - first));
      std::iota(rows.begin(), rows.end(), first);
      gather(*test_, rows, {});
      forward(x, static_cast<std::uint32_t>(rows.size()));
      const Score score = score_logits(activations_.back(), labels_, spec_.widths.back());
      total.loss += score.loss;
      total.correct += score.correct;
    }
    const double n = test_->rows;
    return {total.loss / n, static_cast<double>(total.correct) / n};
  }

  double gradient_flops(std::uint32_t batch) const override {
    double multiplies = 0;
    for (const Layer& layer : layers_) multiplies += static_cast<double>(layer.in) * layer.out;
    return 6 * multiplies * batch;
  }

  void save(StateWriter& out) const override { batches_.save(out); }
  void restore(StateReader& in) override { batches_.restore(in); }

 private:
  void gather(const Dataset& data,
              std::span<const std::uint32_t> rows,
              std::span<const View> views) {
    labels_.clear();
    for (const std::uint32_t r : rows) labels_.push_back(data.labels[r]);
    activations_[0].resize(rows.size() * data.features);
    data.gather(rows, views, activations_[0]);
  }

  static FullyConnected of(const Layer& layer, std::uint32_t batch) {
    return {static_cast<int>(batch), static_cast<int>(layer.in), static_cast<int>(layer.out)};
  }

  /// a_{l+1} = relu(a_l W_l^T + b_l); the last layer without relu: logits.
  void forward(std::span<const float> x, std::uint32_t batch) {
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const Layer& layer = layers_[l];
      std::vector<float>& out = activations_[l + 1];
      out.resize(std::size_t{batch} * layer.out);
      const FullyConnected product = of(layer, batch);
      product.multiply(activations_[l].data(), x.data() + layer.weight, out.data());
      product.add_bias(x.data() + layer.bias, l + 1 < layers_.size(), out.data());
    }
  }

  /// activations_.back() holds the gradient by the logits; delta_ walks down.
  void backward(std::span<const float> x, std::span<float> g, std::uint32_t batch) {
    std::vector<float>* delta = &activations_.back();
    for (std::size_t l = layers_.size(); l-- > 0;) {
      const Layer& layer = layers_[l];
      const FullyConnected product = of(layer, batch);
      product.weight_gradient(activations_[l].data(), delta->data(), g.data() + layer.weight);
      product.bias_gradient(delta->data(), g.data() + layer.bias);
      if (l == 0) break;
      std::vector<float>& below = l % 2 == 0 ? even_ : odd_;
      below.resize(std::size_t{batch} * layer.in);
      product.input_gradient(delta->data(), x.data() + layer.weight, below.data());
      const std::vector<float>& a = activations_[l];
      for (std::size_t k = 0; k < below.size(); ++k) below[k] = a[k] > 0 ? below[k] : 0.0F;
      delta = &below;
    }
  }

  PerceptronSpec spec_;
  std::vector<Layer> layers_;
  std::shared_ptr<const Dataset> train_, test_;
  Minibatches batches_;
  std::vector<std::uint8_t> labels_;
  std::vector<std::vector<float>> activations_;  ///< [l]: batch x widths[l]
  std::vector<float> even_, odd_;                ///< gradients by the activations, in turn
};

}  // namespace

std::unique_ptr<Objective> make_mlp(std::vector<std::uint32_t> hidden, Share share) {
  std::vector<std::uint32_t> widths{share.train->features};
  widths.insert(widths.end(), hidden.begin(), hidden.end());
  widths.push_back(share.train->classes);
  return std::make_unique<Perceptron>(PerceptronSpec{std::move(widths), true, true},
                                      std::move(share));
}

std::unique_ptr<Objective> make_softmax(Share share) {
  std::vector<std::uint32_t> widths{share.train->features, share.train->classes};
  return std::make_unique<Perceptron>(PerceptronSpec{std::move(widths), false, false},
                                      std::move(share));
}

}  // namespace gv
