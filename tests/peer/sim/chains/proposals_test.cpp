#include "peer/study/predict/parallel/proposals.h"

#include <gtest/gtest.h>

#include "peer/fleet/model_profile.h"
#include "tests/peer/sim/chains/chain_fleets.h"

namespace gv {
namespace {

ParallelAdvice advice_of(const Assembly& fleet, double free_bytes) {
  const auto profile = std::make_shared<const ModelProfile>(counted_profile(fleet));
  return advise_parallel(StrategyCosts(fleet, profile, free_bytes, nullptr));
}

Assembly four_peers(const std::string& more, const std::string& batch = "32") {
  return Assembly(
      read_fleet_text("version: 1\npeers: 4\ntopology: ring\n"
                      "data: { kind: blobs, features: 256, classes: 4, train: 400, test: 40 }\n"
                      "model: { kind: mlp, hidden: [256, 256, 256, 256, 256, 256, 256] }\n"
                      "train: { batch: " +
                      batch + " }\nstop: { rounds: 5 }\n" + more));
}

/// Equal layers on equal peers: dividing gains nothing if averaging is free, and everything if
/// averaging is expensive.
TEST(Proposals, GoByWhatTheNetworkCosts) {
  const Assembly quick = four_peers("");
  const ParallelAdvice copies = advice_of(quick, 0);
  EXPECT_EQ(copies.way, ParallelAdvice::Way::data_parallel) << copies.why;

  const Assembly slow =
      four_peers("network: { bandwidth: 100 Mbit }\nsimulate: { flops: 1 GFLOP/s }\n");
  const ParallelAdvice pipeline = advice_of(slow, 0);
  EXPECT_EQ(pipeline.way, ParallelAdvice::Way::pipeline) << pipeline.why;
  ASSERT_FALSE(pipeline.proposals.empty());
  EXPECT_GT(pipeline.proposals.front().microbatches, 1U);
  EXPECT_GT(pipeline.batch_to_hide, 32);

  const Assembly snail = four_peers("network: { bandwidth: 100 kbit, latency: 50 ms }\n");
  EXPECT_EQ(advice_of(snail, 0).way, ParallelAdvice::Way::alone);
}

/// The printed figures are those of a simulation of the proposed fleet.
TEST(Proposals, AreWhatTheSimulatorSaysOfTheirFleets) {
  const std::string network = "network: { bandwidth: 100 Mbit }\nsimulate: { flops: 1 GFLOP/s }\n";
  const Assembly fleet = four_peers(network);
  const ParallelAdvice advice = advice_of(fleet, 0);
  for (const ParallelProposal& p : advice.proposals) {
    const Assembly proposed = four_peers(
        network + fmt::format("parallel: {{ stages: [{}], microbatches: {}, ahead: {} }}\n",
                              fmt::join(p.stages, ", "), p.microbatches,
                              p.ahead == ParallelSpec::all ? "all" : fmt::format("{}", p.ahead)));
    const ChainRun run = run_chains(proposed);
    EXPECT_NEAR(in_seconds(run.result.virtual_time) / 5, p.seconds_per_round,
                0.1 * p.seconds_per_round)
        << p.stages.size();
  }
}

/// Another schedule would train another model, so a file's own schedule limits the proposals.
TEST(Proposals, KeepToTheScheduleOfTheFile) {
  const std::string quick = "simulate: { flops: 1 GFLOP/s }\n";
  const Assembly flushes = four_peers(quick);
  for (const ParallelProposal& p : advice_of(flushes, 0).proposals)
    EXPECT_EQ(p.schedule, ParallelSpec::Schedule::flush);
  const Assembly fleet =
      four_peers(quick + "parallel: { stages: 4, schedule: pipedream, vertical_sync: true }\n");
  const ParallelAdvice advice = advice_of(fleet, 0);
  ASSERT_FALSE(advice.proposals.empty());
  for (const ParallelProposal& p : advice.proposals) {
    EXPECT_EQ(p.schedule, ParallelSpec::Schedule::pipedream);
    EXPECT_TRUE(p.vertical_sync);
    EXPECT_EQ(p.microbatches, 1U);
    if (p.stages.size() != 4) continue;
    // Eight layers, of which the last takes almost no time: stages of two layers, and one of one.
    EXPECT_NEAR(p.idle, 1.0 / 8, 0.05);
  }
  EXPECT_EQ(advice.alone.schedule, ParallelSpec::Schedule::flush);
}

/// If memory cannot hold the microbatches under way, activations are computed again.
TEST(Proposals, KeepToTheMemoryThatThereIs) {
  const Assembly fleet =
      four_peers("network: { bandwidth: 100 Mbit }\nsimulate: { flops: 1 GFLOP/s }\n", "256");
  const ParallelAdvice free = advice_of(fleet, 0);
  ASSERT_FALSE(free.proposals.empty());
  double most = 0;
  for (const ParallelProposal& p : free.proposals) most = std::max(most, p.memory_bytes);
  const ParallelAdvice tight = advice_of(fleet, 0.9 * most);
  for (const ParallelProposal& p : tight.proposals) EXPECT_LE(p.memory_bytes, 0.9 * most);
  EXPECT_TRUE(advice_of(fleet, 1000).proposals.empty());
}

}  // namespace
}  // namespace gv
