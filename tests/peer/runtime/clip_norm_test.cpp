#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "peer/fleet/fleet_setup.h"
#include "tests/peer/fleet/fleet_file.h"
#include "tests/peer/sim/four_peers.h"

// `train.optimizer.clip_norm`: each peer's gradient is clipped before any other use.

namespace gv {
namespace {

constexpr double norm = 0.7;

/// Clips a gradient of one coordinate.
double shortened(double g) {
  return std::abs(g) > norm ? std::copysign(norm, g) : g;
}

Values clipped_gradients(const Values& x) {
  Values g(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) g[i] = shortened(x[i] - centers[i]);
  return g;
}

Fleet clipping(const std::string& algorithm, const std::string& order) {
  Fleet fleet = four("ring", algorithm);
  fleet.order = order;
  fleet.optimizer.clip_norm = norm;
  fleet.stop.rounds = 20;
  return fleet;
}

TEST(ClipNorm, ShortensEachGradientBeforeTheStep) {
  Values x = begin;
  for (int t = 0; t < 20; ++t) {
    const Values g = clipped_gradients(x);
    for (std::size_t i = 0; i < 4; ++i) x[i] -= gamma * g[i];
    x = ring_mean(x);
  }
  expect_near(first_coordinates(run(clipping("d-psgd", "atc"), begin)), x, 1e-5);
}

/// Peers send clipped gradients. Their sum is not clipped.
TEST(ClipNorm, ShortensBeforeGradientsAreSummed) {
  Values x(4, 5);
  for (int t = 0; t < 20; ++t) {
    const Values g = mean_of(clipped_gradients(x));
    for (std::size_t i = 0; i < 4; ++i) x[i] -= gamma * g[i];
  }
  for (const char* order : {"ring", "driver"})
    expect_near(first_coordinates(run(clipping("all-reduce", order), {5, 5, 5, 5})), x, 1e-5);
}

std::string why(const std::string& more) {
  try {
    const Assembly fleet(read(quadratic + more));
  } catch (const FleetError& wrong) {
    return wrong.what();
  }
  return "";
}

TEST(ClipNorm, IsRefusedWhereNobodySeesAWholeGradient) {
  const std::string clip = "train: { optimizer: { clip_norm: 1 } }\n";
  EXPECT_EQ(why(clip), "");
  EXPECT_NE(why(clip + "algorithm: flexrr\n").find("computed in parts"), std::string::npos);
  EXPECT_NE(why("train: { optimizer: { clip_norm: 1 }, device: cuda }\n").find("on the CPU only"),
            std::string::npos);
  EXPECT_NE(why("train: { optimizer: { clip_norm: -1 } }\n").find("0"), std::string::npos);
}

/// With clipping, these methods end 24 % off the optimum that they reach without it.
TEST(ClipNorm, IsRefusedByMethodsThatEndAtTheOptimumOfAll) {
  std::vector<std::string> refusing;
  for (const AlgorithmRow* row : algorithms()) {
    gv::Setup setup = setup_of(read(quadratic));
    setup.optimizer.clip_norm = 1;
    const std::string because = objection_to(*row, setup, nullptr);
    if (because.find("ends at the optimum of all peers' data") != std::string::npos)
      refusing.emplace_back(row->kind);
  }
  for (const std::string kind :
       {"d2", "extra", "nids", "led", "proxskip", "gradient-tracking", "aug-dgm",
        "momentum-tracking", "gt-adam", "k-gt", "gut", "beer", "scaffold"})
    EXPECT_GT(std::ranges::count(refusing, kind), 0) << kind;
  EXPECT_EQ(std::ranges::count(refusing, "d-psgd"), 0);
  EXPECT_EQ(why("train: { optimizer: { clip_norm: 1 } }\nalgorithm: d-psgd\n"), "");
}

TEST(ClipNorm, IsPartOfTheDigestWhereItIsSet) {
  EXPECT_EQ(read(quadratic).digest,
            read(quadratic + "train: { optimizer: { clip_norm: 0 } }\n").digest);
  EXPECT_NE(read(quadratic).digest,
            read(quadratic + "train: { optimizer: { clip_norm: 1 } }\n").digest);
  EXPECT_NE(read(quadratic + "train: { optimizer: { clip_norm: 2 } }\n").digest,
            read(quadratic + "train: { optimizer: { clip_norm: 1 } }\n").digest);
}

}  // namespace
}  // namespace gv
