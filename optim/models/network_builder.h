#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "optim/models/objective.h"
#include "optim/rng.h"

namespace gv {

// A network as plain data: its operations, their order, and their pieces of one flat parameter
// vector. Each device decides how to compute it, and how values are laid out in memory.

/// The shape of one row (one sample) at a node. A picture has positions == 1, elements in the order
/// [channels][height][width]. A sequence has height == width == 1, elements in the order
/// [positions][channels]. A plain vector has only `channels`.
struct Shape {
  std::uint32_t positions = 1;
  std::uint32_t channels = 1;
  std::uint32_t height = 1;
  std::uint32_t width = 1;

  std::size_t elements() const { return std::size_t{positions} * channels * height * width; }
  bool operator==(const Shape&) const = default;
};

/// The operations in their training form. x is the first input, y the output; sums over a window or
/// a row of weights are those of PyTorch's modules with these names.
enum class Op : std::uint8_t {
  input,        ///< a row of the data set: floats, or (NeuralNetwork::vocabulary > 0) token numbers
  convolution,  ///< cross-correlation; weight [out, in, kernel, kernel], perhaps bias [out]
  linear,       ///< y = W x + b at each position; a picture is flattened in its order; weight
                ///< [out, in], perhaps bias [out]
  relu,         ///< max(x, 0)
  gelu,         ///< x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))); arXiv:1606.08415, section 2
  max_pool,     ///< over windows inside the picture; the first maximum gets the gradient
  average_pool,  ///< over the whole picture: [channels]
  batch_norm,    ///< per channel over the batch; weight, bias [channels]; arXiv:1502.03167, alg. 1
  group_norm,    ///< per row and group of adjacent channels; weight, bias; arXiv:1803.08494, eq. 7
  layer_norm,    ///< per position over channels; weight, bias [channels]; arXiv:1607.06450, eq. 4
  add,           ///< x + second input
  shortcut,   ///< every stride-th pixel in both directions, (out - in) / 2 channels of zeros before
              ///< and after; option A of arXiv:1512.03385, section 3.3
  embedding,  ///< token weight [vocabulary, channels] by token + position weight [positions,
              ///< channels] by position
  attention,  ///< causal, `heads` heads: x is [positions][queries | keys | values], each of
              ///< `channels` with the heads concatenated; softmax(q k^T / sqrt(channels /
              ///< heads)) v over positions up to its own; arXiv:1706.03762, equation 1
};

/// One operation. Fields that it does not use keep their defaults.
struct Node {
  Op op = Op::input;
  std::vector<std::uint32_t> inputs{};      ///< earlier nodes; two for add
  Shape out{};                              ///< shape of one row
  std::vector<std::uint32_t> parameters{};  ///< tensors of the network, in the op's order
  std::uint32_t kernel = 1;                 ///< square windows: convolution, max_pool
  std::uint32_t stride = 1;                 ///< convolution, max_pool, shortcut
  std::uint32_t padding = 0;                ///< zeros on each side: convolution
  std::uint32_t groups = 1;                 ///< group_norm
  std::uint32_t heads = 1;                  ///< attention
  float epsilon = 1e-5F;                    ///< added to the (biased) variance of a norm
};

/// A named tensor: its place in the flat vector, and its start values.
struct Tensor {
  Parameter parameter;     ///< PyTorch's name and layout, row-major
  std::size_t offset = 0;  ///< in floats; tensors follow each other without gaps
  std::size_t count = 0;
  float constant = 0;  ///< start values are constant + deviation N(0, 1)
  float deviation = 0;

  /// Fills `values`, of length count; draws nothing if the deviation is 0.
  void start(std::span<float> values, Rng& rng) const;
};

/// A network. nodes[0] is the input and nodes.back() the logits, [positions][classes] of a row; the
/// loss is the mean over rows and positions of softmax cross-entropy.
struct NeuralNetwork {
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;  ///< each after its inputs
  std::uint32_t classes = 0;
  std::uint32_t vocabulary = 0;  ///< size, if its input is tokens; 0 for floats

