#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "tests/peer/sim/drawn_quadratic.h"

// BEER and MoTEF, compared with their papers' recursion in double precision on drawn graphs.

namespace gv {
namespace {

using Rows = DrawnQuadratic::Rows;

/// Keeps the larger half of each row's values, as the codec of the fleets here does.
Rows half_of(Rows v) {
  for (Values& row : v) {
    std::vector<std::size_t> by_size(row.size());
    std::iota(by_size.begin(), by_size.end(), 0);
    std::ranges::stable_sort(by_size,
                             [&](auto a, auto b) { return std::abs(row[a]) > std::abs(row[b]); });
    const auto kept = static_cast<std::size_t>(std::round(0.5 * static_cast<double>(row.size())));
    for (std::size_t j = std::max<std::size_t>(kept, 1); j < row.size(); ++j) row[by_size[j]] = 0;
  }
  return v;
}

struct Recursion {
  double gamma = 0.3;
  double lambda = 1;
  bool compresses = true;

  Rows told(const Rows& known, const Rows& v) const {
    const Rows news = DrawnQuadratic::sum(1, v, -1, known);
    return DrawnQuadratic::sum(1, known, 1, compresses ? half_of(news) : news);
  }
  /// X <- X + gamma H (W - I) - eta V, M <- (1 - lambda) M + lambda g, V <- V + gamma G (W - I) + M
  /// - M before. The parts that the codec leaves out of X - H and V - G are sent later: Islamov et
  /// al. 2024, algorithm 1, which is BEER's if lambda is 1. Starts at H_0 = C(X_0), G_0 = C(V_0).
  Rows after(const DrawnQuadratic& q, int rounds) const {
    const auto flowed = [&](const Rows& v, const Rows& known) {
      return q.sum(1, v, gamma, q.sum(1, q.mixed(known), -1, known));
    };
    Rows x = q.start;
    Rows m = q.gradient(x);
    Rows v = m;
    Rows h = told(q.nothing(), x);
    Rows g = told(q.nothing(), v);
    for (int t = 0; t < rounds; ++t) {
      x = q.sum(1, flowed(x, h), -q.gamma, v);
      h = told(h, x);
      const Rows next = q.sum(1 - lambda, m, lambda, q.gradient(x));
      v = q.sum(1, flowed(v, g), 1, q.sum(1, next, -1, m));
      m = next;
      g = told(g, v);
    }
    return x;
  }
};

DrawnQuadratic drawn_fleet(const char* algorithm, std::uint64_t seed, Recursion& by) {
  DrawnQuadratic drawn(algorithm, seed);
  by.gamma = 0.1 + 0.1 * static_cast<double>(seed % 6);
  by.compresses = seed % 3 != 0;
  drawn.fleet.settings["gamma"] = by.gamma;
  if (by.compresses) drawn.fleet.codec = Codec{.kind = Codec::Kind::top_k, .fraction = 0.5};
  return drawn;
}

TEST(Beer, IsItsPapersRecursion) {
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(seed);
    Recursion by;
    const DrawnQuadratic drawn = drawn_fleet("beer", seed, by);
    expect_near(drawn.run(25), by.after(drawn, 25), 1e-4);
  }
}

TEST(Motef, IsItsPapersRecursion) {
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(seed);
    Recursion by;
    DrawnQuadratic drawn = drawn_fleet("motef", seed, by);
    by.lambda = 0.05 + 0.1 * static_cast<double>(seed % 10);
    drawn.fleet.settings["lambda"] = by.lambda;
    expect_near(drawn.run(25), by.after(drawn, 25), 1e-4);
  }
}

TEST(Motef, OfNewGradientsAloneIsBeerToTheBit) {
  Fleet fleet = restless(8, "motef");
  fleet.codec = Codec{.kind = Codec::Kind::sign};
  fleet.settings = {{"lambda", 1}};
  const std::string hash = run(fleet).hash;
  fleet.algorithm = "beer";
  fleet.settings = {};
  EXPECT_EQ(run(fleet).hash, hash);
}

/// Returns how far peers with different data end from the optimum, at a tenth of each vector.
double beer_bias(const char* algorithm) {
  Fleet fleet = quadratic_fleet(8, "ring", algorithm, "");
  fleet.data.quadratic = {
      .dimension = 20, .hessian = {1, 0.5}, .noise = 0, .spread = 1, .start = 0.5, .centers = {}};
  fleet.codec = Codec{.kind = Codec::Kind::top_k, .fraction = 0.1};
  fleet.optimizer.lr = 0.02;
  fleet.stop.rounds = 4000;
  const Result result = run(fleet);
  double largest = 0;
  for (std::size_t k = 0; k < 20; ++k) {
    double optimum = 0;
    for (const Values& x : result.x) optimum += x[k] / 8;
    for (const Values& x : result.x) largest = std::max(largest, std::abs(x[k] - optimum));
  }
  return largest;
}

TEST(CompressedTracking, LeavesNoBias) {
  EXPECT_LT(beer_bias("beer"), 1e-4);
  EXPECT_LT(beer_bias("motef"), 1e-4);
  EXPECT_GT(beer_bias("choco-sgd"), 0.05);
}

/// Sends two vectors in each round, both compressed.
TEST(CompressedTracking, SendsTwiceWhatChocoSends) {
  const auto bytes = [](const char* algorithm) {
    Fleet fleet = quadratic_fleet(6, "ring", algorithm, "");
    fleet.data.quadratic.dimension = 5000;
    fleet.codec = Codec{.kind = Codec::Kind::top_k, .fraction = 0.01};
    fleet.stop.rounds = 10;
    const Assembly assembly(fleet);
    Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
    simulate(assembly, observer, {});
    std::uint64_t sent = 0;
    for (const auto& [peer, report] : observer.finals()) sent += report.costs.model_bytes;
    return sent;
  };
  EXPECT_EQ(bytes("beer"), 2 * bytes("choco-sgd"));
  EXPECT_EQ(bytes("motef"), 2 * bytes("choco-sgd"));
}

TEST(CompressedTracking, RefusesWhatItCannotTrack) {
  for (const char* algorithm : {"beer", "motef"}) {
    Fleet fleet = quadratic_fleet(8, "ring", algorithm, "");
    EXPECT_EQ(refusal(fleet), "") << algorithm;
    EXPECT_EQ(refusal(quadratic_fleet(8, "random-matching", algorithm, "")), "") << algorithm;
    fleet.local_steps = 2;
    EXPECT_NE(refusal(fleet).find("local_steps must be 1"), std::string::npos) << algorithm;
    EXPECT_NE(refusal(quadratic_fleet(8, "exponential", algorithm, "")).find("directed"),
              std::string::npos);
  }
  Fleet heavy = quadratic_fleet(8, "ring", "motef", "");
  heavy.optimizer.momentum = 0.5;
  EXPECT_NE(refusal(heavy).find("motef brings its own momentum"), std::string::npos);
  EXPECT_NE(refusal(heavy).find("set lambda"), std::string::npos);
}

TEST(CompressedTracking, ResumesWithWhatEachHasTold) {
  for (const char* algorithm : {"beer", "motef"}) {
    Fleet fleet = restless(6, algorithm);
    fleet.codec = Codec{.kind = Codec::Kind::top_k, .fraction = 0.2};
    expect_it_resumes(fleet);
  }
}

}  // namespace
}  // namespace gv
