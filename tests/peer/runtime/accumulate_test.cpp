#include <cmath>

#include <gtest/gtest.h>

#include "tests/peer/fleet/fleet_file.h"
#include "tests/peer/sim/drawn_quadratic.h"

// `train.optimizer.accumulate` in fleets: decentralized Adam with accumulation, and its refusals.

namespace gv {
namespace {

using Rows = DrawnQuadratic::Rows;

/// Wang et al. 2025, Algorithm 2 with the moments of Appendix C: x_{t+1} = W x_t plus a step from
/// each peer's moments of its gradient at x_t.
Rows accumulated(const DrawnQuadratic& q, const OptimizerSpec& spec, int rounds) {
  Rows x = q.start;
  std::vector<Rows> gradients;
  for (int t = 0; t < rounds; ++t) {
    gradients.push_back(q.gradient(x));
    Rows next = q.mixed(x);
    const auto begun = static_cast<double>((gradients.size() - 1) / spec.accumulate + 1);
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t k = 0; k < x[i].size(); ++k) {
        double first = 0;
        double second = 0;
        // The window that ends with this step counts from the next step on.
        for (std::size_t w = 0; w * spec.accumulate + spec.accumulate < gradients.size(); ++w) {
          double mean = 0;
          for (std::size_t j = 0; j < spec.accumulate; ++j)
            mean += gradients[w * spec.accumulate + j][i][k] / static_cast<double>(spec.accumulate);
          first += (1 - spec.beta1) * (mean - first);
          second += (1 - spec.beta2) * (mean * mean - second);
        }
        const double g = gradients.back()[i][k];
        const double m =
            (first + (1 - spec.beta1) * (g - first)) / (1 - std::pow(spec.beta1, begun));
        const double v =
            (second + (1 - spec.beta2) * (g * g - second)) / (1 - std::pow(spec.beta2, begun));
        next[i][k] -=
            spec.lr * (m / (std::sqrt(v) + spec.epsilon) + spec.weight_decay * next[i][k]);
      }
    }
    x = next;
  }
  return x;
}

TEST(Accumulate, IsDecentralizedAdamWithAccumulation) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    DrawnQuadratic drawn("d-psgd", seed);
    Rng rng = Rng(seed).derive("accumulate");
    OptimizerSpec& spec = drawn.fleet.optimizer;
    drawn.fleet.order = "lian";
    spec.kind = "adamw";
    spec.accumulate = 2 + rng.below(5);
    spec.beta1 = 0.9 * rng.uniform();
    spec.beta2 = 0.9 + 0.09 * rng.uniform();
    spec.epsilon = 0.1;
    spec.weight_decay = 0.2 * rng.uniform();
    expect_near(drawn.run(25), accumulated(drawn, spec, 25), 1e-4);
  }
}

Fleet restless_adam(const std::string& kind, const std::string& algorithm) {
  Fleet fleet = restless(5, algorithm);
  fleet.optimizer.kind = kind;
  fleet.optimizer.lr = 0.01;
  fleet.optimizer.accumulate = 3;
  return fleet;
}

TEST(Accumulate, ResumesWithinAWindow) {
  for (const char* kind : {"adam", "adamw"})
    for (const char* algorithm : {"d-psgd", "gradient-tracking", "local-sgd", "parameter-server"})
      expect_it_resumes(restless_adam(kind, algorithm));
}

TEST(Accumulate, MakesAnotherFleet) {
  Fleet fleet = restless_adam("adam", "d-psgd");
  const std::string hash = run(fleet).hash;
  fleet.optimizer.accumulate = 1;
  EXPECT_NE(run(fleet).hash, hash);
}

std::string why_not(const std::string& optimizer) {
  try {
    const Assembly fleet(read(quadratic + "train: { optimizer: " + optimizer + "\n"));
  } catch (const FleetError& wrong) {
    return wrong.what();
  }
  return "";
}

TEST(Accumulate, IsAnOptionOfAdamOnTheCpu) {
  EXPECT_EQ(why_not("{ kind: adam, accumulate: 4 } }"), "");
  EXPECT_EQ(why_not("{ kind: adamw, accumulate: 4 }, device: auto }"), "");
  EXPECT_NE(why_not("{ kind: sgd, accumulate: 4 } }").find("accumulate"), std::string::npos);
  EXPECT_NE(why_not("{ kind: adam, accumulate: 0 } }").find("accumulate"), std::string::npos);
  EXPECT_NE(why_not("{ kind: adam, accumulate: 1000001 } }").find("accumulate"), std::string::npos);
  EXPECT_NE(why_not("{ kind: adamw, accumulate: 4 }, device: cuda }").find("on the CPU only"),
            std::string::npos);
}

TEST(Accumulate, IsPartOfTheDigestWhereItIsSet) {
  const auto digest = [](const std::string& more) {
    return read(quadratic + "train: { optimizer: { kind: adam" + more + " } }\n").digest;
  };
  EXPECT_EQ(digest(""), digest(", accumulate: 1"));
  EXPECT_NE(digest(""), digest(", accumulate: 2"));
  EXPECT_NE(digest(", accumulate: 3"), digest(", accumulate: 2"));
}

}  // namespace
}  // namespace gv
