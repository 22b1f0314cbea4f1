#include "tests/graph/predict/peer_by_peer.h"

#include <algorithm>

namespace gv::peer_by_peer {
namespace {

Vector mixed(const MixingMatrix& w, const Vector& x) {
  Vector y(x.size());
  w.apply(x.data(), y.data());
  return y;
}

void put(Vector& state, std::size_t k, const Vector& values) {
  std::ranges::copy(values, state.begin() + static_cast<std::ptrdiff_t>(k * values.size()));
}

}  // namespace

Vector block(const Vector& state, std::size_t k, std::size_t n) {
  return {state.begin() + static_cast<std::ptrdiff_t>(k * n),
          state.begin() + static_cast<std::ptrdiff_t>((k + 1) * n)};
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

/// u <- beta u + g, x <- W (x - gamma (u - c)), c <- W (c - u) + u. The observed round begins after
/// the gradient: x is that of the gradient before.
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

/// x <- x + gamma (W x - x) - eta v, v <- v + gamma (W v - v) + next g - g: Algorithm 1 of BEER
/// without compression, so that every peer knows X and V exactly. MoTEF has u <- (1 - lambda) u +
/// lambda g instead of g.
Algorithm beer(const MixingMatrix& w, const QuadraticFleet& f) {
  return {.blocks = 3, .rounds = {[&w, f](Vector& state, const Vector& noise, const Vector& b) {
                         const std::size_t n = b.size();
                         Vector x = block(state, 0, n);
                         Vector v = block(state, 1, n);
                         Vector u = block(state, 2, n);
                         const Vector of_x = mixed(w, x);
                         const Vector of_v = mixed(w, v);
                         for (std::size_t i = 0; i < n; ++i) {
                           x[i] += f.consensus_step * (of_x[i] - x[i]) - f.rate * v[i];
                           const double g = f.hessian[0] * (x[i] - b[i]) + noise[i];
                           const double next = f.momentum * u[i] + (1 - f.momentum) * g;
                           v[i] += f.consensus_step * (of_v[i] - v[i]) + next - u[i];
                           u[i] = next;
                         }
                         put(state, 0, x);
                         put(state, 1, v);
                         put(state, 2, u);
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

}  // namespace gv::peer_by_peer
