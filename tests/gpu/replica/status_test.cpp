#include <cstdlib>

#include "gpu/plugin.h"
#include "tests/gpu/replica/replicas.h"

// What the plugin says of devices that CUDA on the host plays.

namespace gv::gpu {
namespace {

/// In a process of its own, whose settings nobody has read yet.
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
  EXPECT_EXIT(leave_with_status("61"),
              testing::ExitedWithCode(0),
              "^0 devices: .gpu. device 0, the host, is of compute capability 6.1, and the kernels "
              "were compiled from 7.5 on");
}

}  // namespace
}  // namespace gv::gpu
