#include "peer/study/compare/run_map.h"

#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peer/launch/run_record.h"
#include "peer/record/report/metrics.h"
#include "peer/record/runs/stored_run.h"
#include "peer/sim/simulation.h"
#include "peer/study/simulated_run.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

/// 8 peers and a quadratic of 250,000 floats with the same data. Without noise, all methods need
/// equally many rounds. The arithmetic takes almost no time.
constexpr const char* fleet_text =
    "version: 1\n"
    "peers: 8\n"
    "data: { kind: quadratic, dimension: 250000, hessian: [1], noise: 0, spread: 0, start: 1 }\n"
    "train: { optimizer: { lr: 0.1 } }\n"
    "network: { latency: 1 ms, bandwidth: 1 Gbit }\n"
    "simulate: { flops: 1000 GFLOP/s }\n"
    "stop: { rounds: 12 }\n"
    "evaluate: { every: 1 rounds }\n";

class RunMapTest : public ::testing::Test {
 protected:
  RunMapTest() { std::ofstream(file()) << fleet_text; }

  std::string file() const { return folder_.path() + "/fleet.yaml"; }

  /// Makes a run folder as `simulate` does.
  void simulate_run(std::vector<std::string> sets) {
    sets.push_back(fmt::format("output.dir={}/run{}", folder_.path(), ++runs_));
    const Assembly fleet(read_fleet(file(), sets, nullptr));
    const RunFolder folder = begin_run(
        fleet, {.kind = "simulate", .file = file(), .sets = sets, .version = "0", .resumed = {}});
    std::ofstream metrics(folder.file("metrics.jsonl"));
    Observer observer(fleet.fleet.size(), fleet.evaluator(), [&](const FleetRecord& record) {
      metrics << evaluate_line(record) << std::endl;
    });
    SimulationOptions options;
    options.threads = 1;
    simulate(fleet, observer, options);
    end_run(fleet,
            folder,
            observer,
            observer.saved_model(),
            simulated_summary(fleet, *observer.summary(), observer.hashes()).dump(),
            "test");
  }

  std::vector<StoredRun> runs() const {
    return read_runs({folder_.path()}, [](std::size_t, std::size_t) {}).runs;
  }

  std::vector<FirstMap> maps(double loss) const {
    const std::vector<StoredRun> all = runs();
    CompareOptions options{.target = {}, .by = {}};
    options.target = CompareTarget{.figure = CompareTarget::Figure::loss, .value = loss};
    return map_runs(all, options, {});
  }

  /// Returns a loss half-way to zero. The loss falls by the same factor in each round.
  double reachable_loss() const {
    const std::vector<StoredRun> all = runs();
    return all.front().evaluations[5].loss;
  }

  ScratchFolder folder_;
  int runs_ = 0;
};

/// Theory 4.7 compares atc on a ring of 8 with ring all-reduce: gossip takes alpha + 2 M / B,
/// all-reduce 14 alpha + 14/8 M / B, after the same compute and with the same rounds. They are
/// equal where 13 alpha = 0.25 M / B.
TEST_F(RunMapTest, ChangesLieWhereTheClosedFormsHaveThem) {
  simulate_run({"algorithm={kind: d-psgd, order: atc}"});
  simulate_run({"algorithm=all-reduce"});
  const std::vector<FirstMap> all = maps(reachable_loss());
  ASSERT_EQ(all.size(), 1U);
  const FirstMap& map = all.front();
  ASSERT_EQ(map.methods.size(), 2U);
  EXPECT_NEAR(map.methods[0].rounds, map.methods[1].rounds, 0.01 * map.methods[0].rounds);
  constexpr double model = 1e6;
  ASSERT_FALSE(map.changes.empty());
  std::size_t looked_at = 0;
  for (const MapChange& change : map.changes) {
    const double ratio = 13 * change.at.latency / (0.25 * model / change.at.bandwidth);
    EXPECT_NEAR(ratio, 1, 0.1) << change.at.latency << " s, " << change.at.bandwidth << " B/s";
    ++looked_at;
  }
  EXPECT_GE(looked_at, 8U);
}

/// A parameter server takes 2 alpha + 9 M / B. The theory has 16, but a card here is shared only by
/// what is sent: eight pushes go at once, eight models one after the other.
TEST_F(RunMapTest, SecondsAreThoseOfTheClosedForms) {
  simulate_run({"algorithm={kind: d-psgd, order: atc}"});
  simulate_run({"algorithm=parameter-server"});
  const FirstMap map = maps(reachable_loss()).front();
  constexpr double model = 1e6;
  const std::size_t server = map.methods[0].label.find("server") != std::string::npos ? 0 : 1;
  for (const MapCell& cell : map.cells) {
    EXPECT_NE(cell.first, server);
    const double wire = model / cell.at.bandwidth;
    const double gossip = *cell.seconds[1 - server] / map.methods[1 - server].rounds;
    const double central = *cell.seconds[server] / map.methods[server].rounds;
    EXPECT_NEAR(gossip / (cell.at.latency + 2 * wire), 1, 0.1) << cell.at.bandwidth;
    EXPECT_NEAR(central / (2 * cell.at.latency + 9 * wire), 1, 0.1);
  }
}

/// A method's rounds do not depend on the network, so runs on two networks are one row. The
/// predicted seconds do not depend on the network of a run.
TEST_F(RunMapTest, RunsOnSeveralNetworksAreOneRow) {
  simulate_run({"algorithm=all-reduce"});
  simulate_run({"algorithm=all-reduce", "network.latency=20 ms"});
  simulate_run({"algorithm=ad-psgd"});
  simulate_run({"algorithm=ad-psgd", "network.latency=20 ms"});
  const FirstMap map = maps(0.6 * runs().front().evaluations.front().loss).front();
  ASSERT_EQ(map.methods.size(), 2U);
  EXPECT_EQ(map.runs.size(), 2U);
  const auto whole = std::ranges::count_if(map.cells, &MapCell::whole);
  EXPECT_EQ(whole, 2) << "the asynchronous one was trained on two networks";
}

TEST_F(RunMapTest, WhatCannotBeMappedIsSaid) {
  simulate_run({"algorithm=all-reduce"});
  const std::vector<StoredRun> all = runs();
  EXPECT_THROW(map_runs(all, {.target = {}, .by = {}}, {}), std::invalid_argument);
  std::ofstream(file(), std::ios::app) << "seed: 7\n";
  try {
    maps(reachable_loss());
    FAIL() << "the fleet file is another one now";
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("are not what they were"), std::string::npos);
  }
}

}  // namespace
}  // namespace gv
