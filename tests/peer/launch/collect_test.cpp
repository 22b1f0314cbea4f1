#include <filesystem>
#include <memory>

#include <unistd.h>

#include "peer/launch/launcher/peer_reports.h"
#include "tests/peer/launch/launch_fixture.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

/// Runs of peers that had no launcher, and the collection of their results afterwards.
class Collect : public Launch {
 protected:
  /// Runs all peers of the file to their ends; each writes into folder_of(id).
  void by_hand(const std::string& file,
               int peers,
               const std::vector<std::string>& more,
               const std::function<std::string(int)>& folder_of) const {
    const std::string at = fmt::format("127.0.0.1:{}", 20'000 + getpid() * 8 % 10'000);
    std::vector<std::unique_ptr<Program>> all;
    for (int i = 0; i < peers; ++i) {
      std::vector<std::string> words{"peer", file, "--id", std::to_string(i), "--at", at};
      words.insert(words.end(), {"--set", "output.dir=" + folder_of(i)});
      words.insert(words.end(), more.begin(), more.end());
      all.push_back(std::make_unique<Program>(words));
    }
    for (const auto& each : all) {
      const Ended end = each->wait();
      EXPECT_EQ(end.code, 0) << end.err;
    }
  }
  void together(const std::string& file, int peers, const std::vector<std::string>& more) const {
    by_hand(file, peers, more, [this](int) { return path("hand"); });
  }
  static nlohmann::json line(const std::string& text) { return nlohmann::json::parse(text); }
};

/// Compares all figures that do not depend on clocks.
void expect_alike(const nlohmann::json& a, const nlohmann::json& b) {
  for (const char* key : {"loss", "loss_local", "consensus", "train_loss", "peers", "round"})
    EXPECT_EQ(a.value(key, nlohmann::json()), b.value(key, nlohmann::json())) << key;
}

TEST_F(Collect, MakesOfPeersByHandWhatARunWouldHaveMade) {
  const std::string file =
      fleet(3, 40, "evaluate: { every: 10 rounds }\nfaults: { ledger: true }\n");
  together(file, 3, {});
  const Ended collected = run({"collect", path("hand"), "--json"});
  ASSERT_EQ(collected.code, 0) << collected.err;
  const Ended simulated = run({"simulate", file, "--no-save", "--json"});
  ASSERT_EQ(simulated.code, 0) << simulated.err;
  EXPECT_EQ(collected.summary().at("params_hash"), simulated.summary().at("params_hash"));
  EXPECT_EQ(collected.summary().at("model_hash"), simulated.summary().at("model_hash"));
  ASSERT_EQ(collected.out.size(), simulated.out.size());
  for (std::size_t k = 0; k < collected.out.size(); ++k)
    expect_alike(line(collected.out[k]), line(simulated.out[k]));
  for (const char* name :
       {"run.json", "fleet.yaml", "metrics.jsonl", "summary.json", "model.safetensors"})
    EXPECT_TRUE(fs::exists(path("hand/") + name)) << name;
  EXPECT_EQ(run({"audit", path("hand")}).code, 0);
  EXPECT_EQ(run({"report", path("hand"), "-o", path("report.html")}).code, 0);
  const Ended again = run({"collect", path("hand")});
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.err.find("has ended"), std::string::npos) << again.err;
}

/// Servers hold parts of the model, and with push-sum each peer's x has a weight.
TEST_F(Collect, WeighsTheModelsAsTheMethodDoes) {
  const std::string file = fleet(3, 30, "evaluate: { every: 10 rounds }\n");
  for (const auto& [algorithm, peers] :
       {std::pair{"{ kind: parameter-server, servers: 2 }", 5}, {"sgp", 3}}) {
    fs::remove_all(path("hand"));
    const std::string set = fmt::format("algorithm={}", algorithm);
    together(file, peers, {"--set", set, "--set", "topology=exponential"});
    const Ended collected = run({"collect", path("hand"), "--json"});
    ASSERT_EQ(collected.code, 0) << collected.err;
    const Ended simulated = run(
        {"simulate", file, "--no-save", "--json", "--set", set, "--set", "topology=exponential"});
    EXPECT_EQ(collected.summary().at("model_hash"), simulated.summary().at("model_hash"))
        << algorithm;
  }
}

/// Servers of samples have no model.
TEST_F(Collect, TakesServersOfSamplesToo) {
  const std::string file = path("digits.yaml");
  std::ofstream(file) << "version: 1\nname: digits\npeers: 2\n"
                         "data: { kind: digits, train: 200, test: 50, servers: 1 }\n"
                         "model: softmax\ntopology: ring\nstop: { rounds: 20 }\n"
                         "evaluate: { every: 10 rounds }\n";
  together(file, 3, {});
  const Ended collected = run({"collect", path("hand"), "--json"});
  ASSERT_EQ(collected.code, 0) << collected.err;
  const Ended simulated = run({"simulate", file, "--no-save", "--json"});
  EXPECT_EQ(collected.summary().at("params_hash"), simulated.summary().at("params_hash"));
  EXPECT_EQ(run({"evaluate", path("hand/model.safetensors")}).code, 0);
}

