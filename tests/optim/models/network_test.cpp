#include "optim/models/network.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "tests/optim/data/test_data.h"

namespace gv {
namespace {

const Tensor& find(const Network& network, const std::string& name) {
  for (const Tensor& tensor : network.tensors)
    if (tensor.parameter.name == name) return tensor;
  throw std::out_of_range(name);
}

std::vector<Network> every_network() {
  const Shape grey{.channels = 1, .height = 28, .width = 28};
  const Shape colour{.channels = 3, .height = 32, .width = 32};
  return {softmax_network(grey, 10),
          mlp_network(grey, {20, 30}, 10),
          lenet5_network(grey, 10),
          resnet20_network(colour, 10, Norm::batch),
          resnet20_network(grey, 10, Norm::group),
          transformer_network({.vocabulary = 11})};
}

TEST(Network, TensorsFollowEachOtherWithoutGaps) {
  for (const Network& network : every_network()) {
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

TEST(Network, NodesComeAfterTheirInputsAndUseEachTensorOnce) {
  for (const Network& network : every_network()) {
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

TEST(Network, AnMlpIsThePerceptronToTheBit) {
  const TrainTest blobs = make_blobs(24, 8, 6, 3, 2, Rng(1));
  const Share share = whole(blobs);
  const Shape input{.channels = 6};
  std::vector<std::pair<std::unique_ptr<Objective>, Network>> pairs;
  pairs.emplace_back(make_softmax(share), softmax_network(input, 3));
  pairs.emplace_back(make_mlp({7, 5}, share), mlp_network(input, {7, 5}, 3));
  for (const auto& [perceptron, network] : pairs) {
    ASSERT_EQ(perceptron->size(), network.size());
    const std::vector<Parameter> ours = perceptron->parameters();
    for (std::size_t k = 0; k < ours.size(); ++k) {
      EXPECT_EQ(ours[k].name, network.tensors[k].parameter.name);
      EXPECT_EQ(ours[k].shape, network.tensors[k].parameter.shape);
    }
    std::vector<float> a(network.size(), 3);
    std::vector<float> b(network.size(), 4);
    perceptron->initialize(a, Rng(5));
    network.initialize(b, Rng(5));
    EXPECT_EQ(a, b);
    EXPECT_EQ(perceptron->gradient_flops(12), network.gradient_flops(12));
  }
}

TEST(Network, LeNet5HasThePublishedParameters) {
  const Network network = lenet5_network({.channels = 1, .height = 28, .width = 28}, 10);
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

TEST(Network, ResNet20HasThePublishedParameters) {
  const Shape cifar{.channels = 3, .height = 32, .width = 32};
  for (const Norm norm : {Norm::batch, Norm::group}) {
    const Network network = resnet20_network(cifar, 10, norm);
    EXPECT_EQ(network.size(), 269722U);  // table 6 of the paper: 0.27 million
    EXPECT_EQ(find(network, "layer2.0.conv1.weight").parameter.shape,
              (std::vector<std::uint32_t>{32, 16, 3, 3}));
    EXPECT_EQ(find(network, "layer3.2.bn2.bias").count, 64U);
    std::size_t convolutions = 0;
    for (const Node& node : network.nodes) convolutions += node.op == Op::convolution ? 1 : 0;
    EXPECT_EQ(convolutions, 19U);
  }
  const Network grey = resnet20_network({.height = 28, .width = 28}, 10, Norm::batch);
  EXPECT_EQ(grey.nodes[grey.nodes.size() - 3].out,
            (Shape{.channels = 64, .height = 7, .width = 7}));
  EXPECT_THROW(resnet20_network({.height = 3, .width = 28}, 10, Norm::batch),
               std::invalid_argument);
}

TEST(Network, ATransformersParametersAreThoseOfItsParts) {
  const Network network =
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

TEST(Network, StartsAsItsPapersSay) {
  const Network resnet =
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

  const Network transformer = transformer_network({.layers = 8});
  x.resize(transformer.size());
  transformer.initialize(x, Rng(3));
  EXPECT_NEAR(second_moment(find(transformer, "h.0.mlp.c_fc.weight")), 4e-4, 2e-5);
  EXPECT_NEAR(second_moment(find(transformer, "h.0.mlp.c_proj.weight")), 4e-4 / 16, 2e-6);
}

TEST(Network, IsMadeForItsData) {
  const TrainTest digits = draw_digits(20, 10, Rng(1));
  EXPECT_EQ(make_network({.kind = "lenet5"}, *digits.train).size(), 61706U);
  EXPECT_EQ(make_network({.kind = "resnet20", .norm = "group"}, *digits.train).nodes[2].op,
            Op::group_norm);
  EXPECT_EQ(make_network({.kind = "mlp", .hidden = {5}}, *digits.train).input(),
            (Shape{.channels = 784}));
  Dataset text;
  text.rows = 5;
  text.features = text.context = 8;
  text.classes = 3;
  text.tokens.resize(13);
  const Network transformer = make_network({.kind = "transformer"}, text);
  EXPECT_EQ(transformer.input().positions, 8U);
  EXPECT_EQ(transformer.vocabulary, 3U);
}

TEST(Network, SaysWhichDataItNeeds) {
  const TrainTest digits = draw_digits(20, 10, Rng(1));
  const TrainTest blobs = make_blobs(24, 8, 6, 3, 2, Rng(1));
  const TrainTest linear = make_linear(24, 8, 6, 0.1, Rng(1));
  const auto message = [](const ModelSpec& spec, const Dataset& data) -> std::string {
    try {
      make_network(spec, data);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message({.kind = "lenet5"}, *blobs.train),
            "model `lenet5` needs pictures; these data have no height and width");
  EXPECT_EQ(message({.kind = "resnet20", .norm = "layer"}, *digits.train),
            "model `resnet20` knows norm `batch` and `group`, not `layer`");
  EXPECT_EQ(message({.kind = "transformer"}, *digits.train), "model `transformer` needs a text");
  EXPECT_EQ(message({.kind = "mlp"}, *linear.train),
            "model `mlp` does not fit data with real targets");
}

}  // namespace
}  // namespace gv
