#include <algorithm>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "graph/predict/quadratic.h"
#include "graph/spectrum/modes.h"
#include "graph/topologies.h"
#include "tests/graph/predict/peer_by_peer.h"
#include "tests/graph/reference_graphs.h"

namespace gv {
namespace {

using peer_by_peer::Algorithm;
using peer_by_peer::Vector;

// Compares the predictions with the algorithms themselves, by iterating their covariance until it
// is stationary.

/// Means over a period of functions of x's second moments, in the stationary state.
struct Expected {
  double consensus = 0, mean_square = 0, local_square = 0;
};

/// n e_i - 1 is orthogonal to the mean and sums, over i, to a white spread.
void observe(Expected& e, const Vector& x, double weight) {
  const auto n = static_cast<double>(x.size());
  double mean = 0;
  double square = 0;
  for (const double v : x) {
    mean += v / n;
    square += v * v / n;
  }
  e.consensus += weight * (square - mean * mean);
  e.mean_square += weight * mean * mean;
  e.local_square += weight * square;
}

/// Iterates every unit of noise, and of a centre's deviation, to its end: the stationary second
/// moment is the sum of the squared impulse responses.
Expected brute_force(const Algorithm& a, const QuadraticFleet& f, PeerId n) {
  Expected e;
  const std::size_t period = a.rounds.size();
  const Vector silence(a.gradients * n, 0.0);
  const Vector nothing(n, 0.0);
  for (std::size_t phase = 0; phase < period; ++phase) {
    for (std::size_t unit = 0; unit < a.gradients * n; ++unit) {
      Vector state(a.blocks * n, 0.0);
      Vector impulse = silence;
      impulse[unit] = 1;
      for (std::size_t t = 0; t < 1500; ++t) {
        a.rounds[(phase + t) % period](state, t == 0 ? impulse : silence, nothing);
        observe(e, peer_by_peer::block(state, 0, n), f.noise / static_cast<double>(period));
      }
    }
  }
  for (PeerId i = 0; i < n; ++i) {
    Vector centers(n, -1.0 / n);
    centers[i] += 1;
    Vector state(a.blocks * n, 0.0);
    for (std::size_t t = 0; t < 1500; ++t) a.rounds[t % period](state, silence, centers);
    for (std::size_t t = 0; t < period; ++t) {
      a.rounds[t](state, silence, centers);
      observe(e, peer_by_peer::block(state, 0, n), f.spread / static_cast<double>(period));
    }
  }
  return e;
}

void expect_prediction(const Modes& modes,
                       const Algorithm& algorithm,
                       const QuadraticFleet& fleet,
                       const std::string& what) {
  SCOPED_TRACE(what);
  const Expected e = brute_force(algorithm, fleet, modes.peers);
  const std::optional<Stationary> s = predict(modes, fleet);
  ASSERT_TRUE(s.has_value());
  const double h = fleet.hessian[0];
  EXPECT_NEAR(s->consensus.value, e.consensus, 1e-9 * e.local_square);
  EXPECT_NEAR(2 / h * s->excess_mean.value, e.mean_square, 1e-9 * e.local_square);
  EXPECT_NEAR(2 / h * s->excess_local.value, e.local_square, 1e-9 * e.local_square);
}

QuadraticFleet noisy(const std::string& order) {
  return {.hessian = {0.8}, .noise = 1.7, .spread = 0.6, .rate = 0.1, .order = order};
}

TEST(PredictLyapunov, EveryOrderWithMomentumAndLocalSteps) {
  for (const char* family : {"ring", "star", "path", "exponential"}) {
    const std::vector<MixingMatrix> w{metropolis(build(parse_topology(family), 7))};
    const Modes modes = dense_modes(w[0]);
    for (const char* order : {"lian", "atc", "cta"}) {
      for (const auto& [momentum, local_steps] :
           {std::pair{0.0, 1U}, std::pair{0.6, 1U}, std::pair{0.0, 4U}, std::pair{0.6, 3U}}) {
        QuadraticFleet f = noisy(order);
        f.momentum = momentum;
        f.local_steps = local_steps;
        expect_prediction(modes, peer_by_peer::d_psgd(w, f), f,
                          std::string(family) + " " + order + " " + std::to_string(momentum) + " " +
                              std::to_string(local_steps));
      }
    }
  }
}

TEST(PredictLyapunov, BiasCorrectedMethodsAndStaleness) {
  for (const char* family : {"ring", "grid:2x4"}) {
    const MixingMatrix w = lazy(build(parse_topology(family), 8));
    expect_prediction(dense_modes(w), peer_by_peer::d2(w, noisy("d2")), noisy("d2"), family);
    const MixingMatrix whole = metropolis(build(parse_topology(family), 8));
    expect_prediction(dense_modes(whole), peer_by_peer::d2(w, noisy("nids")), noisy("nids"),
                      family);
    expect_prediction(dense_modes(whole), peer_by_peer::extra(whole, noisy("extra")),
                      noisy("extra"), family);
    const QuadraticFleet tracking = noisy("gradient-tracking");
    expect_prediction(dense_modes(w), peer_by_peer::gradient_tracking(w, tracking), tracking,
                      family);
    expect_prediction(dense_modes(whole), peer_by_peer::aug_dgm(whole, noisy("aug-dgm")),
                      noisy("aug-dgm"), family);
    for (const double momentum : {0.0, 0.7}) {
      QuadraticFleet heavy = noisy("decentlam");
      heavy.momentum = momentum;
      expect_prediction(dense_modes(whole), peer_by_peer::decentlam(whole, heavy), heavy, family);
      heavy.order = "gut";
      expect_prediction(dense_modes(w), peer_by_peer::gut(w, heavy), heavy, family);
      heavy.order = "momentum-tracking";
      expect_prediction(dense_modes(whole), peer_by_peer::momentum_tracking(whole, heavy), heavy,
                        family);
    }
    for (const double gamma : {0.6, 1.0}) {
      QuadraticFleet compressed = noisy("beer");
      compressed.consensus_step = gamma;
      expect_prediction(dense_modes(whole), peer_by_peer::beer(whole, compressed), compressed,
                        family);
      compressed.order = "motef";
      compressed.momentum = 0.8;
      expect_prediction(dense_modes(whole), peer_by_peer::beer(whole, compressed), compressed,
                        family);
    }
    for (const unsigned local_steps : {1U, 4U}) {
      QuadraticFleet local = noisy("led");
      local.local_steps = local_steps;
      expect_prediction(dense_modes(w), peer_by_peer::led(w, local), local, family);
      local.order = "k-gt";
      expect_prediction(dense_modes(whole), peer_by_peer::k_gt(whole, local), local, family);
    }
  }
  const MixingMatrix ring = metropolis(build(parse_topology("ring"), 8));
  for (const unsigned rounds : {1U, 3U}) {
    QuadraticFleet f = noisy("lian");
    f.staleness = rounds;
    f.self_weight = 1.0 / 3;
    expect_prediction(dense_modes(ring), peer_by_peer::stale(ring, f), f, "stale");
  }
}

/// x_i <- (x_i + x_{i - 2^t}) / 2.
MixingMatrix one_peer(PeerId n, PeerId hop) {
  std::vector<Neighborhood> rows;
  for (PeerId i = 0; i < n; ++i) rows.push_back({0.5, {(i + n - hop) % n}, {0.5}, {}});
  return {std::move(rows), true};
}

TEST(PredictLyapunov, OnePeerExponential) {
  for (const PeerId n : {6U, 8U}) {
    std::vector<MixingMatrix> sequence;
    for (PeerId hop = 1; hop < n; hop *= 2) sequence.push_back(one_peer(n, hop));
    for (const char* order : {"lian", "atc", "cta"}) {
      QuadraticFleet f = noisy(order);
      expect_prediction(modes_of_schedule("one-peer-exponential", n),
                        peer_by_peer::d_psgd(sequence, f), f, order);
      f.momentum = 0.5;
      expect_prediction(modes_of_schedule("one-peer-exponential", n),
                        peer_by_peer::d_psgd(sequence, f), f, order);
    }
  }
}

/// All 15 perfect matchings of 6 peers, equally likely: the covariance's expectation, iterated.
TEST(PredictLyapunov, RandomMatching) {
  std::vector<std::vector<PeerId>> partners;
  const std::function<void(std::vector<PeerId>)> match = [&](std::vector<PeerId> p) {
    const auto first = static_cast<std::size_t>(std::ranges::find(p, 6U) - p.begin());
    if (first == 6) return partners.push_back(p);
    for (std::size_t j = first + 1; j < 6; ++j) {
      if (p[j] != 6) continue;
      std::vector<PeerId> next = p;
      next[first] = static_cast<PeerId>(j);
      next[j] = static_cast<PeerId>(first);
      match(next);
    }
  };
  match(std::vector<PeerId>(6, 6));
  ASSERT_EQ(partners.size(), 15U);
  const double rate = 0.1;
  for (const std::string order : {"lian", "atc", "cta"}) {
    std::vector<Vector> p(6, Vector(6, 0.0));
    for (int round = 0; round < 1000; ++round) {
      std::vector<Vector> sum(6, Vector(6, 0.0));
      for (const auto& partner : partners) {
        // z_i <- sum over {i, partner i} of a weight each: the matrix has two entries per row.
        const double self = order == "lian" ? 0.5 - rate : 0.5 * (1 - rate);
        const double other = order == "lian" ? 0.5 : 0.5 * (1 - rate);
        const double noise = rate * rate;
        for (std::size_t i = 0; i < 6; ++i) {
          for (std::size_t j = 0; j < 6; ++j) {
            const std::size_t a = partner[i];
            const std::size_t b = partner[j];
            sum[i][j] += self * self * p[i][j] + self * other * (p[i][b] + p[a][j]) +
                         other * other * p[a][b];
            if (order == "atc") {
              sum[i][j] += i == j || a == j ? noise / 2 : 0;
            } else {
              sum[i][j] += i == j ? noise : 0;
            }
          }
        }
      }
      for (Vector& row : sum)
        for (double& value : row) value /= 15;
      p = sum;
    }
    double trace = 0;
    double mean = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      trace += p[i][i];
      for (std::size_t j = 0; j < 6; ++j) mean += p[i][j] / 6;
    }
    const Stationary s =
        predict(modes_of_schedule("random-matching", 6), {.rate = rate, .order = order}).value();
    EXPECT_NEAR(s.consensus.value, (trace - mean) / 6, 1e-14) << order;
    EXPECT_NEAR(s.excess_local.value, trace / 12, 1e-14) << order;
  }
}

}  // namespace
}  // namespace gv
