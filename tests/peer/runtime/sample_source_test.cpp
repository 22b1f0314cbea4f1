#include <cstring>

#include <gtest/gtest.h>

#include "peer/runtime/assembly/assembly.h"
#include "peer/runtime/assembly/peer_share.h"
#include "tests/peer/fleet/test_fleet.h"

namespace gv {
namespace {

bool same(const Payload& a, const Payload& b) {
  return a->size() == b->size() && std::memcmp(a->data(), b->data(), a->size()) == 0;
}

/// A restored peer asks again for earlier minibatches, or skips those that it had elsewhere.
TEST(SampleSource, GivesEachMinibatchByItsNumber) {
  Fleet fleet = quadratic_fleet(3, "ring", "d-psgd", "");
  const Assembly assembly(fleet);
  const auto make = [&] {
    return SampleSource([&](PeerId i) { return assembly.objective(i); }, [](PeerId) { return 4U; });
  };
  SampleSource source = make();
  std::vector<Payload> kept;
  for (std::uint64_t k = 0; k < 6; ++k) kept.push_back(source.minibatch(1, k));
  EXPECT_FALSE(same(kept[0], kept[1]));
  EXPECT_FALSE(same(kept[0], source.minibatch(2, 0))) << "another peer's";
  for (const std::uint64_t k : {3U, 4U, 0U, 5U}) EXPECT_TRUE(same(source.minibatch(1, k), kept[k]));
  EXPECT_TRUE(same(make().minibatch(1, 5), kept[5]));
}

/// A liar may name a number that would take for ever to reach.
TEST(SampleSource, GivesNothingToWhoAsksTooFarAhead) {
  const Assembly assembly(quadratic_fleet(2, "ring", "d-psgd", ""));
  SampleSource source([&](PeerId i) { return assembly.objective(i); }, [](PeerId) { return 4U; });
  EXPECT_EQ(source.minibatch(0, 1'000'000'000'000), nullptr);
  EXPECT_NE(source.minibatch(0, 0), nullptr);
}

}  // namespace
}  // namespace gv
