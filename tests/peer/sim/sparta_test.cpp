#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "gossip/seam/traffic.h"
#include "tests/peer/sim/drawn_quadratic.h"

namespace gv {
namespace {

using Rows = DrawnQuadratic::Rows;

double apart(const Rows& a, const Rows& b, std::size_t k) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i][k] - b[i][k]));
  return most;
}

/// A coordinate is averaged at all peers or at none in each round. Their number is that of the
/// file, the choice changes, and over many rounds each coordinate has its turn.
TEST(Sparta, AveragesSomeCoordinatesAlikeAtAllPeers) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    DrawnQuadratic drawn("sparta", seed);
    drawn.fleet.settings = {{"p", 0.4}};
    const std::size_t d = drawn.start[0].size();
    const std::size_t part = std::max<std::size_t>(
        1, static_cast<std::size_t>(std::lround(0.4 * static_cast<double>(d))));
    std::set<std::set<std::size_t>> choices;
    std::set<std::size_t> chosen;
    Rows x = drawn.start;
    for (Round round = 1; round <= 20; ++round) {
      const Rows alone = drawn.sum(1, x, -drawn.gamma, drawn.gradient(x));
      const Rows mixed = drawn.mixed(alone);
      x = drawn.run(round);
      std::set<std::size_t> averaged;
      for (std::size_t k = 0; k < d; ++k) {
        const bool at_all = apart(x, mixed, k) < 1e-5;
        EXPECT_NE(at_all, apart(x, alone, k) < 1e-5) << "round " << round << ", coordinate " << k;
        if (at_all) averaged.insert(k);
      }
      EXPECT_EQ(averaged.size(), part) << "round " << round;
      choices.insert(averaged);
      chosen.insert(averaged.begin(), averaged.end());
    }
    EXPECT_EQ(chosen.size(), d);
    EXPECT_GT(choices.size(), part < d ? 1U : 0U);
  }
}

TEST(Sparta, OfAllCoordinatesIsDPsgd) {
  Fleet fleet = restless(8, "sparta");
  fleet.local_steps = 2;
  fleet.settings = {{"p", 1}};
  const Result sparta = run(fleet);
  fleet.algorithm = "d-psgd";
  fleet.order = "atc";
  expect_near(run(fleet), sparta, 1e-4);
}

/// A message has four bytes for each averaged coordinate, and a seed that determines the choice.
TEST(Sparta, SendsNoIndices) {
  Fleet fleet = quadratic_fleet(4, "ring", "sparta", "");
  fleet.data.quadratic.dimension = 100'000;
  fleet.settings = {{"p", 0.01}};
  fleet.stop.rounds = 7;
  const Assembly assembly(fleet);
  Observer observer(4, assembly.evaluator(), {});
  simulate(assembly, observer, {});
  for (const auto& [peer, report] : observer.finals())
    EXPECT_EQ(report.costs.model_bytes, 7U * 2 * (1000 * 4 + 8)) << peer;
}

std::unique_ptr<Buffer> encoded(const Codec& codec, const Values& values) {
  const std::vector<float> floats(values.begin(), values.end());
  auto out = std::make_unique<Buffer>(codec.bytes(values.size()));
  encode(codec, floats, {out->data(), out->size()});
  return out;
}

/// Two ends in different rounds have drawn different coordinates, so one end's zero does not
/// correspond to a value of the other.
TEST(Sparta, NothingFlowsBetweenDifferentDraws) {
  const Traffic traffic{.codec = Codec{.kind = Codec::Kind::random_k, .fraction = 0.5},
                        .drawn_alike = true};
  Values ours;
  Values theirs;
  for (int k = 0; k < 40; ++k) {
    ours.push_back(k + 1);
    theirs.push_back(-k - 1);
  }
  const auto flow = [&](std::uint64_t our_draw, std::uint64_t their_draw) {
    Codec mine = *traffic.codec;
    Codec yours = *traffic.codec;
    mine.draw = our_draw;
    yours.draw = their_draw;
    Buffer a(40 * sizeof(float));
    Buffer b(40 * sizeof(float));
    decode_halves(traffic, *encoded(yours, theirs), *encoded(mine, ours), a, b);
    int moved = 0;
    for (std::size_t k = 0; k < 40; ++k) moved += a.floats()[k] != b.floats()[k] ? 1 : 0;
    return moved;
  };
  EXPECT_EQ(flow(5, 5), 20);
  EXPECT_EQ(flow(5, 6), 0);
}

TEST(Sparta, ResumesAndRefusesToBeClipped) {
  Fleet fleet = restless(6, "sparta");
  fleet.settings = {{"p", 0.3}};
  expect_it_resumes(fleet);
  const std::string why = objection_to_clipping(*find_algorithm("sparta", ""), setup_of(fleet));
  EXPECT_NE(why.find("how far whole models are apart"), std::string::npos) << why;
}

}  // namespace
}  // namespace gv
