#include <algorithm>
#include <cmath>

#include "gpu/replica/make_device_replica.h"
#include "tests/gpu/cases.h"
#include "tests/gpu/host/host_cuda.h"

// Requests that drivers and libraries may refuse: training continues without, and reports it.

namespace gv::gpu {
namespace {

using host_cuda::counts;
using host_cuda::refusals;

class Refused : public testing::Test {
 protected:
  void TearDown() override { refusals() = {}; }
};

std::unique_ptr<Replica> replica_of(const char* kind, Precision precision = Precision::fp32) {
  ModelSpec model;
  model.kind = kind;
  if (model.kind == "mlp") model.values["hidden"] = Widths{20};
  Share share = share_for(kind);
  const NeuralNetwork network = network_of(model, *share.train);
  return make_replica(network, std::move(share), OptimizerSpec{}, 8, Rng(3), 0, precision);
}

std::vector<float> after_six_steps(Replica& replica) {
  for (int step = 0; step < 6; ++step) {
    replica.gradient_and_step();
    if (step % 2 == 0) replica.gradient();
  }
  return values(replica);
}

TEST_F(Refused, RecordingsLeaveTheBitsOfTheRecorded) {
  const std::size_t before = counts().graphs;
  const std::vector<float> recorded = after_six_steps(*replica_of("mlp"));
  ASSERT_EQ(counts().graphs, before + 7) << "of nine passes two are the first of their kind";
  refusals().recordings = true;
  testing::internal::CaptureStderr();
  EXPECT_EQ(after_six_steps(*replica_of("mlp")), recorded);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(counts().graphs, before + 7);
  EXPECT_EQ(std::ranges::count(said, '\n'), 2) << "once of each kind of pass: " << said;
  EXPECT_NE(said.find("one cannot be recorded: [gpu] cudaErrorStreamCaptureUnsupported"),
            std::string::npos)
      << said;
}

double norm(const std::vector<float>& v) {
  double sum = 0;
  for (const float value : v) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

/// tf32 keeps three more bits than bf16, so that the gradient is nearer to that of fp32.
TEST_F(Refused, ConvolutionsInBf16AreComputedInTf32) {
  const auto gradient = [](Precision precision) {
    const auto replica = replica_of("resnet20", precision);
    replica->gradient();
    return values(*replica, Vector::g);
  };
  const std::vector<float> exact = gradient(Precision::fp32);
  const auto off = [&](std::vector<float> g) {
    std::ranges::transform(g, exact, g.begin(), std::minus{});
    return norm(g) / norm(exact);
  };
  const double rounded = off(gradient(Precision::bf16));
  refusals().bf16_convolutions = true;
  testing::internal::CaptureStderr();
  const double coarse = off(gradient(Precision::bf16));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_GT(coarse, 0);
  EXPECT_LT(coarse, rounded);
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << "once, not for each of them: " << said;
  EXPECT_NE(said.find("in bf16; such convolutions are computed in tf32"), std::string::npos)
      << said;
}

}  // namespace
}  // namespace gv::gpu
