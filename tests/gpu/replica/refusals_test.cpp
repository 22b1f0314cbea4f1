#include <algorithm>

#include "gpu/replica/make_replica.h"
#include "tests/gpu/cases.h"
#include "tests/gpu/host/host_cuda.h"

// What drivers and libraries may refuse: training goes on without, and says so.

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

}  // namespace
}  // namespace gv::gpu
