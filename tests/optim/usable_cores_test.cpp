#include <gtest/gtest.h>
#include <sched.h>

#include "optim/machine/workers.h"

namespace gv {
namespace {

TEST(UsableCores, KnowTheQuotaOfAControlGroup) {
  EXPECT_EQ(quota_in("150000 100000\n"), 1.5);
  EXPECT_EQ(quota_in("20000 100000"), 0.2);
  for (const char* text : {"max 100000\n", "", "150000", "0 100000", "-1 100000", "1 0"})
    EXPECT_FALSE(quota_in(text)) << text;
}

TEST(UsableCores, AreTheLeastOfBoth) {
  EXPECT_EQ((UsableCores{.online = 8, .allowed = 6}).count(), 6U);
  EXPECT_EQ((UsableCores{.online = 8, .allowed = 6, .quota = 1.5}).count(), 2U);
  EXPECT_EQ((UsableCores{.online = 8, .allowed = 6, .quota = 0.1}).count(), 1U);
  EXPECT_EQ((UsableCores{.online = 8, .allowed = 6, .quota = 64}).count(), 6U);
}

/// `doctor` once counted all processors of the machine, although a process may be limited to one.
TEST(UsableCores, KnowTheAffinityOfTheProcess) {
  cpu_set_t before;
  CPU_ZERO(&before);
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (std::size_t k = 0; k < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++k)
    if (CPU_ISSET(k, &before)) CPU_SET(k, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  const UsableCores cores = usable_cores();
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(cores.allowed, 1U);
  EXPECT_EQ(cores.count(), 1U);
  EXPECT_GE(cores.online, 1U);
}

}  // namespace
}  // namespace gv
