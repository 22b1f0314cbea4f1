#include <atomic>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peer/sim/drawn/fleet_draw.h"
#include "tests/peer/fleet/test_fleet.h"

namespace gv {
namespace {

/// Returns the text that reproduces each violation.
std::string told(const Violation& violation) {
  std::string text = fmt::format("fleet {}: {}\n{}", violation.fleet,
                                 command_of(violation.run, "FILE"), fleet_text(violation.run.keys));
  for (const std::string& each : violation.texts) text += each + "\n";
  return text;
}

/// Peers that do not exchange have no faults. Stages of a chain always exchange.
void expect_faults_in_chains_alone(DrawOptions options) {
  const std::uint64_t last = options.last;
  for (; options.first <= last; ++options.first) {
    options.last = options.first;
    Refusals refusals;
    const bool chains = draw_ready(options.first, options.rows, refusals).fleet->fleet.stages() > 1;
    EXPECT_EQ(swarm_of_drawn(options).all.sum_of_faults() > 0, chains) << options.first;
  }
}

class DrawnSwarm : public testing::TestWithParam<const AlgorithmRow*> {};

/// Fleets of every method withstand drawn faults, with all graphs, codecs, data, networks,
/// deadlines.
TEST_P(DrawnSwarm, NothingIsViolated) {
  DrawOptions options;
  options.last = 6;
  options.last_seed = 10;
  options.rows.assign(1, GetParam());
  std::string violations;
  options.on_violation = [&](const Violation& violation) { violations += told(violation); };
  const DrawResult result = swarm_of_drawn(options);
  EXPECT_EQ(violations, "");
  EXPECT_EQ(result.fleets, 6U);
  EXPECT_EQ(result.all.seeds, 60U);
  const bool has_links = GetParam()->mixes || GetParam()->links != nullptr;
  if (has_links)
    EXPECT_GE(result.all.sum_of_faults(), 500U);
  else
    expect_faults_in_chains_alone(options);
}

INSTANTIATE_TEST_SUITE_P(EveryRow,
                         DrawnSwarm,
                         testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         [](const auto& row) { return name_of(*row.param); });

TEST(DrawnSwarms, AreTheSameWhateverTheNumberOfJobs) {
  DrawOptions options;
  options.last = 10;
  options.last_seed = 2;
  options.rows = rows_named("d-psgd");
  options.shrink = false;
  options.jobs = 1;
  const DrawResult one = swarm_of_drawn(options);
  options.jobs = 3;
  const DrawResult three = swarm_of_drawn(options);
  EXPECT_EQ(one.all.trace_hash, three.all.trace_hash);
  EXPECT_EQ(one.all.faults, three.all.faults);
  EXPECT_EQ(one.all.events, three.all.events);
  EXPECT_EQ(one.refusals, three.refusals);
}

/// Each fleet has its own fault seeds. Otherwise all would have the same kinds of fault.
TEST(DrawnSwarms, EachFleetHasItsOwnFaults) {
  EXPECT_NE(fault_seed(1, 1), fault_seed(2, 1));
  EXPECT_NE(fault_seed(1, most_seeds_of_a_fleet - 1), fault_seed(2, 0));
}

TEST(DrawnSwarms, EndWhenInterrupted) {
  DrawOptions options;
  options.last = 1'000'000;
  std::atomic<int> polls = 0;
  options.interrupted = [&polls] { return ++polls > 50; };
  options.jobs = 1;
  EXPECT_LT(swarm_of_drawn(options).fleets, 50U);
}

}  // namespace
}  // namespace gv
