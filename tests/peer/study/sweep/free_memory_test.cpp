#include <gtest/gtest.h>

#include "peer/study/sweep/trial_job.h"

namespace gv {
namespace {

TEST(FreeMemory, IsWhatTheKernelSaysIsAvailable) {
  const std::string text =
      "MemTotal:       24683528 kB\nMemFree:        21371904 kB\nMemAvailable:   23796740 kB\n";
  EXPECT_EQ(available_in(text), 23796740ULL * 1024);
  EXPECT_EQ(available_in("MemAvailable: 7 kB\n"), 7ULL * 1024);
  EXPECT_FALSE(available_in("")) << "before Linux 3.14";
  EXPECT_FALSE(available_in("MemAvailable: much\n"));
  EXPECT_FALSE(available_in("MemAvailable: 18446744073709551615 kB\n"));
  EXPECT_FALSE(available_in("NotMemAvailable: 7 kB\n"));
}

TEST(FreeMemory, OfAControlGroupIsWhatItsLimitLeaves) {
  EXPECT_EQ(left_in_group("1000\n", "300\n", "anon 100\ninactive_file 50\nactive_file 9\n"), 750U);
  EXPECT_EQ(left_in_group("1000\n", "300\n", ""), 700U);
  EXPECT_EQ(left_in_group("1000\n", "1200\n", "inactive_file 0\n"), 0U) << "more than allowed";
  EXPECT_EQ(left_in_group("1000\n", "300\n", "inactive_file 900\n"), 1000U) << "not below nothing";
  EXPECT_FALSE(left_in_group("max\n", "300\n", "")) << "no limit";
  EXPECT_FALSE(left_in_group("", "", "")) << "no such group";
}

TEST(FreeMemory, IsKnownOnThisMachine) {
  ASSERT_TRUE(free_memory());
  EXPECT_GT(*free_memory(), 0U);
}

}  // namespace
}  // namespace gv
