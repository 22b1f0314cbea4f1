#include <algorithm>

#include <gtest/gtest.h>

#include "tests/peer/sim/injecting.h"
#include "tests/peer/sim/method_runs.h"

// Servers and workers that die and are restarted, in virtual time.

namespace gv {
namespace {

using std::chrono::milliseconds;

Fleet succeeded(Settings settings) {
  Fleet fleet = restless(4, "parameter-server", "sync");
  fleet.settings = std::move(settings);
  fleet.flops = 1e6;
  fleet.stop.rounds = 300;
  fleet.restart = true;
  return fleet;
}

Injection kill(PeerId peer, int at) {
  return {.at = milliseconds(at), .kind = Injection::Kind::kill, .peer = peer};
}

struct End {
  std::string hash;
  std::map<PeerId, Report> finals;
  SimulationResult result;
};

End run_with(const Fleet& fleet, std::vector<Injection> faults) {
  const Assembly assembly(fleet);
  Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
  SimulationOptions options = injecting(std::move(faults));
  options.faults->restart = fleet.restart;
  End end;
  end.result = simulate(assembly, observer, options);
  end.hash = observer.params_hash();
  end.finals = observer.finals();
  return end;
}

/// `met` is the sum over successors of the peers that have a link to each.
void expect_all_done(const End& end, std::uint64_t met) {
  EXPECT_GE(end.result.probes[static_cast<std::size_t>(Probe::replaced)], met);
  EXPECT_EQ(end.result.violations, std::vector<std::string>{});
  EXPECT_EQ(end.result.broken_by, std::set<PeerId>{});
  EXPECT_EQ(end.result.lost, std::vector<PeerId>{});
  for (const auto& [peer, report] : end.finals) EXPECT_EQ(report.round, 300U) << peer;
}

/// If the servers counted a gradient twice or missed one, the models would differ.
TEST(Succession, OfAServerCountsEachGradientOnce) {
  for (const double servers : {1, 3}) {
    const Fleet fleet = succeeded({{"servers", servers}});
    const std::string hash = run_with(fleet, {}).hash;
    for (int at = 5; at < 45; ++at) {
      const End end = run_with(
          fleet, {kill(4 + static_cast<PeerId>(at) % 3 % static_cast<PeerId>(servers), at)});
      SCOPED_TRACE(at);
      expect_all_done(end, 4);
      EXPECT_EQ(end.hash, hash);
    }
  }
}

/// The server also resumes from a checkpoint, which is older than the workers' state, and more than
/// once.
TEST(Succession, OfAServerWithACheckpointGoesOnWhereTheWorkersAre) {
  Fleet fleet = succeeded({{"servers", 2}});
  fleet.checkpoint.every = 20;
  const std::string hash = run_with(fleet, {}).hash;
  const End end = run_with(fleet, {kill(4, 10), kill(5, 150), kill(4, 300)});
  expect_all_done(end, 12);
  EXPECT_EQ(end.hash, hash);
}

TEST(Succession, OfAWorkerCostsNobodyElseARound) {
  const Fleet fleet = succeeded({});
  for (const int at : {5, 20, 40}) {
    SCOPED_TRACE(at);
    expect_all_done(run_with(fleet, {kill(1, at)}), 1);
    expect_all_done(run_with(fleet, {kill(1, at), kill(4, at + 1)}), 3);
  }
}

TEST(Succession, WithoutOneAServersDeathEndsTheFleetByName) {
  Fleet fleet = succeeded({});
  fleet.restart = false;
  EXPECT_EQ(run_with(fleet, {kill(4, 10)}).result.broken_by, std::set<PeerId>{4});
}

}  // namespace
}  // namespace gv
