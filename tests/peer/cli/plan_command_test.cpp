#include <algorithm>
#include <array>
#include <fstream>

#include "graph/topology/topology.h"
#include "tests/peer/launch/program.h"
#include "tests/places.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

const std::string ring = source_folder() + "/configs/quadratic-ring16.yaml";

TEST(PlanCommand, SaysWhatIsAhead) {
  const Ended plan = run({"plan", ring, "--set", "data.start=3", "--max-degree", "4", "--json"});
  ASSERT_EQ(plan.code, 0) << plan.err;
  const auto json = plan.summary();
  EXPECT_NEAR(json.at("predicted").at("excess_loss_mean").get<double>(), 0.0064, 6e-6);
  EXPECT_GT(json.at("predicted").at("rounds_to_target").get<double>(), 0);
  ASSERT_EQ(json.at("alternatives").size(), 5U);
  for (const auto& other : json.at("alternatives")) {
    EXPECT_LE(other.at("degree").get<int>(), 4);
    EXPECT_LT(other.at("predicted").at("excess_loss_local").get<double>(),
              json.at("predicted").at("excess_loss_local").get<double>());
  }
  EXPECT_TRUE(json.at("warning").is_null());
}

TEST(PlanCommand, WarnsOfARateThatDiverges) {
  const Ended plan = run({"plan", ring, "--set", "train.optimizer.lr=0.7"});
  ASSERT_EQ(plan.code, 0) << plan.err;
  const auto warns = [](const std::string& line) { return line.starts_with("warning: rate 0.7"); };
  EXPECT_EQ(std::ranges::count_if(plan.out, warns), 1);
}

/// Speeds of 8 : 4 : 2 : 1 and different links, a case for `--place` and `batch: auto`.
TEST(PlanCommand, SaysWhatUnequalMachinesCost) {
  const std::string fleet = source_folder() + "/experiments/unequal/fleet.yaml";
  const std::string equal = run({"plan", fleet}).output();
  EXPECT_NE(equal.find("the others wait for peer 3, whose gradient takes 3.8 times as long"),
            std::string::npos)
      << equal;
  EXPECT_NE(equal.find("`--place GRAPH` finds"), std::string::npos) << equal;
  const std::string shared = run({"plan", fleet, "--set", "train.batch=auto"}).output();
  EXPECT_EQ(shared.find("the others wait"), std::string::npos) << shared;
  const std::string alike = run({"plan", fleet, "--set", "links=[]"}).output();
  EXPECT_EQ(alike.find("--place"), std::string::npos) << alike;
}

/// Four machines at 1 Gbit, 100, 50 and 10 Mbit. `--place` once swapped places on the ring and
/// saved no time. The triangle with the slow machine as a leaf takes half the time, and with eight
/// local steps it is the fastest of all candidates.
TEST(PlanCommand, ProposesWhatIsFasterThanAnyPlaceOnTheRing) {
  const ScratchFolder folder;
  const std::string file = folder.path() + "/lan.yaml", graph = folder.path() + "/lan.graph";
  std::ofstream(folder.path() + "/lan.links.yaml")
      << "version: 1\nlinks: []\ncards: { dora: 10 Mbit, anna: 1 Gbit, ben: 100 Mbit, carl: 50 "
         "Mbit }\n";
  std::ofstream(file) << "version: 1\nhosts: { dora: {}, anna: {}, ben: {}, carl: {} }\n"
                         "peers: [{ host: dora }, { host: anna }, { host: ben }, { host: carl }]\n"
                         "data: { kind: quadratic, dimension: 60000 }\nmodel: quadratic\n"
                         "topology: ring\nlinks: { file: lan.links.yaml }\nstop: { rounds: 9 }\n";
  const Ended placed = run({"plan", file, "--place", graph, "--json"});
  ASSERT_EQ(placed.code, 0) << placed.err;
  const auto all = placed.summary().at("proposals");
  const auto seconds_of = [&](const std::vector<std::string>& sets) {
    for (const auto& each : all)
      if (each.at("sets") == sets) return each.at("seconds_per_step").get<double>();
    return 0.0;
  };
  const std::string leaf = "topology=file:lan.leaf.graph";
  EXPECT_NEAR(seconds_of({}) / seconds_of({leaf}), 2, 0.1) << all;
  EXPECT_EQ(all.at(0).at("sets"), (std::vector<std::string>{leaf, "train.local_steps=8"})) << all;
  // No peer waits for the slow machine, but the fleet's gradients include those of that machine.
  EXPECT_GT(seconds_of({"algorithm=ad-psgd"}), seconds_of({}) / 4) << all;
  EXPECT_LT(seconds_of({"algorithm=ad-psgd"}), seconds_of({leaf})) << all;
  EXPECT_GT(seconds_of({"algorithm=all-reduce"}), 0) << all;
  // The proposed keys are valid: the plan of the fleet with them agrees with the proposal.
  const Ended planned =
      run({"plan", file, "--set", leaf, "--set", "train.local_steps=8", "--json"});
  ASSERT_EQ(planned.code, 0) << planned.err;
  std::ifstream in(folder.path() + "/lan.leaf.graph");
  std::size_t of_dora = 0;
  for (PeerId a = 0, b = 0; in >> a >> b;) of_dora += a == 0 || b == 0 ? 1 : 0;
  EXPECT_EQ(of_dora, 1U) << "the slow one is the leaf";
}

