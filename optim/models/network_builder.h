#pragma once

#include <string>

#include "optim/models/network.h"

namespace gv {

/// Appends nodes to a network; every call returns the number of the node that it made. Names are
/// PyTorch's module names: "conv1" makes "conv1.weight" and perhaps "conv1.bias".
class NetworkBuilder {
 public:
  NetworkBuilder(const Shape& input, std::uint32_t classes, std::uint32_t vocabulary = 0);

  /// The deviation with which the weights of convolutions and linear layers are drawn from here on;
  /// until then it is that of He et al. 2015, equation 10: sqrt(2 / fan-in).
  void draw(float deviation) { deviation_ = deviation; }

  struct Window {
    std::uint32_t kernel = 1, stride = 1, padding = 0;
  };
  std::uint32_t convolution(
      std::uint32_t x, const std::string& name, std::uint32_t channels, Window window, bool bias);
  std::uint32_t linear(std::uint32_t x, const std::string& name, std::uint32_t out, bool bias);
  std::uint32_t relu(std::uint32_t x) { return same(Op::relu, {x}); }
  std::uint32_t gelu(std::uint32_t x) { return same(Op::gelu, {x}); }
  std::uint32_t add(std::uint32_t x, std::uint32_t y) { return same(Op::add, {x, y}); }
  std::uint32_t max_pool(std::uint32_t x, Window window);
  std::uint32_t average_pool(std::uint32_t x);
  /// Op::batch_norm, Op::group_norm or Op::layer_norm; starts as weight 1, bias 0.
  std::uint32_t norm(Op op, std::uint32_t x, const std::string& name, std::uint32_t groups = 1);
  std::uint32_t shortcut(std::uint32_t x, std::uint32_t channels, std::uint32_t stride);
  /// Embeds the input; with tensors `token`.weight and `position`.weight.
  std::uint32_t embedding(const std::string& token,
                          const std::string& position,
                          std::uint32_t width);
  std::uint32_t attention(std::uint32_t qkv, std::uint32_t heads);

  const Shape& out(std::uint32_t node) const { return network_.nodes.at(node).out; }
  std::uint32_t classes() const { return network_.classes; }
  /// The network, whose last node's channels must be its classes.
  NeuralNetwork build();

 private:
  std::uint32_t append(Node node);
  std::uint32_t same(Op op, std::vector<std::uint32_t> inputs);
  std::uint32_t tensor(const std::string& name,
                       std::vector<std::uint32_t> shape,
                       float constant,
                       float deviation);
  float deviation_of(std::size_t fan_in) const;

  NeuralNetwork network_;
  float deviation_ = -1;  ///< negative: by fan-in
};

}  // namespace gv
