#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

#include "optim/models/network_builder.h"
#include "tests/optim/data/test_data.h"

namespace gv {
namespace {

const Tensor& find(const NeuralNetwork& network, const std::string& name) {
  for (const Tensor& tensor : network.tensors)
    if (tensor.parameter.name == name) return tensor;
  throw std::out_of_range(name);
}

std::vector<NeuralNetwork> every_network() {
  const Shape grey{.channels = 1, .height = 28, .width = 28};
  const Shape colour{.channels = 3, .height = 32, .width = 32};
  return {softmax_network(grey, 10),
          mlp_network(grey, {20, 30}, 10),
          lenet5_network(grey, 10),
          resnet20_network(colour, 10, Norm::batch),
          resnet20_network(grey, 10, Norm::group),
          transformer_network({.vocabulary = 11})};
}

TEST(NeuralNetwork, TensorsFollowEachOtherWithoutGaps) {
  for (const NeuralNetwork& network : every_network()) {
    std::size_t offset = 0;
    for (const Tensor& tensor : network.tensors) {
      std::size_t count = 1;
      for (const std::uint32_t extent : tensor.parameter.shape) count *= extent;
      EXPECT_EQ(tensor.offset, offset) << tensor.parameter.name;
      EXPECT_EQ(tensor.count, count) << tensor.parameter.name;
      offset += count;
    }
    EXPECT_EQ(network.size(), offset);
  }
}

TEST(NeuralNetwork, NodesComeAfterTheirInputsAndUseEachTensorOnce) {
  for (const NeuralNetwork& network : every_network()) {
    std::vector<int> uses(network.tensors.size());
    EXPECT_EQ(network.nodes.front().op, Op::input);
    for (std::uint32_t n = 1; n < network.nodes.size(); ++n) {
      EXPECT_FALSE(network.nodes[n].inputs.empty());
      for (const std::uint32_t input : network.nodes[n].inputs) EXPECT_LT(input, n);
      for (const std::uint32_t tensor : network.nodes[n].parameters) ++uses.at(tensor);
    }
    EXPECT_EQ(uses, std::vector<int>(network.tensors.size(), 1));
    EXPECT_EQ(network.nodes.back().out.channels, network.classes);
  }
}

TEST(NeuralNetwork, AnMlpIsLaidOutAsPyTorchDoesAndStartsAsHeDid) {
  const NeuralNetwork network = mlp_network({.channels = 6}, {7, 5}, 3);
  const std::vector<std::pair<std::string, std::vector<std::uint32_t>>> expected{
      {"fc1.weight", {7, 6}}, {"fc1.bias", {7}},      {"fc2.weight", {5, 7}},
      {"fc2.bias", {5}},      {"fc3.weight", {3, 5}}, {"fc3.bias", {3}}};
  ASSERT_EQ(network.tensors.size(), expected.size());
  std::vector<float> start;
  Rng rng(5);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_EQ(network.tensors[k].parameter.name, expected[k].first);
    EXPECT_EQ(network.tensors[k].parameter.shape, expected[k].second);
    std::vector<float> values(network.tensors[k].count);
    if (k % 2 == 0) {
      rng.fill_normal(values);
      const float deviation = std::sqrt(2.0F / static_cast<float>(expected[k].second[1]));
      for (float& value : values) value *= deviation;
    }
    start.insert(start.end(), values.begin(), values.end());
  }
  std::vector<float> x(network.size(), 4);
  network.initialize(x, Rng(5));
  EXPECT_EQ(x, start);
  EXPECT_EQ(network.gradient_flops(12), 6 * 12 * (6 * 7 + 7 * 5 + 5 * 3));
  EXPECT_EQ(softmax_network({.channels = 6}, 3).tensors[0].parameter.name, "fc.weight");
}

TEST(NeuralNetwork, LeNet5HasThePublishedParameters) {
  const NeuralNetwork network = lenet5_network({.channels = 1, .height = 28, .width = 28}, 10);
  EXPECT_EQ(network.size(), 61706U);
  EXPECT_EQ(lenet5_network({.channels = 1, .height = 32, .width = 32}, 10).size(), 61706U);
  EXPECT_EQ(find(network, "conv1.weight").parameter.shape,
            (std::vector<std::uint32_t>{6, 1, 5, 5}));
  EXPECT_EQ(find(network, "fc1.weight").parameter.shape, (std::vector<std::uint32_t>{120, 400}));
  EXPECT_EQ(network.tensors.back().parameter.name, "fc3.bias");
  EXPECT_THROW(lenet5_network({.channels = 1, .height = 28, .width = 11}, 10),
               std::invalid_argument);
  EXPECT_EQ(lenet5_network({.channels = 1, .height = 12, .width = 12}, 10).tensors[4].count, 1920U);
}

TEST(NeuralNetwork, ResNet20HasThePublishedParameters) {
  const Shape cifar{.channels = 3, .height = 32, .width = 32};
  for (const Norm norm : {Norm::batch, Norm::group}) {
    const NeuralNetwork network = resnet20_network(cifar, 10, norm);
    EXPECT_EQ(network.size(), 269722U);  // table 6 of the paper: 0.27 million
    EXPECT_EQ(find(network, "layer2.0.conv1.weight").parameter.shape,
              (std::vector<std::uint32_t>{32, 16, 3, 3}));
    EXPECT_EQ(find(network, "layer3.2.bn2.bias").count, 64U);
    std::size_t convolutions = 0;
    for (const Node& node : network.nodes) convolutions += node.op == Op::convolution ? 1 : 0;
    EXPECT_EQ(convolutions, 19U);
  }
  const NeuralNetwork grey = resnet20_network({.height = 28, .width = 28}, 10, Norm::batch);
  EXPECT_EQ(grey.nodes[grey.nodes.size() - 3].out,
            (Shape{.channels = 64, .height = 7, .width = 7}));
  EXPECT_THROW(resnet20_network({.height = 3, .width = 28}, 10, Norm::batch),
               std::invalid_argument);
}

TEST(NeuralNetwork, ATransformersParametersAreThoseOfItsParts) {
  const NeuralNetwork network =
      transformer_network({.vocabulary = 65, .context = 32, .width = 16, .heads = 4, .layers = 3});
  const std::size_t block =
      2 * 32 + (48 * 16 + 48) + (16 * 16 + 16) + (64 * 16 + 64) + (16 * 64 + 16);
  EXPECT_EQ(network.size(), 65U * 16 + 32 * 16 + 3 * block + 32 + 65 * 16);
  EXPECT_EQ(find(network, "h.2.attn.c_attn.weight").parameter.shape,
            (std::vector<std::uint32_t>{48, 16}));
  EXPECT_EQ(network.positions(), 32U);
  EXPECT_THROW(transformer_network({.width = 10, .heads = 4}), std::invalid_argument);
  EXPECT_THROW(transformer_network({.layers = 0}), std::invalid_argument);
}

TEST(NeuralNetwork, StartsAsItsPapersSay) {
  const NeuralNetwork resnet =
      resnet20_network({.channels = 3, .height = 32, .width = 32}, 10, Norm::batch);
  std::vector<float> x(resnet.size());
  resnet.initialize(x, Rng(3));
  const auto second_moment = [&](const Tensor& tensor) {
    double sum = 0;
    for (std::size_t k = 0; k < tensor.count; ++k) {
      const auto value = static_cast<double>(x[tensor.offset + k]);
      sum += value * value;
    }
    return sum / static_cast<double>(tensor.count);
  };
  const Tensor& weight = find(resnet, "layer3.1.conv2.weight");
  EXPECT_NEAR(second_moment(weight), 2.0 / (64 * 9), 0.03 * 2.0 / (64 * 9));
  EXPECT_EQ(x[find(resnet, "layer1.0.bn1.weight").offset], 1);
  EXPECT_EQ(x[find(resnet, "layer1.0.bn1.bias").offset], 0);

  const NeuralNetwork transformer = transformer_network({.layers = 8});
  x.resize(transformer.size());
  transformer.initialize(x, Rng(3));
  EXPECT_NEAR(second_moment(find(transformer, "h.0.mlp.c_fc.weight")), 4e-4, 2e-5);
  EXPECT_NEAR(second_moment(find(transformer, "h.0.mlp.c_proj.weight")), 4e-4 / 16, 2e-6);
}

}  // namespace
}  // namespace gv
