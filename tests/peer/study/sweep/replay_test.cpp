#include "peer/study/sweep/trial_job.h"
#include "tests/peer/study/sweep/trial_fixture.h"

namespace gv {
namespace {

class Replays : public TrialJobs, public testing::WithParamInterface<const AlgorithmRow*> {
 protected:
  /// Returns a short trial of the method's own example, on a network with this latency.
  TrialJob job(const std::string& name, const std::string& latency) const {
    return example_job(*GetParam(), name, {"network.latency=" + latency});
  }
};

/// A replay has the same bytes as a whole simulation on another network.
TEST_P(Replays, OfASynchronousMethodAreTheFullSimulation) {
  run(job("near", "1 ms"));
  run(job("far", "30 ms"));
  TrialJob replay = job("replay", "30 ms");
  EXPECT_EQ(replay.identity.bits, job("near", "1 ms").identity.bits);
  replay.replay_of = path("near");
  run(replay);
  EXPECT_EQ(text_of(path("replay/metrics.jsonl")), text_of(path("far/metrics.jsonl")));
  EXPECT_EQ(text_of(path("replay/summary.json")), text_of(path("far/summary.json")));
  if (GetParam()->kind != "isolated") {  // which sends nothing
    EXPECT_NE(text_of(path("replay/metrics.jsonl")), text_of(path("near/metrics.jsonl")));
  }
}

INSTANTIATE_TEST_SUITE_P(EveryRow, Replays, testing::ValuesIn(synchronous_rows()), row_name);

using Replay = TrialJobs;

/// If neighbours exceed the deadline, a round continues without their halves. The clock then
/// decides the result, so the trial is trained.
TEST_F(Replay, IsRefusedWhereADeadlinePasses) {
  TrialJob near;
  near.slot.folder = "near";
  near.file = path("base.yaml");
  near.sets = {"faults.deadline=100 ms"};
  near.identity = identity_of(read_fleet(near.file, near.sets, nullptr));
  near.working = path("w1");
  near.final_folder = path("near");
  const auto quiet = [](std::uint64_t, std::uint64_t) {};
  ASSERT_TRUE(run_trial(near, "", "test", quiet).done);
  TrialJob far = near;
  far.slot.folder = "far";
  far.sets.emplace_back("network.latency=150 ms");
  far.identity = identity_of(read_fleet(far.file, far.sets, nullptr));
  EXPECT_EQ(far.identity.bits, near.identity.bits);
  far.working = path("w2");
  far.final_folder = path("far");
  far.replay_of = near.final_folder;
  const TrialOutcome outcome = run_trial(far, "", "test", quiet);
  ASSERT_TRUE(outcome.done) << outcome.message;
  EXPECT_NE(outcome.message.find("a deadline passes"), std::string::npos);
  EXPECT_NE(text_of(path("far/trial.json")).find("\"deadline_passed\": true"), std::string::npos);
}

}  // namespace
}  // namespace gv
