#include <stdexcept>

#include "tests/gpu/replica/replicas.h"

namespace gv {
namespace {

TEST(CudaSeam, SaysWhatItIs) {
  const CudaStatus status = cuda_status();
  EXPECT_EQ(status.devices.empty(), !status.problem.empty());
  EXPECT_EQ(cuda_available(), !status.devices.empty());
  for (std::size_t k = 0; k < status.devices.size(); ++k) {
    EXPECT_EQ(status.devices[k].number, static_cast<int>(k));
    EXPECT_GT(status.devices[k].memory_bytes, 0);
  }
}

TEST(CudaSeam, KnowsItsModels) {
  ModelSpec model;
  for (const char* kind : {"softmax", "mlp", "lenet5", "resnet20", "transformer"}) {
    model.kind = kind;
    EXPECT_TRUE(cuda_trains(model));
  }
  for (const char* kind : {"linear", "quadratic"}) {
    model.kind = kind;
    EXPECT_FALSE(cuda_trains(model));
  }
}

TEST(CudaSeam, ADeviceThatIsNotThereIsAnErrorWithItsReason) {
  const int beyond = static_cast<int>(cuda_status().devices.size());
  try {
    const Share share = digits_share();
    make_cuda_replica(make_network({}, *share.train), share, {}, 8, Rng(1), beyond);
    FAIL() << "there is no such device";
  } catch (const CudaError& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("[gpu]"), std::string::npos) << what;
    const std::string& why = cuda_status().problem;
    EXPECT_NE(what.find(why), std::string::npos) << what;
  }
}

}  // namespace
}  // namespace gv
