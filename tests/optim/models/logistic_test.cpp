#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

#include "optim/replica/host_replica.h"
#include "optim/train/predictor.h"
#include "tests/optim/data/test_data.h"

namespace gv {
namespace {

using Access = Descent::Access;

std::unique_ptr<Objective> logistic(const TrainTest& data) {
  return make_objective({.kind = "logistic"}, whole(data));
}
TrainTest drawn() {
  return draw_sparse(2000, 500, 300, 8, 0.02, Rng(5));
}

std::vector<float> after(const TrainTest& data, const Descent& descent) {
  const auto objective = logistic(data);
  std::vector<float> x(objective->size());
  objective->descend(x, descent);
  return x;
}

/// The loss is that of the definition: the mean of log(1 + exp(-y a.x)).
TEST(Logistic, HasTheLossOfTheDefinition) {
  const TrainTest data = drawn();
  const auto objective = logistic(data);
  std::vector<float> x(objective->size());
  Rng(2).fill_normal(x);
  double loss = 0;
  for (std::uint32_t r = 0; r < data.test->rows; ++r) {
    const SparseSample a = data.test->sparse.row(r);
    double margin = 0;
    for (std::size_t k = 0; k < a.columns.size(); ++k)
      margin += static_cast<double>(a.values[k]) * static_cast<double>(x[a.columns[k]]);
    loss += std::log(1 + std::exp((data.test->labels[r] != 0 ? -1 : 1) * margin));
  }
  EXPECT_NEAR(objective->evaluate(x).loss, loss / data.test->rows, 1e-9);
}

/// One thread that reads x after its last step takes the steps of plain SGD.
TEST(Logistic, OneThreadDescendsAsPlainSgdDoes) {
  const TrainTest data = drawn();
  const auto objective = logistic(data);
  std::vector<float> x(objective->size());
  std::vector<float> g(objective->size());
  for (int s = 0; s < 100; ++s) {
    objective->value_and_gradient(x, 4, g);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] -= 0.5F * g[k];
  }
  for (const Access access : {Access::lock_free, Access::in_turn}) {
    const std::vector<float> descended =
        after(data, {.threads = 1, .steps = 100, .batch = 4, .rate = 0.5, .access = access});
    for (std::size_t k = 0; k < x.size(); ++k) ASSERT_NEAR(descended[k], x[k], 1e-5) << k;
  }
}

TEST(Logistic, ThreadsInTurnDoTheSameEachTime) {
  const TrainTest data = drawn();
  const Descent descent{.threads = 4,
                        .steps = 500,
                        .batch = 1,
                        .rate = 0.5,
                        .access = Access::in_turn,
                        .rng = Rng(9)};
  EXPECT_EQ(after(data, descent), after(data, descent));
  Descent other = descent;
  other.rng = Rng(10);
  EXPECT_NE(after(data, descent), after(data, other)) << "the order of the threads counts";
}

/// Threads that lose some of each other's steps still descend.
TEST(Logistic, ThreadsOnOneXLearnAsOneDoes) {
  const TrainTest data = drawn();
  const auto objective = logistic(data);
  const auto loss = [&](std::uint32_t threads, Access access) {
    return objective
        ->evaluate(after(
            data, {.threads = threads, .steps = 10000, .batch = 1, .rate = 0.5, .access = access}))
        .loss;
  };
  const double one = loss(1, Access::lock_free);
  EXPECT_LT(one, 0.5) << "log 2 at the start";
  for (const std::uint32_t threads : {2U, 4U})
    for (const Access access : {Access::lock_free, Access::in_turn})
      EXPECT_NEAR(loss(threads, access), one, 0.03);
}

TEST(Logistic, OtherModelsHaveNoSuchSteps) {
  const auto softmax =
      make_objective({.kind = "softmax"}, whole(make_blobs(24, 8, 6, 3, 2, Rng(1))));
  EXPECT_FALSE(softmax->shares_descent());
  std::vector<float> x(softmax->size());
  EXPECT_THROW(softmax->descend(x, {}), std::logic_error);
}

/// The rate is that of the first step, and the schedule continues after the last.
TEST(Logistic, AReplicaCountsTheStepsOfAllThreads) {
  OptimizerSpec sgd;
  sgd.lr = 1;
  sgd.schedule.kind = "step";
  sgd.schedule.every = 50;
  sgd.schedule.factor = 0.1;
  const auto replica = make_host_replica(logistic(drawn()), sgd, 1, Rng(1));
  replica->descend({.threads = 2, .steps = 49, .access = Access::in_turn});
  EXPECT_DOUBLE_EQ(replica->rate(), 1);
  replica->descend({.threads = 2, .steps = 1, .access = Access::in_turn});
  EXPECT_DOUBLE_EQ(replica->rate(), 0.1);
}

}  // namespace
}  // namespace gv
