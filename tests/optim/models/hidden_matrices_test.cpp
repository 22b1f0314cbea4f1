#include <map>
#include <string>

#include <gtest/gtest.h>

#include "optim/models/model.h"
#include "tests/optim/data/test_data.h"

namespace gv {
namespace {

/// Returns texts such as "fc2.weight 4 x 5": the tensor of each matrix, and its shape.
std::vector<std::string> names(const NeuralNetwork& network) {
  std::vector<std::string> all;
  for (const HiddenMatrix& m : hidden_matrices(network)) {
    std::string of = "nowhere";
    for (const Tensor& t : network.tensors)
      if (t.offset <= m.offset && m.offset + m.count() <= t.offset + t.count) of = t.parameter.name;
    all.push_back(of + " " + std::to_string(m.rows) + " x " + std::to_string(m.columns));
  }
  return all;
}

using MatrixNames = std::vector<std::string>;

TEST(HiddenMatrices, AreBetweenTheFirstAndTheLastLayer) {
  EXPECT_EQ(names(softmax_network({.channels = 9}, 3)), MatrixNames{});
  EXPECT_EQ(names(mlp_network({.channels = 9}, {8}, 3)), MatrixNames{});
  EXPECT_EQ(names(mlp_network({.channels = 9}, {8, 7, 6}, 3)),
            (MatrixNames{"fc2.weight 7 x 8", "fc3.weight 6 x 7"}));
}

/// A filter bank is one matrix, [out, in kernel kernel].
TEST(HiddenMatrices, OfPicturesAreFilterBanks) {
  const Shape picture{.channels = 1, .height = 28, .width = 28};
  EXPECT_EQ(names(lenet5_network(picture, 10)),
            (MatrixNames{"conv2.weight 16 x 150", "fc1.weight 120 x 400", "fc2.weight 84 x 120"}));
  const MatrixNames residual =
      names(resnet20_network({.channels = 3, .height = 32, .width = 32}, 10, Norm::group));
  EXPECT_EQ(residual.size(), 18U) << "all convolutions but the first";
  EXPECT_EQ(residual.front().substr(residual.front().find(' ')), " 16 x 144");
}

/// Queries, keys and values are three maps; embeddings, norms and the head are none.
TEST(HiddenMatrices, OfATransformerAreThoseOfItsBlocks) {
  const NeuralNetwork network =
      transformer_network({.vocabulary = 11, .context = 5, .width = 8, .heads = 2, .layers = 1});
  EXPECT_EQ(names(network),
            (MatrixNames{"h.0.attn.c_attn.weight 8 x 8", "h.0.attn.c_attn.weight 8 x 8",
                         "h.0.attn.c_attn.weight 8 x 8", "h.0.attn.c_proj.weight 8 x 8",
                         "h.0.mlp.c_fc.weight 32 x 8", "h.0.mlp.c_proj.weight 8 x 32"}));
  const std::vector<HiddenMatrix> matrices = hidden_matrices(network);
  EXPECT_EQ(matrices[1].offset, matrices[0].offset + 64);
}

TEST(HiddenMatrices, OfWhatIsNoNetworkAreNone) {
  const TrainTest linear = make_linear(24, 8, 6, 0.1, Rng(1));
  EXPECT_TRUE(hidden_matrices(ModelSpec{.kind = "linear"}, *linear.train).empty());
  const TrainTest blobs = make_blobs(24, 8, 6, 3, 2, Rng(1));
  EXPECT_EQ(hidden_matrices(ModelSpec{"mlp", {{"hidden", Widths{5, 4}}}}, *blobs.train).size(), 1U);
}

}  // namespace
}  // namespace gv
