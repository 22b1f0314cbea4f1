#include <cstddef>
#include <string>

#include <gtest/gtest.h>

#include "gpu/device/cuda_error.h"
#include "gpu/device/device_memory.h"
#include "gpu/kernels/vector_kernels.h"

// Messages of launch errors, and the launches that they name.

namespace gv::gpu {
namespace {

TEST(PlayedLaunches, CallsThatNobodyAsksAboutAreNoErrorOfTheNextLaunch) {
  const Stream stream;
  DeviceArray<float> v(300, "v");
  ASSERT_NE(cudaSetDevice(99), cudaSuccess);
  EXPECT_NO_THROW(scale(v.data(), 2, v.size(), stream));
  stream.wait();
}

TEST(PlayedLaunches, LaunchesSayWhereTheyStand) {
  const Stream stream;
  DeviceArray<float> v(300, "v");
  // A number of blocks that 32 bits would take for five.
  const std::size_t beyond = ((std::size_t{1} << 32) + 5) * 256;
  try {
    scale(v.data(), 2, beyond, stream);
    FAIL() << "no grid has so many blocks";
  } catch (const CudaError& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("cudaErrorInvalidConfiguration"), std::string::npos) << what;
    EXPECT_NE(what.find("kernel launch (vector_kernels.cu:"), std::string::npos) << what;
  }
}

}  // namespace
}  // namespace gv::gpu
