#include <filesystem>
#include <fstream>
#include <regex>

#include "peer/record/report/metrics.h"
#include "tests/peer/launch/program.h"
#include "tests/places.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

class SimulateCommand : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  Ended simulate(std::vector<std::string> more) const {
    more.insert(more.begin(), {"simulate", source_folder() + "/configs/quadratic-ring16.yaml",
                               "--set", "stop.rounds=40", "--set", "evaluate.every=10 rounds",
                               "--set", "output.dir=" + path("run")});
    return run(std::move(more));
  }
  static nlohmann::json read(const std::string& file) {
    std::ifstream in(file);
    return nlohmann::json::parse(in);
  }

  ScratchFolder folder_;
};

TEST_F(SimulateCommand, LeavesARunFolderAndNamesIt) {
  const Ended ended = simulate({"--set", "network.latency=5 ms"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out.back(), "saved      " + path("run"));
  const auto about = read(path("run/run.json"));
  EXPECT_EQ(about.at("schema"), "grapevine.run/2");
  EXPECT_EQ(about.at("kind"), "simulate");
  EXPECT_EQ(about.at("seed"), 1);
  EXPECT_EQ(about.at("rounds"), 40);
  EXPECT_EQ(about.at("topology"), "ring");
  EXPECT_EQ(about.at("keys").at("network.latency"), "5 ms");
  EXPECT_EQ(about.at("keys").at("stop.rounds"), "40");
  EXPECT_EQ(about.at("bits").get<std::string>().size(), 32U);
  EXPECT_GE(about.at("machine").at("cores").get<int>(), 1);
  EXPECT_EQ(read(path("run/summary.json")).at("exit_code"), 0);
  std::ifstream metrics(path("run/metrics.jsonl"));
  int evaluations = 0;
  for (std::string line; std::getline(metrics, line);)
    evaluations += nlohmann::json::parse(line).at("event") == "evaluate" ? 1 : 0;
  EXPECT_EQ(evaluations, 4);
  EXPECT_GT(fs::file_size(path("run/model.safetensors")), 16U);
  EXPECT_EQ(text_of(path("run/fleet.yaml")),
            text_of(source_folder() + "/configs/quadratic-ring16.yaml"));
}

/// `audit` once advised to set `faults.ledger` although it was set.
TEST_F(SimulateCommand, SaysWhichExchangesNoLedgerRecords) {
  const std::vector<std::string> ledger{"--set", "faults.ledger=true"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), ledger.begin(), ledger.end());
    return words;
  };
  const Ended sums = simulate(with({"--set", "algorithm=all-reduce"}));
  ASSERT_EQ(sums.code, 0) << sums.err;
  EXPECT_NE(sums.err.find("warning: `faults.ledger` records nothing: all-reduce keeps no ledger"),
            std::string::npos)
      << sums.err;
  const Ended audited = run({"audit", path("run")});
  EXPECT_EQ(audited.code, 2);
  EXPECT_NE(audited.err.find("a simulation compares both ends"), std::string::npos) << audited.err;
  EXPECT_EQ(simulate(with({})).err.find("faults.ledger"), std::string::npos);
  const Ended real = run(with({"run", source_folder() + "/configs/quadratic-ring16.yaml", "--set",
                               "peers=2", "--set", "stop.rounds=10", "--set",
                               "algorithm=all-reduce", "--set", "output.dir=" + path("real")}));
  ASSERT_EQ(real.code, 0) << real.err;
  EXPECT_NE(real.err.find("records nothing: all-reduce"), std::string::npos) << real.err;
  const Ended empty = run({"audit", path("real")});
  EXPECT_EQ(empty.code, 2);
  EXPECT_NE(empty.err.find("the ledgers are empty: all-reduce wrote none"), std::string::npos)
      << empty.err;
}

