#include "tests/peer/launch/launch_fixture.h"

// A run with a target ends in the round that reached it, in every world. Peers learn of the target
// some rounds later. `run` once went past it by chance, ended with other bits than `simulate`, and
// saved a model that missed the target again.

namespace gv {
namespace {

struct TargetCase {
  std::string name;
  PeerId peers;
  std::string more;  ///< further keys of the fleet file, above all the target
};

class TargetRuns : public Launch, public testing::WithParamInterface<TargetCase> {
 protected:
  std::string file() const {
    const std::string path = (folder_ / "fleet.yaml").string();
    std::ofstream(path) << "version: 1\nseed: 7\npeers: " << GetParam().peers << "\n"
                        << GetParam().more << "output: { dir: " << this->path("run") << " }\n";
    return path;
  }
};

TEST_P(TargetRuns, EndInTheRoundThatReachesItWithTheSameBits) {
  const Ended simulated = run({"simulate", file(), "--json"});
  ASSERT_EQ(simulated.code, 0) << simulated.err;
  const auto& expected = simulated.summary();
  ASSERT_TRUE(expected.at("target").at("reached")) << expected.dump();
  ASSERT_LT(expected.at("rounds"), 4000) << "it would have ended there anyway";
  const Ended real = run({"run", file(), "--json"});
  ASSERT_EQ(real.code, 0) << real.err;
  for (const char* figure : {"rounds", "params_hash", "loss", "sent_bytes", "samples"})
    EXPECT_EQ(real.summary().at(figure), expected.at(figure)) << figure;
  EXPECT_EQ(real.out.size(), simulated.out.size()) << "no evaluation comes behind the last one";
}

/// The saved model is the one that reached the target. Evaluated again, it has the same figure.
TEST_P(TargetRuns, SaveTheModelThatReachedIt) {
  const Ended real = run({"run", file(), "--json"});
  ASSERT_EQ(real.code, 0) << real.err;
  if (real.summary().at("accuracy").is_null()) return;  // a quadratic has no rows to be told
  const Ended again = run({"evaluate", path("run/model.safetensors"), "--json"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.summary().at("accuracy"), real.summary().at("accuracy"));
}

std::string target_quadratic(const std::string& method, const std::string& target) {
  return "data: { kind: quadratic, dimension: 8, noise: 0.1, spread: 1 }\nmodel: quadratic\n"
         "train: { optimizer: { kind: sgd, lr: 0.05 } }\nalgorithm: " +
         method + "\nstop: { rounds: 4000, target: " + target +
         " }\nevaluate: { every: 7 rounds }\n";
}

std::string target_blobs(const std::string& rest, const std::string& target) {
  return "data: { kind: blobs, train: 400, test: 200, features: 10 }\nmodel: softmax\n"
         "train: { optimizer: { kind: sgd, lr: 0.02, momentum: 0.5 }, batch: 8 }\n" +
         rest + "stop: { rounds: 4000, target: " + target + " }\nevaluate: { every: 3 rounds }\n";
}

INSTANTIATE_TEST_SUITE_P(
    Fleets,
    TargetRuns,
    testing::Values(
        TargetCase{"Ring", 5, target_quadratic("d-psgd\ntopology: ring", "{ loss: 0.02 }")},
        TargetCase{"Schedule", 6,
                   target_quadratic("d-psgd\ntopology: random-matching", "{ loss: 0.02 }")},
        TargetCase{"AllReduce", 3, target_quadratic("all-reduce", "{ loss: 0.02, for: 3 }")},
        TargetCase{"Servers", 4, target_quadratic("parameter-server", "{ loss: 0.02 }")},
        TargetCase{"Worst", 4,
                   target_blobs("algorithm: d2\ntopology: { kind: ring, weights: lazy }\n",
                                "{ accuracy: 0.71, of: worst }")},
        TargetCase{"Local", 7,
                   target_blobs("algorithm: { kind: choco-sgd, codec: int8 }\ntopology: path\n",
                                "{ loss: 0.8, of: local }")}),
    [](const auto& fleet) { return fleet.param.name; });

}  // namespace
}  // namespace gv
