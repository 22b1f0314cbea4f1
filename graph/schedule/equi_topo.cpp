#include "graph/schedule/equi_topo.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

#include "graph/schedule/one_peer.h"

namespace gv {
namespace {

PeerId random_shift(PeerId n, SplitMix& rng) {
  return 1 + static_cast<PeerId>(rng.below(n - 1));
}

/// `peers` and `receivers` of all rounds, each shift taken forwards, or both ways.
Neighborhood shifted(PeerId n, PeerId i, const std::vector<PeerId>& basis, bool directed) {
  std::set<PeerId> ahead;
  std::set<PeerId> behind;
  for (const PeerId a : basis) {
    ahead.insert((i + a) % n);
    behind.insert((i + n - a) % n);
  }
  if (!directed) {
    ahead.insert(behind.begin(), behind.end());
    behind = ahead;
  }
  return {.self = 1,
          .peers = {ahead.begin(), ahead.end()},
          .weights = std::vector<double>(ahead.size()),
          .receivers = {behind.begin(), behind.end()}};
}

void check_eta(double eta) {
  if (!(eta > 0 && eta <= 1)) throw std::invalid_argument("equi-dyn: eta must lie in (0, 1]");
}

class DirectedEquiDyn final : public MixingSchedule {
 public:
  DirectedEquiDyn(PeerId n, PeerId shifts, double eta, std::uint64_t seed)
      : n_(n), eta_(eta), seed_(seed), basis_(equi_dyn_shifts(n, shifts, seed)) {
    check_eta(eta);
  }

  PeerId size() const override { return n_; }
  bool directed() const override { return true; }
  std::uint64_t period() const override { return 0; }

  Neighborhood links(PeerId i) const override { return shifted(n_, i, basis_, true); }

  Neighborhood row(std::uint64_t round, PeerId i) const override {
    if (n_ == 1) return {};
    const PeerId a = basis_[generator_of(seed_, round).below(basis_.size())];
    return {.self = 1 - weight(),
            .peers = {(i + a) % n_},
            .weights = {weight()},
            .receivers = {(i + n_ - a) % n_}};
  }

  /// Circulants commute: mode m shrinks by E|c + s e^{2 pi i a m / n}|^2 with c = 1 - s.
  std::optional<double> contraction() const override {
    const double s = n_ == 1 ? 0 : weight();
    const double c = 1 - s;
    double most = 0;
    for (PeerId m = 1; m < n_; ++m) {
      double cosine = 0;
      for (const PeerId a : basis_)
        cosine +=
            std::cos(2 * std::numbers::pi * static_cast<double>(std::uint64_t{a} * m % n_) / n_);
      cosine /= static_cast<double>(basis_.size());
      most = std::max(most, c * c + s * s + 2 * c * s * cosine);
    }
    return most;
  }

 private:
  double weight() const { return eta_ * (n_ - 1) / n_; }

  PeerId n_;
  double eta_;
  std::uint64_t seed_;
  std::vector<PeerId> basis_;
};

class UndirectedEquiDyn final : public MixingSchedule {
 public:
  UndirectedEquiDyn(PeerId n, PeerId shifts, double eta, std::uint64_t seed)
      : n_(n), eta_(eta), seed_(seed), basis_(equi_dyn_shifts(n, shifts, seed)) {
    check_eta(eta);
  }

  PeerId size() const override { return n_; }
  std::uint64_t period() const override { return 0; }

  Neighborhood links(PeerId i) const override { return shifted(n_, i, basis_, false); }

  Neighborhood row(std::uint64_t round, PeerId i) const override {
    if (n_ == 1) return {};
    SplitMix rng = generator_of(seed_, round);
    const PeerId a = basis_[rng.below(basis_.size())];
    const auto start = static_cast<PeerId>(rng.below(n_));
    std::vector<PeerId> partner(n_, n_);
    for (PeerId step = 0; step < n_; ++step) {
      const PeerId u = (start + step) % n_;
      const PeerId v = (u + a) % n_;
      if (partner[u] < n_ || partner[v] < n_) continue;
      partner[u] = v;
      partner[v] = u;
    }
    return pair_row(i, partner[i] < n_ ? partner[i] : i, eta_ * (n_ - 1) / n_);
  }

 private:
  PeerId n_;
  double eta_;
  std::uint64_t seed_;
  std::vector<PeerId> basis_;
};

}  // namespace

std::vector<PeerId> equi_dyn_shifts(PeerId n, PeerId shifts, std::uint64_t seed) {
  std::vector<PeerId> list;
  SplitMix rng(seed);
  if (n > 1 && shifts == 0) {
    list.resize(n - 1);
    std::iota(list.begin(), list.end(), PeerId{1});
  } else if (n > 1) {
    for (PeerId k = 0; k < shifts; ++k) list.push_back(random_shift(n, rng));
  }
  return list;
}

Topology equi_static(PeerId n, PeerId shifts, std::uint64_t seed, bool directed) {
  Topology t{.name = directed ? "d-equi-static" : "u-equi-static",
             .directed = directed,
             .neighbors = std::vector<std::vector<PeerId>>(n),
             .edge_weights = {}};
  if (n == 1) return t;
  if (shifts == 0) shifts = static_cast<PeerId>(std::bit_width(n - 1));
  const double share = static_cast<double>(n - 1) / n / shifts;  // of one drawn shift
  std::map<Edge, double> weights;
  for (const PeerId a : equi_dyn_shifts(n, shifts, seed)) {
    for (PeerId i = 0; i < n; ++i) {
      const PeerId from = (i + a) % n;
      // Half of W^(a) and half of its transpose: twice half on an edge that is its own mirror.
      if (directed) {
        weights[{from, i}] += share;
      } else {
        weights[{std::min(i, from), std::max(i, from)}] += share / 2;
      }
    }
  }
  for (const auto& [edge, weight] : weights) {
    t.neighbors[edge.second].push_back(edge.first);
    if (!directed) t.neighbors[edge.first].push_back(edge.second);
    t.edge_weights.push_back(weight);
  }
  for (auto& list : t.neighbors) std::ranges::sort(list);
  return t;
}

std::unique_ptr<MixingSchedule> od_equi_dyn(PeerId n,
                                            PeerId shifts,
                                            double eta,
                                            std::uint64_t seed) {
  return std::make_unique<DirectedEquiDyn>(n, shifts, eta, seed);
}

std::unique_ptr<MixingSchedule> ou_equi_dyn(PeerId n,
                                            PeerId shifts,
                                            double eta,
                                            std::uint64_t seed) {
  return std::make_unique<UndirectedEquiDyn>(n, shifts, eta, seed);
}

}  // namespace gv
