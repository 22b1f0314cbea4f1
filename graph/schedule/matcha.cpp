#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include "graph/mixing/optimal_weights.h"
#include "graph/schedule/schedule.h"
#include "graph/schedule/sequences.h"

namespace gv {
namespace {

using Colour = std::size_t;

/// A partial edge colouring, proper at all times. Names as in Misra & Gries 1992: the fan of u, the
/// path of the colours c and d.
class Colouring {
 public:
  explicit Colouring(PeerId n) : at_(n) {}

  void colour(PeerId u, PeerId v) {
    const std::vector<PeerId> fan = maximal_fan(u, v);
    const Colour c = free_colour(u);
    const Colour d = free_colour(fan.back());
    invert_path(u, c, d);
    rotate(u, prefix_with_free(u, fan, d), d);
  }

  std::vector<Matching> matchings() const {
    std::vector<Matching> list;
    for (const auto& [edge, colour] : colour_of_) {
      if (colour >= list.size()) list.resize(colour + 1);
      list[colour].push_back(edge);
    }
    std::erase_if(list, [](const Matching& m) { return m.empty(); });
    return list;
  }

 private:
  static Edge key(PeerId u, PeerId v) { return {std::min(u, v), std::max(u, v)}; }
  bool is_free(PeerId v, Colour colour) const { return !at_[v].contains(colour); }

  Colour free_colour(PeerId v) const {
    Colour colour = 0;
    while (!is_free(v, colour)) ++colour;
    return colour;
  }

  void set(PeerId u, PeerId v, Colour colour) {
    colour_of_[key(u, v)] = colour;
    at_[u][colour] = v;
    at_[v][colour] = u;
  }

  void clear(PeerId u, PeerId v) {
    const auto it = colour_of_.find(key(u, v));
    at_[u].erase(it->second);
    at_[v].erase(it->second);
    colour_of_.erase(it);
  }

  /// v, then neighbours of u whose edge to u has a colour that is free on the one before.
  std::vector<PeerId> maximal_fan(PeerId u, PeerId v) const {
    std::vector<PeerId> fan{v};
    const auto extends = [&](const std::pair<const Colour, PeerId>& entry) {
      return is_free(fan.back(), entry.first) && std::ranges::find(fan, entry.second) == fan.end();
    };
    for (;;) {
      const auto next = std::ranges::find_if(at_[u], extends);
      if (next == at_[u].end()) return fan;
      fan.push_back(next->second);
    }
  }

  /// Swaps the colours c and d along the path that leaves u by d.
  void invert_path(PeerId u, Colour c, Colour d) {
    struct Step {
      PeerId from, to;
      Colour colour;
    };
    std::vector<Step> path;
    PeerId here = u;
    for (Colour colour = d; !is_free(here, colour); colour = colour == d ? c : d) {
      path.push_back({here, at_[here].at(colour), colour});
      here = path.back().to;
    }
    for (const Step& s : path) clear(s.from, s.to);
    for (const Step& s : path) set(s.from, s.to, s.colour == c ? d : c);
  }

  /// The shortest beginning of the fan that is still one and whose last peer has d free.
  std::vector<PeerId> prefix_with_free(PeerId u, const std::vector<PeerId>& fan, Colour d) const {
    std::size_t last = 0;
    while (!is_free(fan[last], d)) {
      if (last + 1 == fan.size() || !is_free(fan[last], colour_of_.at(key(u, fan[last + 1]))))
        throw std::logic_error("matching_decomposition: no fan to rotate");
      ++last;
    }
    return {fan.begin(), fan.begin() + static_cast<std::ptrdiff_t>(last) + 1};
  }

  /// Every edge of the fan takes the colour of the next, the last takes d.
  void rotate(PeerId u, const std::vector<PeerId>& fan, Colour d) {
    for (std::size_t k = 0; k + 1 < fan.size(); ++k) {
      const Colour next = colour_of_.at(key(u, fan[k + 1]));
      clear(u, fan[k + 1]);
      set(u, fan[k], next);
    }
    set(u, fan.back(), d);
  }

