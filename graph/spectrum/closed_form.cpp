#include <algorithm>
#include <cmath>

#include "graph/spectrum/modes.h"
#include "graph/spectrum/spectrum.h"

// The formulas are the families' own, for Metropolis weights: see graph/topology/.

namespace gv {
namespace {

/// Families that have a formula give all edges one weight, or the star's: max-degree weights are
/// Metropolis weights there.
bool has_formula(std::string_view weights, PeerId n) {
  return (weights == "metropolis" || weights == "max-degree" || weights == "lazy") && n >= 2;
}

Spectrum of_singular_value(const ExtremeEigenvalues& e) {
  Spectrum s;
  s.slem = *e.sigma2;
  s.gap = e.gap2;
  s.method = "closed form";
  return s;
}

Spectrum of_ends(double gap2, double lambda_n) {
  Spectrum s;
  s.lambda2 = 1 - gap2;
  s.lambda_n = lambda_n;
  s.slem = std::max(std::abs(*s.lambda2), std::abs(lambda_n));
  s.gap = *s.lambda2 >= std::abs(lambda_n) ? gap2 : 1 - s.slem;
  s.method = "closed form";
  return s;
}

}  // namespace

std::optional<Spectrum> closed_form_spectrum(const TopologySpec& spec,
                                             PeerId n,
                                             std::string_view weights) {
  if (spec.family->extremes == nullptr || !has_formula(weights, n)) return std::nullopt;
  const bool lazy = weights == "lazy";
  const std::optional<ExtremeEigenvalues> e = spec.family->extremes(spec.parameters, n);
  if (!e) return std::nullopt;
  // (I + W) / 2 shifts eigenvalues; of a directed W the singular values do not follow.
  if (e->sigma2) return lazy ? std::nullopt : std::optional(of_singular_value(*e));
  return lazy ? of_ends(e->gap2 / 2, (1 + e->lambda_n) / 2) : of_ends(e->gap2, e->lambda_n);
}

std::optional<Modes> closed_form_modes(const TopologySpec& spec,
                                       PeerId n,
                                       std::string_view weights) {
  if (spec.family->extremes == nullptr || !has_formula(weights, n)) return std::nullopt;
  if (!spec.family->extremes(spec.parameters, n)) return std::nullopt;
  std::vector<Mode> modes;
  for (const Eigenvalue& e : spec.family->eigenvalues(spec.parameters, n)) {
    const std::complex<double> value = weights == "lazy" ? (1.0 + e.value) / 2.0 : e.value;
    modes.push_back({{value}, e.count});
  }
  return Modes{n, {std::move(modes)}, {}, "closed form"};
}

}  // namespace gv
