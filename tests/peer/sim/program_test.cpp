#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "tests/peer/sim/method_runs.h"
#include "tests/peer/sim/program_peers.h"

// Peers whose gradients and steps a program computes.

namespace gv {
namespace {

/// The outcome of a fleet, and its losses on the way.
struct End {
  std::string hash;
  /// Training and test loss of each peer as bits, because a server's training loss is unknown.
  std::vector<std::uint64_t> losses;
  bool operator==(const End&) const = default;
};

End end_of(const Fleet& fleet, bool programs) {
  const Assembly assembly(fleet);
  Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
  SimulationOptions options;
  options.threads = 1;
  if (programs) options.replica = [&](PeerId i) { return program_or_server(assembly, i); };
  simulate(assembly, observer, options);
  End end{.hash = observer.params_hash(), .losses = {}};
  for (const auto& [peer, report] : observer.finals()) {
    for (const double loss : {report.train_loss, report.evaluation.loss})
      end.losses.push_back(std::bit_cast<std::uint64_t>(loss));
  }
  return end;
}

TEST(ProgramReplicas, HaveNoFigureBeforeOneIsSaid) {
  std::vector<float> x(3);
  std::optional<Evaluation> says;
  TurnsAtOnce turns([&](Turn) { return Told{.evaluation = says}; });
  ProgramReplica replica(Segments({x}), turns);
  EXPECT_TRUE(std::isnan(replica.evaluation().loss));
  replica.evaluate();
  EXPECT_TRUE(std::isnan(replica.evaluation().loss));
  says = Evaluation{.loss = 2, .accuracy = 0.5};
  replica.evaluate();
  EXPECT_EQ(replica.evaluation().loss, 2);
  EXPECT_EQ(replica.evaluation().accuracy, 0.5);
}

/// Programs cannot take samples of other peers, run threads on one x, or take steps of a given
/// length.
bool runs_programs(const AlgorithmRow& row) {
  return row.program.objection.empty();
}

class ProgramIn : public testing::TestWithParam<const AlgorithmRow*> {
 protected:
  static Fleet fleet(std::uint32_t local_steps) {
    Fleet fleet = row_fleet(*GetParam(), 8);
    fleet.data.quadratic.noise = 1;
    fleet.local_steps = local_steps;
    fleet.evaluate_every = 5;
    return fleet;
  }
  /// Built-in peers of ad-psgd answer during a gradient, which they compute on a copy of x. A
  /// program has only one x, and answers after the gradient.
  static void expect_same_bits(const Fleet& fleet) {
    if (!refusal(fleet).empty() || fleet.algorithm == "ad-psgd") return;
    EXPECT_EQ(end_of(fleet, false), end_of(fleet, true));
  }
};

TEST_P(ProgramIn, EndsWithTheBitsOfBuiltInPeers) {
  ASSERT_TRUE(refusal(fleet(1)).empty() || refusal(fleet(4)).empty());
  for (const std::uint32_t local_steps : {1U, 4U}) {
    SCOPED_TRACE(local_steps);
    expect_same_bits(fleet(local_steps));
  }
}

TEST_P(ProgramIn, SendsTheSameInEveryCodec) {
  for (const Codec codec : codecs_of(*GetParam())) {
    SCOPED_TRACE(to_string(codec));
    Fleet coded = fleet(1);
    coded.codec = codec;
    expect_same_bits(coded);
  }
}

TEST_P(ProgramIn, FollowsSchedulesOfGraphAndRate) {
  std::vector<std::string> graphs = {"ring"};
  if (GetParam()->mixes) graphs = {"exponential", "one-peer-exponential", "random-matching"};
  for (const std::string& graph : graphs) {
    SCOPED_TRACE(graph);
    Fleet scheduled = fleet(1);
    const ScheduleSpec spec = parse_schedule(graph);
    scheduled.topology = spec.topology;
    if (is_schedule(graph)) scheduled.schedule = spec;
    scheduled.optimizer.schedule.kind = "cosine";
    expect_same_bits(scheduled);
  }
}

class ResumedProgramIn : public ProgramIn {};

TEST_P(ResumedProgramIn, GoesOnFromEveryRoundToTheBit) {
  const bool one_step = refusal(fleet(1)).empty();
  expect_it_resumes(fleet(one_step ? 1 : 4), program_or_server);
}

std::vector<const AlgorithmRow*> rows(bool synchronous_only) {
  std::vector<const AlgorithmRow*> rows;
  std::ranges::copy_if(algorithms(), std::back_inserter(rows), [=](const AlgorithmRow* row) {
    return runs_programs(*row) && (row->synchronous || !synchronous_only);
  });
  return rows;
}

std::string name_of_case(const testing::TestParamInfo<const AlgorithmRow*>& info) {
  return name_of(*info.param);
}

INSTANTIATE_TEST_SUITE_P(EveryRow, ProgramIn, testing::ValuesIn(rows(false)), name_of_case);
INSTANTIATE_TEST_SUITE_P(EveryRow, ResumedProgramIn, testing::ValuesIn(rows(true)), name_of_case);

/// A script may clip or reload its parameters between two steps. Its change of a peer's x is a step
/// by that peer, and enters the fleet's sum in full.
TEST(Program, WhatItAddsToXDuringAGradientCountsOnceInTheSum) {
  for (const char* order : {"lian", "atc", "cta"}) {
    for (const char* graph : {"ring", "star", "complete"}) {
      SCOPED_TRACE(std::string(order) + " on " + graph);
      Fleet fleet = quadratic_fleet(5, graph, "d-psgd", order);
      fleet.data.quadratic.dimension = 6;
      fleet.stop.rounds = 9;
      const Assembly assembly(fleet);
      std::vector<std::unique_ptr<Tensors>> tensors;
      std::vector<std::unique_ptr<TurnsAtOnce>> turns;
      std::vector<int> gradients(5, 0);
      for (PeerId i = 0; i < 5; ++i) {
        tensors.push_back(std::make_unique<Tensors>(6));
        turns.push_back(std::make_unique<TurnsAtOnce>([&, i](Turn turn) {
          const bool trains = turn == Turn::gradient || turn == Turn::gradient_and_step;
          if (trains && ++gradients[i] == 4 && i == 2) tensors[i]->parts[1][0] += 1;
          return Told{.loss = 0.0, .rate = 0.0};
        }));
      }
      SimulationOptions options;
      options.threads = 1;
      options.replica = [&](PeerId i) {
        return std::make_unique<ProgramReplica>(tensors[i]->segments(), *turns[i], 1e3);
      };
      Observer observer(5, assembly.evaluator(), {});
      simulate(assembly, observer, options);
      double sum = 0;
      for (const auto& [peer, report] : observer.finals()) {
        for (const float value : report.model->floats()) sum += static_cast<double>(value);
      }
      EXPECT_NEAR(sum, 1, 1e-5);
    }
  }
}

}  // namespace
}  // namespace gv