/// The best place does not depend on the peers' numbers. The same ring was once 14 times faster
/// with other numbers.
TEST(PlanCommand, PlacesTakeTheSameSecondsHoweverPeersAreNumbered) {
  const ScratchFolder folder;
  const std::string file = folder.path() + "/lan.yaml";
  const auto placed = [&](const std::array<int, 6>& number) {
    std::ofstream(file) << fmt::format(
        "version: 1\npeers: 6\ndata: {{ kind: quadratic, dimension: 20000 }}\nmodel: quadratic\n"
        "topology: ring\nnetwork: {{ latency: 1 ms, bandwidth: 100 Mbit }}\n"
        "links: [{{ between: [{}, {}], latency: 30 ms, bandwidth: 8 Mbit }},\n"
        "  {{ between: [{}, {}], latency: 5 ms, bandwidth: 20 Mbit }}]\nstop: {{ rounds: 9 }}\n",
        number[0], number[1], number[2], number[4]);
    const Ended plan = run({"plan", file, "--place", folder.path() + "/lan.graph", "--json"});
    EXPECT_EQ(plan.code, 0) << plan.err;
    return plan.summary().at("seconds_per_round").get<double>();
  };
  const double seconds = placed({0, 1, 2, 3, 4, 5});
  EXPECT_LT(seconds, 0.02) << "around both slow links";
  for (const std::array<int, 6>& number : {std::array{5, 4, 3, 2, 1, 0}, {2, 0, 5, 1, 3, 4}})
    EXPECT_NEAR(placed(number), seconds, 1e-9 * seconds);
}

/// `plan` once counted the pieces of each round, for hours.
TEST(PlanCommand, RefusesAModelThatNoMachineHolds) {
  const ScratchFolder folder;
  const std::string file = folder.path() + "/fleet.yaml";
  std::ofstream(file) << "version: 1\npeers: 4\ndata: { kind: blobs, train: 100, test: 10 }\n"
                         "model: { kind: mlp, hidden: [1000000, 1000000] }\nstop: { rounds: 1 }\n";
  const Ended plan = run({"plan", file});
  EXPECT_EQ(plan.code, 2);
  EXPECT_NE(plan.err.find("parameters, and 50000000000 are the most"), std::string::npos)
      << plan.err;
}

