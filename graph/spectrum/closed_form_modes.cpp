#include <bit>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>

#include "graph/spectrum/modes.h"

// All eigenvalues of Metropolis weights where they have a formula. Circulants: Davis, "Circulant
// matrices", Wiley 1979; a torus: sums of ring eigenvalues; the path: Strang, "The discrete cosine
// transform", SIAM Review 1999.

namespace gv {
namespace {

constexpr double pi = std::numbers::pi;

/// cos(2 pi k / n) and its kin, from an exactly reduced angle.
std::complex<double> root_of_unity(std::uint64_t k, PeerId n) {
  return std::polar(1.0, 2 * pi * static_cast<double>(k % n) / n);
}

/// The modes m = 1 .. n - 1 of a circulant of real weights: m and n - m are conjugate.
template <class Value>
std::vector<Mode> circulant(PeerId n, Value value) {
  std::vector<Mode> modes;
  for (PeerId m = 1; m <= n / 2; ++m) modes.push_back({value(m), 2 * m == n ? 1.0 : 2.0});
  return modes;
}

using Values = std::vector<std::complex<double>>;

std::vector<PeerId> doubling_hops(PeerId n) {
  std::vector<PeerId> hops;
  for (std::uint64_t hop = 1; hop < n; hop *= 2) hops.push_back(static_cast<PeerId>(hop));
  return hops;
}

std::vector<Mode> ring(PeerId n) {
  if (n == 2) return {{{0.0}, 1}};
  return circulant(n, [n](PeerId m) { return Values{(1 + 2 * root_of_unity(m, n).real()) / 3}; });
}

std::vector<Mode> path(PeerId n) {
  if (n == 2) return {{{0.0}, 1}};
  std::vector<Mode> modes;
  for (PeerId k = 1; k < n; ++k) modes.push_back({{(1 + 2 * std::cos(pi * k / n)) / 3}, 1});
  return modes;
}

std::vector<Mode> torus(PeerId rows, PeerId columns) {
  const auto half = [](PeerId r) {
    std::vector<std::pair<double, double>> cosines{{1, 1}};
    for (PeerId a = 1; a <= r / 2; ++a)
      cosines.emplace_back(root_of_unity(a, r).real(), 2 * a == r ? 1 : 2);
    return cosines;
  };
  std::vector<Mode> modes;
  for (const auto& [p, p_count] : half(rows)) {
    for (const auto& [q, q_count] : half(columns))
      modes.push_back({{(1 + 2 * p + 2 * q) / 5}, p_count * q_count});
  }
  modes.erase(modes.begin());
  return modes;
}

std::vector<Mode> hypercube(PeerId n) {
  const int d = std::countr_zero(n);
  std::vector<Mode> modes;
  double choose = 1;
  for (int k = 1; k <= d; ++k) {
    choose *= static_cast<double>(d - k + 1) / k;
    modes.push_back({{1 - 2.0 * k / (d + 1)}, choose});
  }
  return modes;
}

std::vector<Mode> exponential(PeerId n) {
  const std::vector<PeerId> hops = doubling_hops(n);
  return circulant(n, [&](PeerId m) {
    std::complex<double> sum = 1;
    for (const PeerId hop : hops) sum += root_of_unity(std::uint64_t{m} * hop, n);
    return Values{sum / static_cast<double>(hops.size() + 1)};
  });
}

std::vector<Mode> symmetric_exponential(PeerId n) {
  std::set<PeerId> hops;
  for (const PeerId hop : doubling_hops(n)) hops.insert({hop, n - hop});
  return circulant(n, [&](PeerId m) {
    double sum = 1;
    for (const PeerId hop : hops) sum += root_of_unity(std::uint64_t{m} * hop, n).real();
    return Values{sum / static_cast<double>(hops.size() + 1)};
  });
}

std::optional<std::vector<Mode>> metropolis_modes(const TopologySpec& spec, PeerId n) {
  if (spec.kind == "ring") return ring(n);
  if (spec.kind == "path") return path(n);
  if (spec.kind == "hypercube") return hypercube(n);
  if (spec.kind == "exponential") return exponential(n);
  if (spec.kind == "symmetric-exponential") return symmetric_exponential(n);
  if (spec.kind == "complete") return std::vector<Mode>{{{0.0}, n - 1.0}};
  if (spec.kind == "star") {
    if (n == 2) return std::vector<Mode>{{{0.0}, 1}};
    return std::vector<Mode>{{{1 - 1.0 / n}, n - 2.0}, {{0.0}, 1}};
  }
  if (spec.kind == "torus" && spec.shape.size() == 2 && spec.shape[0] >= 3 && spec.shape[1] >= 3)
    return torus(spec.shape[0], spec.shape[1]);
  return std::nullopt;
}

}  // namespace

std::optional<Modes> closed_form_modes(const TopologySpec& spec,
                                       PeerId n,
                                       std::string_view weights) {
  const bool lazy = weights == "lazy";
  // In these families max-degree weights are Metropolis weights.
  if ((weights != "metropolis" && weights != "max-degree" && !lazy) || n < 2) return std::nullopt;
  std::optional<std::vector<Mode>> modes = metropolis_modes(spec, n);
  if (!modes) return std::nullopt;
  if (lazy) {
    for (Mode& mode : *modes) mode.values[0] = (1.0 + mode.values[0]) / 2.0;
  }
  return Modes{n, {std::move(*modes)}, {}, "closed form"};
}

Modes one_peer_exponential_modes(PeerId n) {
  const std::vector<PeerId> hops = doubling_hops(n);
  return {n,
          {circulant(n,
                     [&](PeerId m) {
                       Values values;
                       for (const PeerId hop : hops)
                         values.push_back((1.0 + root_of_unity(std::uint64_t{m} * hop, n)) / 2.0);
                       return values;
                     })},
          {},
          "closed form"};
}

}  // namespace gv
