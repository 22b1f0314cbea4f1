#include "optim/machine/workers.h"

#include <atomic>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>

namespace gv {
namespace {

/// Runs thousands of jobs in succession, so that threads also wake in a later one.
TEST(Workers, DoEachJobOnceAndAreDoneWhenRunReturns) {
  for (const int threads : {1, 2, 5, 16}) {
    Workers workers(threads);
    for (std::size_t instant = 0; instant < 2000; ++instant) {
      const std::size_t n = instant % 37;
      std::vector<std::atomic<int>> times(n);
      workers.run(n, [&](std::size_t i) { ++times[i]; });
      for (const auto& count : times) ASSERT_EQ(count, 1) << threads << " threads, " << n;
    }
  }
}

/// If the system refused a thread, the existing threads once stayed joinable, which ends a program
/// without a message.
TEST(Workers, DoTheirJobsWithAsManyThreadsAsThereAre) {
  pthread_attr_t usual, greedy;
  ASSERT_EQ(::pthread_getattr_default_np(&usual), 0);
  ASSERT_EQ(::pthread_attr_init(&greedy), 0);
  ASSERT_EQ(::pthread_attr_setstacksize(&greedy, std::size_t{1} << 46), 0);
  std::unique_ptr<Workers> workers;
  ASSERT_EQ(::pthread_setattr_default_np(&greedy), 0);
  EXPECT_THROW(std::thread([] {}).join(), std::system_error);
  EXPECT_NO_THROW(workers = std::make_unique<Workers>(4));
  ASSERT_EQ(::pthread_setattr_default_np(&usual), 0);
  ASSERT_NE(workers, nullptr);
  std::vector<int> done(100);
  workers->run(done.size(), [&](std::size_t i) { done[i] = 1; });
  EXPECT_EQ(done, std::vector<int>(100, 1));
}

}  // namespace
}  // namespace gv