  std::vector<std::map<Colour, PeerId>> at_;  ///< at_[v][colour]: the neighbour by that edge
  std::map<Edge, Colour> colour_of_;
};

using Numbers = std::vector<double>;

/// All matchings' edges in a row, and for each edge its matching.
struct Flat {
  explicit Flat(const std::vector<Matching>& matchings) {
    for (std::size_t j = 0; j < matchings.size(); ++j) {
      edges.insert(edges.end(), matchings[j].begin(), matchings[j].end());
      matching.insert(matching.end(), matchings[j].size(), j);
    }
  }
  Numbers spread(const Numbers& per_matching) const {
    Numbers w;
    for (const std::size_t j : matching) w.push_back(per_matching[j]);
    return w;
  }
  std::vector<Edge> edges;
  std::vector<std::size_t> matching;
};

/// The nearest p in [0, 1]^M with sum <= budget: all lowered by one threshold, found by bisection.
Numbers project(const Numbers& p, double budget) {
  const auto lowered = [&](double threshold) {
    Numbers q;
    for (const double value : p) q.push_back(std::clamp(value - threshold, 0.0, 1.0));
    return q;
  };
  const auto sum = [](const Numbers& q) {
    double total = 0;
    for (const double value : q) total += value;
    return total;
  };
  double low = 0;
  if (sum(lowered(low)) <= budget) return lowered(low);
  double high = *std::ranges::max_element(p);
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (sum(lowered(middle)) > budget ? low : high) = middle;
  }
  return lowered(high);
}

/// Projected supergradient ascent on lambda_2(sum_j p_j L_j), which is concave: the supergradient
/// is v^T L_j v at its eigenvector v. Steps as in graph/mixing/optimal_weights.cpp.
Numbers best_probabilities(const Topology& t, const Flat& flat, std::size_t count, double budget) {
  const double total = budget * static_cast<double>(count);
  Numbers p(count, budget);
  if (budget >= 1 || t.size() < 3) return p;
  std::size_t most_degree = 0;
  for (const auto& list : t.neighbors) most_degree = std::max(most_degree, list.size());
  const double scale = 0.5 / static_cast<double>(most_degree);  // I - scale L has lambda_2 on top
  ExtremePairs pairs;
  Numbers best = p;
  double best_mu = 0;
  for (int k = 1; k <= 300; ++k) {
    Numbers w = flat.spread(p);
    for (double& value : w) value *= scale;
    pairs = extreme_pairs(t.size(), edge_weighted(t.size(), flat.edges, w), pairs, 1e-7, 20);
    const double mu = (1 - pairs.lambda2) / scale;
    if (mu > best_mu) {
      best_mu = mu;
      best = p;
    }
    Numbers slope(count);
    double norm = 0;
    for (std::size_t e = 0; e < flat.edges.size(); ++e) {
      const double d = pairs.v2[flat.edges[e].first] - pairs.v2[flat.edges[e].second];
      slope[flat.matching[e]] += d * d;
    }
    for (const double value : slope) norm += value * value;
    const double level = best_mu * (1 + 0.3 / std::sqrt(k));
    for (std::size_t j = 0; j < count; ++j) p[j] += (level - mu) / norm * slope[j];
    p = project(p, total);
  }
  return best;
}

/// y = sum_e w_e L_e x
void laplacian(const Flat& flat, const Numbers& w, const double* x, Numbers& y) {
  std::ranges::fill(y, 0.0);
  for (std::size_t e = 0; e < flat.edges.size(); ++e) {
    const auto [u, v] = flat.edges[e];
    const double flow = w[e] * (x[u] - x[v]);
    y[u] += flow;
    y[v] -= flow;
  }
}

/// ||E[W^T W] - J||_2 with E[W^T W] = I - 2 a L + a^2 (L^2 + 2 V), L = sum p_j L_j, V = sum p_j (1
/// - p_j) L_j, since L_j^2 = 2 L_j for a matching.
ExtremePairs contraction_of(PeerId n, const Flat& flat, const Numbers& p, double alpha) {
  const Numbers mean = flat.spread(p);
  Numbers variance;
  for (const double q : mean) variance.push_back(q * (1 - q));
  Numbers once(n);
  Numbers twice(n);
  Numbers spread(n);
  const auto apply = [&](const double* x, double* y) {
    laplacian(flat, mean, x, once);
    laplacian(flat, mean, once.data(), twice);
    laplacian(flat, variance, x, spread);
    for (PeerId i = 0; i < n; ++i)
      y[i] = x[i] - 2 * alpha * once[i] + alpha * alpha * (twice[i] + 2 * spread[i]);
  };
  return n < 2 ? ExtremePairs{} : extreme_pairs(n, apply, {}, 1e-9, 100);
}

/// The contraction is convex in alpha: golden-section search.
double best_alpha(PeerId n, const Flat& flat, const Numbers& p) {
  const auto value = [&](double alpha) { return contraction_of(n, flat, p, alpha).lambda2; };
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double low = 0;
  double high = 1;  // above 1 / 2 even a single matching overshoots
  double a = high - golden * (high - low);
  double b = low + golden * (high - low);
  double at_a = value(a);
  double at_b = value(b);
  while (high - low > 1e-7) {
    if (at_a < at_b) {
      high = std::exchange(b, a);
      at_b = at_a;
      a = high - golden * (high - low);
      at_a = value(a);
    } else {
      low = std::exchange(a, b);
      at_a = at_b;
      b = low + golden * (high - low);
      at_b = value(b);
    }
  }
  return (low + high) / 2;
}

class MatchaSchedule final : public MixingSchedule {
 public:
  MatchaSchedule(const Topology& t, double budget, std::uint64_t seed)
      : matcha_(matcha(t, budget)), seed_(seed), partners_(t.size()) {
    for (std::size_t j = 0; j < matcha_.matchings.size(); ++j) {
      for (const auto& [u, v] : matcha_.matchings[j]) {
        partners_[u].emplace_back(v, j);
        partners_[v].emplace_back(u, j);
      }
    }
    for (auto& list : partners_) std::ranges::sort(list);
  }