  std::size_t size() const;  ///< d
  const Shape& input() const { return nodes.front().out; }
  std::uint32_t positions() const { return nodes.back().out.positions; }  ///< labels of one row
  std::vector<Parameter> parameters() const;
  /// Fills x, of length size(); each drawn tensor continues the random stream of the one before.
  void initialize(std::span<float> x, Rng rng) const;
  /// Multiplications and additions of the matrix products and convolutions of one gradient: three
  /// times those of a forward pass (forward, by the input, by the weight).
  double gradient_flops(std::uint32_t batch) const;
};

enum class Norm : std::uint8_t { batch, group };

/// A row that is a picture.
inline Shape shape_of(const ImageShape& image) {
  return {.channels = image.channels, .height = image.height, .width = image.width};
}

/// Softmax regression: "fc". Starts at zero.
NeuralNetwork softmax_network(const Shape& input, std::uint32_t classes);

/// "fc1", relu, "fc2", ...: the widths `hidden` and the logits; He et al. 2015 (arXiv:1502.01852).
NeuralNetwork mlp_network(const Shape& input,
                          const std::vector<std::uint32_t>& hidden,
                          std::uint32_t classes);

/// LeCun, Bottou, Bengio & Haffner 1998, "Gradient-based learning applied to document recognition",
/// section II.B, in today's form: ReLU and max pooling, C3 fully connected, softmax on top.
/// Pictures below 32 pixels are padded by 2 (the paper pads 28 to 32): 61,706 parameters for 1 x 28
/// x 28 and ten classes. Throws std::invalid_argument for pictures below 12 x 12.
NeuralNetwork lenet5_network(const Shape& image, std::uint32_t classes);

/// He, Zhang, Ren & Sun 2016 (arXiv:1512.03385), section 4.2 with n = 3: option A shortcuts,
/// 269,722 parameters for 3 x 32 x 32 and ten classes. Norm::group normalizes two groups of
/// channels instead of the batch, as Reddi et al. 2021 (arXiv:2003.00295) for data that differ
/// between peers. Throws std::invalid_argument for pictures below 5 x 5.
NeuralNetwork resnet20_network(const Shape& image, std::uint32_t classes, Norm norm);

/// Vaswani et al. 2017 (arXiv:1706.03762), only the decoder, with the norm before each block and
/// the start of Radford et al. 2019, "Language models are unsupervised multitask learners", section
/// 2.3: N(0, 0.02^2), the last projection of each residual branch divided by sqrt(2 layers).
struct TransformerShape {
  std::uint32_t vocabulary = 256;
  std::uint32_t context = 64;  ///< positions
  std::uint32_t width = 64;    ///< channels; a multiple of heads
  std::uint32_t heads = 4;
  std::uint32_t layers = 2;
};
/// Parameters have GPT-2's names with PyTorch's Linear layout ("h.0.attn.c_attn.weight" is [3
/// width, width]); the head is not tied to the embedding. Throws std::invalid_argument for zeros,
/// and for a width that is not a multiple of heads.
NeuralNetwork transformer_network(const TransformerShape& shape);

/// Appends nodes to a network; every call returns the number of its new node. Names are PyTorch's
/// module names: "conv1" makes "conv1.weight" and, with a bias, "conv1.bias".
class NetworkBuilder {
 public:
  NetworkBuilder(const Shape& input, std::uint32_t classes, std::uint32_t vocabulary = 0);

  /// Sets the deviation of the weights of later convolutions and linear layers; the default is
  /// that of He et al. 2015, equation 10: sqrt(2 / fan-in).
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
  /// Embeds the input, with tensors `token`.weight and `position`.weight.
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
  float deviation_ = -1;  ///< negative for by fan-in
};

}  // namespace gv
