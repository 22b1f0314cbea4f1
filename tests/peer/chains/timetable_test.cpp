#include "peer/predict/parallel/timetable.h"

#include <gtest/gtest.h>

#include "gossip/stage_turns.h"
#include "peer/sim/blank_fleet.h"
#include "peer/wire/frame.h"
#include "tests/peer/chains/chain_fleets.h"

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

/// The simulator rounds each job and each frame to them.
constexpr double whole_nanoseconds = 1e-7;

/// A chain of drawn stages and a drawn network: what the simulator takes for a round, which shares
/// nothing with the timetable but the order of the turns.
TEST(Timetable, IsWhatTheSimulatorTakes) {
  for (std::uint64_t k = 0; k < 300; ++k) {
    Rng rng = Rng(5).derive("timetable").derive(k);
    ChainFleet drawn = draw_chains(rng);
    drawn.chains = 1;
    drawn.stages = 2 + static_cast<PeerId>(rng.below(4));
    drawn.local_steps = 1;
    drawn.rounds = 1;
    drawn.method = "{ kind: isolated }";
    drawn.more = fmt::format(
        "simulate: {{ flops: {} MFLOP/s }}\nnetwork: {{ latency: {} us, bandwidth: {} kB/s, "
        "shape: {} }}\n",
        1 + rng.below(5),
        rng.below(2000),
        100 + rng.below(2000),
        rng.below(2) == 0 ? "per-nic" : "per-link");
    const Assembly fleet = drawn.assembly();
    SimulationOptions options;
    options.threads = 1;
    options.rounds = 1;
    options.replica = blank_replicas(fleet);
    Time ended{0};
    options.on_progress = [&](Round, Time now) { ended = now; };
    Observer blind(fleet.fleet.size() + 1, nullptr, {});
    simulate(fleet, blind, options);

    const PeerId p = fleet.fleet.stages();
    const NetworkSpec& network = fleet.fleet.network;
    const std::uint32_t m = drawn.microbatches;
    std::vector<TimedStage> stages;
    std::vector<TimedHop> hops;
    for (PeerId s = 0; s < p; ++s) {
      const StagePlan plan = *fleet.plan(s).stage;
      const double d = static_cast<double>(fleet.size_of(s));
      const double flops = fleet.objective(s)->gradient_flops(drawn.batch) / m / fleet.fleet.flops;
      stages.push_back(
          {.forward = flops / 3,
           .backward = flops * (drawn.recompute ? 3 : 2) / 3 + (m > 1 ? d / fleet.fleet.flops : 0),
           .step = 2 * d / fleet.fleet.flops,
           .window = window_of(s, p, plan.ahead, m),
           .card = network.nic_bandwidth(s)});
      if (s + 1 == p) continue;
      const auto bytes = [&](PeerId from, Kind kind, std::uint32_t microbatch) {
        const Message frame{.from = from, .kind = kind, .part = microbatch, .payload = {}};
        return static_cast<double>(wire::frame_bytes(frame, 4 * plan.floats_out));
      };
      const PeerId next = s + 1;
      hops.push_back({.ahead = {bytes(s, Kind::activation, 0), bytes(s, Kind::activation, 1)},
                      .back = {bytes(next, Kind::activation_gradient, 0),
                               bytes(next, Kind::activation_gradient, 1)},
                      .bandwidth = network.link(s, s + 1).bandwidth,
                      .latency = in_seconds(network.latency)});
    }
    const double expected = time_chain(stages, hops, m).round;
    EXPECT_NEAR(in_seconds(ended), expected, 1e-6 * expected + whole_nanoseconds)
        << drawn.text() << k;
  }
}

}  // namespace
}  // namespace gv
