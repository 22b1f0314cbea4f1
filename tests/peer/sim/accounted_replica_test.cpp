#include "peer/sim/accounted_replica.h"

#include <gtest/gtest.h>

#include "optim/train/host_replica.h"

namespace gv {
namespace {

AccountedReplica noisy_parabola() {
  QuadraticSpec spec;
  spec.dimension = 3;
  spec.spread = 1;
  return AccountedReplica(
      make_host_replica(make_quadratic(spec, 0, 2, Rng(1)), OptimizerSpec{}, 1, Rng(2)));
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
  first.scale(Vector::x, 0.5F);  // as a flow: x moves, the account does not
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

TEST(AccountedReplica, SkipsWithItsReplica) {
  OptimizerSpec spec;
  spec.schedule.kind = "step";
  spec.schedule.every = 10;
  spec.schedule.factor = 0;
  AccountedReplica replica(make_host_replica(
      make_quadratic({.noise = 0, .start = 1, .centers = {}}, 0, 1, Rng(1)), spec, 1, Rng(2)));
  replica.skip_to(10);  // from here on the rate is zero
  const std::vector<double> before = replica.x();
  train(replica, 1);
  EXPECT_EQ(replica.x(), before);
}

}  // namespace
}  // namespace gv
