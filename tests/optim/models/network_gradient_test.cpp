#include <cmath>
#include <optional>

#include "tests/optim/models/networks.h"

namespace gv {
namespace {

class NetworkGradient : public OneThread {};

/// Returns the slope of the loss by x[k], or nothing near a kink of a ReLU or a maximum: there the
/// slopes on the two sides differ by twice the error.
std::optional<double> slope_at(const NeuralNetwork& network,
                               const std::vector<float>& x,
                               std::size_t k,
                               std::uint32_t rows) {
  std::vector<float> scratch(x.size());
  const auto loss_at = [&](float value) {
    std::vector<float> moved = x;
    moved[k] = value;
    return make(network, rows)->value_and_gradient(moved, rows, scratch);
  };
  constexpr float h = 2e-3F;
  const auto run = [](float to, float from) {
    return static_cast<double>(to) - static_cast<double>(from);
  };
  const double here = loss_at(x[k]);
  const double above = loss_at(x[k] + h);
  const double below = loss_at(x[k] - h);
  const double slope = (above - below) / run(x[k] + h, x[k] - h);
  const double bend = (above - here) / run(x[k] + h, x[k]) - (here - below) / run(x[k], x[k] - h);
  if (std::abs(bend) > 1e-3 + 1e-2 * std::abs(slope)) return {};
  return slope;
}

void expect_gradient(const NeuralNetwork& network, std::uint32_t rows, std::size_t stride) {
  const std::vector<float> x = somewhere(network);
  std::vector<float> g(x.size(), std::nanf(""));
  make(network, rows)->value_and_gradient(x, rows, g);
  std::size_t looked_at = 0;
  std::size_t smooth = 0;
  for (std::size_t k = 0; k < x.size(); k += stride) {
    ++looked_at;
    const std::optional<double> slope = slope_at(network, x, k, rows);
    if (!slope) continue;
    ++smooth;
    EXPECT_NEAR(static_cast<double>(g[k]), *slope, 1e-3 + 1e-2 * std::abs(*slope))
        << "parameter " << k;
  }
  EXPECT_GE(smooth, looked_at * 8 / 10);
}

TEST_F(NetworkGradient, GradientsOfEveryOpAgreeWithCentralDifferences) {
  for (const auto& ops : {every_picture_op(), every_text_op()}) {
    for (const auto& [name, network] : ops) {
      SCOPED_TRACE(name);
      expect_gradient(network, 7, 1 + network.size() / 150);
    }
  }
}

TEST_F(NetworkGradient, GradientsOfEveryModelAgreeWithCentralDifferences) {
  for (const auto& [name, network] : every_model()) {
    SCOPED_TRACE(name);
    expect_gradient(network, 6, 1 + network.size() / 60);
  }
}

TEST_F(NetworkGradient, ThreadsDoNotChangeWhatIsComputed) {
  for (const auto& [name, network] : every_model()) {
    SCOPED_TRACE(name);
    const std::vector<float> x = somewhere(network);
    std::vector<float> one(x.size());
    std::vector<float> three(x.size());
    set_compute_threads(1);
    make(network, 41)->value_and_gradient(x, 41, one);
    set_compute_threads(3);
    make(network, 41)->value_and_gradient(x, 41, three);
    ASSERT_EQ(one, three);
  }
  set_compute_threads(1);
}

/// y <- W x + b and dW, db, dx in plain loops, as llm.c checks its kernels.
struct PlainLayer {
  std::span<const float> weight, bias;  ///< [out][in], [out]
  std::vector<double> in, out;

  void forward(std::vector<double> x, bool relu) {
    in = std::move(x);
    out.assign(bias.begin(), bias.end());
    for (std::size_t o = 0; o < out.size(); ++o) {
      for (std::size_t i = 0; i < in.size(); ++i)
        out[o] += static_cast<double>(weight[o * in.size() + i]) * in[i];
      if (relu) out[o] = std::max(out[o], 0.0);
    }
  }
  std::vector<double> backward(const std::vector<double>& dy, std::span<double> g) const {
    std::vector<double> dx(in.size());
    for (std::size_t o = 0; o < out.size(); ++o) {
      for (std::size_t i = 0; i < in.size(); ++i) {
        g[o * in.size() + i] += dy[o] * in[i];
        dx[i] += dy[o] * static_cast<double>(weight[o * in.size() + i]);
      }
      g[out.size() * in.size() + o] += dy[o];
    }
    return dx;
  }
};

TEST_F(NetworkGradient, AnMlpsGradientIsThatOfPlainLoops) {
  const std::vector<std::uint32_t> widths{84, 9, 8, 3};
  const NeuralNetwork network = mlp_network({.channels = 84}, {9, 8}, 3);
  const TrainTest data = noisy_pictures(picture, 20, 3);
  const std::vector<float> x = somewhere(network);
  std::vector<float> g(x.size());
  const double loss = make_network_objective(network, whole(data))->value_and_gradient(x, 20, g);
  std::vector<double> plain(x.size());
  double plain_loss = 0;
  for (std::uint32_t row = 0; row < 20; ++row) {
    std::vector<float> pixels(84);
    data.train->gather(std::vector{row}, pixels);
    std::vector<double> value(pixels.begin(), pixels.end());
    std::vector<PlainLayer> layers;
    for (std::size_t l = 0; l < 3; ++l) {
      const auto part = [&](std::size_t k) {
        const Tensor& t = network.tensors[2 * l + k];
        return std::span(x).subspan(t.offset, t.count);
      };
      layers.push_back({part(0), part(1), {}, {}});
      layers.back().forward(value, l < 2);
      value = layers.back().out;
    }
    double sum = 0;
    for (const double z : value) sum += std::exp(z);
    plain_loss -= std::log(std::exp(value[data.train->labels[row]]) / sum) / 20;
    for (std::size_t c = 0; c < 3; ++c)
      value[c] = (std::exp(value[c]) / sum - (c == data.train->labels[row] ? 1 : 0)) / 20;
    for (std::size_t l = 3; l-- > 0;) {
      value = layers[l].backward(value, std::span(plain).subspan(network.tensors[2 * l].offset));
      for (std::size_t i = 0; l > 0 && i < value.size(); ++i)
        if (layers[l].in[i] <= 0) value[i] = 0;
    }
  }
  EXPECT_NEAR(loss, plain_loss, 1e-6);
  for (std::size_t k = 0; k < x.size(); ++k)
    ASSERT_NEAR(static_cast<double>(g[k]), plain[k], 1e-6 + 1e-5 * std::abs(plain[k])) << k;
}

TEST_F(NetworkGradient, GroupNormsGradientIsTheMeanOfItsRows) {
  const NeuralNetwork network = pictures([](auto& b) {
    const auto x = b.convolution(0, "a", 8, {3, 1, 1}, false);
    head(b, b.relu(b.norm(Op::group_norm, x, "n", 2)));
  });
  const TrainTest data = data_for(network, 4);
  const std::vector<float> x = somewhere(network);
  std::vector<float> together(x.size());
  std::vector<float> one(x.size());
  std::vector<float> mean(x.size());
  make_network_objective(network, whole(data))->value_and_gradient(x, 4, together);
  const auto rows = make_network_objective(network, whole(data));
  for (int r = 0; r < 4; ++r) {
    rows->value_and_gradient(x, 1, one);
    for (std::size_t k = 0; k < x.size(); ++k) mean[k] += one[k] / 4;
  }
  for (std::size_t k = 0; k < x.size(); ++k) EXPECT_NEAR(together[k], mean[k], 1e-5);
}

}  // namespace
}  // namespace gv
