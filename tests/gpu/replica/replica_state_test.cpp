#include <stdexcept>
#include <vector>

#include "tests/gpu/replica/replica_fixture.h"

namespace gv {
namespace {

std::vector<std::byte> saved_state(const Replica& replica) {
  StateWriter out;
  replica.save(out);
  return out.take();
}

/// Takes a fleet's steps: gradients, and a mix.
void train(Replica& replica, int steps) {
  const Flows flows = random_flows(replica.size(), 2);
  for (int step = 0; step < steps; ++step) {
    replica.gradient();
    replica.mix_and_step({0, replica.size()}, flows);
  }
}

TEST_P(ReplicaTest, GoesOnFromWhatItSavedWithTheSameBits) {
  OptimizerSpec adam;
  adam.kind = "adam";
  OptimizerSpec adamw = adam;
  adamw.kind = "adamw";
  for (const OptimizerSpec& spec : {OptimizerSpec{}, momentum_sgd(), adam, adamw}) {
    const auto first = make(20, spec);
    train(*first, 3);
    const std::vector<std::byte> state = saved_state(*first);
    const auto second = make(20, spec, 99);
    StateReader in(state);
    second->restore(in);
    in.end();
    EXPECT_EQ(saved_state(*second), state);
    train(*first, 3);
    train(*second, 3);
    EXPECT_EQ(values(*first), values(*second));
  }
}

TEST_P(ReplicaTest, ItsStateMovesToTheHostAndBack) {
  OptimizerSpec adam;
  adam.kind = "adam";
  OptimizerSpec adamw = adam;
  adamw.kind = "adamw";
  for (const OptimizerSpec& spec : {OptimizerSpec{}, momentum_sgd(), adam, adamw}) {
    const auto here = make(20, spec);
    train(*here, 3);
    const auto there = host.make(mlp(20), digits_share(), spec, 16, Rng(1));
    const std::vector<std::byte> state = saved_state(*here);
    StateReader in(state);
    there->restore(in);
    in.end();
    EXPECT_EQ(saved_state(*there), state);
    const auto back = make(20, spec, 98);
    const std::vector<std::byte> moved = saved_state(*there);
    StateReader again(moved);
    back->restore(again);
    EXPECT_EQ(saved_state(*back), state);
    EXPECT_NEAR(loss_of_gradient(*back), loss_of_gradient(*there),
                1e-5);  // the next minibatch is the same
  }
}

/// A recording of earlier steps continues with the restored state.
TEST_P(ReplicaTest, GoesBackToWhatItSavedItself) {
  const auto replica = make(20);
  const auto steps = [&replica](int count) {
    for (int step = 0; step < count; ++step) replica->gradient_and_step();
  };
  steps(4);
  const std::vector<std::byte> state = saved_state(*replica);
  steps(3);
  const std::vector<float> after = values(*replica);
  for (int again = 0; again < 2; ++again) {
    StateReader in(state);
    replica->restore(in);
    steps(3);
    EXPECT_EQ(values(*replica), after);
  }
}

TEST_P(ReplicaTest, RefusesAnotherState) {
  const auto replica = make(20);
  const std::vector<std::byte> other = saved_state(*make(21));
  StateReader in(other);
  EXPECT_THROW(replica->restore(in), std::runtime_error);
}

}  // namespace
}  // namespace gv
