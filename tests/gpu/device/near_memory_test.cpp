#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gpu/device/device_memory.h"
#include "tests/scratch_folder.h"

namespace gv::gpu {
namespace {

/// Returns the mode of this thread's policy, and whether node 0 is in it.
std::optional<std::pair<int, bool>> policy() {
  int mode = -1;
  std::vector<unsigned long> nodes(16);
  if (::syscall(SYS_get_mempolicy, &mode, nodes.data(), 1024UL, nullptr, 0UL) != 0) return {};
  return std::pair(mode, (nodes[0] & 1) != 0);
}

bool may_set_a_policy() {
  const unsigned long node = 1;
  const bool may = ::syscall(SYS_set_mempolicy, MPOL_PREFERRED, &node, 64UL) == 0;
  ::syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0UL);
  return may && policy();
}

TEST(NearMemory, IsPreferredAsLongAsItIsAskedFor) {
  if (!may_set_a_policy()) GTEST_SKIP() << "this system lets nobody say where memory lies";
  const std::pair<int, bool> there(MPOL_PREFERRED, true);
  const auto before = policy();
  {
    const NearMemory near(0);
    EXPECT_EQ(policy(), there);
    {
      const NearMemory nowhere(std::nullopt);
      EXPECT_EQ(policy(), there);
    }
    {
      const NearMemory again(0);
      EXPECT_EQ(policy(), there);
    }
    EXPECT_EQ(policy(), there) << "as it was before the inner one";
  }
  EXPECT_EQ(policy(), before);
}

TEST(NearMemory, OfANodeThatCannotBeChangesNothing) {
  const auto before = policy();
  for (const int node : {-1, 1024, 1 << 30}) {
    const NearMemory near(node);
    EXPECT_EQ(policy(), before) << node;
  }
}

TEST(NearMemory, IsWhereTheKernelSaysThatTheDeviceIs) {
  const ScratchFolder scratch;
  const std::filesystem::path devices = scratch.path();
  const auto say = [&](const std::string& address, const std::string& what) {
    std::filesystem::create_directories(devices / address);
    std::ofstream(devices / address / "numa_node") << what;
  };
  say("0000:3b:00.0", "1\n");
  say("0000:af:00.0", "-1\n");
  say("0000:b0:00.0", "no number\n");
  say("0000:b1:00.0", "99999999999999999999\n");
  EXPECT_EQ(node_of("0000:3B:00.0", scratch.path()), 1) << "CUDA writes letters in capitals";
  EXPECT_EQ(node_of("0000:3b:00.0", scratch.path()), 1);
  EXPECT_EQ(node_of("0000:af:00.0", scratch.path()), std::nullopt);
  EXPECT_EQ(node_of("0000:b0:00.0", scratch.path()), std::nullopt);
  EXPECT_EQ(node_of("0000:b1:00.0", scratch.path()), std::nullopt);
  EXPECT_EQ(node_of("0000:00:77.0", scratch.path()), std::nullopt) << "there is no such device";
}

}  // namespace
}  // namespace gv::gpu
