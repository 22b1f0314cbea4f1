#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "optim/replica/host_replica.h"
#include "peer/sim/world/audit.h"

namespace gv {
namespace {

AccountedReplica noisy_parabola() {
  QuadraticSpec spec;
  spec.dimension = 3;
  spec.spread = 1;
  return AccountedReplica(
      make_host_replica(make_quadratic(spec, 0, 2, Rng(1)), OptimizerSpec{}, 1, Rng(2)));
}

Payload filled(std::size_t floats, float value) {
  const auto payload = std::make_shared<Buffer>(floats * sizeof(float));
  std::ranges::fill(payload->floats(), value);
  return payload;
}

void train(Replica& replica, int steps) {
  for (int t = 0; t < steps; ++t) {
    replica.gradient();
    replica.step();
  }
}

TEST(AccountedReplica, ItsAccountBeginsAnewWhereItIsRestored) {
  AccountedReplica first = noisy_parabola();
  train(first, 3);
  // A flow moves x but not the account.
  const std::vector<double> own = first.own();
  first.add_flow(Vector::x, {0, 3}, 0.5F, *filled(3, 2), *filled(3, 1));
  EXPECT_EQ(first.own(), own);
  StateWriter out;
  first.save(out);
  AccountedReplica second = noisy_parabola();
  train(second, 5);
  StateReader in(out.bytes());
  second.restore(in);
  EXPECT_EQ(second.x(), first.x());
  EXPECT_EQ(second.own(), second.x());
  train(first, 4);
  train(second, 4);
  EXPECT_EQ(second.x(), first.x());
}

/// Every write of a peer to its own x is a step; a write to another vector is not.
TEST(AccountedReplica, BooksEveryWriteToX) {
  AccountedReplica replica = noisy_parabola();
  train(replica, 1);
  const Range all{0, 3};
  const Codec codec = {Codec::Kind::fp16};
  Buffer encoding(codec.bytes(3));
  replica.load(Vector::g, all, *filled(3, 0.5F));
  replica.encode(codec, Vector::g, all, encoding);
  const Vector other = replica.vector("other", {});
  const std::vector<std::function<void(Vector)>> writes{
      [&](Vector to) { replica.load(to, all, *filled(3, 4)); },
      [&](Vector to) { replica.add(to, all, *filled(3, 1.5F)); },
      [&](Vector to) { replica.scale(to, 0.25F); },
      [&](Vector to) {
        replica.axpby(2, Vector::g, 0.5F, to, {1, 2});
      },
      [&](Vector to) { EXPECT_TRUE(replica.decode(codec, to, all, encoding)); }};
  for (const auto& write : writes) {
    const std::vector<double> x = replica.x();
    const std::vector<double> own = replica.own();
    write(other);
    EXPECT_EQ(replica.own(), own);
    write(Vector::x);
    EXPECT_NE(replica.x(), x);
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_DOUBLE_EQ(replica.own()[k] - own[k], replica.x()[k] - x[k]);
  }
}

/// The tolerance for rounding follows the largest values. A vector that had been 20 and was 1 at
/// the end once "drifted" by a ten-thousandth.
TEST(AccountedReplica, RemembersTheLargestCoordinate) {
  AccountedReplica replica = noisy_parabola();
  const Range all{0, 3};
  replica.load(Vector::x, all, *filled(3, -20));
  replica.load(Vector::x, all, *filled(3, 1));
  EXPECT_EQ(replica.largest(), 20);
  replica.add_flow(Vector::x, all, 1, *filled(3, 31), *filled(3, 1));
  replica.load(Vector::x, all, *filled(3, 0));
  EXPECT_EQ(replica.largest(), 31);
}

TEST(AccountedReplica, SkipsWithItsReplica) {
  OptimizerSpec spec;
  spec.schedule.kind = "step";
  spec.schedule.every = 10;
  spec.schedule.factor = 0;
  AccountedReplica replica(make_host_replica(
      make_quadratic({.noise = 0, .start = 1, .centers = {}}, 0, 1, Rng(1)), spec, 1, Rng(2)));
  replica.skip_to({10});  // from here the rate is zero
  const std::vector<double> before = replica.x();
  train(replica, 1);
  EXPECT_EQ(replica.x(), before);
}

}  // namespace
}  // namespace gv
