#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "graph/schedule/schedule.h"
#include "graph/schedule/sequences.h"
#include "graph/topology/family.h"

// EquiTopo, with its graphs (EquiStatic) and its schedules (EquiDyn): Song et al. 2022,
// "Communication-efficient topologies for decentralized learning with O(1) consensus rate",
// arXiv:2210.07881. Everything is made of W^(a) = I / n + (n - 1) / n P^a; by P^a peer i receives
// from i + a mod n. With enough random shifts a the consensus rate does not depend on n.

namespace gv {
namespace {

/// The shifts of the circle that EquiTopo draws from: `shifts` random ones, with replacement, or
/// (0) all of 1 .. n - 1. None for n = 1.
std::vector<PeerId> circle_shifts(PeerId n, PeerId shifts, std::uint64_t seed) {
  std::vector<PeerId> list;
  SplitMix rng(seed);
  if (n > 1 && shifts == 0) {
    list.resize(n - 1);
    std::iota(list.begin(), list.end(), PeerId{1});
  } else if (n > 1) {
    for (PeerId k = 0; k < shifts; ++k) list.push_back(1 + static_cast<PeerId>(rng.below(n - 1)));
  }
  return list;
}

constexpr GraphParameter equi_static_parameters[] = {
    count_parameter("m", 0, 0, "number of random shifts of the circle; 0: ceil(log2 n)"),
    seed_parameter};

/// D-EquiStatic is the mean of the matrices W^(a) of the drawn shifts; U-EquiStatic is the mean of
/// that with its transpose. The weights come with the graph, as those of an edge list.
Topology equi_static(const GraphParameters& p, PeerId n, bool directed) {
  Topology t{.name = directed ? "d-equi-static" : "u-equi-static",
             .directed = directed,
             .neighbors = std::vector<std::vector<PeerId>>(n),
             .edge_weights = {}};
  if (n == 1) return t;
  PeerId shifts = p.count("m");
  if (shifts == 0) shifts = static_cast<PeerId>(std::bit_width(n - 1));
  const double share = static_cast<double>(n - 1) / n / shifts;  // share of one drawn shift
  std::map<Edge, double> weights;
  for (const PeerId a : circle_shifts(n, shifts, p.seed())) {
    for (PeerId i = 0; i < n; ++i) {
      const PeerId from = (i + a) % n;
      // Half of W^(a) and half of its transpose: twice half on an edge that is its own mirror.
      if (directed) {
        weights[{from, i}] += share;
      } else {
        weights[undirected_edge(i, from)] += share / 2;
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

Topology build_directed(const GraphParameters& p, PeerId n) {
  return equi_static(p, n, true);
}

Topology build_undirected(const GraphParameters& p, PeerId n) {
  return equi_static(p, n, false);
}

SearchGroups search_directed(const SearchScope& scope) {
  return {with_seeds("m=" + std::to_string(scope.max_degree), scope)};
}

/// Each shift brings two neighbours.
SearchGroups search_undirected(const SearchScope& scope) {
  if (scope.max_degree < 2) return {};
  return {with_seeds("m=" + std::to_string(scope.max_degree / 2), scope)};
}

/// Returns i's senders and receivers in a round, with each shift taken forwards or both ways.
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

double positive_eta(const GraphParameters& p) {
  const double eta = p.number("eta");
  if (!(eta > 0)) throw std::invalid_argument("equi-dyn: eta must lie in (0, 1]");
  return eta;
}

/// OD-EquiDyn: round k uses (1 - eta) I + eta W^(a), a drawn from the shifts. Each peer receives
/// from one per round; directed.
class DirectedEquiDyn final : public MixingSchedule {
 public:
  DirectedEquiDyn(PeerId n, const GraphParameters& p)
      : n_(n),
        eta_(positive_eta(p)),
        seed_(p.seed()),
        basis_(circle_shifts(n, p.count("m"), p.seed())) {}

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

/// OU-EquiDyn: undirected. Round k walks round the circle from a random peer and pairs i with i + a
/// where both are still free.
class UndirectedEquiDyn final : public MixingSchedule {
 public:
  UndirectedEquiDyn(PeerId n, const GraphParameters& p)
      : n_(n),
        eta_(positive_eta(p)),
        seed_(p.seed()),
        basis_(circle_shifts(n, p.count("m"), p.seed())) {}

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

constexpr GraphParameter equi_dyn_parameters[] = {
    share_parameter("eta", 0.5, "weight of the drawn shift (identity: 1 - eta); above 0"),
    count_parameter("m", 0, 0, "number of random shifts to draw from; 0: all"), seed_parameter};

std::unique_ptr<MixingSchedule> make_directed(const ScheduleSpec& spec, PeerId n) {
  return std::make_unique<DirectedEquiDyn>(n, spec.parameters);
}

std::unique_ptr<MixingSchedule> make_undirected(const ScheduleSpec& spec, PeerId n) {
  return std::make_unique<UndirectedEquiDyn>(n, spec.parameters);
}

/// Circulants share the Fourier basis: lambda_m = (1 - s) + s w^(a m), s = eta (n - 1) / n, with a
/// drawn from the shifts.
std::optional<Modes> directed_modes(const ScheduleSpec& spec, PeerId n) {
  const PeerId m_drawn = spec.parameters.count("m");
  const double work = m_drawn == 0 ? n : m_drawn;
  if (n <= 1 || work * n >= 1e8) return std::nullopt;
  const double s = spec.parameters.number("eta") * (n - 1.0) / n;
  const std::vector<PeerId> shifts = circle_shifts(n, m_drawn, spec.parameters.seed());
  std::vector<Mode> modes;
  for (PeerId m = 1; m < n; ++m) {
    std::complex<double> mean = 0;
    for (const PeerId a : shifts) mean += root_of_unity(std::uint64_t{a} * m, n);
    mean /= static_cast<double>(shifts.size());
    // |lambda - E lambda|^2 = s^2 |w^(a m) - mean|^2, and |w| = 1.
    modes.push_back({{1 - s + s * mean}, 1, s * s * (1 - std::norm(mean))});
  }
  return Modes{n, {std::move(modes)}, {}, "expectation"};
}

SearchGroups search_all_shifts(const SearchScope&) {
  return {{"eta=0.5"}};
}

/// Round t: i receives from i - 2^{t mod tau}, weights 1/2, tau = ceil(log2 n). Directed. A period
/// averages exactly if n is a power of two. Ying et al. 2021, arXiv:2110.13363.
class OnePeerExponential final : public MixingSchedule {
 public:
  explicit OnePeerExponential(PeerId n) : n_(n) {}

  PeerId size() const override { return n_; }
  bool directed() const override { return true; }
  std::uint64_t period() const override {
    return n_ < 3 ? 1 : static_cast<std::uint64_t>(std::bit_width(n_ - 1));  // ceil(log2 n)
  }
  Neighborhood row(std::uint64_t round, PeerId i) const override {
    if (n_ == 1) return {};
    const PeerId hop = PeerId{1} << (round % period());
    return {.self = 0.5,
            .peers = {(i + n_ - hop) % n_},
            .weights = {0.5},
            .receivers = {(i + hop) % n_}};
  }

 private:
  PeerId n_;
};

/// Every round a matching of all peers, uniformly at random, weights 1/2; n odd leaves one peer
/// out. Boyd, Ghosh, Prabhakar & Shah, "Randomized gossip algorithms", IEEE Trans. Inf. Theory
/// 2006, in its synchronous form.
class RandomMatching final : public MixingSchedule {
 public:
  RandomMatching(PeerId n, std::uint64_t seed) : n_(n), seed_(seed) {}

  PeerId size() const override { return n_; }
  std::uint64_t period() const override { return 0; }

  /// A shuffle (Fisher & Yates) pairs the peers at the places 0 and 1, 2 and 3, ...
  Neighborhood row(std::uint64_t round, PeerId i) const override {
    std::vector<PeerId> order(n_);
    std::iota(order.begin(), order.end(), PeerId{0});
    SplitMix rng = generator_of(seed_, round);
    std::size_t place = 0;
    for (std::size_t k = n_; k > 0; --k) {
      std::swap(order[k - 1], order[rng.below(k)]);
      if (order[k - 1] == i) place = k - 1;
    }
    const std::size_t other = place ^ 1;
    return pair_row(i, other < n_ ? order[other] : i, 0.5);
  }

  /// Each W is a projection, so E[W^T W] = E[W] = I - L / 2 times the probability of a pair, which
  /// is 1 / (n - 1), or 1 / n when one peer is left out.
  std::optional<double> contraction() const override {
    if (n_ < 3) return 0;
    const double n = n_;
    return n_ % 2 == 0 ? (n - 2) / (2 * (n - 1)) : 0.5;
  }

 private:
  PeerId n_;
  std::uint64_t seed_;
};

std::unique_ptr<MixingSchedule> make_one_peer_exponential(const ScheduleSpec&, PeerId n) {
  return std::make_unique<OnePeerExponential>(n);
}

/// W_t = (I + P^(2^t)) / 2, t < ceil(log2 n), share the Fourier basis. Ying et al. 2021.
std::optional<Modes> one_peer_exponential_modes(const ScheduleSpec&, PeerId n) {
  const std::vector<PeerId> hops = doubling_hops(n);
  std::vector<Mode> modes;
  for (PeerId m = 1; m <= n / 2; ++m) {
    Mode& mode = modes.emplace_back();
    mode.count = 2 * m == n ? 1 : 2;  // m and n - m are conjugate
    for (const PeerId hop : hops)
      mode.values.push_back((1.0 + root_of_unity(std::uint64_t{m} * hop, n)) / 2.0);
  }
  return Modes{n, {std::move(modes)}, {}, "closed form"};
}

constexpr GraphParameter random_matching_parameters[] = {seed_parameter};

std::unique_ptr<MixingSchedule> make_random_matching(const ScheduleSpec& spec, PeerId n) {
  return std::make_unique<RandomMatching>(n, spec.parameters.seed());
}

/// Every direction off the mean has E W = E W^T W = kappa: W is a projection in every round, so its
/// mean is its mean square.
std::optional<Modes> random_matching_modes(const ScheduleSpec& spec, PeerId n) {
  const double kappa = *RandomMatching(n, spec.parameters.seed()).contraction();
  return Modes{n, {{{{kappa}, n - 1.0, kappa - kappa * kappa}}}, {}, "expectation"};
}

}  // namespace

extern constinit const TopologyFamily d_equi_static_family{
    .name = "d-equi-static",
    .summary =
        "directed: M random shifts of the circle; weights edge-list are the paper's; "
        "arXiv:2210.07881",
    .parameters = equi_static_parameters,
    .example = "m=3,seed=1",
    .build = build_directed,
    .searched = search_directed,
};

extern constinit const TopologyFamily u_equi_static_family{
    .name = "u-equi-static",
    .summary = "the same without directions; arXiv:2210.07881",
    .parameters = equi_static_parameters,
    .example = "m=2,seed=1",
    .build = build_undirected,
    .searched = search_undirected,
};

extern constinit const ScheduleFamily od_equi_dyn_family{
    .name = "od-equi-dyn",
    .summary = "directed: every round one random shift of the circle; arXiv:2210.07881",
    .parameters = equi_dyn_parameters,
    .example = "eta=0.5,m=4,seed=1",
    .make = make_directed,
    .modes = directed_modes,
    .searched = search_all_shifts,
};

extern constinit const ScheduleFamily ou_equi_dyn_family{
    .name = "ou-equi-dyn",
    .summary = "the same with undirected pairs; arXiv:2210.07881",
    .parameters = equi_dyn_parameters,
    .example = "eta=0.5,m=4,seed=1",
    .make = make_undirected,
    .searched = search_all_shifts,
};

SplitMix generator_of(std::uint64_t seed, std::uint64_t round) {
  return SplitMix(seed ^ SplitMix(round).bits());
}

Neighborhood pair_row(PeerId i, PeerId partner, double weight) {
  if (partner == i) return {};
  return {.self = 1 - weight, .peers = {partner}, .weights = {weight}, .receivers = {partner}};
}

extern constinit const ScheduleFamily one_peer_exponential_family{
    .name = "one-peer-exponential",
    .summary =
        "directed: in round t peer i receives from i - 2^t, t modulo ceil(log2 n); "
        "arXiv:2110.13363",
    .make = make_one_peer_exponential,
    .modes = one_peer_exponential_modes,
    .searched = search_alone,
};

extern constinit const ScheduleFamily random_matching_family{
    .name = "random-matching",
    .summary = "every round pairs all peers at random; Boyd et al. 2006",
    .parameters = random_matching_parameters,
    .example = "seed=3",
    .make = make_random_matching,
    .modes = random_matching_modes,
    .searched = search_alone,
};

}  // namespace gv
