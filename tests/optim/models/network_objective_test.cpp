#include "optim/host/network_objective.h"

#include "optim/train/predictor.h"
#include "tests/optim/models/networks.h"

namespace gv {
namespace {

class NetworkObjective : public OneThread {};

TEST_F(NetworkObjective, RepeatsToTheBitAfterOtherBatchesAndEvaluations) {
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

TEST_F(NetworkObjective, GoesOnFromWhatWasSaved) {
  const NeuralNetwork network = lenet5_network({.channels = 1, .height = 12, .width = 12}, 3);
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

TEST_F(NetworkObjective, EveryModelLearns) {
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

TEST_F(NetworkObjective, IsWhatAModelsKindMakes) {
  const TrainTest data = noisy_pictures({1, 12, 12}, 10, 3);
  EXPECT_EQ(make_objective({.kind = "lenet5"}, whole(data))->parameters().front().name,
            "conv1.weight");
  EXPECT_EQ(make_objective({"transformer", {{"layers", 1U}}}, whole(counting_text(20, 5, 4)))
                ->parameters()
                .front()
                .name,
            "wte.weight");
  EXPECT_THROW(make_objective({.kind = "mlp"}, whole(counting_text(20, 5, 4))),
               std::invalid_argument);
  EXPECT_THROW(make_objective({.kind = "lenet5"}, whole(make_blobs(9, 9, 4, 2, 1, Rng(1)))),
               std::invalid_argument);
}

TEST_F(NetworkObjective, RefusesANetworkMadeForOtherData) {
  const TrainTest data = noisy_pictures(picture, 10, 3);
  EXPECT_THROW(make_network_objective(mlp_network({.channels = 5}, {}, 3), whole(data)),
               std::invalid_argument);
  EXPECT_THROW(make_network_objective(mlp_network({.channels = 84}, {}, 4), whole(data)),
               std::invalid_argument);
}

}  // namespace
}  // namespace gv
