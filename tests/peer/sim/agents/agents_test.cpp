#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "peer/fleet/json/json.h"
#include "peer/fleet/read/algorithm_reader.h"
#include "peer/record/report/metrics.h"
#include "peer/record/report/screen.h"
#include "tests/peer/fleet/test_fleet.h"
#include "tests/peer/sim/method_runs.h"
#include "tests/peer/wire/tcp/loopback_fleet.h"

// Fleets of agents, with every method that trains agents.

namespace gv {
namespace {

Fleet with_agents(Fleet fleet) {
  fleet.data = {};
  fleet.data.kind = "environment";
  fleet.data.environment = "cartpole";
  fleet.agent = AgentSpec{.environment = "cartpole",
                          .steps = 2,
                          .n_step = 3,
                          .memory = 150,
                          .warm_up = 30,
                          .refresh = 20,
                          .priority = 0.6,
                          .explore = {.from = 1, .to = 0.1, .over = 300}};
  fleet.model = {"mlp", {{"hidden", Widths{16}}}};
  fleet.optimizer.lr = 0.02;
  for (PeerSpec& peer : fleet.peers) peer.batch = 8;
  return fleet;
}

std::vector<const AlgorithmRow*> rows_for_agents() {
  std::vector<const AlgorithmRow*> rows = synchronous_rows();
  std::erase_if(rows, [](const AlgorithmRow* row) { return !agent_use(*row).objection.empty(); });
  return rows;
}

class AgentsUnder : public testing::TestWithParam<const AlgorithmRow*> {};

TEST_P(AgentsUnder, EndWithTheSameBitsOverTcpAndInVirtualTime) {
  const bool doubles = GetParam()->order == "doubling";
  for (const PeerId n : {2U, doubles ? 2U : 3U, 4U}) {
    SCOPED_TRACE(n);
    Fleet fleet = with_agents(row_fleet(*GetParam(), n));
    fleet.stop.rounds = 300;
    const Assembly assembly(fleet);
    LoopbackFleet tcp(assembly);
    tcp.run();
    const Outcome simulated = in_virtual_time(assembly);
    EXPECT_EQ(tcp.log, "");
    EXPECT_EQ(tcp.observer.params_hash(), simulated.hash);
    EXPECT_EQ(tcp.observer.summary()->costs.sent_bytes, simulated.sent_bytes);
  }
}

TEST_P(AgentsUnder, GoOnFromAnyRoundAsIfTheyHadNotStopped) {
  Fleet fleet = with_agents(row_fleet(*GetParam(), 4));
  fleet.stop.rounds = 120;
  fleet.checkpoint.every = 17;
  const Assembly assembly(fleet);
  std::map<Round, std::vector<Checkpoint>> kept;
  const auto end_from = [&](std::vector<Checkpoint> resume, bool keep) {
    Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
    SimulationOptions options;
    options.threads = 1;
    options.resume = std::move(resume);
    if (keep)
      options.on_store = [&](PeerId i, Round round, std::vector<std::byte> state) {
        kept[round].push_back({"", "", i, round, std::move(state)});
      };
    simulate(assembly, observer, options);
    return observer.params_hash();
  };
  const std::string whole = end_from({}, true);
  ASSERT_EQ(kept.size(), 7U);
  for (const auto& [round, checkpoints] : kept)
    EXPECT_EQ(end_from(checkpoints, false), whole) << "from round " << round;
}

INSTANTIATE_TEST_SUITE_P(Registry,
                         AgentsUnder,
                         testing::ValuesIn(rows_for_agents()),
                         [](const auto& row) { return name_of(*row.param); });

/// Returns whether a single peer takes exactly SGD's steps. It does not if the method keeps
/// momentum or a tracked gradient, keeps x as a sum with a weight, or steps before its first round.
bool is_sgd_alone(const AlgorithmRow& row) {
  constexpr std::string_view others[] = {"quasi-global-momentum",
                                         "decentlam",
                                         "noloco",
                                         "factored-diloco",
                                         "gradient-tracking",
                                         "aug-dgm",
                                         "momentum-tracking",
                                         "beer",
                                         "motef",
                                         "gt-adam",
                                         "sgp",
                                         "nids"};
  return std::ranges::find(others, row.kind) == std::end(others);
}

/// A single agent is a plain deep Q-network with every method.
TEST(Agents, OneAloneIsTheSameUnderEveryRowThatMixes) {
  std::map<std::string, std::string> hashes;
  for (const AlgorithmRow* row : algorithms()) {
    if (!row->mixes || !agent_use(*row).objection.empty() || !is_sgd_alone(*row)) continue;
    Fleet fleet = with_agents(row_fleet(*row, 1));
    fleet.local_steps = 1;
    fleet.optimizer.momentum = 0;
    fleet.stop.rounds = 300;
    hashes[name_of(*row)] = in_virtual_time(Assembly(fleet)).hash;
  }
  EXPECT_GE(hashes.size(), 9U);
  for (const auto& [row, hash] : hashes) EXPECT_EQ(hash, hashes.at("d_psgd_lian")) << row;
}

TEST(Agents, SayReturnsAndFrames) {
  Fleet fleet = with_agents(quadratic_fleet(3, "ring", "d-psgd", "lian"));
  fleet.peers[1].batch = 12;
  fleet.local_steps = 2;
  fleet.stop.rounds = 40;
  fleet.evaluate_every = 10;
  const Assembly assembly(fleet);
  std::vector<FleetRecord> records;
  Observer observer(3, assembly.evaluator(), [&](const FleetRecord& r) { records.push_back(r); });
  observer.aim_at(assembly.aims());
  simulate(assembly, observer, {});
  ASSERT_GE(records.size(), 4U);
  // Two gradients of two steps a round, for three peers, with any batches.
  EXPECT_EQ(records[0].frames, 10 * 2 * 2 * 3U);
  const FleetRecord& end = *observer.summary();
  EXPECT_EQ(end.frames, 40 * 2 * 2 * 3U);
  EXPECT_GT(-end.mean.loss, 5);
  const JsonValue line = parse_json(evaluate_line(records[0]), "line");
  EXPECT_EQ(json_number(line, "return"), -records[0].mean.loss);
  EXPECT_EQ(json_number(line, "return_local"), -records[0].loss_local);
  EXPECT_EQ(json_number(line, "frames"), 120);
  const std::string summary = summary_json(end, 0, 1, {}).dump();
  EXPECT_EQ(json_number(parse_json(summary, "summary"), "return"), -end.mean.loss);
  EXPECT_NE(table_header(nullptr, false, true).find("return       frames"), std::string::npos);
  EXPECT_EQ(table_header(nullptr, false, true).size(), table_row(end, nullptr).size());
  EXPECT_NE(summary_text(end, 0, 1, {}, nullptr).find("\nreturn     "), std::string::npos);
}

TEST(Agents, ATargetOfReturnEndsTheRun) {
  Fleet fleet = with_agents(quadratic_fleet(2, "ring", "d-psgd", "lian"));
  fleet.stop.rounds = 1000;
  fleet.stop.target =
      TargetSpec{.figure = TargetSpec::Figure::loss, .value = -8, .as_return = true};
  fleet.evaluate_every = 10;
  const Assembly assembly(fleet);
  Observer observer(2, assembly.evaluator(), {});
  observer.aim_at(assembly.aims());
  simulate(assembly, observer, {});
  EXPECT_TRUE(observer.target_reached());
  EXPECT_EQ(observer.summary()->round, 10U);
}

/// The time of one step with four times as many peers grows by less than that of a gradient.
TEST(Agents, StepsOfTheEnvironmentTakeTheirTime) {
  Fleet fleet = with_agents(quadratic_fleet(2, "ring", "d-psgd", "lian"));
  fleet.stop.rounds = 50;
  fleet.agent->step_seconds = 0.001;
  const auto seconds = [](const Fleet& f) {
    const Assembly assembly(f);
    Observer observer(f.size(), assembly.evaluator(), {});
    simulate(assembly, observer, {});
    return std::chrono::duration<double>(observer.summary()->time).count();
  };
  const double two = seconds(fleet);
  EXPECT_GT(two, 50 * 0.002);
  EXPECT_LT(two, 50 * 0.0025);
  fleet.agent->steps = 1;
  EXPECT_NEAR(two - seconds(fleet), 50 * 0.001, 50 * 0.0001);
}

}  // namespace
}  // namespace gv
