#include "optim/network_objective.h"

#include <cmath>
#include <functional>
#include <optional>

#include <gtest/gtest.h>

#include "optim/host_replica.h"
#include "optim/network_builder.h"
#include "tests/optim/test_data.h"

namespace gv {
namespace {

constexpr ImageShape picture{2, 7, 6};
const Shape picture_shape{.channels = 2, .height = 7, .width = 6};

using Build = std::function<void(NetworkBuilder&)>;

Network pictures(const Build& build) {
  NetworkBuilder builder(picture_shape, 3);
  build(builder);
  return builder.build();
}

Network text(const Build& build) {
  NetworkBuilder builder({.positions = 5}, 4, 4);
  build(builder);
  return builder.build();
}

void head(NetworkBuilder& b, std::uint32_t x) {
  b.linear(x, "head", b.classes(), true);
}

struct Named {
  const char* name;
  Network network;
};

/// Each op between two layers that learn, so that both of its gradients are seen.
std::vector<Named> every_picture_op() {
  std::vector<Named> list;
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

std::vector<Named> every_text_op() {
  std::vector<Named> list;
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

std::vector<Named> every_model() {
  const Shape small{.channels = 1, .height = 12, .width = 13};
  return {
      {"mlp", mlp_network(small, {8}, 3)},
      {"lenet5", lenet5_network(small, 3)},
      {"resnet20", resnet20_network(small, 3, Norm::batch)},
      {"resnet20, group norm", resnet20_network(small, 3, Norm::group)},
      {"transformer",
       transformer_network({.vocabulary = 4, .context = 5, .width = 8, .heads = 2, .layers = 2})}};
}

TrainTest data_for(const Network& network, std::uint32_t rows) {
  const Shape& in = network.input();
  if (network.vocabulary > 0) return counting_text(rows, in.positions, network.vocabulary);
  return noisy_pictures({in.channels, in.height, in.width}, rows, network.classes);
}

/// Its next minibatch of `rows` is always the same.
std::unique_ptr<Objective> make(const Network& network, std::uint32_t rows) {
  return make_network_objective(network, whole(data_for(network, rows)));
}

/// Away from the start, where norms have weight 1 and biases are 0.
std::vector<float> somewhere(const Network& network) {
  std::vector<float> x(network.size());
  network.initialize(x, Rng(2));
  Rng rng(3);
  for (float& v : x) v += 0.1F * static_cast<float>(rng.normal());
  return x;
}

/// Of the loss by x[k]. Nothing where a kink of a ReLU or of a maximum is near: the slopes on the
/// two sides then differ by twice the error.
std::optional<double> slope_at(const Network& network,
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

void expect_gradient(const Network& network, std::uint32_t rows, std::size_t stride) {
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

TEST(NetworkObjective, GradientsOfEveryOpAgreeWithCentralDifferences) {
  set_compute_threads(1);
  for (const auto& ops : {every_picture_op(), every_text_op()}) {
    for (const auto& [name, network] : ops) {
      SCOPED_TRACE(name);
      expect_gradient(network, 7, 1 + network.size() / 150);
    }
  }
}

TEST(NetworkObjective, ThreadsDoNotChangeWhatIsComputed) {
  for (const auto& [name, network] : every_model()) {
    SCOPED_TRACE(name);
    const std::vector<float> x = somewhere(network);
    std::vector<float> one(x.size());
    std::vector<float> three(x.size());
    set_compute_threads(1);
    make(network, 6)->value_and_gradient(x, 6, one);
    set_compute_threads(3);
    make(network, 6)->value_and_gradient(x, 6, three);
    for (std::size_t k = 0; k < x.size(); ++k)
      ASSERT_NEAR(one[k], three[k], 1e-4 + 1e-4 * std::abs(one[k])) << "parameter " << k;
  }
  set_compute_threads(1);
}

TEST(NetworkObjective, GradientsOfEveryModelAgreeWithCentralDifferences) {
  set_compute_threads(1);
  for (const auto& [name, network] : every_model()) {
    SCOPED_TRACE(name);
    expect_gradient(network, 6, 1 + network.size() / 60);
  }
}

TEST(NetworkObjective, AnMlpHasThePerceptronsGradient) {
  set_compute_threads(1);
  const Network network = mlp_network({.channels = 84}, {9, 8}, 3);
  const TrainTest data = noisy_pictures(picture, 20, 3);
  const auto perceptron = make_mlp({9, 8}, whole(data));
  const auto ours = make_network_objective(network, whole(data));
  const std::vector<float> x = somewhere(network);
  std::vector<float> a(x.size());
  std::vector<float> b(x.size());
  for (const std::uint32_t batch : {1U, 7U, 20U}) {
    EXPECT_DOUBLE_EQ(perceptron->value_and_gradient(x, batch, a),
                     ours->value_and_gradient(x, batch, b));
    EXPECT_EQ(a, b);
  }
  EXPECT_DOUBLE_EQ(perceptron->evaluate(x).loss, ours->evaluate(x).loss);
}

TEST(NetworkObjective, RepeatsToTheBitAfterOtherBatchesAndEvaluations) {
  set_compute_threads(1);
  for (const auto& [name, network] : every_model()) {
    SCOPED_TRACE(name);
    const TrainTest data = data_for(network, 12);
    const std::vector<float> x = somewhere(network);
    std::vector<float> first(x.size());
    std::vector<float> again(x.size());
    const auto a = make_network_objective(network, whole(data));
    const double loss = a->value_and_gradient(x, 5, first);
    const auto b = make_network_objective(network, whole(data));
    b->evaluate(x);
    EXPECT_EQ(b->value_and_gradient(x, 5, again), loss);
    EXPECT_EQ(again, first);
    for (const std::uint32_t batch : {1U, 5U, 3U, 5U}) {
      const double ours = a->value_and_gradient(x, batch, first);
      EXPECT_EQ(b->value_and_gradient(x, batch, again), ours);
      if (batch == 3) b->evaluate(x);
      EXPECT_EQ(again, first);
    }
    EXPECT_EQ(a->evaluate(x).loss, b->evaluate(x).loss);
  }
}

TEST(NetworkObjective, GoesOnFromWhatWasSaved) {
  set_compute_threads(1);
  const Network network = lenet5_network({.channels = 1, .height = 12, .width = 12}, 3);
  const TrainTest data = data_for(network, 30);
  const std::vector<float> x = somewhere(network);
  std::vector<float> a(x.size());
  std::vector<float> b(x.size());
  const auto saved = make_network_objective(network, whole(data));
  saved->value_and_gradient(x, 7, a);
  StateWriter out;
  saved->save(out);
  const auto restored = make_network_objective(network, whole(data));
  const std::vector<std::byte> bytes = out.take();
  StateReader in(bytes);
  restored->restore(in);
  EXPECT_EQ(saved->value_and_gradient(x, 7, a), restored->value_and_gradient(x, 7, b));
  EXPECT_EQ(a, b);
}

/// The loss over `rows` rows of the test set is the mean of those over each row alone.
void expect_rows_apart(const Network& network) {
  const TrainTest data = data_for(network, 3);
  const std::vector<float> x = somewhere(network);
  double mean = 0;
  for (std::uint32_t r = 0; r < 3; ++r) {
    auto one = std::make_shared<Dataset>(*data.test);
    one->rows = 1;
    one->floats.assign(data.test->floats.begin() + r * data.test->features,
                       data.test->floats.begin() + (r + 1) * data.test->features);
    one->labels = {data.test->labels[r]};
    mean += make_network_objective(network, whole({data.train, one}))->evaluate(x).loss / 3;
  }
  EXPECT_NEAR(make_network_objective(network, whole(data))->evaluate(x).loss, mean, 1e-6);
}

TEST(NetworkObjective, EvaluatesEachRowByItself) {
  set_compute_threads(1);
  const Shape small{.channels = 1, .height = 12, .width = 12};
  expect_rows_apart(lenet5_network(small, 3));
  expect_rows_apart(resnet20_network(small, 3, Norm::group));
  expect_rows_apart(resnet20_network(small, 3, Norm::batch));
}

TEST(NetworkObjective, GroupNormsGradientIsTheMeanOfItsRows) {
  set_compute_threads(1);
  const Network network = pictures([](auto& b) {
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

/// With a constant picture in each class, the moments of the own rows are known.
TEST(NetworkObjective, BatchNormIsEvaluatedWithTheMomentsOfTheOwnRows) {
  const Network network = pictures([](auto& b) {
    head(b, b.norm(Op::batch_norm, b.convolution(0, "a", 1, {1, 1, 0}, false), "n"));
  });
  auto data = std::make_shared<Dataset>(*data_for(network, 200).train);
  for (std::uint32_t r = 0; r < data->rows; ++r)
    for (std::uint32_t c = 0; c < data->features; ++c)
      data->floats[r * data->features + c] = r < 128 ? (r % 2 == 0 ? 1.0F : 3.0F) : 50.0F;
  auto test = std::make_shared<Dataset>(*data);
  test->rows = 1;
  Share share = whole({data, test});
  share.rows.resize(128);  // the others' rows, 50 everywhere, do not count
  std::vector<float> x(network.size());
  x[0] = 1;                                               // the first channel passes
  x[2] = 1;                                               // weight of the norm
  for (std::size_t k = 4; k < 46; ++k) x[k] = 1.0F / 42;  // class 0: the mean over pixels
  // Mean 2, variance 1, so the test row of ones becomes -1 everywhere: logits -1, 0, 0.
  const double loss = make_network_objective(network, share)->evaluate(x).loss;
  const double score = test->labels[0] == 0 ? -1 : 0;
  EXPECT_NEAR(loss, std::log(std::exp(-1) + 2) - score, 2e-3);
}

TEST(NetworkObjective, BatchNormHasNoParametersButWeightAndBias) {
  const Shape small{.channels = 1, .height = 12, .width = 12};
  const Network network = resnet20_network(small, 3, Norm::batch);
  const auto objective = make(network, 4);
  for (const Parameter& p : objective->parameters())
    EXPECT_EQ(p.name.find("running"), std::string::npos) << p.name;
  std::vector<float> x = somewhere(network);
  const std::vector<float> before = x;
  objective->evaluate(x);
  EXPECT_EQ(x, before);
}

TEST(NetworkObjective, EveryModelLearns) {
  set_compute_threads(1);
  for (const auto& [name, network] : every_model()) {
    SCOPED_TRACE(name);
    const TrainTest data = data_for(network, 300);
    const auto objective = make_network_objective(network, whole(data));
    std::vector<float> x(network.size());
    std::vector<float> g(network.size());
    network.initialize(x, Rng(2));
    const double before = objective->evaluate(x).loss;
    const float rate = network.vocabulary > 0 ? 1.0F : 0.05F;
    for (int step = 0; step < 150; ++step) {
      objective->value_and_gradient(x, 20, g);
      for (std::size_t k = 0; k < x.size(); ++k) x[k] -= rate * g[k];
    }
    const Evaluation after = objective->evaluate(x);
    EXPECT_LT(after.loss, 0.7 * before);
    EXPECT_GT(*after.accuracy, 0.7);
  }
}

TEST(NetworkObjective, IsWhatAModelsKindMakes) {
  const TrainTest data = noisy_pictures({1, 12, 12}, 10, 3);
  EXPECT_EQ(make_objective({.kind = "lenet5"}, whole(data))->parameters().front().name,
            "conv1.weight");
  EXPECT_EQ(make_objective({.kind = "transformer", .layers = 1}, whole(counting_text(20, 5, 4)))
                ->parameters()
                .front()
                .name,
            "wte.weight");
  EXPECT_THROW(make_objective({.kind = "mlp"}, whole(counting_text(20, 5, 4))),
               std::invalid_argument);
  EXPECT_THROW(make_objective({.kind = "lenet5"}, whole(make_blobs(9, 9, 4, 2, 1, Rng(1)))),
               std::invalid_argument);
}

TEST(NetworkObjective, RefusesANetworkMadeForOtherData) {
  const TrainTest data = noisy_pictures(picture, 10, 3);
  EXPECT_THROW(make_network_objective(mlp_network({.channels = 5}, {}, 3), whole(data)),
               std::invalid_argument);
  EXPECT_THROW(make_network_objective(mlp_network({.channels = 84}, {}, 4), whole(data)),
               std::invalid_argument);
}

}  // namespace
}  // namespace gv
