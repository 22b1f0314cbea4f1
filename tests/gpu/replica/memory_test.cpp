#include <memory>
#include <vector>

#include "gpu/replica/trainer.h"
#include "tests/gpu/cases.h"
#include "tests/gpu/host/host_cuda.h"

// Device memory that a replica uses.

namespace gv::gpu {
namespace {

using host_cuda::live_device_bytes;

Share coloured_pictures() {
  auto data = std::make_shared<Dataset>();
  data->rows = 100;
  data->features = 3 * 32 * 32;
  data->classes = 10;
  data->image = {.channels = 3, .height = 32, .width = 32};
  for (std::size_t k = 0; k < std::size_t{data->rows} * data->features; ++k)
    data->bytes.own().push_back(static_cast<std::uint8_t>(k * 7));
  data->labels.assign(data->rows, 1);
  data->shift = {0.5F};
  data->scale = {4};
  Share share{.train = data, .test = data, .rows = {}, .rng = Rng(2)};
  for (std::uint32_t r = 0; r < data->rows; ++r) share.rows.push_back(r);
  return share;
}

double megabytes_at(std::uint32_t batch) {
  DeviceContext context(Precision::fp32);
  const Share share = coloured_pictures();
  const std::size_t before = live_device_bytes();
  const NeuralNetwork network =
      resnet20_network({.channels = 3, .height = 32, .width = 32}, 10, Norm::batch);
  const Trainer trainer(network, share, batch, context);
  return static_cast<double>(live_device_bytes() - before) * 1e-6;
}

/// A row of ResNet-20 keeps 1.9 MB of values. An evaluation keeps none, so that its rows, which may
/// be more than a minibatch's, use little.
TEST(PlayedMemory, IsTakenAsTheBatchNeeds) {
  EXPECT_LT(megabytes_at(32), 85);
  EXPECT_LT(megabytes_at(8), 45);
  EXPECT_GT(megabytes_at(64), 110) << "it is measured";
}

constexpr std::size_t gibibyte = std::size_t{1} << 30;

/// A tenth of the pictures, of 3 KB each.
TEST(PlayedMemory, HoldsThePeersOwnRowsAlone) {
  const Share share = coloured_pictures();
  const std::size_t before = live_device_bytes();
  const std::vector<std::uint32_t> own{3, 90, 17, 4, 55, 21, 70, 71, 99, 0};
  const Samples some(share.train, own, 2, gibibyte);
  const std::size_t of_some = live_device_bytes() - before;
  const Samples all(share.train, share.rows, 2, gibibyte);
  const std::size_t of_all = live_device_bytes() - before - of_some;
  EXPECT_GT(of_all, 300'000U);
  EXPECT_LT(of_some, 40'000U);
}

TEST(PlayedMemory, RowsAreStreamedWhereAnotherPeerTookTheRoom) {
  const Share share = coloured_pictures();
  const std::size_t before = live_device_bytes();
  host_cuda::fail_allocation(2);  // the pictures, after their means and deviations
  testing::internal::CaptureStderr();
  const Samples samples(share.train, share.rows, 2, gibibyte);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("sent with each minibatch instead"),
            std::string::npos);
  EXPECT_FALSE(samples.resident());
  EXPECT_LT(live_device_bytes() - before, 40'000U) << "what was uploaded before is given back";
}

}  // namespace
}  // namespace gv::gpu
