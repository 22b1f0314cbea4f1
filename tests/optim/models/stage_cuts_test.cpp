#include <algorithm>
#include <limits>
#include <stdexcept>

#include "optim/models/network_cut.h"
#include "tests/optim/models/networks.h"

namespace gv {
namespace {

using Names = std::vector<std::string>;

const NeuralNetwork& transformer() {
  static const NeuralNetwork network = transformer_network({.layers = 4});
  return network;
}

TEST(StageCuts, AreWhereTheNamedModulesBegin) {
  for (const auto& [name, network] : every_model()) {
    SCOPED_TRACE(name);
    const std::vector<Cut> all = places(network);
    Names stages{modules_of(network).front().name};
    EXPECT_TRUE(cuts_before(network, stages).empty());
    for (const Cut& place : all) stages.push_back(place.name);
    EXPECT_EQ(cuts_before(network, stages), all);
  }
}

template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

std::string refusal(const NeuralNetwork& network, const Names& stages) {
  return error_of([&] { cuts_before(network, stages); });
}

TEST(StageCuts, ARefusalNamesWhatWorks) {
  const NeuralNetwork resnet =
      resnet20_network({.channels = 3, .height = 32, .width = 32}, 10, Norm::batch);
  EXPECT_EQ(refusal(transformer(), {"wte", "h.3.attn.c_attn"}),
            "no stage begins with `h.3.attn.c_attn`: two values cross there; take `h.3.ln_1`");
  EXPECT_EQ(refusal(transformer(), {"wte", "h.2.mlp.c_proj"}),
            "no stage begins with `h.2.mlp.c_proj`: two values cross there; take `h.3.ln_1`");
  EXPECT_EQ(refusal(resnet, {"conv1", "layer2.0.conv2"}),
            "no stage begins with `layer2.0.conv2`: two values cross there; take `layer2.0.conv1`");
  EXPECT_EQ(refusal(resnet, {"conv1", "bn1"}),
            "no stage begins with `bn1`: a batch or group norm stays with the layer before it; "
            "take `layer1.0.conv1`");
  EXPECT_EQ(refusal(transformer(), {"wte", "h.9.ln_2"}),
            "the network has no module `h.9.ln_2`; take `h.0.ln_2`");
  EXPECT_EQ(refusal(resnet, {"conv1", "layer2.1.con1"}),
            "the network has no module `layer2.1.con1`; take `layer2.1.conv1`");
  EXPECT_EQ(refusal(transformer(), {"wte", "h.1.ln_1", "h.2.ln_1", "h.1.ln_1"}),
            "`h.1.ln_1` begins two stages; name it once");
  EXPECT_EQ(refusal(transformer(), {"wte", "wte"}), "`wte` begins two stages; name it once");
  EXPECT_EQ(refusal(transformer(), {"wte", "h.2.ln_1", "h.1.ln_2"}),
            "stages in another order than the network's; take [wte, h.1.ln_2, h.2.ln_1]");
  for (const Names& stages : {Names{}, Names{"h.0.ln_1"}, Names{"h.0.ln_1", "wte"}, Names{""}})
    EXPECT_EQ(refusal(transformer(), stages),
              "the first stage begins with the network's first module; take `wte`");
  EXPECT_EQ(refusal(softmax_network({.channels = 9}, 3), {"fc", "fc2"}),
            "the network has no place for a cut; take one stage");
}

/// The cuts that a refusal suggests are accepted, for every module of every model.
TEST(StageCuts, WhatARefusalSaysToTakeIsTaken) {
  for (const auto& [name, network] : every_model()) {
    SCOPED_TRACE(name);
    const std::vector<Module> modules = modules_of(network);
    const std::vector<Cut> all = places(network);
    const std::string first = modules.front().name;
    std::size_t refused = 0;
    for (std::size_t k = 1; k < modules.size(); ++k) {
      if (std::ranges::find(all, modules[k].name, &Cut::name) != all.end()) continue;
      ++refused;
      const std::string why = refusal(network, {first, modules[k].name});
      const std::size_t at = why.find("; take `");
      ASSERT_NE(at, std::string::npos) << why;
      const std::string taken = why.substr(at + 8, why.size() - at - 9);
      EXPECT_EQ(cuts_before(network, {first, taken}).front().name, taken);
    }
    EXPECT_EQ(refused, modules.size() - 1 - all.size());
  }
}

double largest(const NeuralNetwork& network, const std::vector<Cut>& cuts) {
  double most = 0;
  for (std::uint32_t stage = 0; stage <= cuts.size(); ++stage)
    most = std::max(most, part(network, cuts, stage).network.gradient_flops(1));
  return most;
}

/// Returns the best set of `count` cuts of `all`, by trying each.
double best(const NeuralNetwork& network, const std::vector<Cut>& all, std::size_t count) {
  std::vector<bool> chosen(all.size());
  std::fill_n(chosen.begin(), count, true);
  double least = std::numeric_limits<double>::infinity();
  do {
    std::vector<Cut> cuts;
    for (std::size_t k = 0; k < all.size(); ++k)
      if (chosen[k]) cuts.push_back(all[k]);
    least = std::min(least, largest(network, cuts));
  } while (std::prev_permutation(chosen.begin(), chosen.end()));
  return least;
}

TEST(StageCuts, EqualStagesAreTheBestThatThereAre) {
  const NeuralNetwork uneven = mlp_network({.channels = 50}, {7, 90, 3, 41, 41, 8, 60}, 3);
  for (const auto* network : {&uneven, &transformer()}) {
    const std::vector<Cut> all = places(*network);
    for (std::uint32_t stages = 1; stages <= all.size() + 1; ++stages) {
      const std::vector<Cut> cuts = equal_cuts(*network, stages);
      ASSERT_EQ(cuts.size(), stages - 1);
      EXPECT_TRUE(std::ranges::is_sorted(cuts, {}, &Cut::node));
      EXPECT_EQ(largest(*network, cuts), best(*network, all, cuts.size())) << stages;
    }
  }
}

TEST(StageCuts, MoreStagesThanPlacesAreRefused) {
  const NeuralNetwork mlp = mlp_network({.channels = 9}, {5, 4}, 3);
  const auto refused = [&](std::uint32_t stages) {
    return error_of([&] { equal_cuts(mlp, stages); });
  };
  EXPECT_EQ(refused(4), "4 stages of a network that may be cut at 2 places; take 1 to 3");
  EXPECT_EQ(refused(0), "0 stages of a network that may be cut at 2 places; take 1 to 3");
}

}  // namespace
}  // namespace gv