  PeerId size() const override { return static_cast<PeerId>(partners_.size()); }
  std::uint64_t period() const override { return 0; }
  std::optional<double> contraction() const override { return matcha_.contraction; }
  double contraction_error() const override { return matcha_.contraction_error; }

  Neighborhood links(PeerId i) const override {
    Neighborhood all;
    for (const auto& [peer, matching] : partners_[i]) {
      if (matcha_.probability[matching] > 0) all.peers.push_back(peer);
    }
    all.weights.assign(all.peers.size(), 0.0);
    all.receivers = all.peers;
    return all;
  }

  Neighborhood row(std::uint64_t round, PeerId i) const override {
    SplitMix rng = generator_of(seed_, round);
    std::vector<bool> active;
    for (const double p : matcha_.probability) active.push_back(rng.uniform() < p);
    Neighborhood row;
    for (const auto& [peer, matching] : partners_[i]) {
      if (!active[matching]) continue;
      row.peers.push_back(peer);
      row.weights.push_back(matcha_.alpha);
    }
    row.self = 1 - matcha_.alpha * static_cast<double>(row.peers.size());
    row.receivers = row.peers;
    return row;
  }

 private:
  Matcha matcha_;
  std::uint64_t seed_;
  std::vector<std::vector<std::pair<PeerId, std::size_t>>> partners_;  ///< peer, matching
};

constexpr GraphParameter matcha_parameters[] = {
    share_parameter("budget", 0.5, "mean fraction of the matchings that are active in a round"),
    seed_parameter,
    {"graph", GraphParameter::Kind::graph, 0, 0, 0, "topology whose edges are used; written last"}};

std::unique_ptr<MixingSchedule> make_matcha(const ScheduleSpec& spec, PeerId n) {
  return std::make_unique<MatchaSchedule>(build(spec.topology, n), spec.parameters.number("budget"),
                                          spec.parameters.seed());
}

}  // namespace

std::vector<Matching> matching_decomposition(const Topology& t) {
  if (t.directed)
    throw std::invalid_argument("matchings: `" + t.name +
                                "` is directed; an undirected graph has "
                                "matchings");
  Colouring colouring(t.size());
  for (const auto& [u, v] : t.edges()) colouring.colour(u, v);
  return colouring.matchings();
}

extern constinit const ScheduleFamily matcha_family{
    .name = "matcha",
    .summary = "random matchings of a graph, a share B of them per round; arXiv:1905.09435",
    .parameters = matcha_parameters,
    .example = "budget=0.5,seed=1,graph=torus:4x4",
    .make = make_matcha,
};

Matcha matcha(const Topology& t, double budget) {
  if (!(budget > 0 && budget <= 1))
    throw std::invalid_argument("matcha: the budget must lie in (0, 1]");
  require_connected(t);
  Matcha m;
  m.matchings = matching_decomposition(t);
  const Flat flat(m.matchings);
  m.probability = best_probabilities(t, flat, m.matchings.size(), budget);
  m.alpha = best_alpha(t.size(), flat, m.probability);
  const ExtremePairs found = contraction_of(t.size(), flat, m.probability, m.alpha);
  m.contraction = found.lambda2;
  m.contraction_error = found.residual;
  return m;
}

}  // namespace gv
