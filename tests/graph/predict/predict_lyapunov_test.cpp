#include <algorithm>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "graph/predict/quadratic.h"
#include "graph/spectrum/modes.h"
#include "graph/topologies.h"
#include "tests/graph/reference_graphs.h"

namespace gv {
namespace {

/// The predictions against the algorithms themselves, written peer by peer as a linear map of
/// everything that is remembered, whose covariance is iterated until it stands still.
using Vector = std::vector<double>;

/// One round on one coordinate: `state` holds blocks of n numbers, the first of them x; `noise` and
/// `centers` (b) hold n numbers per gradient and per peer.
using Round = std::function<void(Vector& state, const Vector& noise, const Vector& centers)>;

struct Algorithm {
  std::size_t blocks = 1;
  std::size_t gradients = 1;
  std::vector<Round> rounds;  ///< of one period
};

Vector mixed(const MixingMatrix& w, const Vector& x) {
  Vector y(x.size());
  w.apply(x.data(), y.data());
  return y;
}

Vector block(const Vector& state, std::size_t k, std::size_t n) {
  return {state.begin() + static_cast<std::ptrdiff_t>(k * n),
          state.begin() + static_cast<std::ptrdiff_t>((k + 1) * n)};
}

void put(Vector& state, std::size_t k, const Vector& values) {
  std::ranges::copy(values, state.begin() + static_cast<std::ptrdiff_t>(k * values.size()));
}

Algorithm d_psgd(const std::vector<MixingMatrix>& sequence, const QuadraticFleet& f) {
  Algorithm a{.blocks = 2, .gradients = f.local_steps, .rounds = {}};
  const double h = f.hessian[0];
  for (const MixingMatrix& w : sequence) {
    a.rounds.push_back([&w, f, h](Vector& state, const Vector& noise, const Vector& b) {
      const std::size_t n = b.size();
      Vector x = block(state, 0, n);
      Vector u = block(state, 1, n);
      const auto direction = [&](const Vector& at, std::size_t step) {
        for (std::size_t i = 0; i < n; ++i)
          u[i] = f.momentum * u[i] + h * (at[i] - b[i]) + noise[step * n + i];
      };
      const auto move = [&] {
        for (std::size_t i = 0; i < n; ++i) x[i] -= f.rate * u[i];
      };
      for (std::size_t step = 0; step + 1 < f.local_steps; ++step) {
        direction(x, step);
        move();
      }
      if (f.order == "cta") x = mixed(w, x);
      direction(x, f.local_steps - 1);
      if (f.order == "lian") x = mixed(w, x);
      move();
      if (f.order == "atc") x = mixed(w, x);
      put(state, 0, x);
      put(state, 1, u);
    });
  }
  return a;
}

/// x <- W (2 x - x_ - gamma (g - g_)), with x_0 = 0 and g_ = 0 before it: the first round is one of
/// D-PSGD.
Algorithm d2(const MixingMatrix& w, const QuadraticFleet& f) {
  return {.blocks = 3, .rounds = {[&w, f](Vector& state, const Vector& noise, const Vector& b) {
                         const std::size_t n = b.size();
                         const Vector x = block(state, 0, n);
                         const Vector last = block(state, 1, n);
                         const Vector last_g = block(state, 2, n);
                         Vector g(n);
                         Vector y(n);
                         for (std::size_t i = 0; i < n; ++i) {
                           g[i] = f.hessian[0] * (x[i] - b[i]) + noise[i];
                           y[i] = 2 * x[i] - last[i] - f.rate * (g[i] - last_g[i]);
                         }
                         put(state, 0, mixed(w, y));
                         put(state, 1, x);
                         put(state, 2, g);
                       }}};
}

/// x <- x + W x - (x_ + W x_) / 2 - gamma (g - g_), with x_ = 0 and g_ = 0 before the first round.
Algorithm extra(const MixingMatrix& w, const QuadraticFleet& f) {
  return {.blocks = 3, .rounds = {[&w, f](Vector& state, const Vector& noise, const Vector& b) {
                         const std::size_t n = b.size();
                         const Vector x = block(state, 0, n);
                         const Vector last = block(state, 1, n);
                         const Vector last_g = block(state, 2, n);
                         const Vector wx = mixed(w, x);
                         const Vector w_last = mixed(w, last);
                         Vector g(n);
                         Vector next(n);
                         for (std::size_t i = 0; i < n; ++i) {
                           g[i] = f.hessian[0] * (x[i] - b[i]) + noise[i];
                           next[i] = x[i] + wx[i] - (last[i] + w_last[i]) / 2 -
                                     f.rate * (g[i] - last_g[i]);
                         }
                         put(state, 0, next);
                         put(state, 1, x);
                         put(state, 2, g);
                       }}};
}

/// x <- W (x - gamma y), y <- W y + g - g_, with g at the new x.
Algorithm gradient_tracking(const MixingMatrix& w, const QuadraticFleet& f) {
  return {.blocks = 3, .rounds = {[&w, f](Vector& state, const Vector& noise, const Vector& b) {
                         const std::size_t n = b.size();
                         Vector x = block(state, 0, n);
                         const Vector y = block(state, 1, n);
                         for (std::size_t i = 0; i < n; ++i) x[i] -= f.rate * y[i];
                         x = mixed(w, x);
                         Vector tracked = mixed(w, y);
                         const Vector last_g = block(state, 2, n);
                         Vector g(n);
                         for (std::size_t i = 0; i < n; ++i) {
                           g[i] = f.hessian[0] * (x[i] - b[i]) + noise[i];
                           tracked[i] += g[i] - last_g[i];
                         }
                         put(state, 0, x);
                         put(state, 1, tracked);
                         put(state, 2, g);
                       }}};
}

/// x <- W (x - gamma y), y <- W (y + g - g_), with g at the new x.
Algorithm aug_dgm(const MixingMatrix& w, const QuadraticFleet& f) {
  return {.blocks = 3, .rounds = {[&w, f](Vector& state, const Vector& noise, const Vector& b) {
                         const std::size_t n = b.size();
                         Vector x = block(state, 0, n);
                         Vector y = block(state, 1, n);
                         const Vector last_g = block(state, 2, n);
                         for (std::size_t i = 0; i < n; ++i) x[i] -= f.rate * y[i];
                         x = mixed(w, x);
                         Vector g(n);
                         for (std::size_t i = 0; i < n; ++i) {
                           g[i] = f.hessian[0] * (x[i] - b[i]) + noise[i];
                           y[i] += g[i] - last_g[i];
                         }
                         put(state, 0, x);
                         put(state, 1, mixed(w, y));
                         put(state, 2, g);
                       }}};
}

/// u <- beta u + g, x <- W (x - gamma (u - c)), c <- W (c - u) + u. The round that is looked at
/// begins behind the gradient: x is that of the gradient before.
Algorithm momentum_tracking(const MixingMatrix& w, const QuadraticFleet& f) {
  return {.blocks = 3, .rounds = {[&w, f](Vector& state, const Vector& noise, const Vector& b) {
                         const std::size_t n = b.size();
                         Vector x = block(state, 0, n);
                         Vector c = block(state, 1, n);
                         Vector u = block(state, 2, n);
                         Vector along(n);
                         for (std::size_t i = 0; i < n; ++i) {
                           along[i] = u[i] - c[i];
                           x[i] -= f.rate * along[i];
                         }
                         x = mixed(w, x);
                         const Vector mean = mixed(w, along);
                         for (std::size_t i = 0; i < n; ++i) {
                           c[i] = u[i] - mean[i];
                           u[i] = f.momentum * u[i] + f.hessian[0] * (x[i] - b[i]) + noise[i];
                         }
                         put(state, 0, x);
                         put(state, 1, c);
                         put(state, 2, u);
                       }}};
}

/// x_half = x - gamma g, g~ = (x - W x_half) / gamma, m <- beta m + g~, x <- x - gamma m.
Algorithm decentlam(const MixingMatrix& w, const QuadraticFleet& f) {
  return {.blocks = 2, .rounds = {[&w, f](Vector& state, const Vector& noise, const Vector& b) {
                         const std::size_t n = b.size();
                         Vector x = block(state, 0, n);
                         Vector m = block(state, 1, n);
                         Vector half = x;
                         for (std::size_t i = 0; i < n; ++i)
                           half[i] -= f.rate * (f.hessian[0] * (x[i] - b[i]) + noise[i]);
                         const Vector mean = mixed(w, half);
                         for (std::size_t i = 0; i < n; ++i) {
                           m[i] = f.momentum * m[i] + (x[i] - mean[i]) / f.rate;
                           x[i] -= f.rate * m[i];
                         }
                         put(state, 0, x);
                         put(state, 1, m);
                       }}};
}

/// z = W x, delta = g(z) - (z - x) / gamma, y = delta + mu ((last x - z) / gamma - last delta), x
/// <- x - gamma y: as the paper has it.
Algorithm gut(const MixingMatrix& w, const QuadraticFleet& f) {
  return {.blocks = 3,
          .rounds = {[&w, f](Vector& state, const Vector& noise, const Vector& b) {
            const std::size_t n = b.size();
            const Vector x = block(state, 0, n);
            const Vector last = block(state, 1, n);
            Vector delta = block(state, 2, n);
            const Vector z = mixed(w, x);
            Vector next(n);
            for (std::size_t i = 0; i < n; ++i) {
              const double before = delta[i];
              delta[i] = f.hessian[0] * (z[i] - b[i]) + noise[i] - (z[i] - x[i]) / f.rate;
              next[i] =
                  x[i] - f.rate * (delta[i] + f.momentum * ((last[i] - z[i]) / f.rate - before));
            }
            put(state, 0, next);
            put(state, 1, x);
            put(state, 2, delta);
          }}};
}

/// tau steps phi <- phi - gamma g - y / tau from x, x <- W phi, y <- y + phi - x.
Algorithm led(const MixingMatrix& w, const QuadraticFleet& f) {
  return {.blocks = 2,
          .gradients = f.local_steps,
          .rounds = {[&w, f](Vector& state, const Vector& noise, const Vector& b) {
            const std::size_t n = b.size();
            Vector phi = block(state, 0, n);
            Vector y = block(state, 1, n);
            for (std::size_t t = 0; t < f.local_steps; ++t)
              for (std::size_t i = 0; i < n; ++i)
                phi[i] -= f.rate * (f.hessian[0] * (phi[i] - b[i]) + noise[t * n + i]) +
                          y[i] / f.local_steps;
            const Vector x = mixed(w, phi);
            for (std::size_t i = 0; i < n; ++i) y[i] += phi[i] - x[i];
            put(state, 0, x);
            put(state, 1, y);
          }}};
}

/// K steps along g + c from x, z = (x - x_K) / (K gamma), x <- W x_K, c <- c - z + W z.
Algorithm k_gt(const MixingMatrix& w, const QuadraticFleet& f) {
  return {.blocks = 2,
          .gradients = f.local_steps,
          .rounds = {[&w, f](Vector& state, const Vector& noise, const Vector& b) {
            const std::size_t n = b.size();
            const Vector x = block(state, 0, n);
            Vector c = block(state, 1, n);
            Vector own = x;
            for (std::size_t t = 0; t < f.local_steps; ++t)
              for (std::size_t i = 0; i < n; ++i)
                own[i] -= f.rate * (f.hessian[0] * (own[i] - b[i]) + noise[t * n + i] + c[i]);
            Vector z(n);
            for (std::size_t i = 0; i < n; ++i) z[i] = (x[i] - own[i]) / (f.local_steps * f.rate);
            const Vector mean = mixed(w, z);
            for (std::size_t i = 0; i < n; ++i) c[i] += mean[i] - z[i];
            put(state, 0, mixed(w, own));
            put(state, 1, c);
          }}};
}

Algorithm stale(const MixingMatrix& w, const QuadraticFleet& f) {
  return {.blocks = f.staleness + 1,
          .rounds = {[&w, f](Vector& state, const Vector& noise, const Vector& b) {
            const std::size_t n = b.size();
            const Vector x = block(state, 0, n);
            const Vector old = block(state, f.staleness, n);
            Vector next = mixed(w, old);
            for (std::size_t i = 0; i < n; ++i) {
              const double self = w.row(static_cast<PeerId>(i)).self;
              next[i] +=
                  self * (x[i] - old[i]) - f.rate * (f.hessian[0] * (x[i] - b[i]) + noise[i]);
            }
            for (std::size_t k = f.staleness; k > 0; --k) put(state, k, block(state, k - 1, n));
            put(state, 0, next);
          }}};
}

/// Mean over a period, in the stationary state, of what x's second moments say.
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

/// Runs every unit of noise, and of a centre's deviation, to its end: the stationary second moment
/// is the sum of the squares of the impulse responses.
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
        observe(e, block(state, 0, n), f.noise / static_cast<double>(period));
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
      observe(e, block(state, 0, n), f.spread / static_cast<double>(period));
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
        expect_prediction(modes,
                          d_psgd(w, f),
                          f,
                          std::string(family) + " " + order + " " + std::to_string(momentum) + " " +
                              std::to_string(local_steps));
      }
    }
  }
}

