#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "tests/peer/sim/injecting.h"
#include "tests/peer/sim/method_runs.h"

// Fleets with servers, in virtual time.

namespace gv {
namespace {

Fleet served(PeerId n, const std::string& algorithm, const std::string& order, Settings settings) {
  Fleet fleet = restless(n, algorithm, order);
  fleet.settings = std::move(settings);
  return fleet;
}

/// The fleet's model and the results of each peer.
struct Served {
  std::string model;
  std::vector<float> x;
  std::map<PeerId, Report> finals;
  SimulationResult result;
};

Served serve(const Fleet& fleet, const SimulationOptions& options = {}) {
  const Assembly assembly(fleet);
  Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
  Served served;
  served.result = simulate(assembly, observer, options);
  served.model = observer.hashes().model;
  served.x = observer.mean_model();
  served.finals = observer.finals();
  return served;
}

TEST(ParameterServer, IsTheDriversAllReduceBitForBit) {
  for (const double momentum : {0.0, 0.9}) {
    Fleet fleet = served(5, "parameter-server", "sync", {});
    fleet.optimizer.momentum = momentum;
    const Served one = serve(fleet);
    Fleet driven = restless(5, "all-reduce", "driver");
    driven.optimizer.momentum = momentum;
    EXPECT_EQ(one.model, serve(driven).model);
  }
}

TEST(ParameterServer, OfManyServersIsThatOfOne) {
  const std::string one = serve(served(5, "parameter-server", "sync", {})).model;
  for (const double servers : {2, 3, 7, 50}) {
    const Served many = serve(served(5, "parameter-server", "sync", {{"servers", servers}}));
    EXPECT_EQ(many.model, one) << servers;
    EXPECT_EQ(many.finals.size(), 5 + servers);
  }
}

TEST(ParameterServer, ItsWorkersEndWithTheServersModel) {
  const Served fleet = serve(served(3, "parameter-server", "sync", {}));
  for (PeerId i = 0; i < 3; ++i)
    EXPECT_TRUE(std::ranges::equal(fleet.finals.at(i).model->floats(), fleet.x)) << i;
  EXPECT_FALSE(fleet.finals.at(3).trains);
}

/// The data of one worker are not finite.
TEST(ParameterServer, AGradientThatIsNotFiniteCountsNowhere) {
  for (const char* order : {"sync", "async"}) {
    Fleet fleet = served(3, "parameter-server", order, {});
    const double nan = std::numeric_limits<double>::quiet_NaN();
    fleet.data.quadratic = {.dimension = 1,
                            .hessian = {1},
                            .noise = 0,
                            .spread = 0,
                            .start = 0,
                            .centers = {{1}, {1}, {nan}}};
    fleet.stop.rounds = 300;
    const Served others = serve(fleet);
    EXPECT_NEAR(others.x[0], 1, 1e-3) << order;
  }
}

/// Every gradient takes longer than the deadline. They arrive in turn, each within half a deadline.
/// A worker that has pushed waits for a server that also waits.
TEST(ParameterServer, WaitsForWorkersThatAreAllSlowerThanTheDeadline) {
  using std::chrono::milliseconds;
  // With many servers, the computation of each takes little time.
  Fleet fleet = served(4, "parameter-server", "sync", {{"servers", 10}});
  fleet.stop.rounds = 10;
  const std::string calm = serve(fleet).model;
  fleet.flops = 50 * 50 / 0.25;  // about a hundred ms
  for (PeerId i = 0; i < 4; ++i) fleet.peers[i].speed = 1.0 / (4 + i);
  for (const int deadline : {50, 100, 200, 400}) {
    fleet.faults.deadline = milliseconds(deadline);
    fleet.faults.dead_after = milliseconds(20);
    const Served slow = serve(fleet);
    EXPECT_TRUE(slow.result.broken_by.empty()) << deadline;
    for (const auto& [peer, report] : slow.finals) EXPECT_EQ(report.round, 10U) << deadline;
    if (deadline < 200) continue;
    EXPECT_EQ(slow.model, calm) << deadline;
  }
}

/// All optimizers reach the optimum of equal peers, each as far as it can.
TEST(ParameterServer, StepsByTheOptimizerItIsGiven) {
  for (const auto& [order, optimizer] : {std::pair{"sync", 1.0}, {"async", 1.0}, {"async", 2.0}}) {
    Fleet fleet = served(4, "parameter-server", order, {{"optimizer", optimizer}});
    fleet.data.quadratic.noise = 0;
    fleet.data.quadratic.spread = 0;
    fleet.stop.rounds = 400;
    const Served stepped = serve(fleet);
    const Assembly assembly(fleet);
    EXPECT_LT(assembly.evaluator()->evaluate(stepped.x).loss, 0.02) << order << optimizer;
    fleet.settings["optimizer"] = 0;
    EXPECT_NE(serve(fleet).model, stepped.model);
    fleet.settings["optimizer"] = optimizer;
    fleet.optimizer.momentum = 0.9;
    EXPECT_NE(refusal(fleet).find("without momentum"), std::string::npos);
  }
}

TEST(ParameterServer, AsksForNoMoreThanItCanHave) {
  const auto refused = [](Settings settings) {
    return refusal(served(4, "parameter-server", "sync", std::move(settings)));
  };
  EXPECT_NE(refused({{"servers", 51}}).find("`servers: 50` at most"), std::string::npos);
  EXPECT_EQ(refused({{"servers", 50}}), "");
  EXPECT_NE(refused({{"backup", 4}}).find("`backup` leaves no gradient"), std::string::npos);
  EXPECT_EQ(refused({{"backup", 3}}), "");
}

/// One gradient of a round may be missing, so a worker that is five times slower delays no other.
TEST(ParameterServer, DoesNotWaitForBackupWorkers) {
  const auto seconds = [](double backup) {
    Fleet fleet = served(5, "parameter-server", "sync", {{"backup", backup}});
    fleet.flops = 1e6;
    fleet.peers[2].speed = 0.2;
    fleet.stop.rounds = 100;
    return in_seconds(serve(fleet).result.virtual_time);
  };
  const double whole = seconds(0);
  const double backed = seconds(1);
  EXPECT_LT(backed, 0.5 * whole);
}

TEST(ParameterServer, AsynchronousWorkersDoNotWaitForEachOther) {
  Fleet fleet = served(5, "parameter-server", "async", {});
  fleet.flops = 1e6;
  fleet.peers[2].speed = 0.2;
  fleet.optimizer.lr = 0.05;
  fleet.data.quadratic.noise = 0;
  fleet.data.quadratic.spread =
      0;  // else the slow one, alone at the end, draws x to its own optimum
  fleet.stop.rounds = 400;
  const Served each = serve(fleet);
  for (PeerId i = 0; i < 5; ++i) EXPECT_EQ(each.finals.at(i).round, 400U);
  EXPECT_EQ(each.finals.at(5).round, 400U) << "every gradient was counted";
  const Assembly assembly(fleet);
  EXPECT_LT(assembly.evaluator()->evaluate(each.x).loss, 0.02);
}

/// The schedule of the rate ends with the run, for any number of steps in a round.
TEST(Servers, AScheduleKnowsHowManyStepsARoundHas) {
  const auto rate_at_the_end = [](const std::string& kind, const std::string& order, PeerId i) {
    Fleet fleet = served(4, kind, order, {});
    fleet.settings["push"] = 2;
    fleet.settings["tau"] = 3;
    fleet.optimizer.schedule.kind = "cosine";
    fleet.stop.rounds = 40;
    const Assembly assembly(fleet);
    const auto replica = assembly.host_replica(i);
    const double steps = assembly.algorithm->steps(*assembly.setup, i) * 40;
    replica->skip_to({static_cast<std::uint64_t>(steps) - 1});
    EXPECT_GT(replica->rate(), 0) << kind;
    replica->skip_to({static_cast<std::uint64_t>(steps)});
    return replica->rate();
  };
  EXPECT_NEAR(rate_at_the_end("parameter-server", "async", 0), 0, 1e-9);
  EXPECT_NEAR(rate_at_the_end("parameter-server", "async", 4), 0, 1e-9);
  EXPECT_NEAR(rate_at_the_end("downpour", "", 4), 0, 1e-9);
  EXPECT_NEAR(rate_at_the_end("easgd", "sync", 1), 0, 1e-9);
}

/// theory: eta = alpha = 0.1, x = (1, 3), the centre at 0, targets 0 and 1, two rounds.
TEST(Easgd, HasThePublishedVector) {
  Fleet fleet = quadratic_fleet(2, "ring", "easgd", "sync");
  fleet.settings = {{"alpha", 0.1}};
  fleet.data.quadratic = {
      .dimension = 1, .hessian = {1}, .noise = 0, .spread = 0, .start = 0, .centers = {{0}, {1}}};
  fleet.stop.rounds = 2;
  expect_near(first_coordinates(run(fleet, {1, 3, 0})), {0.68, 2.14, 0.65}, 1e-6);
}

TEST(Easgd, OfManyServersIsThatOfOne) {
  const std::string one = serve(served(4, "easgd", "sync", {{"tau", 3}})).model;
  EXPECT_EQ(serve(served(4, "easgd", "sync", {{"tau", 3}, {"servers", 3}})).model, one);
}

TEST(Easgd, ItsCentreFollowsTheWorkers) {
  for (const char* order : {"sync", "async"}) {
    Fleet fleet = served(4, "easgd", order, {{"tau", 4}, {"alpha", 0.2}});
    fleet.data.quadratic.noise = 0;
    fleet.optimizer.lr = 0.05;
    fleet.stop.rounds = 600;
    const Served elastic = serve(fleet);
    const Assembly assembly(fleet);
    // The last worker to end pulls the centre to its own optimum.
    const double most = fleet.order == "sync" ? 0.02 : 0.2;
    EXPECT_LT(assembly.evaluator()->evaluate(elastic.x).loss, most) << order;
  }
}

/// EAMSGD in its paper's form, v <- delta v - eta g(x + delta v), x <- x + v - alpha (x - centre),
/// without noise. Both centres go to the same optimum, with momentum sooner.
TEST(Easgd, MomentumIsNesterovs) {
  const auto loss = [](double momentum, double lr) {
    Fleet fleet = served(4, "easgd", "sync", {{"alpha", 0.2}, {"momentum", momentum}});
    fleet.data.quadratic.noise = 0;
    fleet.data.quadratic.spread = 0;
    fleet.optimizer.lr = lr;
    fleet.stop.rounds = 120;
    const Served elastic = serve(fleet);
    const Assembly assembly(fleet);
    return assembly.evaluator()->evaluate(elastic.x).loss;
  };
  EXPECT_LT(loss(0.9, 0.02), 0.5 * loss(0, 0.02));
  Fleet both = served(4, "easgd", "sync", {{"alpha", 0.2}, {"momentum", 0.9}});
  both.optimizer.momentum = 0.5;
  EXPECT_NE(refusal(both).find("a `momentum` of its own"), std::string::npos);
}

/// The workers' steps are those of Nesterov's momentum in train.optimizer.
TEST(Easgd, MomentumIsThatOfTheOptimizer) {
  Fleet elastic = served(4, "easgd", "sync", {{"momentum", 0.7}});
  const std::string own = serve(elastic).model;
  elastic.settings["momentum"] = 0;
  elastic.optimizer.momentum = 0.7;
  elastic.optimizer.nesterov = true;
  EXPECT_EQ(serve(elastic).model, own);
}

TEST(Easgd, RefusesACentreThatOvershoots) {
  EXPECT_NE(refusal(served(4, "easgd", "sync", {{"alpha", 0.3}})).find("1 / 4"), std::string::npos);
  EXPECT_EQ(refusal(served(4, "easgd", "async", {{"alpha", 0.3}})), "");
}

TEST(Downpour, OfOneWorkerIsPlainSgd) {
  const Settings always{{"fetch", 1}, {"push", 1}};
  EXPECT_EQ(serve(served(1, "downpour", "", always)).model, serve(restless(1, "isolated")).model);
}

TEST(Downpour, CountsEveryGradient) {
  for (const Settings& settings :
       {Settings{{"fetch", 5}, {"push", 2}}, Settings{{"fetch", 3}, {"push", 6}, {"servers", 3}}}) {
    Fleet fleet = served(4, "downpour", "", settings);
    fleet.data.quadratic.noise = 0;
    fleet.data.quadratic.spread = 0;
    fleet.optimizer.lr = 0.05;
    fleet.stop.rounds = 600;
    const Served down = serve(fleet);
    for (const auto& [peer, report] : down.finals) EXPECT_EQ(report.round, 600U) << peer;
    const Assembly assembly(fleet);
    EXPECT_LT(assembly.evaluator()->evaluate(down.x).loss, 1e-3);
  }
}

/// Peers with equally many samples. E passes are H local steps.
TEST(FedAvg, OfEverybodyIsLocalSgd) {
  Fleet fleet = quadratic_fleet(4, "ring", "fedavg", "");
  fleet.data = {};
  fleet.data.train = 400;
  fleet.data.test = 50;
  fleet.model = {"softmax", {}};
  for (PeerSpec& peer : fleet.peers) peer.batch = 20;
  fleet.settings = {{"epochs", 2}};
  const Served federated = serve(fleet);
  fleet.algorithm = "local-sgd";
  fleet.local_steps = 10;
  fleet.settings.clear();
  const Served local = serve(fleet);
  ASSERT_EQ(federated.x.size(), local.x.size());
  for (std::size_t k = 0; k < local.x.size(); ++k) EXPECT_NEAR(federated.x[k], local.x[k], 1e-5);
}

TEST(FedAvg, WeighsByDataAndAsksOnlyThoseThatAreDrawn) {
  Fleet fleet = quadratic_fleet(5, "ring", "fedavg", "");
  fleet.data = {};
  fleet.data.train = 500;
  fleet.data.test = 50;
  fleet.data.partition = {.kind = "quantity", .sizes = {1, 2, 3, 4, 10}};
  fleet.model = {"softmax", {}};
  for (PeerSpec& peer : fleet.peers) peer.batch = 10;
  fleet.settings = {{"fraction", 0.4}};
  fleet.stop.rounds = 15;
  const Served federated = serve(fleet);
  std::uint64_t sent = 0;
  for (PeerId i = 0; i < 5; ++i) sent += federated.finals.at(i).costs.sent_bytes;
  const double models = static_cast<double>(sent) / (4.0 * static_cast<double>(federated.x.size()));
  EXPECT_NEAR(models, 15 * 2, 0.5) << "two of five in each round";
  for (const auto& [peer, report] : federated.finals) EXPECT_EQ(report.round, 15U) << peer;
  const Assembly assembly(fleet);
  EXPECT_GT(assembly.evaluator()->evaluate(federated.x).accuracy, 0.5);
}

/// A worker that is late in every round has one request at a time, and continues in the round of
/// its server. The server's third model, which was not requested, was once refused.
TEST(FedAvg, WhoIsLateIsAskedAgainWhenItHasAnswered) {
  Fleet fleet = served(4, "fedavg", "", {{"epochs", 100}});
  fleet.peers[3].speed = 0.05;
  fleet.flops = 1e6;
  fleet.stop.rounds = 60;
  fleet.faults.deadline = fleet.faults.dead_after = std::chrono::milliseconds(100);
  SimulationOptions options;
  options.faults = FaultPlan{1, Time{0}, {}};
  const Served late = serve(fleet, options);
  EXPECT_EQ(late.result.violations, std::vector<std::string>{});
  EXPECT_EQ(late.result.broken_by, std::set<PeerId>{});
  for (PeerId i = 0; i < 3; ++i) EXPECT_EQ(late.finals.at(i).round, 60U) << i;
  EXPECT_LT(late.finals.at(3).costs.sent_bytes, late.finals.at(0).costs.sent_bytes / 4);
  EXPECT_GT(late.finals.at(3).round, 40U);
}

TEST(FedAvg, DrawsOnePeerAtLeast) {
  const auto ended = [](double fraction) {
    return serve(served(4, "fedavg", "", {{"fraction", fraction}})).model;
  };
  EXPECT_EQ(ended(0.2), ended(0.25));
  EXPECT_NE(ended(0.2), ended(0.5));
}

/// Four workers and a server. One dies early.
struct Death : testing::TestWithParam<const char*> {
  static Served of(PeerId peer) {
    const std::string word = GetParam();
    Fleet fleet = served(4, word.substr(0, word.find('/')), word.substr(word.find('/') + 1), {});
    fleet.flops = 1e6;
    fleet.stop.rounds = 200;
    using std::chrono::milliseconds;
    return serve(fleet,
                 injecting({{.at = milliseconds(5), .kind = Injection::Kind::kill, .peer = peer}}));
  }
};

TEST_P(Death, OfAWorkerCostsNobodyElseARound) {
  const Served left = of(1);
  EXPECT_EQ(left.result.violations, std::vector<std::string>{});
  EXPECT_EQ(left.result.lost, std::vector<PeerId>{1});
  for (const PeerId i : {0U, 2U, 3U}) EXPECT_EQ(left.finals.at(i).round, 200U) << i;
}

TEST_P(Death, OfAServerEndsTheFleetByName) {
  const Served left = of(4);
  EXPECT_EQ(left.result.broken_by, std::set<PeerId>{4});
  for (PeerId i = 0; i < 4; ++i) EXPECT_LT(left.finals.at(i).round, 200U) << i;
}

INSTANTIATE_TEST_SUITE_P(Served,
                         Death,
                         testing::Values("parameter-server/sync",
                                         "parameter-server/async",
                                         "easgd/sync",
                                         "easgd/async",
                                         "fedavg/",
                                         "scaffold/",
                                         "decoupled-diloco/",
                                         "async-diloco/",
                                         "downpour/"));

}  // namespace
}  // namespace gv