/// The last line of a run that ended by time once had a training loss of 0, because no peer had a
/// minibatch between its last evaluation and its end.
TEST_F(SimulateCommand, HasNoTrainingLossWithoutAMinibatch) {
  std::ofstream(path("zero.yaml"))
      << "version: 1\npeers: 4\ndata: { kind: digits, train: 2000, test: 500 }\n"
         "model: { kind: mlp, hidden: [8] }\ntopology: ring\nnetwork: { latency: 20 ms }\n"
         "stop: { time: 3 s }\nevaluate: { every: 1 s }\n";
  const Ended ended = run({"simulate", path("zero.yaml"), "--no-save", "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  int known = 0;
  for (const std::string& line : ended.out) {
    const auto json = nlohmann::json::parse(line);
    if (json.at("event") != "evaluate" || !json.contains("train_loss")) continue;
    EXPECT_GT(json.at("train_loss").get<double>(), 0) << line;
    ++known;
  }
  EXPECT_GE(known, 2);
}

TEST_F(SimulateCommand, KeepsTheSameTwice) {
  const Ended first = simulate({"--json"});
  const Ended second = simulate({"--json"});
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(first.output(), text_of(path("run/metrics.jsonl")));
  EXPECT_EQ(text_of(path("run/metrics.jsonl")), text_of(path("run-2/metrics.jsonl")));
  EXPECT_NE(second.err.find(path("run-2")), std::string::npos) << second.err;
}

TEST_F(SimulateCommand, LeavesNothingWhereItIsToldTo) {
  EXPECT_EQ(simulate({"--no-save"}).code, 0);
  EXPECT_EQ(simulate({"--faults", "swarm", "--seeds", "1..2"}).code, 0);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  const Ended refused = simulate({"--set", "output.dir=/proc/nowhere/run"});
  EXPECT_EQ(refused.code, 5);
  EXPECT_NE(refused.err.find("--no-save"), std::string::npos) << refused.err;
}

TEST(SimulateDrawn, DrawsItsFleets) {
  const Ended ended = grapevine(
      "simulate --faults swarm --fleets 1..3 --seeds 1..2 --method d-psgd:atc --jobs 1 --json");
  ASSERT_EQ(ended.code, 0) << ended.err << ended.output();
  EXPECT_EQ(ended.summary().at("fleets"), 3);
  EXPECT_EQ(ended.summary().at("seeds"), 6);
  EXPECT_EQ(ended.summary().at("rows").at("d-psgd:atc").at("fleets"), 3);
  const Ended again = grapevine(
      "simulate --faults swarm --fleets 1..3 --seeds 1..2 --method d-psgd:atc --jobs 3 --json");
  EXPECT_EQ(again.summary().at("trace_hash"), ended.summary().at("trace_hash"));
}

TEST(SimulateDrawn, SaysWhatGoesTogether) {
  for (const auto& [line, said] :
       {std::pair{"simulate --fleets 1..3", "--fleets needs --faults swarm"},
        {"simulate --only-faults crash x.yaml", "--only-faults needs --faults swarm"},
        {"simulate x.yaml --faults swarm --fleets 1..3",
         "--fleets draws fleets, and takes no FILE"},
        {"simulate --faults swarm --fleets 3..1", "--fleets 3..1: the range is empty"},
        {"simulate --faults swarm --fleets 1..3 --method d-psdg", "`d-psdg` is no method"},
        {"simulate --faults swarm --fleets 1..3 --only-faults rest", "no fault is called `rest`"},
        {"simulate --faults swarm --fleets 1 --seeds 1..10000", "has fewer than 10000 seeds"},
        {"simulate --faults swarm --method d-psgd", "--method selects the method"},
        {"simulate --faults swarm", "needs FILE, or --fleets A..B"}}) {
    const Ended ended = grapevine(line);
    EXPECT_EQ(ended.code, 2) << line;
    EXPECT_NE(ended.err.find(said), std::string::npos) << line << "\n" << ended.err;
  }
}

/// Stopped and resumed, a simulation ends with the bits of an uninterrupted one.
TEST_F(SimulateCommand, StopsAtARoundAndGoesOn) {
  const Ended whole = simulate({"--json", "--no-save"});
  const Ended first = simulate({"--until", "17"});
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out.back(), "resume with grapevine simulate --resume " + path("run"));
  EXPECT_EQ(read(path("run/summary.json")).at("rounds"), 17);
  const Ended second = run({"simulate", "--resume", path("run"), "--until", "30"});
  ASSERT_EQ(second.code, 0) << second.err;
  const Ended third = run({"simulate", "--resume", path("run-2"), "--json"});
  ASSERT_EQ(third.code, 0) << third.err;
  EXPECT_EQ(third.summary().at("params_hash"), whole.summary().at("params_hash"));
  EXPECT_NE(read(path("run/summary.json")).at("params_hash"), whole.summary().at("params_hash"));
}

/// Times and bytes continue too, and the folder covers the whole run.
TEST_F(SimulateCommand, GoesOnWithItsClock) {
  ASSERT_EQ(simulate({}).code, 0);
  ASSERT_EQ(simulate({"--until", "20"}).code, 0);
  ASSERT_EQ(run({"simulate", "--resume", path("run-2")}).code, 0);
  const std::vector<MetricsRow> whole = read_metrics(path("run/metrics.jsonl"));
  const std::vector<MetricsRow> both = read_metrics(path("run-3/metrics.jsonl"));
  ASSERT_EQ(both.size(), whole.size());
  for (std::size_t k = 0; k < whole.size(); ++k) {
    EXPECT_EQ(both[k].round, whole[k].round);
    EXPECT_EQ(both[k].seconds, whole[k].seconds);
    EXPECT_EQ(both[k].loss, whole[k].loss);
    // The first part ended with round 20, in which its peers said goodbye.
    if (whole[k].round == 20)
      EXPECT_GT(both[k].sent_bytes, whole[k].sent_bytes);
    else
      EXPECT_EQ(both[k].sent_bytes, whole[k].sent_bytes);
  }
  const Ended compared = run({"compare", path("run"), path("run-3"), "--json"});
  EXPECT_EQ(compared.code, 0) << compared.err;
}

TEST_F(SimulateCommand, RefusesToStopWhereItCannot) {
  const auto refusal = [&](std::vector<std::string> more) {
    const Ended ended = simulate(std::move(more));
    EXPECT_EQ(ended.code, 2);
    return ended.err;
  };
  EXPECT_NE(refusal({"--until", "40"}).find("ends after round 40 anyway"), std::string::npos);
  EXPECT_NE(refusal({"--until", "10", "--no-save"}).find("--no-save leaves none"),
            std::string::npos);
  EXPECT_NE(refusal({"--until", "10", "--faults", "swarm"}).find("leave one of the two out"),
            std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  ASSERT_EQ(simulate({"--until", "17"}).code, 0);
  const Ended back = run({"simulate", "--resume", path("run"), "--until", "17"});
  EXPECT_EQ(back.code, 2);
  EXPECT_NE(back.err.find("the run resumes from round 17"), std::string::npos) << back.err;
}

/// Only a swarm has a fault seed. The refusal shows how to set the fleet's seed.
TEST_F(SimulateCommand, RefusesASeedThatNobodyReads) {
  const Ended refused = simulate({"--seed", "7"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--set seed=7"), std::string::npos) << refused.err;
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(SimulateCommand, SaysWhetherTheTargetWasReached) {
  const std::string fleet = path("fleet.yaml");
  std::ofstream(fleet) << "version: 1\nseed: 3\npeers: 2\nmodel: softmax\n"
                          "data: { kind: digits, train: 300, test: 100 }\n"
                          "evaluate: { every: 10 rounds }\noutput: { dir: "
                       << path("run") << " }\n";
  const Ended missed =
      run({"simulate", fleet, "--set", "stop={ rounds: 20, target: { accuracy: 0.999 } }"});
  ASSERT_EQ(missed.code, 4) << missed.err;
  EXPECT_NE(missed.output().find("target     accuracy 0.999 missed: 0."), std::string::npos);
  EXPECT_EQ(read(path("run/summary.json")).at("target").at("reached"), false);
  const Ended reached =
      run({"simulate", fleet, "--set", "stop={ rounds: 20, target: { accuracy: 0.1 } }"});
  EXPECT_NE(reached.output().find("target     accuracy 0.1 reached; its standard error on 100 rows "
                                  "is 0.03\n"),
            std::string::npos)
      << reached.output();
  EXPECT_EQ(read(path("run-2/summary.json")).at("target").at("reached"), true);
}

/// A missed return of 9 was once reported as a reached one of -9.
TEST_F(SimulateCommand, SaysTheReturnThatAgentsMissed) {
  const std::string fleet = path("fleet.yaml");
  std::ofstream(fleet) << "version: 1\npeers: 2\nmodel: { kind: mlp, hidden: [8] }\n"
                          "data: { kind: environment, name: cartpole }\nagent: { warm_up: 32 }\n"
                          "stop: { rounds: 20, target: { return: 475 } }\n"
                          "evaluate: { every: 10 rounds }\noutput: { dir: "
                       << path("run") << " }\n";
  const Ended missed = run({"simulate", fleet});
  ASSERT_EQ(missed.code, 4) << missed.err;
  EXPECT_TRUE(std::regex_search(missed.output(), std::regex("return 475 missed: [0-9]")))
      << missed.output();
  EXPECT_EQ(read(path("run/summary.json")).at("target").at("return"), 475);
  const Ended compared = run({"compare", path("run"), "--target", "return=1", "--json"});
  ASSERT_EQ(compared.code, 0) << compared.err;
  EXPECT_EQ(compared.summary().at("target").at("figure"), "return");
  const Ended refused = run({"compare", path("run"), "--target", "return=475"});
  EXPECT_EQ(refused.code, 2) << refused.output();
  EXPECT_NE(refused.err.find("no run reaches return 475; the best is "), std::string::npos);
}

}  // namespace
}  // namespace gv