/// `run` and `simulate` warn when they begin, too.
TEST(PlanCommand, SoDoRunAndSimulate) {
  const ScratchFolder folder;
  const std::string rate = "train.optimizer.lr=0.7";
  const std::string dir = "output.dir=" + folder.path() + "/run";
  for (const std::string command : {"simulate", "run"}) {
    const Ended ended =
        run({command, ring, "--set", rate, "--set", "stop.rounds=3", "--set", dir, "--json"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.err.find("warning: rate 0.7 is beyond the stability limit 0.666667"),
              std::string::npos)
        << ended.err;
  }
  const Ended fine = run({"simulate", ring, "--set", "stop.rounds=3", "--no-save", "--json"});
  EXPECT_EQ(fine.err.find("warning"), std::string::npos) << fine.err;
}

TEST(PlanCommand, KnowsGraphsThatChangeWithTheRound) {
  for (const std::string schedule : {"one-peer-exponential", "random-matching", "base:k=1"}) {
    const Ended plan = run({"plan", ring, "--set", "topology=" + schedule, "--set", "data.start=3",
                            "--set", "network.latency=2 ms", "--json"});
    ASSERT_EQ(plan.code, 0) << plan.err;
    const auto json = plan.summary();
    EXPECT_GT(json.at("predicted").at("excess_loss_local").get<double>(), 0) << schedule;
    EXPECT_NEAR(json.at("predicted").at("seconds_per_round").get<double>(), 0.002, 1e-5);
    EXPECT_GT(json.at("predicted").at("rounds_to_target").get<double>(), 0);
    EXPECT_GT(json.at("all_reduce").at("predicted").at("seconds_per_round").get<double>(), 0.03);
    EXPECT_LE(json.at("choice").at("predicted").at("seconds_to_target").get<double>(),
              json.at("predicted").at("seconds_to_target").get<double>());
  }
}

TEST(PlanCommand, TakesATopologyInOneWord) {
  const Ended plan = run({"plan", ring, "--set", "topology=torus:4x4", "--json"});
  ASSERT_EQ(plan.code, 0) << plan.err;
  EXPECT_EQ(plan.summary().at("topology"), "torus:4x4");
}

const std::vector<std::string> small_softmax{"plan",
                                             source_folder() + "/configs/digits-torus16.yaml",
                                             "--set",
                                             "model=softmax",
                                             "--set",
                                             "data.train=1024",
                                             "--set",
                                             "data.partition.alpha=100",
                                             "--set",
                                             "train.optimizer.momentum=0",
                                             "--set",
                                             "train.optimizer.lr=0.002",
                                             "--set",
                                             "stop.rounds=60",
                                             "--calibrate",
                                             "--max-degree",
                                             "2"};

TEST(PlanCommand, CalibratesARealModel) {
  std::vector<std::string> words = small_softmax;
  words.push_back("--json");
  const Ended plan = run(words);
  ASSERT_EQ(plan.code, 0) << plan.err;
  const auto json = plan.summary();
  const auto& points = json.at("calibration").at("points");
  ASSERT_EQ(points.size(), 5U);
  EXPECT_EQ(points[0].at("training_time"), 0);
  EXPECT_EQ(json.at("calibration").at("complete"), true);
  for (const char* what : {"curvature", "trace", "noise", "noise_curvature", "spread"})
    EXPECT_GT(points[4].at(what).get<double>(), 0) << what;
  const auto& predicted = json.at("predicted");
  EXPECT_GT(predicted.at("consensus").get<double>(), 0);
  EXPECT_GT(predicted.at("excess_loss_local").get<double>(),
            predicted.at("excess_loss_mean").get<double>());
  EXPECT_GT(predicted.at("rounds_to_target").get<double>(), 0);
  EXPECT_GT(predicted.at("seconds_to_target").get<double>(), 0);
  EXPECT_FALSE(json.at("alternatives").empty());
}

TEST(PlanCommand, PredictsNoLossesBeyondTheStabilityLimit) {
  std::vector<std::string> words = small_softmax;
  words.insert(words.end(), {"--json", "--set", "train.optimizer.lr=5"});
  const Ended plan = run(words);
  ASSERT_EQ(plan.code, 0) << plan.err;
  const auto json = plan.summary();
  const std::string warning = json.at("warning");
  EXPECT_NE(warning.find("losses are not predicted"), std::string::npos) << warning;
  const auto& predicted = json.at("predicted");
  for (const char* what : {"consensus", "excess_loss_local", "rounds_to_target", "loss_local"})
    EXPECT_TRUE(predicted.at(what).is_null()) << what;
}

/// A compared row agrees with the plan of its fleet, including bytes and seconds.
TEST(PlanCommand, ARowBesideIsThatOfTheFleetItNames) {
  std::vector<std::string> words = small_softmax;
  words.insert(words.end(), {"--json", "--work", "1e9"});
  std::vector<std::string> star_words = words;
  words.insert(words.end(), {"--beside", "topology=star algorithm.order=atc"});
  star_words.insert(star_words.end(), {"--set", "topology=star", "--set", "algorithm.order=atc"});
  const Ended both = run(words);
  ASSERT_EQ(both.code, 0) << both.err;
  const Ended alone = run(star_words);
  ASSERT_EQ(alone.code, 0) << alone.err;
  const auto star = alone.summary();
  const auto row = both.summary().at("beside").at(0);
  EXPECT_EQ(row.at("sets"), "topology=star algorithm.order=atc");
  EXPECT_EQ(row.at("topology"), "star");
  EXPECT_EQ(row.at("degree"), 15);
  EXPECT_NEAR(row.at("gap").get<double>(), star.at("gap").get<double>(), 1e-12);
  EXPECT_GT(row.at("rounds_to_thousandth").get<double>(), 10);
  const auto& predicted = row.at("predicted");
  EXPECT_GT(star.at("bytes_per_round").get<double>(), 0);
  EXPECT_EQ(predicted.at("bytes_per_round"), star.at("bytes_per_round"));
  EXPECT_NEAR(predicted.at("seconds_per_round").get<double>(),
              star.at("predicted").at("seconds_per_round").get<double>(), 1e-12);
}

TEST(PlanCommand, RefusesToCalibrateWhatItCannot) {
  std::vector<std::string> words = small_softmax;
  words.insert(words.end(), {"--set", "train.batch=512"});
  const Ended plan = run(words);
  EXPECT_EQ(plan.code, 2);
  EXPECT_NE(plan.err.find("samples of peer 0"), std::string::npos) << plan.err;
}

}  // namespace
}  // namespace gv
