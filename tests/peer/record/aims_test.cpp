#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peer/record/fleet_record.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/sim/simulation.h"

namespace gv {
namespace {

TEST(ProgressWatch, LooksAtTheLossUnlessATargetSaysWhat) {
  ProgressWatch loss({});
  EXPECT_TRUE(loss.see(2.0));
  EXPECT_FALSE(loss.see(2.0));
  EXPECT_TRUE(loss.see(1.0));
  EXPECT_FALSE(loss.see(3.0));
  EXPECT_EQ(loss.best(), 1.0);
  ProgressWatch accuracy(
      {.target = TargetSpec{.figure = TargetSpec::Figure::accuracy, .value = 0.9}});
  EXPECT_TRUE(accuracy.see(0.5));
  EXPECT_TRUE(accuracy.see(0.6));
  EXPECT_FALSE(accuracy.see(0.5));
}

TEST(ProgressWatch, IsOutOfPatienceAfterSoManyThatAreNoBetter) {
  ProgressWatch watch({.patience = 2});
  watch.see(2.0);
  watch.see(2.5);
  EXPECT_FALSE(watch.out_of_patience());
  watch.see(1.0);  // starts the count again
  watch.see(std::nullopt);
  EXPECT_FALSE(watch.out_of_patience());
  watch.see(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(watch.out_of_patience());
}

/// A run that is resumed after its patience is over ends after one more evaluation, because it
/// would otherwise wait for ever.
TEST(ProgressWatch, HasOneMoreEvaluationAfterAResume) {
  ProgressWatch watch({.patience = 2});
  for (const double loss : {1.0, 2.0, 3.0, 4.0}) watch.recall(loss);
  EXPECT_FALSE(watch.out_of_patience());
  watch.see(2.0);
  EXPECT_TRUE(watch.out_of_patience());
}

/// A sweep's trial takes its figures from the last record. Trials that an aim ended once had no
/// test figures.
TEST(Observer, TellsTheTestFiguresWithTheRecordThatEndsARun) {
  for (const std::string stop :
       {"rounds: 60", "rounds: 4000, patience: 2", "rounds: 4000, target: { loss: 0.9 }"}) {
    const Assembly fleet(read_fleet_text(fmt::format(
        "version: 1\npeers: 3\ndata: {{ kind: blobs, train: 200, test: 90, features: 6, "
        "separation: "
        "2, validation: 0.2 }}\nmodel: softmax\ntrain: {{ optimizer: {{ kind: sgd, lr: 0.3 }} }}\n"
        "stop: {{ {} }}\nevaluate: {{ every: 5 rounds }}\noutput: {{ save: best }}\n",
        stop)));
    std::optional<FleetRecord> last;
    std::size_t with_test = 0;
    Observer observer(fleet.fleet.size(), fleet.evaluator(), [&](const FleetRecord& record) {
      last = record;
      with_test += record.test ? 1 : 0;
    });
    simulate(fleet, observer, {});
    ASSERT_TRUE(last && last->test) << stop;
    EXPECT_EQ(with_test, 1U) << stop << ": the test set is looked at once";
    EXPECT_EQ(last->test->loss, observer.summary()->test->loss) << stop;
    EXPECT_EQ(last->saved, observer.best()->round) << stop;
  }
}

}  // namespace
}  // namespace gv
