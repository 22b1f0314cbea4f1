#include <cmath>

#include "tests/optim/models/networks.h"

namespace gv {
namespace {

class NetworkEvaluation : public OneThread {};

/// Expects the loss over `rows` rows of the test set to be the mean of the losses of each row.
void expect_rows_apart(const NeuralNetwork& network) {
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

TEST_F(NetworkEvaluation, EvaluatesEachRowByItself) {
  const Shape small{.channels = 1, .height = 12, .width = 12};
  expect_rows_apart(lenet5_network(small, 3));
  expect_rows_apart(resnet20_network(small, 3, Norm::group));
  expect_rows_apart(resnet20_network(small, 3, Norm::batch));
}

/// With a constant picture in each class, the moments of the own rows are known.
TEST_F(NetworkEvaluation, BatchNormIsEvaluatedWithTheMomentsOfTheOwnRows) {
  const NeuralNetwork network = pictures([](auto& b) {
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

/// Running moments are neither parameters nor state: averaging covers everything.
TEST_F(NetworkEvaluation, BatchNormKeepsNothingButWeightAndBias) {
  const Shape small{.channels = 1, .height = 12, .width = 12};
  const NeuralNetwork network = resnet20_network(small, 3, Norm::batch);
  for (const Node& node : network.nodes) {
    if (node.op != Op::batch_norm) continue;
    ASSERT_EQ(node.parameters.size(), 2U);
    EXPECT_TRUE(network.tensors[node.parameters[0]].parameter.name.ends_with(".weight"));
    EXPECT_TRUE(network.tensors[node.parameters[1]].parameter.name.ends_with(".bias"));
  }
  const auto objective = make(network, 4);
  const auto state = [&] {
    StateWriter out;
    objective->save(out);
    return out.take();
  };
  const std::vector<std::byte> before = state();
  objective->evaluate(somewhere(network));
  EXPECT_EQ(state(), before);
}

}  // namespace
}  // namespace gv
