#include "graph/mixing/optimal_weights.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include "graph/mixing/extreme_pairs.h"

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

/// Back into w >= 0, sum of a peer's weights <= 1: what is too much is taken evenly from the peer's
/// positive weights. Boyd, Diaconis & Xiao 2004.
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

/// Projected subgradient steps towards a level slightly below the best value so far: Polyak 1969;
/// Nedic & Bertsekas, SIAM J. Optimization 2001. The length needs no constant of the graph. Keeps
/// the best w, since single steps may go up.
Weights minimize_slem(const EdgeGraph& g, Weights w, bool chain, int iterations) {
  if (g.n < 3) return w;
  constexpr double rough = 1e-3;  // of the gap: residual of an eigenvector that gives a direction
  constexpr double sharp = 1e-6;  // and of a value that is believed to be the best
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

}  // namespace gv
