#include "optim/models/network_cut.h"

#include <cmath>
#include <set>

#include "tests/optim/models/networks.h"

namespace gv {
namespace {

std::vector<std::string> names_of(const std::vector<Cut>& places) {
  std::vector<std::string> names;
  for (const Cut& place : places) names.push_back(place.name);
  return names;
}

using Names = std::vector<std::string>;
constexpr Shape image{.channels = 3, .height = 32, .width = 32};

TEST(NetworkCut, EveryModelHasItsPlaces) {
  for (std::uint32_t layers = 1; layers <= 6; ++layers) {
    const NeuralNetwork mlp =
        mlp_network({.channels = 9}, std::vector<std::uint32_t>(layers - 1, 5), 3);
    EXPECT_EQ(places(mlp).size(), layers - 1);
  }
  EXPECT_EQ(names_of(places(mlp_network({.channels = 9}, {5, 4}, 3))), (Names{"fc2", "fc3"}));
  EXPECT_EQ(names_of(places(lenet5_network(image, 10))), (Names{"conv2", "fc1", "fc2", "fc3"}));
  for (const Norm norm : {Norm::batch, Norm::group}) {
    Names blocks;
    for (const char* stage : {"layer1", "layer2", "layer3"})
      for (const char* block : {".0.conv1", ".1.conv1", ".2.conv1"})
        blocks.push_back(std::string(stage) + block);
    blocks.emplace_back("fc");
    EXPECT_EQ(names_of(places(resnet20_network(image, 10, norm))), blocks);
  }
  for (std::uint32_t layers = 1; layers <= 3; ++layers)
    EXPECT_EQ(places(transformer_network({.layers = layers})).size(), 2 * layers + 2);
  EXPECT_EQ(names_of(places(transformer_network({.layers = 2}))),
            (Names{"h.0.ln_1", "h.0.ln_2", "h.1.ln_1", "h.1.ln_2", "ln_f", "lm_head"}));
  EXPECT_TRUE(places(softmax_network({.channels = 9}, 3)).empty());
}

/// Checks the definition for every pair of nodes.
TEST(NetworkCut, OneValueCrossesAndItIsTheLastBeforeItsModule) {
  for (const auto& list : {every_model(), every_picture_op(), every_text_op()}) {
    for (const auto& [name, network] : list) {
      SCOPED_TRACE(name);
      const auto crossing = [&, &net = network](std::uint32_t node) {
        std::set<std::uint32_t> values;
        for (std::uint32_t later = node + 1; later < net.nodes.size(); ++later)
          for (const std::uint32_t input : net.nodes[later].inputs)
            if (input <= node) values.insert(input);
        return values;
      };
      for (const Cut& place : places(network)) {
        EXPECT_EQ(crossing(place.node), std::set{place.node});
        std::uint32_t next = place.node + 1;
        for (; network.nodes[next].parameters.empty(); ++next)
          EXPECT_NE(crossing(next), std::set{next}) << "a later place before the same module";
        const std::uint32_t first = network.nodes[next].parameters.front();
        EXPECT_EQ(network.tensors[first].parameter.name.substr(0, place.name.size()), place.name);
      }
    }
  }
}

TEST(NetworkCut, NoneIsBeforeANormOfPictures) {
  for (const Op op : {Op::batch_norm, Op::group_norm}) {
    const NeuralNetwork before = pictures([op](auto& b) {
      const auto x = b.convolution(0, "a", 4, {3, 1, 1}, true);
      head(b, b.norm(op, b.relu(x), "n"));
    });
    EXPECT_EQ(names_of(places(before)), Names{"head"});
    // The norm's input has the layout of the crossing value, though a convolution comes first.
    const NeuralNetwork beside = pictures([op](auto& b) {
      const auto x = b.convolution(0, "a", 4, {3, 1, 1}, true);
      const auto y = b.convolution(x, "b", 4, {3, 1, 1}, true);
      head(b, b.add(b.norm(op, b.relu(x), "n"), y));
    });
    EXPECT_EQ(names_of(places(beside)), Names{"head"});
    const NeuralNetwork behind = pictures([op](auto& b) {
      const auto x = b.convolution(0, "a", 4, {3, 1, 1}, true);
      head(b, b.norm(op, b.convolution(x, "b", 4, {3, 1, 1}, true), "n"));
    });
    EXPECT_EQ(names_of(places(behind)), (Names{"b", "head"}));
  }
}

TEST(NetworkCut, PartsHaveAllOfTheNetworkOnce) {
  for (const auto& [name, network] : every_model()) {
    SCOPED_TRACE(name);
    const std::vector<Cut> cuts = places(network);
    std::size_t floats = 0;
    std::size_t nodes = 1;
    std::vector<std::string> tensors;
    std::size_t crossed = 0;
    double flops = 0;
    for (std::uint32_t stage = 0; stage <= cuts.size(); ++stage) {
      const Part one = part(network, cuts, stage);
      EXPECT_EQ(one.first, stage == 0);
      EXPECT_EQ(one.last, stage == cuts.size());
      EXPECT_EQ(one.range, (Range{floats, one.network.size()}));
      EXPECT_GT(one.range.count, 0U);
      EXPECT_EQ(one.floats_in, crossed);
      EXPECT_EQ(one.network.vocabulary, one.first ? network.vocabulary : 0);
      EXPECT_EQ(one.network.classes, one.last ? network.classes : 0);
      crossed = one.floats_out;
      EXPECT_EQ(crossed, one.last ? 0 : network.nodes[cuts[stage].node].out.elements());
      floats += one.network.size();
      nodes += one.network.nodes.size() - 1;
      for (const Parameter& p : one.network.parameters()) tensors.push_back(p.name);
      flops += one.network.gradient_flops(3);
    }
    EXPECT_EQ(floats, network.size());
    EXPECT_EQ(nodes, network.nodes.size());
    EXPECT_EQ(flops, network.gradient_flops(3));
    Names whole;
    for (const Parameter& p : network.parameters()) whole.push_back(p.name);
    EXPECT_EQ(tensors, whole);
  }
}

TEST(NetworkCut, TheFirstWeightsOfPartsAreTheWholes) {
  for (const auto& [name, network] : every_model()) {
    SCOPED_TRACE(name);
    std::vector<float> whole(network.size());
    network.initialize(whole, Rng(7));
    const std::vector<Cut> cuts = places(network);
    std::vector<float> joined;
    for (std::uint32_t stage = 0; stage <= cuts.size(); ++stage) {
      std::vector<float> own(part(network, cuts, stage).range.count, std::nanf(""));
      initialize(network, {joined.size(), own.size()}, own, Rng(7));
      joined.insert(joined.end(), own.begin(), own.end());
    }
    EXPECT_EQ(joined, whole);
    // A part's own network would begin with the numbers of the whole's first tensors.
    const Part last = part(network, cuts, static_cast<std::uint32_t>(cuts.size()));
    std::vector<float> alone(last.range.count);
    last.network.initialize(alone, Rng(7));
    EXPECT_NE(alone, std::vector<float>(whole.end() - static_cast<std::ptrdiff_t>(alone.size()),
                                        whole.end()));
  }
}

}  // namespace
}  // namespace gv
