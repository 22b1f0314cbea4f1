#include <regex>

#include "peer/cli/plan/plan_text.h"
#include "peer/record/report/screen.h"
#include "peer/study/bench/bench.h"
#include "tests/peer/launch/program.h"
#include "tests/places.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

/// Returns a file of configs/. The tests cover screens that confused two new users.
std::string config(const std::string& name) {
  return source_folder() + "/configs/" + name;
}

/// Expects lines of at most 80 columns. Examples may be longer, because users copy them. A path
/// counts as a user in the source folder would type it.
void expect_narrow(const std::vector<std::string>& arguments) {
  const Ended ended = run(arguments);
  EXPECT_EQ(ended.code, 0) << ended.err;
  const std::string here = source_folder() + "/";
  for (std::string line : ended.out) {
    if (const auto at = line.find(here); at != std::string::npos) line.erase(at, here.size());
    EXPECT_TRUE(columns_of(line) <= 80 || line.starts_with("  grapevine ")) << line;
  }
}

TEST(Screens, FitInto80Columns) {
  expect_narrow({"plan", config("fashion-ring8.yaml")});
  expect_narrow({"plan", config("quadratic-ring16.yaml")});
  expect_narrow({"plan", config("fashion-choco-ring8.yaml")});
  expect_narrow({"graph", "report", "--topology", "ring,random-regular:degree=4,seed=1,exponential",
                 "--peers", "64", "--more"});
  expect_narrow({"algorithms"});
  expect_narrow({"algorithms", "choco-sgd"});
}

/// `doctor` once ended with 4 on every machine without an optional set of pictures.
TEST(Screens, ADoctorIsContentWithAPlainMachine) {
  const Ended ended = run({"doctor", "--json"});
  for (const auto& check : ended.summary().at("checks"))
    EXPECT_TRUE(check.at("what") != "Fashion-MNIST" || check.at("ok") == true) << check;
  expect_narrow({"doctor"});
}

/// A fleet on this machine alone is examined as a fleet of several machines is.
TEST(Screens, ADoctorTellsOfEachHostWhatItHas) {
  const std::string ring = config("quadratic-ring16.yaml");
  const Ended ended = run({"doctor", ring, "--json"});
  ASSERT_EQ(ended.code, 0) << ended.output();
  const auto host = ended.summary().at("hosts").at(0);
  EXPECT_EQ(host.at("version"),
            std::regex_replace(run({"--version"}).output(),
                               std::regex("grapevine ([^ ]+) [\\s\\S]*"), "$1"));
  EXPECT_GE(host.at("wire"), 5);
  EXPECT_EQ(ended.output().find("run as root"), std::string::npos)
      << "nobody else reaches peers of this machine alone";
  EXPECT_TRUE(host.at("devices").is_array());
  EXPECT_EQ(host.at("no_device") == "", !host.at("devices").empty());
  expect_narrow({"doctor", ring});
  const Ended crowded = run({"doctor", ring, "--set", "peers=[{ threads: 1024 }, {}]", "--json"});
  EXPECT_EQ(crowded.code, 4) << crowded.output();
  ASSERT_EQ(crowded.summary().at("findings").size(), 1U);
  EXPECT_NE(crowded.output().find("are to compute with 1025 threads"), std::string::npos);
}

TEST(Screens, HelpFitsInto80Columns) {
  for (const char* command :
       {"tour", "run", "simulate", "sweep", "plan", "data", "compare", "report", "peer", "top",
        "export", "evaluate", "predict", "init", "explain", "doctor", "audit", "trace", "stop"})
    expect_narrow({command, "--help"});
  for (const char* command : {"report", "predict", "list", "export", "best", "schedule"})
    expect_narrow({"graph", command, "--help"});
  expect_narrow({"--help"});
}

/// With four peers, ring, hypercube and others are one graph.
TEST(Screens, PlanNamesGraphsThatAreAsGoodOnce) {
  const std::string said =
      run({"plan", config("iris-ring4.yaml"), "--set", "train.batch=8"}).output();
  EXPECT_NE(said.find("as good as ring: hypercube"), std::string::npos) << said;
  EXPECT_EQ(said.find("\n  hypercube "), std::string::npos) << said;
}

TEST(Screens, PlanSaysWhatIsOdd) {
  EXPECT_NE(run({"plan", config("iris-ring4.yaml"), "--set", "train.batch=20000"})
                .output()
                .find("note   4 of 4 peers have fewer samples than their batch"),
            std::string::npos);
  EXPECT_EQ(run({"plan", config("iris-ring4.yaml")}).output().find("note "), std::string::npos);
  EXPECT_NE(
      run({"plan", config("quadratic-ring16.yaml"), "--set", "peers=7", "--set", "topology=torus"})
          .output()
          .find("torus:1x7 is a ring"),
      std::string::npos);
}

/// Without a network a round was once planned at 0.2 ms, and took 6.4 ms.
TEST(Screens, PlanSaysThatAFleetHasNoNetwork) {
  const std::string note = "the file gives no `network`, so messages take no time here";
  EXPECT_NE(run({"plan", config("iris-ring4.yaml"), "--set", "network={}"}).output().find(note),
            std::string::npos);
  EXPECT_EQ(run({"plan", config("iris-ring4.yaml")}).output().find(note), std::string::npos);
}