TEST_F(Collect, GathersFoldersAndNamesWhoIsMissing) {
  const std::string file = fleet(3, 20);
  by_hand(file, 3, {}, [this](int i) { return path(fmt::format("machine{}", i)); });
  const Ended all =
      run({"collect", path("machine0"), path("machine1"), path("machine2"), "-o", path("all")});
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_TRUE(fs::exists(path("all/peers/002/totals.json")));

  const Ended some = run({"collect", path("machine0"), path("machine2"), "-o", path("some")});
  EXPECT_EQ(some.code, 3) << some.err;
  EXPECT_NE(some.err.find("peers that left no final model: 1"), std::string::npos) << some.err;
  EXPECT_NE(some.output().find("1 lost"), std::string::npos) << some.output();

  const Ended twice = run({"collect", path("machine0"), path("machine0"), "-o", path("twice")});
  EXPECT_EQ(twice.code, 2);
  EXPECT_NE(twice.err.find("peer 0 is both in"), std::string::npos) << twice.err;
  EXPECT_EQ(run({"collect", path("machine0"), path("machine1")}).code, 2) << "where to?";
  EXPECT_EQ(run({"collect", path("nothing"), "-o", path("none")}).code, 2);

  // A second folder of peer 0, from another member, must not pass for the first.
  fs::rename(path("machine1/peers/001"), path("machine1/peers/0000"));
  const Ended alias =
      run({"collect", path("machine1"), path("machine0"), path("machine2"), "-o", path("alias")});
  EXPECT_EQ(alias.code, 5) << alias.err;
  EXPECT_NE(alias.err.find("peers/0000: the folder of peer 0 must be called 000"),
            std::string::npos)
      << alias.err;
}

TEST_F(Collect, RefusesWhatDoesNotBelongTogether) {
  const std::string file = fleet(2, 20);
  by_hand(file, 2, {}, [this](int i) { return path(fmt::format("a{}", i)); });
  by_hand(file, 2, {"--set", "seed=6"}, [this](int i) { return path(fmt::format("b{}", i)); });
  const Ended mixed = run({"collect", path("a0"), path("b1"), "-o", path("mixed")});
  EXPECT_EQ(mixed.code, 5);
  EXPECT_NE(mixed.err.find("is of another fleet"), std::string::npos) << mixed.err;

  const Ended other = run({"collect", path("b0"), path("b1"), "-o", path("b"), "--file", file});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("--set seed=6"), std::string::npos) << other.err;

  std::ofstream(path("a0/peers/000/reports.jsonl"), std::ios::app) << "{\"event\":\"stop\"}\n";
  const Ended broken = run({"collect", path("a0"), path("a1"), "-o", path("broken")});
  EXPECT_EQ(broken.code, 5);
  EXPECT_NE(broken.err.find("reports.jsonl:"), std::string::npos) << broken.err;

  fs::create_directories(path("c/peers"));
  fs::create_directory_symlink(path("a1/peers/001"), path("c/peers/001"));
  const Ended linked = run({"collect", path("c"), "-o", path("linked")});
  EXPECT_NE(linked.code, 0) << "links are not followed";

  std::ofstream(path("a1/peers/001/reports.jsonl")) << "{\n";
  const Ended nonsense = run({"collect", path("a1"), "-o", path("nonsense")});
  EXPECT_EQ(nonsense.code, 5) << "a file that makes no sense is nothing wrong with the arguments";
  EXPECT_NE(nonsense.err.find("reports.jsonl:1: "), std::string::npos) << nonsense.err;

  fs::resize_file(path("b0/peers/000/reports/1.f32"), 12);
  const Ended cut = run({"collect", path("b0"), path("b1"), "-o", path("cut")});
  EXPECT_EQ(cut.code, 5);
  EXPECT_NE(cut.err.find("1.f32"), std::string::npos) << cut.err;
}

/// A killed peer has no end. A peer that resumed from its checkpoint counts as one peer.
TEST_F(Collect, AKilledPeerIsLostAndItsHalfLineDoesNoHarm) {
  const ReportsOf whose{.digest = "d", .peer = 0, .peers = 1, .file = "f", .sets = {"a=b"}};
  const auto report = [](Round round, float value) {
    auto model = std::make_shared<Buffer>(sizeof(float));
    model->floats()[0] = value;
    Report made;
    made.round = round;
    made.model = model;
    return made;
  };
  const std::string folder = path("peer");
  fs::create_directories(folder);
  {
    PeerReports reports(folder, whose, true);
    reports.keep(report(10, 1));
    reports.keep(report(20, 2));
  }
  std::ofstream(folder + "/reports.jsonl", std::ios::app) << "{\"event\":\"rep";
  EXPECT_EQ(read_reports(folder).reports.size(), 2U);
  PeerReports(folder, whose, true).keep(report(20, 3));
  const StoredReports stored = read_reports(folder);
  ASSERT_EQ(stored.reports.size(), 3U);
  EXPECT_EQ(stored.whose.sets, whose.sets);
  EXPECT_EQ(load(stored.reports[2], 4).model->floats()[0], 3);
  EXPECT_EQ(load(stored.reports[0], 4).model->floats()[0], 1);
  EXPECT_THROW(load(stored.reports[0], 3), std::runtime_error) << "of another size";
  PeerReports(folder, whose, false).keep(report(5, 4));
  EXPECT_EQ(read_reports(folder).reports.size(), 1U) << "a new life from the start";
}

}  // namespace
}  // namespace gv
