#include "optim/machine/inplace_function.h"

#include <memory>

#include <gtest/gtest.h>

namespace gv {
namespace {

using Function = InplaceFunction<64>;

TEST(InplaceFunction, IsCalledAsOftenAsOneLikes) {
  int calls = 0;
  Function f([&calls] { ++calls; });
  EXPECT_TRUE(f);
  f();
  f();
  EXPECT_EQ(calls, 2);
  EXPECT_FALSE(Function());
}

TEST(InplaceFunction, TakesItsCapturesAlongAndEndsThemOnce) {
  const auto held = std::make_shared<int>(0);
  Function first([held] { ++*held; });
  EXPECT_EQ(held.use_count(), 2);
  Function second(std::move(first));
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): it is empty
  EXPECT_EQ(held.use_count(), 2);
  second();
  EXPECT_EQ(*held, 1);
  second = Function([] {});
  EXPECT_EQ(held.use_count(), 1);
  Function third([held] {});
  third = std::move(second);
  EXPECT_EQ(held.use_count(), 1);
  {
    const Function fourth([held] {});
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST(InplaceFunction, CapturesMayBeMovableOnly) {
  auto only = std::make_unique<int>(7);
  int seen = 0;
  Function f([&seen, only = std::move(only)] { seen = *only; });
  Function g(std::move(f));
  g();
  EXPECT_EQ(seen, 7);
}

}  // namespace
}  // namespace gv
