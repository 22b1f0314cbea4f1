#include <map>

#include <gtest/gtest.h>

#include "peer/fleet/digest.h"
#include "peer/fleet/file/source.h"

namespace gv {
namespace {

std::map<std::string, std::string> keys_of(const std::string& text,
                                           const std::vector<std::string>& sets = {}) {
  Source source("fleet");
  Value root = source.parse_text(text);
  for (const std::string& set : sets) source.apply_set(root, set);
  EXPECT_TRUE(source.diagnostics().empty());
  const FlatKeys keys = flat_keys(root);
  return {keys.begin(), keys.end()};
}

TEST(FlatKeys, AreThePathsWithTheValuesAsWritten) {
  const auto keys = keys_of(
      "network: { latency: 5 ms, shape: per-nic }\nseed: 007\n"
      "peers: [{ batch: 3 }, { batch: 5, speed: 2 }]\ndata:\n"
      "  hessian: [1, 0.50]\nevaluate: {}\n");
  EXPECT_EQ(keys,
            (std::map<std::string, std::string>{{"network.latency", "5 ms"},
                                                {"network.shape", "per-nic"},
                                                {"seed", "007"},
                                                {"peers", "[{ batch: 3 }, { batch: 5, speed: 2 }]"},
                                                {"data.hessian", "[1, 0.50]"},
                                                {"evaluate", "{}"}}));
}

/// Both spellings of a fleet must be equal, or a comparison of runs would show a false difference.
TEST(FlatKeys, AWordThatIsShortForAKindIsToldAsTheKind) {
  for (const std::string path : {"algorithm", "algorithm.codec", "data", "data.partition", "model",
                                 "topology", "train.optimizer", "train.optimizer.schedule"}) {
    const auto brief = keys_of("version: 1\n", {path + "=word"});
    EXPECT_EQ(brief, keys_of("version: 1\n", {path + "={ kind: word }"})) << path;
    EXPECT_EQ(brief.at(path + ".kind"), "word") << path;
  }
  EXPECT_EQ(keys_of("train: { batch: 64 }").at("train.batch"), "64");
}

TEST(FlatKeys, FollowWhatIsSetOnTheCommandLine) {
  const auto keys = keys_of("topology: ring\nseed: 1\n", {"topology.weights=fdla", "seed=9"});
  EXPECT_EQ(keys.at("topology.kind"), "ring");
  EXPECT_EQ(keys.at("topology.weights"), "fdla");
  EXPECT_EQ(keys.at("seed"), "9");
}

/// The clock changes the model of an asynchronous method, but not that of a synchronous one.
TEST(BitsOf, HoldsTheClockWhereItDecidesTheModels) {
  const auto bits = [](const std::string& algorithm, const std::string& more) {
    return bits_of(
        read_fleet_text("version: 1\npeers: 4\nmodel: softmax\nstop: { rounds: 9 }\n"
                        "algorithm: " +
                        algorithm + "\n" + more));
  };
  const std::string slow = "network: { latency: 5 ms }\n";
  EXPECT_EQ(bits("d-psgd", ""), bits("d-psgd", slow));
  EXPECT_EQ(bits("d-psgd", ""), bits("d-psgd", "name: other\n"));
  EXPECT_EQ(bits("d-psgd", ""), bits("d-psgd", "simulate: { flops: 1 GFLOP/s }\n"));
  EXPECT_NE(bits("d-psgd", ""), bits("all-reduce", ""));
  EXPECT_NE(bits("d-psgd", ""), bits("d-psgd", "seed: 2\n"));
  EXPECT_NE(bits("d-psgd", ""), bits("d-psgd", "evaluate: { every: 3 rounds }\n"));
  EXPECT_NE(bits("ad-psgd", ""), bits("ad-psgd", slow));
  const std::string kill = "faults: { inject: [{ at: 1 s, kill: 1 }] }\n";
  EXPECT_NE(bits("d-psgd", kill), bits("d-psgd", ""));
  EXPECT_NE(bits("d-psgd", kill), bits("d-psgd", kill + slow));
}

}  // namespace
}  // namespace gv
