#include "graph/mixing/optimal_weights.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include <Eigen/Core>

#include "graph/mixing/dense_eigen.h"
#include "graph/topology/splitmix.h"

namespace gv {
namespace {

using Weights = std::vector<double>;

/// The graph by its edges, and for each peer the edges it has.
struct EdgeGraph {
  PeerId n;
  std::vector<Edge> edges;
  std::vector<std::vector<std::size_t>> incident;

  ExtremePairs extremes(const Weights& w,
                        const ExtremePairs& warm,
                        double tolerance,
                        int most_restarts) const {
    return extreme_pairs(n, edge_weighted(n, edges, w), warm, tolerance, most_restarts);
  }
};

EdgeGraph edge_graph(const Topology& t, const char* name) {
  if (t.directed) {
    throw std::invalid_argument(std::string(name) + ": `" + t.name +
                                "` is directed; these weights need an undirected graph");
  }
  require_connected(t);
  EdgeGraph g{t.size(), t.edges(), std::vector<std::vector<std::size_t>>(t.size())};
  for (std::size_t e = 0; e < g.edges.size(); ++e) {
    g.incident[g.edges[e].first].push_back(e);
    g.incident[g.edges[e].second].push_back(e);
  }
  return g;
}

Weights constant_weights(const EdgeGraph& g) {
  // I - L: its extreme eigenvalues are 1 - mu_1 and 1 - mu_{n-1}.
  const Weights ones(g.edges.size(), 1.0);
  const ExtremePairs l = g.extremes(ones, {}, 1e-10, 200);
  return Weights(g.edges.size(), 2 / ((1 - l.lambda2) + (1 - l.lambda_n)));
}

Weights metropolis_weights(const EdgeGraph& g) {
  Weights w;
  for (const auto& [u, v] : g.edges)
    w.push_back(1.0 /
                static_cast<double>(1 + std::max(g.incident[u].size(), g.incident[v].size())));
  return w;
}

/// Projects back to w >= 0, sum of a peer's weights <= 1: the excess is taken evenly from the
/// peer's positive weights. Boyd, Diaconis & Xiao 2004.
void project_to_chain(const EdgeGraph& g, Weights& w) {
  for (double& value : w) value = std::max(value, 0.0);
  for (const auto& incident : g.incident) {
    for (std::size_t round = 0; round < incident.size(); ++round) {
      double sum = 0;
      double least = 1e300;
      int positive = 0;
      for (const std::size_t e : incident) {
        sum += w[e];
        if (w[e] <= 0) continue;
        least = std::min(least, w[e]);
        ++positive;
      }
      if (sum <= 1) break;
      const double cut = std::min(least, (sum - 1) / positive);
      for (const std::size_t e : incident) w[e] = std::max(0.0, w[e] - cut);
    }
  }
}

/// A subgradient of slem at w: the derivative of the outermost eigenvalue. Xiao & Boyd 2004.
Weights subgradient(const EdgeGraph& g, const ExtremePairs& pairs) {
  const bool upper = pairs.lambda2 >= -pairs.lambda_n;
  const Weights& v = upper ? pairs.v2 : pairs.vn;
  Weights slope;
  for (const auto& [a, b] : g.edges) {
    const double d = v[a] - v[b];
    slope.push_back(upper ? -d * d : d * d);
  }
  return slope;
}

double squared_norm(const Weights& x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return sum;
}

int worth_their_time(const EdgeGraph& g) {
  return static_cast<int>(std::clamp(5e6 / static_cast<double>(1 + g.edges.size()), 200.0, 1000.0));
}

/// Projected subgradient steps towards a level slightly below the best value found: Polyak 1969;
/// Nedic & Bertsekas, SIAM J. Optimization 2001. The step length needs no constant of the graph.
/// Keeps the best w, since single steps may go up.
Weights minimize_slem(const EdgeGraph& g, Weights w, bool chain, int iterations) {
  if (g.n < 3) return w;
  constexpr double rough = 1e-3;  // gap fraction: residual of a vector used as a direction
  constexpr double sharp = 1e-6;  // and of a value accepted as the best
  if (iterations == 0) iterations = worth_their_time(g);
  ExtremePairs pairs = g.extremes(w, {}, 1e-9, 200);
  Weights best = w;
  double best_slem = pairs.slem() + pairs.residual;
  for (int k = 1; k <= iterations; ++k) {
    const Weights slope = subgradient(g, pairs);
    const double gap = std::max(1e-12, 1 - best_slem);
    const double level = best_slem - 0.3 * gap / std::sqrt(k);
    const double length = (pairs.slem() - level) / std::max(1e-300, squared_norm(slope));
    for (std::size_t e = 0; e < w.size(); ++e) w[e] -= length * slope[e];
    if (chain) project_to_chain(g, w);
    pairs = g.extremes(w, pairs, rough * gap, 1);
    if (pairs.slem() >= best_slem) continue;
    pairs = g.extremes(w, pairs, sharp * gap, 20);
    // A value that has not converged lies too low.
    if (pairs.slem() + pairs.residual >= best_slem) continue;
    best = w;
    best_slem = pairs.slem() + pairs.residual;
  }
  return best;
}

MixingMatrix to_matrix(const Topology& t, const EdgeGraph& g, const Weights& w) {
  std::map<Edge, double> by_edge;
  for (std::size_t e = 0; e < w.size(); ++e) by_edge[g.edges[e]] = w[e];
  return weighted_matrix(t, [&](PeerId i, PeerId j) { return by_edge.at(undirected_edge(i, j)); });
}

/// The better of two starts.
Weights better(const EdgeGraph& g, Weights a, Weights b) {
  const double slem_a = g.extremes(a, {}, 1e-6, 50).slem();
  const double slem_b = g.extremes(b, {}, 1e-6, 50).slem();
  return slem_a <= slem_b ? a : b;
}

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr PeerId dense_peers = 64;
constexpr Index most_vectors = 40;

std::vector<double> to_vector(const VectorXd& x) {
  return {x.data(), x.data() + x.size()};
}

VectorXd to_eigen(const std::vector<double>& x) {
  return Eigen::Map<const VectorXd>(x.data(), static_cast<Index>(x.size()));
}

ExtremePairs dense_pairs(Index n, const SymmetricOperator& apply) {
  MatrixXd m(n, n);
  const MatrixXd unit = MatrixXd::Identity(n, n);
  for (Index c = 0; c < n; ++c) apply(unit.col(c).data(), m.col(c).data());
  // Far above the rest (Gershgorin), the all-ones vector is the last one.
  const double far = 4 + 4 * m.cwiseAbs().rowwise().sum().maxCoeff();
  m.array() += far / static_cast<double>(n);
  const auto [values, vectors] = symmetric_pairs(m);
  return {.lambda2 = values[n - 2],
          .lambda_n = values[0],
          .v2 = to_vector(vectors.col(n - 2)),
          .vn = to_vector(vectors.col(0)),
          .residual = 0};
}

VectorXd noise(PeerId n, SplitMix& rng) {
  VectorXd x(static_cast<Index>(n));
  for (double& value : x) value = rng.uniform() - 0.5;
  x.array() -= x.mean();
  return x.normalized();
}

struct Krylov {
  MatrixXd basis;  ///< n x m, orthonormal, orthogonal to the all-ones vector
  VectorXd diagonal, off_diagonal;
  double beta = 0;  ///< norm of the last product outside the basis
};

Krylov lanczos(const SymmetricOperator& apply, VectorXd q, Index m) {
  Krylov k{MatrixXd(q.size(), m), VectorXd(m), VectorXd(m), 0};
  q.array() -= q.mean();
  q.normalize();
  VectorXd next(q.size());
  for (Index j = 0; j < m; ++j) {
    k.basis.col(j) = q;
    apply(q.data(), next.data());
    next.array() -= next.mean();
    k.diagonal[j] = q.dot(next);
    const auto so_far = k.basis.leftCols(j + 1);
    for (int pass = 0; pass < 2; ++pass) next -= so_far * (so_far.transpose() * next);
    k.beta = next.norm();
    k.off_diagonal[j] = k.beta;
    if (k.beta < 1e-13) {  // an invariant subspace: exact
      k.basis.conservativeResize(Eigen::NoChange, j + 1);
      k.diagonal.conservativeResize(j + 1);
      break;
    }
    q = next / k.beta;
    // The all-ones vector may lie outside the rest of the spectrum: rounding must not feed it.
    q.array() -= q.mean();
  }
  return k;
}

/// Takes lambda_2 and lambda_n with their vectors from the ends of the Krylov space's spectrum.
void take_pairs(const Krylov& k, ExtremePairs& pairs) {
  const Index m = k.diagonal.size();
  const auto [values, vectors] = tridiagonal_pairs(k.diagonal, k.off_diagonal.head(m - 1));
  pairs.lambda2 = values[m - 1];
  pairs.lambda_n = values[0];
  pairs.v2 = to_vector(k.basis * vectors.col(m - 1));
  pairs.vn = to_vector(k.basis * vectors.col(0));
  pairs.residual = k.beta * std::max(std::abs(vectors(m - 1, m - 1)), std::abs(vectors(m - 1, 0)));
}

}  // namespace

MixingMatrix best_constant(const Topology& t) {
  const EdgeGraph g = edge_graph(t, "best-constant");
  if (g.n < 2) return metropolis(t);
  return to_matrix(t, g, constant_weights(g));
}

MixingMatrix fdla(const Topology& t, int iterations) {
  const EdgeGraph g = edge_graph(t, "fdla");
  if (g.n < 2) return metropolis(t);
  const Weights start = better(g, constant_weights(g), metropolis_weights(g));
  return to_matrix(t, g, minimize_slem(g, start, false, iterations));
}

MixingMatrix fmmc(const Topology& t, int iterations) {
  const EdgeGraph g = edge_graph(t, "fmmc");
  if (g.n < 2) return metropolis(t);
  Weights constant = constant_weights(g);
  project_to_chain(g, constant);
  const Weights start = better(g, constant, metropolis_weights(g));
  return to_matrix(t, g, minimize_slem(g, start, true, iterations));
}

SymmetricOperator edge_weighted(PeerId n,
                                const std::vector<Edge>& edges,
                                const std::vector<double>& w) {
  return [n, &edges, &w](const double* x, double* y) {
    std::copy(x, x + n, y);
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const auto [u, v] = edges[e];
      const double flow = w[e] * (x[u] - x[v]);
      y[u] -= flow;
      y[v] += flow;
    }
  };
}

double ExtremePairs::slem() const {
  return std::max(std::abs(lambda2), std::abs(lambda_n));
}

ExtremePairs extreme_pairs(PeerId n,
                           const SymmetricOperator& apply,
                           const ExtremePairs& warm,
                           double tolerance,
                           int most_restarts) {
  if (n <= dense_peers) return dense_pairs(static_cast<Index>(n), apply);
  // Partly random, because a start that shares a symmetry of the graph would never leave it.
  SplitMix rng(n);
  ExtremePairs pairs = warm;
  VectorXd start = noise(n, rng);
  if (!warm.v2.empty()) start = to_eigen(warm.v2) + to_eigen(warm.vn) + 0.05 * start;
  for (int restart = 0; restart <= most_restarts; ++restart) {
    const Krylov k = lanczos(apply, std::move(start), most_vectors);
    take_pairs(k, pairs);
    if (pairs.residual < tolerance) break;
    start = to_eigen(pairs.v2) + to_eigen(pairs.vn);
  }
  return pairs;
}

}  // namespace gv
