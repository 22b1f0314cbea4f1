#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "optim/host/network_objective.h"
#include "optim/host/slices.h"
#include "optim/models/network_builder.h"
#include "tests/optim/data/test_data.h"

// Small networks to check the arithmetic: each op by itself, and each model.

namespace gv {

inline constexpr ImageShape picture{2, 7, 6};
inline constexpr Shape picture_shape{.channels = 2, .height = 7, .width = 6};

/// A test on one thread, as a peer computes.
class OneThread : public testing::Test {
 protected:
  void SetUp() override { set_compute_threads(1); }
};

using Build = std::function<void(NetworkBuilder&)>;

inline NeuralNetwork pictures(const Build& build) {
  NetworkBuilder builder(picture_shape, 3);
  build(builder);
  return builder.build();
}

inline NeuralNetwork text(const Build& build) {
  NetworkBuilder builder({.positions = 5}, 4, 4);
  build(builder);
  return builder.build();
}

inline void head(NetworkBuilder& b, std::uint32_t x) {
  b.linear(x, "head", b.classes(), true);
}

struct NamedNetwork {
  const char* name;
  NeuralNetwork network;
};

/// Returns each op between two trained layers, so that both of its gradients are tested.
inline std::vector<NamedNetwork> every_picture_op() {
  std::vector<NamedNetwork> list;
  const auto add = [&](const char* name, const Build& build) {
    list.push_back({name, pictures(build)});
  };
  add("linear", [](auto& b) { head(b, b.linear(0, "a", 5, true)); });
  add("linear, no bias", [](auto& b) { head(b, b.relu(b.linear(0, "a", 5, false))); });
  add("convolution", [](auto& b) { head(b, b.convolution(0, "a", 3, {3, 1, 1}, true)); });
  add("convolutions, strided", [](auto& b) {
    const auto x = b.convolution(0, "a", 18, {3, 2, 1}, false);
    head(b, b.relu(b.convolution(x, "b", 5, {3, 2, 0}, true)));
  });
  add("wide convolution", [](auto& b) {
    const auto x = b.relu(b.convolution(0, "a", 16, {3, 1, 1}, false));
    head(b, b.convolution(x, "b", 16, {5, 1, 2}, false));
  });
  add("max pool", [](auto& b) {
    head(b, b.max_pool(b.convolution(0, "a", 3, {3, 1, 1}, true), {2, 2}));
  });
  add("max pool, overlapping", [](auto& b) {
    head(b, b.max_pool(b.convolution(0, "a", 3, {3, 1, 1}, true), {3, 2}));
  });
  add("average pool", [](auto& b) {
    head(b, b.average_pool(b.convolution(0, "a", 3, {3, 1, 1}, true)));
  });
  add("batch norm", [](auto& b) {
    head(b, b.norm(Op::batch_norm, b.convolution(0, "a", 3, {3, 1, 1}, true), "n"));
  });
  add("batch norm, relu", [](auto& b) {
    const auto x = b.norm(Op::batch_norm, b.convolution(0, "a", 16, {3, 1, 1}, false), "n");
    head(b, b.relu(x));
  });
  add("group norm", [](auto& b) {
    head(b, b.norm(Op::group_norm, b.convolution(0, "a", 6, {3, 1, 1}, true), "n", 2));
  });
  add("group norm, relu", [](auto& b) {
    const auto x = b.norm(Op::group_norm, b.convolution(0, "a", 32, {3, 1, 1}, false), "n", 4);
    head(b, b.relu(x));
  });
  add("residual sum", [](auto& b) {
    const auto x = b.relu(b.convolution(0, "a", 4, {3, 1, 1}, true));
    const auto y = b.convolution(x, "b", 4, {3, 1, 1}, true);
    head(b, b.relu(b.add(b.add(y, x), x)));
  });
  add("shortcut", [](auto& b) {
    const auto x = b.relu(b.convolution(0, "a", 4, {3, 1, 1}, true));
    const auto y = b.convolution(x, "b", 10, {3, 2, 1}, true);
    head(b, b.add(y, b.shortcut(x, 10, 2)));
  });
  add("shortcut, wide", [](auto& b) {
    const auto x = b.convolution(0, "a", 16, {3, 1, 1}, true);
    head(b, b.relu(b.shortcut(x, 32, 2)));
  });
  return list;
}

inline std::vector<NamedNetwork> every_text_op() {
  std::vector<NamedNetwork> list;
  const auto add_text = [&](const char* name, const Build& build) {
    list.push_back({name, text(build)});
  };
  add_text("embedding", [](auto& b) { head(b, b.embedding("t", "p", 6)); });
  add_text("gelu",
           [](auto& b) { head(b, b.gelu(b.linear(b.embedding("t", "p", 6), "a", 7, true))); });
  add_text("layer norm",
           [](auto& b) { head(b, b.norm(Op::layer_norm, b.embedding("t", "p", 6), "n")); });
  add_text("attention", [](auto& b) {
    const auto x = b.embedding("t", "p", 6);
    head(b, b.attention(b.linear(x, "qkv", 12, true), 2));
  });
  add_text("residual sum of a text", [](auto& b) {
    const auto x = b.embedding("t", "p", 6);
    head(b, b.add(b.linear(x, "a", 6, true), x));
  });
  return list;
}

inline std::vector<NamedNetwork> every_model() {
  const Shape small{.channels = 1, .height = 12, .width = 13};
  return {
      {"mlp", mlp_network(small, {8}, 3)},
      {"lenet5", lenet5_network(small, 3)},
      {"resnet20", resnet20_network(small, 3, Norm::batch)},
      {"resnet20, group norm", resnet20_network(small, 3, Norm::group)},
      {"transformer",
       transformer_network({.vocabulary = 4, .context = 5, .width = 8, .heads = 2, .layers = 2})}};
}

inline TrainTest data_for(const NeuralNetwork& network, std::uint32_t rows) {
  const Shape& in = network.input();
  if (network.vocabulary > 0) return counting_text(rows, in.positions, network.vocabulary);
  return noisy_pictures({in.channels, in.height, in.width}, rows, network.classes);
}

/// Returns an objective whose next minibatch of `rows` is always the same.
inline std::unique_ptr<Objective> make(const NeuralNetwork& network, std::uint32_t rows) {
  return make_network_objective(network, whole(data_for(network, rows)));
}

/// Returns parameters away from the start, at which norms have weight 1 and biases are 0.
inline std::vector<float> somewhere(const NeuralNetwork& network) {
  std::vector<float> x(network.size());
  network.initialize(x, Rng(2));
  Rng rng(3);
  for (float& v : x) v += 0.1F * static_cast<float>(rng.normal());
  return x;
}

}  // namespace gv
