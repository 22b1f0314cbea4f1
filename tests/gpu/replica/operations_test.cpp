#include <memory>

#include "gpu/replica/make_device_replica.h"
#include "tests/gpu/cases.h"
#include "tests/gpu/host/host_cuda.h"

// Number of operations that a step starts on the device: kernels, library calls and copies.

namespace gv::gpu {
namespace {

using host_cuda::counts;

/// Returns the number of operations of a replica's whole life, after the device has done them:
/// between two calls, a copy for the next minibatch may or may not be done.
std::size_t operations_of_a_life(const NeuralNetwork& network,
                                 Share share,
                                 std::uint32_t batch,
                                 int steps) {
  OptimizerSpec momentum;
  momentum.momentum = 0.9;
  const std::size_t before = counts().operations();
  {
    const auto replica =
        make_replica(network, std::move(share), momentum, batch, Rng(3), 0, Precision::fp32);
    for (int step = 0; step < steps; ++step) replica->gradient_and_step();
  }
  return counts().operations() - before;
}

/// Returns the number for a recorded and replayed step, with the copies for the next minibatch.
std::size_t operations_of_a_step(const NeuralNetwork& network,
                                 const Share& share,
                                 std::uint32_t batch) {
  return operations_of_a_life(network, share, batch, 2) -
         operations_of_a_life(network, share, batch, 1);
}

constexpr std::uint32_t side = 8;

Share small_colours() {
  auto data = std::make_shared<Dataset>();
  data->rows = 8;
  data->image = {.channels = 3, .height = side, .width = side};
  data->features = 3 * side * side;
  data->classes = 10;
  for (std::size_t k = 0; k < std::size_t{data->rows} * data->features; ++k)
    data->bytes.own().push_back(static_cast<std::uint8_t>(k * 7));
  data->labels.assign(data->rows, 1);
  data->shift = {0.5F};
  data->scale = {4};
  Share share{.train = data, .test = data, .rows = {}, .rng = Rng(2)};
  for (std::uint32_t r = 0; r < data->rows; ++r) share.rows.push_back(r);
  return share;
}

/// The number is that for 32 x 32 pixels and minibatches of up to 32, with one block per channel.
/// Before kernels were fused it was 254, with the copy of the rows.
TEST(PlayedOperations, OfAStepOfResNet20AreFew) {
  for (const auto& [norm, most] : {std::pair{Norm::batch, 112U}, std::pair{Norm::group, 131U}}) {
    const NeuralNetwork network =
        resnet20_network({.channels = 3, .height = side, .width = side}, 10, norm);
    const std::size_t taken = operations_of_a_step(network, small_colours(), 2);
    RecordProperty(norm == Norm::batch ? "batch" : "group", static_cast<int>(taken));
    EXPECT_LE(taken, most);
    EXPECT_GT(taken, 19U * 3) << "of the convolutions alone";
  }
}

/// Four layers with eight heads, as in the benchmark; their width does not matter.
TEST(PlayedOperations, OfAStepOfTheTransformerAreFew) {
  ModelSpec model;
  model.kind = "transformer";
  model.values = {{"width", 32U}, {"heads", 8U}, {"layers", 4U}};
  const Share share = share_for("transformer");
  const std::size_t taken = operations_of_a_step(make_network(model, *share.train), share, 2);
  RecordProperty("transformer", static_cast<int>(taken));
  EXPECT_LE(taken, 150U);
  EXPECT_GT(taken, 100U) << "of matrix products alone";
}

}  // namespace
}  // namespace gv::gpu
