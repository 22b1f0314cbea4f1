#pragma once

#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gossip/plugin.h"
#include "peer/runtime/assembly/program_model.h"
#include "tests/peer/fleet/test_fleet.h"
#include "tests/peer/sim/injecting.h"

// Operations of programs between the rounds of D-PSGD, in virtual time.

namespace gv {

/// Peers that were apart do not skip rounds, nor the operations in between.
inline AlgorithmRow between_rounds(std::string_view kind, Algorithm run) {
  return {.kind = kind,
          .run = run,
          .mixes = true,
          .program = split_steps,
          .promise = Promise::nothing,
          .synchronous = false,
          .summary = "of a test"};
}

/// `row` is one of the registered algorithms.
inline Fleet between_rounds_fleet(const AlgorithmRow& row,
                                  PeerId n,
                                  const std::string& graph,
                                  Round rounds) {
  using std::chrono::milliseconds;
  Fleet fleet = quadratic_fleet(n, graph, std::string(row.kind), "");
  fleet.data.quadratic.dimension = 4;
  fleet.network.latency = std::chrono::microseconds(300);
  fleet.flops = 1e6;
  fleet.stop.rounds = rounds;
  fleet.faults.deadline = milliseconds(200);
  fleet.faults.dead_after = milliseconds(40);
  fleet.faults.heartbeat = milliseconds(8);
  for (PeerId i = 0; i < n; ++i) fleet.peers[i].speed = 1.0 / (1 + i % 3);
  return fleet;
}

/// Simulates the fleet with peers that are programs, as far as their plans show.
inline SimulationResult simulate_programs(const Fleet& fleet, SimulationOptions options) {
  const Assembly built_in(fleet);
  const Assembly assembly(fleet, std::nullopt, ProgramModel{.parameters = built_in.parameters});
  Observer observer(assembly.fleet.size(), built_in.evaluator(), {});
  options.threads = 1;
  options.replica = [&](PeerId i) { return built_in.host_replica(i); };
  SimulationResult result = simulate(assembly, observer, options);
  EXPECT_EQ(result.violations, std::vector<std::string>{});
  return result;
}

/// Faults for two seconds, drawn from a seed, without deaths of processes.
inline SimulationOptions all_but_deaths(std::uint64_t seed) {
  SimulationOptions options = injecting({});
  options.faults->seed = seed;
  options.faults->drawn = true;
  options.faults->succeed = false;
  options.faults->until = std::chrono::seconds(2);
  options.faults->judgement = Judgement::ends;
  options.faults->classes = 0;
  for (const Fault fault :
       {Fault::reset, Fault::corrupt, Fault::duplicate, Fault::slice, Fault::cut_off,
        Fault::one_way, Fault::half_open, Fault::partition, Fault::pause, Fault::slow})
    options.faults->classes |= FaultClasses{1} << static_cast<unsigned>(fault);
  return options;
}

struct GraphOf {
  std::string name;
  PeerId peers;
};

inline void PrintTo(const GraphOf& graph, std::ostream* out) {
  *out << graph.name << ' ' << graph.peers;
}

}  // namespace gv
