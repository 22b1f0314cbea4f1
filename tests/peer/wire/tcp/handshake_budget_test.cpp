#include <chrono>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peer/wire/tcp/connecting.h"

namespace gv {
namespace {

using std::chrono::milliseconds;

TEST(HandshakeBudget, OneAddressGetsTenInASecond) {
  HandshakeBudget budget;
  std::size_t begun = 0;
  for (int i = 0; i < 1000; ++i) begun += budget.spend({.address = "10.0.0.1"}, milliseconds(i));
  EXPECT_EQ(begun, HandshakeBudget::of_one);
  EXPECT_TRUE(budget.spend({.address = "10.0.0.1"}, milliseconds(1000)));
}

TEST(HandshakeBudget, AllStrangersTogetherGetFiftyAndNeighboursStillTheirs) {
  HandshakeBudget budget;
  std::size_t begun = 0;
  for (int i = 0; i < 999; ++i)
    begun += budget.spend({.address = fmt::format("10.0.0.{}", i % 250)}, milliseconds(i));
  EXPECT_EQ(begun, HandshakeBudget::of_all);
  std::size_t ours = 0;
  for (int i = 0; i < 100; ++i)
    ours += budget.spend({.address = "10.0.1.1", .neighbors = 3}, milliseconds(999));
  EXPECT_EQ(ours, 3 * HandshakeBudget::of_one) << "as many as three neighbours may need";
}

TEST(HandshakeBudget, ThePeersOfOneMachineShareAnAddress) {
  HandshakeBudget budget;
  for (int i = 0; i < 200; ++i)
    EXPECT_TRUE(budget.spend({.address = "127.0.0.1", .neighbors = 1, .is_here = true}, Time{0}));
}

}  // namespace
}  // namespace gv
