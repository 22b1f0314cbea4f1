#include "optim/host/slices.h"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include "optim/host/gemm.h"
#include "optim/rng.h"

namespace gv {
namespace {

TEST(Slices, CoverEverythingOnceAndBreakAtSteps) {
  for (const std::size_t extent : {1U, 5U, 47U, 48U, 49U, 96U, 300U, 1000U}) {
    for (const std::size_t step : {1U, 48U}) {
      for (std::size_t n = 1; n <= (extent + step - 1) / step && n <= most_slices; ++n) {
        EXPECT_EQ(slice_begin(0, n, extent, step), 0U);
        EXPECT_EQ(slice_begin(n, n, extent, step), extent);
        for (std::size_t i = 0; i < n; ++i) {
          EXPECT_LT(slice_begin(i, n, extent, step), slice_begin(i + 1, n, extent, step));
          EXPECT_EQ(slice_begin(i, n, extent, step) % step, 0U);
        }
      }
    }
  }
}

TEST(Slices, LittleWorkIsNotCut) {
  EXPECT_EQ(slices_of(5e6, 1000), 1U);
  EXPECT_EQ(slices_of(0, 0), 1U);
  EXPECT_EQ(slices_of(1e12, 3), 3U);
  EXPECT_EQ(slices_of(1e12, 1000), most_slices);
}

TEST(Slices, RunOnAllThreadsAndOnceEach) {
  for (const int threads : {1, 2, 5}) {
    set_compute_threads(threads);
    for (int time = 0; time < 500; ++time) {
      std::vector<std::atomic<int>> times(7);
      std::atomic<int> inner = 0;
      run_slices(times.size(), [&](std::size_t i) {
        ++times[i];
        run_slices(3, [&](std::size_t) { ++inner; });
      });
      for (const auto& count : times) ASSERT_EQ(count, 1);
      ASSERT_EQ(inner, 21);
    }
  }
  set_compute_threads(1);
}

/// The terms of a sum are added in an order that no number of threads changes.
TEST(Slices, ProductsHaveTheSameBitsOnAnyNumberOfThreads) {
  Rng rng(5);
  for (const auto& [m, n, k] : std::vector<std::array<int, 3>>{{8, 17, 64},
                                                               {37, 5, 784},
                                                               {64, 300, 784},
                                                               {300, 784, 64},
                                                               {1, 900, 2000},
                                                               {2048, 192, 64},
                                                               {192, 64, 2048},
                                                               {33, 65, 4000}}) {
    const auto size = [](int a, int b) {
      return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
    };
    std::vector<float> a(size(m, k));
    std::vector<float> b(size(k, n));
    rng.fill_normal(a);
    rng.fill_normal(b);
    for (const auto& [ta, tb] :
         std::vector<std::pair<bool, bool>>{{false, false}, {false, true}, {true, false}}) {
      std::vector<float> expected;
      for (const int threads : {1, 2, 4}) {
        set_compute_threads(threads);
        std::vector<float> c(size(m, n));
        gemm(ta, tb, m, n, k, 1, a.data(), ta ? m : k, b.data(), tb ? k : n, 0, c.data(), n);
        if (threads == 1) expected = c;
        ASSERT_EQ(c, expected) << m << " x " << n << " x " << k << ", " << threads << " threads";
      }
    }
  }
  set_compute_threads(1);
}

}  // namespace
}  // namespace gv
