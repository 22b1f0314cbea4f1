#include "optim/workers.h"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

namespace gv {
namespace {

/// Thousands of instants one after the other, so that threads wake in the wrong one as well.
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

}  // namespace
}  // namespace gv
