#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peer/runtime/assembly/assembly.h"
#include "peer/sim/simulation.h"

// `train.peer_weights: samples`: the fleet learns the mean over samples. Shares of 405 to 14,926
// samples once counted alike, so the fleet learnt another objective, which no correction removes.

namespace gv {
namespace {

std::string fleet(const std::string& method, const std::string& more, PeerId peers = 4) {
  return fmt::format(
      "version: 1\nseed: 3\npeers: {}\ndata: {{ kind: linear, train: 240, test: 240, features: 3, "
      "noise: 1, partition: {{ kind: quantity, sizes: [{}] }} }}\nmodel: linear\n{}\n"
      "stop: {{ rounds: 1500 }}\n{}",
      peers, peers == 4 ? "1, 1, 2, 20" : "1", method, more);
}

/// Returns the last mean model of a fleet. Each minibatch is a whole share, so that the mean of the
/// gradients is zero at the end.
std::vector<float> learnt(const std::string& text) {
  const Assembly fleet(read_fleet_text(text));
  Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
  simulate(fleet, observer, {});
  return observer.mean_model();
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += std::pow(double{a[k]} - double{b[k]}, 2);
  return std::sqrt(sum);
}

const std::string rate = "train: { optimizer: { kind: sgd, lr: 0.02 }, batch: 240";

/// Gradient tracking and all-reduce have no bias. They end at the minimum over all samples, which
/// one peer with all samples finds too.
TEST(PeerWeights, BySamplesTheFleetLearnsWhatOnePeerWithAllSamplesDoes) {
  const std::vector<float> alone = learnt(fleet("algorithm: isolated", rate + " }\n", 1));
  for (const std::string method :
       {"algorithm: all-reduce", "algorithm: gradient-tracking\ntopology: ring"}) {
    const std::vector<float> weighted = learnt(fleet(method, rate + ", peer_weights: samples }\n"));
    const std::vector<float> alike = learnt(fleet(method, rate + " }\n"));
    EXPECT_LT(distance(weighted, alone), 0.01) << method;
    EXPECT_GT(distance(alike, alone), 0.03) << method;
  }
}

TEST(PeerWeights, AreRefusedWhereTheyMeanNothing) {
  const auto why = [](const std::string& text) -> std::string {
    try {
      const Assembly fleet(read_fleet_text(text));
    } catch (const FleetError& wrong) {
      return wrong.what();
    }
    return "";
  };
  EXPECT_NE(why(fleet("algorithm: fedavg", "train: { peer_weights: samples }\n"))
                .find("weighs peers by their samples already"),
            std::string::npos);
  EXPECT_NE(why(fleet("topology: ring", "train: { optimizer: adam, peer_weights: samples }\n"))
                .find("steps of Adam and Muon do not grow"),
            std::string::npos);
  EXPECT_NE(why("version: 1\npeers: 2\ndata: quadratic\nmodel: quadratic\nstop: { rounds: 5 }\n"
                "train: { peer_weights: samples }\n")
                .find("a quadratic has no samples"),
            std::string::npos);
}

}  // namespace
}  // namespace gv
