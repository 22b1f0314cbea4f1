#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/topologies.h"
#include "graph/weights.h"
#include "optim/rng.h"
#include "tests/peer/sim/method_runs.h"

namespace gv {

/// Peers of a quadratic without noise on a graph, all drawn, to follow a method by hand in double
/// precision. Each peer has a row.
class DrawnQuadratic {
 public:
  using Rows = std::vector<Values>;

  DrawnQuadratic(const std::string& algorithm,
                 std::uint64_t seed,
                 const char* weights = "metropolis")
      : rng_(Rng(seed).derive("drawn quadratic")) {
    constexpr const char* graphs[] = {"ring",     "path",        "star",
                                      "complete", "binary-tree", "erdos-renyi:p=0.6,seed=4"};
    const auto n = static_cast<PeerId>(3 + rng_.below(6));
    const std::string graph = graphs[rng_.below(std::size(graphs))];
    const std::size_t d = 1 + rng_.below(9);
    fleet = quadratic_fleet(n, graph, algorithm, "");
    fleet.weights = weights;
    fleet.seed = seed;
    fleet.optimizer.lr = gamma = 0.02 + 0.1 * rng_.uniform();
    for (std::size_t k = 0; k < d; ++k) hessian_.push_back(0.2 + rng_.uniform());
    start = drawn(n, d);
    centers_ = drawn(n, d);
    fleet.data.quadratic = {.dimension = static_cast<std::uint32_t>(d),
                            .hessian = hessian_,
                            .noise = 0,
                            .spread = 0,
                            .start = 0,
                            .centers = centers_};
    const MixingMatrix sparse = mixing_matrix(weights, build(parse_topology(graph), n));
    w_ = Rows(n, Values(n, 0));
    for (PeerId i = 0; i < n; ++i) {
      w_[i][i] = sparse.row(i).self;
      for (std::size_t j = 0; j < sparse.row(i).peers.size(); ++j)
        w_[i][sparse.row(i).peers[j]] += sparse.row(i).weights[j];
    }
  }

  /// W v.
  Rows mixed(const Rows& v) const {
    Rows out(v.size(), Values(v[0].size(), 0));
    for (std::size_t i = 0; i < v.size(); ++i)
      for (std::size_t j = 0; j < v.size(); ++j)
        for (std::size_t k = 0; k < v[j].size(); ++k) out[i][k] += w_[i][j] * v[j][k];
    return out;
  }
  Rows gradient(const Rows& x) const {
    Rows g = x;
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t k = 0; k < x[i].size(); ++k)
        g[i][k] = hessian_[k] * (x[i][k] - centers_[i][k]);
    return g;
  }
  /// a v + b w.
  static Rows sum(double a, const Rows& v, double b, const Rows& w) {
    Rows out = v;
    for (std::size_t i = 0; i < v.size(); ++i)
      for (std::size_t k = 0; k < v[i].size(); ++k) out[i][k] = a * v[i][k] + b * w[i][k];
    return out;
  }
  Rows nothing() const { return sum(0, start, 0, start); }

  /// Returns the method's result from the start after `rounds` rounds.
  Rows run(Round rounds) const {
    Fleet file = fleet;
    file.stop.rounds = rounds;
    return run_from(file, start).x;
  }

  Fleet fleet;
  Rows start;
  double gamma = 0;

 private:
  Rows drawn(std::size_t n, std::size_t d) {
    Rows rows(n, Values(d));
    for (Values& row : rows)
      for (double& value : row) value = rng_.normal();
    return rows;
  }

  Rng rng_;
  Rows w_, centers_;
  Values hessian_;
};

inline void expect_near(const DrawnQuadratic::Rows& a,
                        const DrawnQuadratic::Rows& b,
                        double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) expect_near(a[i], b[i], tolerance);
}

}  // namespace gv
