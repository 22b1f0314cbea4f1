#include <gtest/gtest.h>

#include "gossip/seam/stage.h"
#include "peer/sim/blank_replica.h"
#include "peer/study/predict/parallel/strategy.h"
#include "peer/wire/frame/frame.h"
#include "tests/peer/sim/chains/chain_fleets.h"

namespace gv {
namespace {

/// The bubble of GPipe, section 2.3.
TEST(Timetable, IsIdleAsTheoryHasIt) {
  for (std::uint32_t p = 1; p <= 8; ++p) {
    for (const std::uint32_t m : {1U, p, 2 * p, 4 * p}) {
      for (const std::uint32_t ahead : {1U, 2U, m}) {
        std::vector<TimedStage> stages(p);
        for (std::uint32_t s = 0; s < p; ++s)
          stages[s] = {.forward = 1, .backward = 2, .window = window_of(s, p, ahead, m)};
        const std::vector<TimedHop> hops(p - 1);
        EXPECT_NEAR(time_chain(stages, hops, m).idle, (p - 1.0) / (m + p - 1.0), 1e-12);
      }
    }
  }
}

/// The simulator rounds each job and each frame to whole nanoseconds.
constexpr double whole_nanoseconds = 1e-7;

/// The timetable's input for a fleet of one chain.
struct TimedChain {
  std::vector<TimedStage> stages;
  std::vector<TimedHop> hops;
};

TimedChain timed(const Assembly& fleet) {
  const PeerId p = fleet.fleet.stages();
  const NetworkSpec& network = fleet.fleet.network;
  TimedChain chain;
  for (PeerId s = 0; s < p; ++s) {
    const StagePlan plan = *fleet.plan(s).stage;
    const std::uint32_t m = plan.microbatches;
    const double d = static_cast<double>(fleet.size_of(s));
    const double work = fleet.objective(s)->gradient_flops(fleet.fleet.peers[s].batch) / m;
    // A microbatch's gradient goes to the sum, or the current weights to the ring of versions.
    const bool adds = m > 1 || (!plan.flush && (plan.vertical_sync ? p > 1 : s + 1 < p));
    const double flops = fleet.fleet.flops;
    chain.stages.push_back(
        {.forward = work / 3 / flops,
         .backward = (work * (plan.recompute ? 3 : 2) / 3 + (adds ? d : 0)) / flops,
         .step = 2 * d / flops,
         .window = plan.flush ? window_of(s, p, plan.ahead, m) : p - 1 - s,
         .card = network.nic_bandwidth(s)});
    if (s + 1 == p) continue;
    const auto bytes = [&](PeerId from, Kind kind, std::uint32_t microbatch) {
      const Message frame{.from = from, .kind = kind, .part = microbatch, .payload = {}};
      return static_cast<double>(wire::frame_bytes(frame, 4 * plan.floats_out));
    };
    const PeerId next = s + 1;
    chain.hops.push_back({.ahead = {bytes(s, Kind::activation, 0), bytes(s, Kind::activation, 1)},
                          .back = {bytes(next, Kind::activation_gradient, 0),
                                   bytes(next, Kind::activation_gradient, 1)},
                          .bandwidth = network.link(s, s + 1).bandwidth,
                          .latency = in_seconds(network.latency)});
  }
  return chain;
}

/// Returns the seconds until the first stage has done `rounds` rounds.
double simulated_seconds(const Assembly& fleet, Round rounds) {
  SimulationOptions options;
  options.threads = 1;
  options.rounds = rounds;
  options.replica = blank_replicas(fleet);
  Time ended{0};
  options.on_progress = [&](Round, Time now) { ended = now; };
  Observer blind(fleet.fleet.size() + 1, nullptr, {});
  simulate(fleet, blind, options);
  return in_seconds(ended);
}

ChainFleet draw_one_chain(Rng& rng) {
  ChainFleet drawn = draw_chains(rng);
  drawn.chains = 1;
  drawn.stages = 2 + static_cast<PeerId>(rng.below(4));
  drawn.local_steps = 1;
  drawn.method = "{ kind: isolated }";
  return drawn;
}

/// A chain of drawn stages and a drawn network, compared with the simulator's round. The two share
/// only the order of turns.
TEST(Timetable, IsWhatTheSimulatorTakes) {
  for (std::uint64_t k = 0; k < 300; ++k) {
    Rng rng = Rng(5).derive("timetable").derive(k);
    ChainFleet drawn = draw_one_chain(rng);
    drawn.rounds = 1;
    drawn.more = fmt::format(
        "simulate: {{ flops: {} MFLOP/s }}\nnetwork: {{ latency: {} us, bandwidth: {} kB/s, "
        "shape: {} }}\n",
        1 + rng.below(5), rng.below(2000), 100 + rng.below(2000),
        rng.below(2) == 0 ? "per-nic" : "per-link");
    const Assembly fleet = drawn.assembly();
    const TimedChain chain = timed(fleet);
    const double expected = time_chain(chain.stages, chain.hops, drawn.microbatches).round;
    EXPECT_NEAR(simulated_seconds(fleet, 1), expected, 1e-6 * expected + whole_nanoseconds)
        << drawn.text() << k;
  }
}

/// Without a flush, over many rounds. A frame contains its minibatch and round, so its size varies.
/// With latency alone, times can be compared to the nanosecond.
TEST(Timetable, OfAStreamIsWhatTheSimulatorTakes) {
  for (std::uint64_t k = 0; k < 100; ++k) {
    Rng rng = Rng(6).derive("stream").derive(k);
    ChainFleet drawn = draw_one_chain(rng).streamed(k % 2 == 0);
    drawn.more = fmt::format("simulate: {{ flops: {} MFLOP/s }}\nnetwork: {{ latency: {} us }}\n",
                             1 + rng.below(5), rng.below(2000));
    const Assembly fleet = drawn.assembly();
    const TimedChain chain = timed(fleet);
    const auto rounds = static_cast<std::uint32_t>(3 + rng.below(30));
    const double expected = time_stream(chain.stages, chain.hops, rounds).gradient;
    EXPECT_NEAR(simulated_seconds(fleet, rounds), expected,
                1e-6 * expected + rounds * whole_nanoseconds)
        << drawn.text() << k;
  }
}

/// On a free network the slowest stage alone decides, and equal stages are never idle.
TEST(Timetable, OfAStreamIsOneStagesTime) {
  for (std::uint32_t p = 1; p <= 8; ++p) {
    Rng rng = Rng(7).derive("slowest").derive(p);
    std::vector<TimedStage> equal(p), drawn(p);
    double slowest = 0;
    for (std::uint32_t s = 0; s < p; ++s) {
      equal[s] = {.forward = 1, .backward = 2, .step = 0.5, .window = p - 1 - s};
      drawn[s] = {.forward = 1 + static_cast<double>(rng.below(5)),
                  .backward = 1 + static_cast<double>(rng.below(9)),
                  .step = 0.5 * static_cast<double>(rng.below(3)),
                  .window = p - 1 - s};
      slowest = std::max(slowest, drawn[s].forward + drawn[s].backward + drawn[s].step);
    }
    const std::vector<TimedHop> hops(p - 1);
    const Timetable table = time_stream(equal, hops, 12 * p);
    EXPECT_NEAR(table.round, 3.5, 1e-12);
    EXPECT_NEAR(table.idle, 0, 1e-12);
    // If another stage is almost as slow, many rounds pass until the slowest one dominates.
    EXPECT_NEAR(time_stream(drawn, hops, 3000).round, slowest, 1e-6);
  }
}

}  // namespace
}  // namespace gv