/// `plan` once named the fastest graph and then advised another.
TEST(Screens, PlanHasOneVerdict) {
  const std::string said =
      run({"plan", config("quadratic-ring16.yaml"), "--set", "peers=7"}).output();
  EXPECT_NE(said.find("\nfirst  "), std::string::npos) << said;
  EXPECT_EQ(said.find("\nadvice "), std::string::npos) << said;
}

/// `bench` was once silent for most of a minute.
TEST(Screens, ABenchSaysWhatItIsAt) {
  ExchangeOptions options{.peers = {3}, .dimensions = {1000}};
  options.repetitions = 2;
  std::vector<std::string> ways;
  const auto on_turn = [&](const ExchangeTurn& turn) {
    EXPECT_EQ(turn.turn, static_cast<int>(ways.size()) + 1);
    EXPECT_EQ(turn.turns, 14) << "three ways and four sizes of buffers, twice";
    ways.emplace_back(turn.way);
  };
  std::size_t rows = 0;
  bench_exchange(options, on_turn, [&](const ExchangeRow&) { ++rows; });
  EXPECT_EQ(rows, 1U);
  EXPECT_EQ(ways.size(), 14U);
  EXPECT_EQ(ways.front(), "shared memory");
}

TEST(Screens, PlanSaysWhereMemoryIsShort) {
  const Assembly fleet(
      read_fleet(config("quadratic-ring16.yaml"), {"data.dimension=1000"}, nullptr));
  EXPECT_EQ(cli::memory_note(fleet, 16 * 8 * 1000), "");
  EXPECT_EQ(cli::memory_note(fleet, std::nullopt), "");
  EXPECT_EQ(cli::memory_note(fleet, 16 * 8 * 1000 - 1),
            "note   x and gradient of 16 peers on this machine take 128 kB, and 128 kB are free\n");
}

/// The letters of a calibration were once explained nowhere.
TEST(Screens, ACalibrationSaysWhatItsColumnsAre) {
  const std::vector<std::string> arguments{"plan", config("iris-ring4.yaml"), "--calibrate"};
  expect_narrow(arguments);
  const std::string said = run(arguments).output();
  for (const char* word : {"eigenvalue L", "the trace", "sigma^2: variance", "zeta^2: how far"})
    EXPECT_NE(std::regex_replace(said, std::regex("\\s+"), " ").find(word), std::string::npos)
        << word << "\n"
        << said;
}

/// `plan` once predicted a final training loss of -0.05, and -6e39 for a longer run.
TEST(Screens, ACalibrationPredictsNoLossThatCannotBe) {
  const Ended ended =
      run({"plan", config("digits-torus16.yaml"), "--calibrate", "--set", "peers=4", "--set",
           "topology=ring", "--set", "data={ kind: digits, train: 400, test: 50 }", "--set",
           "model={ kind: mlp, hidden: [16] }", "--set", "stop.rounds=200"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.output().find("the quadratic model does not hold here"), std::string::npos)
      << ended.output();
  EXPECT_EQ(ended.output().find("loss of -"), std::string::npos) << ended.output();
}

TEST(Screens, RefusalsNameTheRemedy) {
  const ScratchFolder folder;
  const std::string empty = folder.path() + "/empty.yaml";
  std::ofstream(empty) << "";
  EXPECT_NE(run({"plan", empty}).err.find("begin with `version: 1`"), std::string::npos);
  const Ended in_folder = run({"run", folder.path()});
  EXPECT_EQ(in_folder.code, 2);
  EXPECT_NE(in_folder.err.find("is a folder"), std::string::npos) << in_folder.err;
  EXPECT_NE(run({"graph", "report", "--topology", "ring", "--peers", "8", "--discount", "1"})
                .err.find("1 is not in [0 - 0.999999999]"),
            std::string::npos);
  const Ended complete = run({"plan", config("quadratic-ring16.yaml"), "--set",
                              "topology.kind=complete", "--set", "peers=1000000"});
  EXPECT_EQ(complete.code, 2);
  EXPECT_NE(complete.err.find("499999500000 edges"), std::string::npos) << complete.err;
}

/// Three of ten edges between 100,000 peers take 12 GB.
TEST(Screens, TooLittleMemoryIsSaid) {
  const Ended ended = Program({"/bin/sh", "-c",
                               "ulimit -v 1000000; exec \"$0\" graph report --topology "
                               "erdos-renyi --peers 100000",
                               grapevine_program()},
                              Program::as_it_stands)
                          .wait();
  EXPECT_EQ(ended.code, 5);
  EXPECT_NE(ended.err.find("takes more memory than this machine gives\nhelp:"), std::string::npos)
      << ended.err;
}

/// The peer would otherwise write its model into the folder of a finished run.
TEST(Screens, APeerByHandLeavesAFinishedRunAlone) {
  const ScratchFolder folder;
  std::ofstream(folder.path() + "/summary.json") << "{}";
  const Ended ended = run({"peer", config("quadratic-ring16.yaml"), "--id", "0", "--wait", "1",
                           "--set", "output.dir=" + folder.path()});
  EXPECT_EQ(ended.code, 2) << ended.output();
  EXPECT_NE(ended.err.find("is the folder of a run that has ended"), std::string::npos)
      << ended.err;
}

TEST(Screens, EveryGraphAnswerTakesJson) {
  const Ended ended = run({"graph", "predict", "--topology", "ring", "--peers", "16", "--json"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.summary().at("schema"), "grapevine.predict/1");
}

}  // namespace
}  // namespace gv
