#include "graph/spectrum/spectrum.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include <Eigen/Core>

#include "graph/mixing/dense_eigen.h"
#include "graph/spec/parameters.h"
#include "graph/spectrum/lanczos.h"
#include "graph/spectrum/modes.h"

namespace gv {
namespace {

constexpr PeerId dense_limit = 512;
constexpr PeerId directed_limit = 1024;

void require_small(const MixingMatrix& w) {
  if (w.size() > directed_limit) {
    throw std::invalid_argument("modes: a directed W of " + std::to_string(w.size()) +
                                " peers without a closed form; at most " +
                                std::to_string(directed_limit) + " can be computed");
  }
}

Spectrum from_extremes(double lambda2, double lambda_n, const char* method) {
  Spectrum s;
  s.lambda2 = lambda2;
  s.lambda_n = lambda_n;
  s.slem = std::max(std::abs(lambda2), std::abs(lambda_n));
  s.gap = 1 - s.slem;
  s.method = method;
  return s;
}

Spectrum from_singular_value(double sigma, const char* method) {
  Spectrum s;
  s.slem = sigma;
  s.gap = 1 - sigma;
  s.method = method;
  return s;
}

bool has_negative(const MixingMatrix& w) {
  for (PeerId i = 0; i < w.size(); ++i) {
    const Neighborhood& row = w.row(i);
    if (row.self < 0 || std::ranges::any_of(row.weights, [](double v) { return v < 0; }))
      return true;
  }
  return false;
}

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

constexpr double wanted = 2e-7;            ///< relative error of either gap
constexpr std::size_t first_steps = 1000;  ///< most expanders need no more
constexpr std::size_t most_steps = 50'000;
constexpr double expander_gap = 0.01;        ///< above it a factor fills up: do not even order it
constexpr double most_factor_entries = 2e8;  ///< 12 bytes each
constexpr double zero_gap = 1e-12;           ///< a bipartite W without self weights has none

/// The distance of one end of the spectrum to 1 or to -1.
struct Gap {
  double value = 0;
  double error = 0;
  bool known() const { return error <= wanted * value || value + error <= zero_gap; }
};

struct Gaps {
  Gap mixing;       ///< 1 - lambda2
  Gap alternation;  ///< 1 + lambda_n
  bool known() const { return mixing.known() && alternation.known(); }
};

Gaps gaps_of(const Lanczos& run) {
  const Lanczos::Ends ends = run.ends();
  return {{1 - ends.largest.value, ends.largest.error},
          {1 + ends.smallest.value, ends.smallest.error}};
}

std::string text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3g", value);
  return buffer;
}

[[noreturn]] void give_up(const Lanczos& run, const Gap& gap, const char* name) {
  throw std::runtime_error("spectrum: " + std::to_string(run.steps()) + " Lanczos steps reach " +
                           name + " = " + text(gap.value) + " only within " + text(gap.error) +
                           ", and the matrix is too well connected to factor");
}

bool connected(const SparseRows& w) {
  std::vector<std::size_t> root(w.size());
  for (std::size_t i = 0; i < root.size(); ++i) root[i] = i;
  const auto find = [&](std::size_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  std::size_t parts = w.size();
  w.for_each([&](std::size_t i, std::size_t j, double weight) {
    const std::size_t a = find(i);
    const std::size_t b = find(j);
    if (weight == 0 || a == b) return;
    root[a] = b;
    --parts;
  });
  return parts == 1;
}

/// Returns the next number of steps after which to compute the Ritz values. That costs about 10
/// steps^2 operations, and should take a tenth of the time of the steps in between.
std::size_t next_look(std::size_t steps, double flops) {
  const auto look = 10.0 * static_cast<double>(steps) * static_cast<double>(steps);
  const auto apart = static_cast<std::size_t>(10 * look / flops);
  return steps + 16 + std::min(steps / 4, apart);
}

double step_flops(const SparseRows& w) {
  return 2 * static_cast<double>(w.entries()) + 10 * static_cast<double>(w.size());
}

/// Runs until both gaps are known, for at most `steps` steps in all, each of `flops`.
Gaps iterate(Lanczos& run, std::size_t steps, double flops) {
  for (;;) {
    run.extend(std::min(next_look(run.steps(), flops), steps));
    const Gaps gaps = gaps_of(run);
    if (gaps.known() || run.exhausted() || run.steps() >= steps) return gaps;
  }
}

void invert(Gap& gap, const SparseRows& w, SpectrumEnd end) {
  if (gap.known()) return;
  const RitzValue found = shift_invert(w, end, gap.value);
  gap = {found.value, found.error};
}

Spectrum from_gaps(const Gaps& gaps, const char* method) {
  Spectrum s;
  const Gap& gap = gaps.mixing.value < gaps.alternation.value ? gaps.mixing : gaps.alternation;
  s.lambda2 = 1 - gaps.mixing.value;
  s.lambda_n = gaps.alternation.value - 1;
  s.gap = std::max(0.0, gap.value);
  s.slem = 1 - gap.value;
  s.gap_error = s.gap > zero_gap ? gap.error / s.gap : 0;
  s.method = method;
  return s;
}

Spectrum undirected(const SparseRows& w) {
  Lanczos run(
      [&w](const double* x, double* y) {
        w.apply(x, y);
        subtract_mean(y, w.size());
      },
      scattered(w.size(), 1));
  Gaps gaps = iterate(run, first_steps, step_flops(w));
  const bool one_part = connected(w);
  if (!one_part) gaps.mixing = {0, 0};
  const auto done = [&] { return gaps.known() || run.exhausted(); };
  if (done()) return from_gaps(gaps, "lanczos");

  // Either end would have its own factorization: the recurrence may cost as much as both.
  FactorCost cost{HUGE_VAL, HUGE_VAL};
  if (one_part && gaps.mixing.value < expander_gap) cost = factor_cost(w);
  const bool may_factor = cost.entries < most_factor_entries;
  const double affordable = 2 * cost.flops / step_flops(w);
  if (affordable > first_steps)
    gaps = iterate(run, static_cast<std::size_t>(std::min<double>(affordable, most_steps)),
                   step_flops(w));
  if (!one_part) gaps.mixing = {0, 0};
  if (done()) return from_gaps(gaps, "lanczos");
  if (!may_factor) {
    if (!gaps.mixing.known()) give_up(run, gaps.mixing, "1 - lambda2");
    give_up(run, gaps.alternation, "1 + lambda_n");
  }
  invert(gaps.mixing, w, SpectrumEnd::mixing);
  invert(gaps.alternation, w, SpectrumEnd::alternation);
  return from_gaps(gaps, "shift-invert");
}

/// The second singular value: the largest eigenvalue of (W - J)^T (W - J).
Spectrum directed(const MixingMatrix& w) {
  const std::size_t n = w.size();
  std::vector<double> middle(n);
  Lanczos run(
      [&](const double* x, double* y) {
        w.apply(x, middle.data());
        subtract_mean(middle.data(), n);
        w.apply_transposed(middle.data(), y);
        subtract_mean(y, n);
      },
      scattered(n, 1));
  double entries = 0;
  for (PeerId i = 0; i < w.size(); ++i) entries += static_cast<double>(w.row(i).peers.size());
  const double flops = 4 * entries + 10 * static_cast<double>(n);
  for (;;) {
    run.extend(std::min(next_look(run.steps(), flops), most_steps));
    const RitzValue square = run.ends().largest;
    const Gap gap{1 - square.value, square.error};
    if (gap.known() || run.exhausted()) {
      Spectrum s;
      s.slem = std::sqrt(std::max(0.0, square.value));
      s.gap = gap.value / (1 + s.slem);
      s.gap_error = gap.value > zero_gap ? gap.error / gap.value : 0;
      s.method = "lanczos";
      return s;
    }
    if (run.steps() == most_steps) give_up(run, gap, "1 - sigma2^2");
  }
}

}  // namespace

std::vector<double> eigenvalues(const MixingMatrix& w) {
  if (w.directed()) throw std::invalid_argument("eigenvalues: the mixing matrix is directed");
  const Eigen::VectorXd ascending = symmetric_values(dense_matrix(w));
  std::vector<double> all(ascending.begin(), ascending.end());
  std::ranges::reverse(all);
  // Values this near to 1 and -1 are exact (parts without an edge between them; bipartite graphs).
  for (double& value : all)
    if (std::abs(std::abs(value) - 1) < 1e-14) value = std::copysign(1, value);
  return all;
}

std::vector<std::complex<double>> directed_eigenvalues(const MixingMatrix& w) {
  require_small(w);
  // The all-ones vector is moved from 1 to 0, and one 0 dropped.
  const Eigen::MatrixXd deflated = dense_matrix(w).array() - 1.0 / w.size();
  const Eigen::VectorXcd values = general_values(deflated);
  std::vector<std::complex<double>> all(values.begin(), values.end());
  all.erase(std::ranges::min_element(all, {}, [](const auto& value) { return std::abs(value); }));
  return all;
}

bool is_normal(const MixingMatrix& w) {
  if (!w.directed()) return true;
  require_small(w);
  const Eigen::MatrixXd m = dense_matrix(w);
  const Eigen::MatrixXd commutator = m * m.transpose() - m.transpose() * m;
  return commutator.cwiseAbs().maxCoeff() <= 1e-12;
}

Spectrum dense_spectrum(const MixingMatrix& w) {
  const PeerId n = w.size();
  if (n == 1) return w.directed() ? from_singular_value(0, "dense") : from_extremes(0, 0, "dense");
  if (w.directed()) {
    const Eigen::MatrixXd deflated = dense_matrix(w).array() - 1.0 / n;
    return from_singular_value(largest_singular_value(deflated), "dense");
  }
  const std::vector<double> all = eigenvalues(w);
  return from_extremes(all[1], all.back(), "dense");
}

Spectrum spectrum(const MixingMatrix& w, const TopologySpec* spec, std::string_view weights) {
  if (spec != nullptr) {
    if (const std::optional<Spectrum> closed = closed_form_spectrum(*spec, w.size(), weights))
      return *closed;
  }
  return w.size() <= dense_limit ? dense_spectrum(w) : sparse_spectrum(w);
}

void require_bounded(const MixingMatrix& w, const std::string& name) {
  if (!has_negative(w)) return;
  const double slem = spectrum(w).slem;
  if (slem <= 1 + 1e-12) return;
  throw std::invalid_argument(name + ": some weights are negative and ||W - J|| is " +
                              shortest(slem) +
                              ", above 1: averaging would make a disagreement grow; make the "
                              "weights of each peer sum to at most 1");
}

// The formulas are the families' own, for Metropolis weights: see graph/topology/.

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

Spectrum sparse_spectrum(const MixingMatrix& w) {
  if (w.size() < 4) return dense_spectrum(w);
  return w.directed() ? directed(w) : undirected(SparseRows(w));
}

}  // namespace gv
