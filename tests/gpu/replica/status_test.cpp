#include <cstdlib>

#include <cuda_runtime_api.h>

#include "gpu/device_plugin.h"
#include "gpu/replica/make_device_replica.h"
#include "tests/gpu/replica/replicas.h"

// The plugin's report on devices that CUDA on the host simulates.

namespace gv::gpu {
namespace {

/// Runs in a separate process, which has not read the settings yet.
void leave_with_status(const char* capability) {
  ::setenv("GV_HOST_CAPABILITY", capability, 1);
  const CudaStatus status = gv_cuda_plugin()->status();
  std::fprintf(stderr, "%zu devices: %s", status.devices.size(), status.problem.c_str());
  std::_Exit(0);
}

TEST(PlayedDevices, AreRefusedWhereTheyAreTooOldForTheKernels) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(leave_with_status("90"), testing::ExitedWithCode(0), "^1 devices: $");
  EXPECT_EXIT(leave_with_status("75"), testing::ExitedWithCode(0), "^1 devices: $");
  EXPECT_EXIT(leave_with_status("61"), testing::ExitedWithCode(0),
              "^0 devices: .gpu. device 0, the host, is of compute capability 6.1, and the kernels "
              "were compiled from 7.5 on");
}

unsigned flags_of_device() {
  unsigned flags = 0;
  EXPECT_EQ(cudaGetDeviceFlags(&flags), cudaSuccess);
  return flags;
}

TEST(PlayedDevices, AreWaitedForAsleepWhereThatIsAskedFor) {
  const Share share = digits_share();
  const NeuralNetwork network = make_network({}, *share.train);
  for (const bool sleeps : {false, true}) {
    const auto replica = make_replica(network, share, {}, 8, Rng(1), {0, sleeps}, Precision::fp32);
    EXPECT_EQ(flags_of_device(), sleeps ? cudaDeviceScheduleBlockingSync : cudaDeviceScheduleAuto);
  }
}

}  // namespace
}  // namespace gv::gpu
