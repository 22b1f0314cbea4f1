#include "graph/spectrum/modes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "graph/mixing/sparse_rows.h"
#include "graph/spectrum/lanczos.h"
#include "graph/spectrum/spectrum.h"
#include "graph/topology/splitmix.h"

namespace gv {
namespace {

constexpr PeerId dense_limit = 4096;

std::vector<double> signs(std::size_t n, std::uint64_t seed) {
  SplitMix random(seed);
  std::vector<double> v(n);
  for (double& value : v) value = (random.bits() & 1) != 0 ? 1 : -1;
  subtract_mean(v.data(), n);
  return v;
}

std::vector<Mode> from(const Lanczos& run, std::size_t n) {
  const Lanczos::Quadrature q = run.quadrature();
  std::vector<Mode> modes;
  for (std::size_t k = 0; k < q.nodes.size(); ++k)
    modes.push_back({{q.nodes[k]}, q.weights[k] * static_cast<double>(n - 1)});
  return modes;
}

double total(const std::vector<Mode>& modes, const std::function<double(const Mode&)>& f) {
  double sum = 0;
  for (const Mode& mode : modes) sum += mode.count * f(mode);
  return sum;
}

}  // namespace

Estimate Modes::sum(const std::function<double(const Mode&)>& f) const {
  std::vector<double> sums;
  for (const std::vector<Mode>& sample : samples) sums.push_back(total(sample, f));
  const auto m = static_cast<double>(sums.size());
  const double mean = std::accumulate(sums.begin(), sums.end(), 0.0) / m;
  if (coarse.empty()) return {mean, 0};
  double square = 0;
  for (const double s : sums) square += (s - mean) * (s - mean);
  double missed = mean;
  for (const std::vector<Mode>& sample : coarse) missed -= total(sample, f) / m;
  return {mean, std::sqrt(square / (m * (m - 1))) + std::abs(missed)};
}

Modes dense_modes(const MixingMatrix& w) {
  if (w.directed()) {
    // A normal matrix has orthogonal modes, which is all that the per-mode theory asks for.
    if (!is_normal(w)) {
      throw std::invalid_argument(
          "modes: this directed W is not normal (W W^T differs from W^T W), so it has no "
          "orthogonal modes; circulants and symmetric weights do");
    }
    std::vector<Mode> modes;
    for (const auto& value : directed_eigenvalues(w)) modes.push_back({{value}, 1});
    return {w.size(), {std::move(modes)}, {}, "dense"};
  }
  std::vector<Mode> modes;
  const std::vector<double> values = eigenvalues(w);
  for (std::size_t j = 1; j < values.size(); ++j) modes.push_back({{values[j]}, 1});
  return {w.size(), {std::move(modes)}, {}, "dense"};
}

Modes stochastic_modes(const MixingMatrix& w, int probes, std::size_t steps) {
  if (w.directed()) throw std::invalid_argument("stochastic_modes: the mixing matrix is directed");
  const SparseRows rows(w);
  Modes modes{w.size(), {}, {}, "stochastic trace"};
  for (int p = 0; p < probes; ++p) {
    Lanczos run(
        [&rows](const double* x, double* y) {
          rows.apply(x, y);
          subtract_mean(y, rows.size());
        },
        signs(rows.size(), static_cast<std::uint64_t>(p) + 1));
    run.extend(steps / 2);
    modes.coarse.push_back(from(run, rows.size()));
    run.extend(steps);
    modes.samples.push_back(from(run, rows.size()));
  }
  return modes;
}

Modes modes_of(const MixingMatrix& w, const TopologySpec* spec, std::string_view weights) {
  if (spec != nullptr) {
    if (std::optional<Modes> closed = closed_form_modes(*spec, w.size(), weights)) return *closed;
  }
  if (w.directed() || w.size() <= dense_limit) return dense_modes(w);
  // The traces of large matrices scatter little: by about sqrt(2 / n).
  return stochastic_modes(w, w.size() < 100'000 ? 8 : 3, 300);
}

}  // namespace gv