TEST(PredictLyapunov, BiasCorrectedMethodsAndStaleness) {
  for (const char* family : {"ring", "grid:2x4"}) {
    const MixingMatrix w = lazy(build(parse_topology(family), 8));
    expect_prediction(dense_modes(w), d2(w, noisy("d2")), noisy("d2"), family);
    const MixingMatrix whole = metropolis(build(parse_topology(family), 8));
    expect_prediction(dense_modes(whole), d2(w, noisy("nids")), noisy("nids"), family);
    expect_prediction(dense_modes(whole), extra(whole, noisy("extra")), noisy("extra"), family);
    const QuadraticFleet tracking = noisy("gradient-tracking");
    expect_prediction(dense_modes(w), gradient_tracking(w, tracking), tracking, family);
    expect_prediction(
        dense_modes(whole), aug_dgm(whole, noisy("aug-dgm")), noisy("aug-dgm"), family);
    for (const double momentum : {0.0, 0.7}) {
      QuadraticFleet heavy = noisy("decentlam");
      heavy.momentum = momentum;
      expect_prediction(dense_modes(whole), decentlam(whole, heavy), heavy, family);
      heavy.order = "gut";
      expect_prediction(dense_modes(w), gut(w, heavy), heavy, family);
      heavy.order = "momentum-tracking";
      expect_prediction(dense_modes(whole), momentum_tracking(whole, heavy), heavy, family);
    }
    for (const unsigned local_steps : {1U, 4U}) {
      QuadraticFleet local = noisy("led");
      local.local_steps = local_steps;
      expect_prediction(dense_modes(w), led(w, local), local, family);
      local.order = "k-gt";
      expect_prediction(dense_modes(whole), k_gt(whole, local), local, family);
    }
  }
  const MixingMatrix ring = metropolis(build(parse_topology("ring"), 8));
  for (const unsigned rounds : {1U, 3U}) {
    QuadraticFleet f = noisy("lian");
    f.staleness = rounds;
    f.self_weight = 1.0 / 3;
    expect_prediction(dense_modes(ring), stale(ring, f), f, "stale");
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
      expect_prediction(
          modes_of_schedule("one-peer-exponential", n), d_psgd(sequence, f), f, order);
      f.momentum = 0.5;
      expect_prediction(
          modes_of_schedule("one-peer-exponential", n), d_psgd(sequence, f), f, order);
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
